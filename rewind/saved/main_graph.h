// The graph around the functions of a SavedModel: variables and constants that functions capture, and the
// calls that a session feeds and fetches: signatures, saving and restoring.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/shape.h"
#include "rewind/format/saved_model.h"

namespace rw::saved {

format::AttrValue attr_of(DType v);
format::AttrValue attr_of(const Shape& v);
format::AttrValue attr_of(const std::vector<DType>& v);
format::AttrValue attr_of(std::string v);
format::AttrValue attr_of_shapes(const std::vector<Shape>& v);
format::NodeDef node_def(std::string name, std::string op, std::vector<std::string> inputs);
format::NodeDef constant_node(std::string name, format::TensorProto value);
format::TensorProto strings_proto(const std::vector<std::string>& strings, bool scalar);

struct GraphPort {
  DType dtype = DType::kInvalid;
  Shape shape;
};

class MainGraph {
 public:
  explicit MainGraph(std::vector<format::NodeDef>* nodes) : nodes_(*nodes) {}

  // Each gives the name of its node, which is `wanted` or like it.
  std::string constant(const std::string& wanted, format::TensorProto value);
  std::string variable(const std::string& wanted, const GraphPort& port);
  std::string placeholder(const std::string& wanted, const GraphPort& port);
  std::string call(const std::string& function, bool stateful, const std::vector<std::string>& inputs,
                   const std::vector<GraphPort>& in, const std::vector<GraphPort>& out);
  std::string no_op(const std::string& wanted);

 private:
  std::string unique(const std::string& wanted);
  std::vector<format::NodeDef>& nodes_;
  std::set<std::string> taken_;
};

// One variable that sessions save and restore.
struct SavedValue {
  std::string node;  // of its handle in the main graph
  std::string key;   // in the checkpoint
  GraphPort port;
};

// Adds the functions and calls by which a session restores the variables, and saves them again.
format::SaverDef add_saver(const std::vector<SavedValue>& values, const std::string& object_graph,
                           MainGraph* graph, format::FunctionDefLibrary* library);

}  // namespace rw::saved
