// A node's attributes to and from their messages, and what a row says of a call when every attribute is
// written out.
#pragma once

#include <functional>
#include <span>

#include "rewind/format/attr_value.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/op/op.h"

namespace rw {

// Every attribute of the row: stored, inferred from the inputs, or default. Attributes that nothing says are
// left out.
using AttrList = std::vector<std::pair<std::string, AttrValue>>;
AttrList complete_attrs(const Op& op, const Attrs& attrs, std::span<const DType> inputs);

// The outputs by argument: how many values each output argument of the row has in this call.
std::vector<int64_t> output_counts(const Op& op, const AttrList& complete);

// How functions get their names and back.
using NameOfBody = std::function<std::string(const BodyRef&)>;
using BodyOfName = std::function<BodyRef(const std::string&)>;

format::AttrValue to_attr_proto(const AttrValue& value, const NameOfBody& name_of_body);
// Throws InvalidArgumentError when the message holds another kind of value than the attribute has.
AttrValue from_attr_proto(const AttrDef& def, const format::AttrValue& proto, const BodyOfName& body_of_name,
                          ConstantReader* constants);

// Whether two values are the same; functions by identity, constants by type and bytes.
bool same_value(const AttrValue& a, const AttrValue& b);

// kInvalid for the numbers that have no DType, references among them.
DType to_dtype(format::DataType type);

}  // namespace rw
