// The value of a node's attribute:
//
//   AttrValue     one of: 1 list   2 s   3 i   4 f   5 b   6 type   7 shape   8 tensor   10 func
//   ListValue     2 s   3 i   4 f   5 b   6 type   7 shape   8 tensor   9 func
//   NameAttrList  1 name (of a function)   2 attr: map of names to AttrValue
//
// (AttrValue has a further case, 9 placeholder, in bodies of functions with type parameters; it reads as no
// value.)
#pragma once

#include <map>
#include <variant>

#include "rewind/format/tensor_proto.h"

namespace rw::format {

struct ListValue;
struct NameAttrList;

struct AttrValue {
  std::variant<std::monostate, Box<ListValue>, std::string, int64_t, float, bool, DataType, TensorShapeProto,
               Box<TensorProto>, Box<NameAttrList>>
      value;
};

using AttrMap = std::map<std::string, AttrValue>;

struct NameAttrList {
  std::string name;
  AttrMap attr;
};

struct ListValue {
  std::vector<std::string> s;
  std::vector<int64_t> i;
  std::vector<float> f;
  std::vector<bool> b;
  std::vector<DataType> type;
  std::vector<TensorShapeProto> shape;
  std::vector<TensorProto> tensor;
  std::vector<NameAttrList> func;
};

}  // namespace rw::format
