// How calls reach the traces of a SavedModel's function, as in TensorFlow: arguments are bound to the Python
// function's parameters, and then compared with what each trace was made for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewind/saved/value.h"

namespace rw::format {
struct FunctionSpec;
}

namespace rw::saved_model {

// Arguments as a trace's signature has them: parameters in order, and those that are only passed by name.
struct BoundArguments {
  std::vector<Value> positional;
  Dict by_name;
  std::string to_string() const;  // "(x, True, factor=2)"
};

// The parameters of a Python function.
class Parameters {
 public:
  // Throws InvalidArgumentError for what is no FullArgSpec.
  explicit Parameters(const format::FunctionSpec& proto);
  // As Python binds arguments; what is left out takes its default. Throws InvalidArgumentError.
  BoundArguments bind(const std::string& function, std::vector<Value> positional, Dict by_name) const;
  std::string to_string() const;  // "(x, training=False, *, factor=2)"

 private:
  std::vector<std::string> names_;
  std::vector<Value> defaults_;  // of the last ones
  bool takes_more_ = false, takes_any_name_ = false;
  std::vector<std::string> only_by_name_;
  Dict defaults_by_name_;
};

// The tensors that a trace with the signature (positional, by_name) takes, or nothing if it was not made for
// such arguments: structures, Python values and tensors' types must agree.
struct Fit {
  bool convert = false;     // numbers and texts become tensors where the trace takes tensors
  bool same_lists = false;  // lists are no tuples: C++ has one word for both, Python two
};
std::optional<std::vector<Tensor>> fit(const Value& signature, const BoundArguments& arguments, Fit how);

// Results in the structure of a trace's output signature, from its flat results. Throws InvalidArgumentError
// when they are not as many.
Value structured(const Value& signature, const std::vector<Tensor>& results);
// A signature ((positional...), {by_name}) as a list of arguments: "(TensorSpec(...), True, factor=2)".
std::string signature_text(const Value& signature);

}  // namespace rw::saved_model
