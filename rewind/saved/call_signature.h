// How a trace is called from a file: its arguments and results as nested Python values, and the flat tensors
// in TensorFlow's order, in which maps are sorted by their keys.
#pragma once

#include <string>
#include <vector>

#include "rewind/format/saved_model.h"
#include "rewind/function/concrete_function.h"

namespace rw::saved {

struct FlatTensor {
  std::string name;  // unique in its list
  size_t index;      // which flat argument or result of the trace
};

struct CallSignature {
  std::vector<std::string> parameters;  // names of the positional arguments
  std::vector<FlatTensor> arguments, results;
  format::StructuredValue canonical_inputs;  // (positional, by keyword)
  format::StructuredValue structured_outputs;
  // Why it cannot be a SignatureDef; empty: it can.
  std::string no_signature_because;
};

CallSignature call_signature(const ConcreteFunction& f);

// FullArgSpec for these parameters. With `varargs` it takes any number of positional arguments.
format::FunctionSpec function_spec(const std::vector<std::string>& parameters, bool varargs,
                                   const std::vector<std::string>& keyword_only = {});
format::StructuredValue tensor_spec_value(const std::string& name, DType dtype, const Shape& shape);
format::StructuredValue none_value();
format::StructuredValue list_value(std::vector<format::StructuredValue> items);
format::StructuredValue tuple_value(std::vector<format::StructuredValue> items);
format::StructuredValue dict_value(format::StructuredDict fields);
// A call's arguments: (positional, by keyword).
format::StructuredValue call_value(std::vector<format::StructuredValue> positional,
                                   format::StructuredDict by_keyword);

// A name as Python's parameters have: letters, digits and _, no digit first.
std::string identifier(const std::string& name);

}  // namespace rw::saved
