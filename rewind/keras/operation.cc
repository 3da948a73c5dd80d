#include "rewind/keras/operation.h"

#include "rewind/base/error.h"
#include "rewind/keras/activations.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

using Values = std::vector<Tensor>;

template <class T>
T option(const Config& options, const char* name, T usual) {
  if (const Config* c = options.find(name); c && !c->is_null()) from_config(*c, &usual);
  return usual;
}
// Null or none: all axes.
Axes axes_option(const Config& options) {
  const Config* c = options.find("axis");
  if (!c || c->is_null()) return {};
  std::vector<int64_t> axes;
  from_config(*c, &axes);
  return axes;
}
bool keepdims(const Config& options) { return option(options, "keepdims", false); }

}  // namespace

struct Operation::Row {
  const char* name;
  const char* module;
  size_t arguments;  // 0: a list of any length
  Tensor (*call)(const Values& x, const Config& options);
};

#define RW_UNARY(Name, module, f) \
  {Name, module, 1, [](const Values& x, const Config&) -> Tensor { return f(x[0]); }}
#define RW_BINARY(Name, f) \
  {Name, kNumpy, 2, [](const Values& x, const Config&) -> Tensor { return f(x[0], x[1]); }}
#define RW_REDUCTION(Name, f) \
  {Name, kNumpy, 1,           \
   [](const Values& x, const Config& o) -> Tensor { return f(x[0], axes_option(o), keepdims(o)); }}

const Operation::Row* Operation::find(const std::string& class_name) {
  static constexpr const char* kNumpy = "keras.src.ops.numpy";
  static constexpr const char* kNN = "keras.src.ops.nn";
  static const Row rows[] = {
      RW_BINARY("Add", add),
      RW_BINARY("Subtract", subtract),
      RW_BINARY("Multiply", multiply),
      RW_BINARY("TrueDivide", truediv),
      RW_BINARY("Divide", truediv),
      RW_BINARY("Power", pow),
      RW_BINARY("Maximum", maximum),
      RW_BINARY("Minimum", minimum),
      RW_BINARY("Matmul", matmul),
      RW_UNARY("Negative", kNumpy, negative),
      RW_UNARY("Absolute", kNumpy, abs),
      RW_UNARY("Abs", kNumpy, abs),
      RW_UNARY("Exp", kNumpy, exp),
      RW_UNARY("Log", kNumpy, math::log),
      RW_UNARY("Sqrt", kNumpy, sqrt),
      RW_UNARY("Square", kNumpy, square),
      RW_UNARY("Sin", kNumpy, sin),
      RW_UNARY("Cos", kNumpy, cos),
      RW_UNARY("Tanh", kNumpy, rw::tanh),
      RW_UNARY("Relu", kNN, activations::relu),
      RW_UNARY("Relu6", kNN, activations::relu6),
      RW_UNARY("Sigmoid", kNN, activations::sigmoid),
      RW_UNARY("Silu", kNN, activations::silu),
      RW_UNARY("Softplus", kNN, activations::softplus),
      RW_UNARY("Softsign", kNN, activations::softsign),
      RW_UNARY("HardSigmoid", kNN, activations::hard_sigmoid),
      RW_UNARY("HardSilu", kNN, activations::hard_silu),
      {"Gelu", kNN, 1,
       [](const Values& x, const Config& o) {
         return activations::gelu(x[0], option(o, "approximate", true));
       }},
      {"Elu", kNN, 1,
       [](const Values& x, const Config& o) { return activations::elu(x[0], option(o, "alpha", 1.0)); }},
      {"LeakyRelu", kNN, 1,
       [](const Values& x, const Config& o) {
         return activations::leaky_relu(x[0], option(o, "negative_slope", 0.2));
       }},
      {"Softmax", kNN, 1,
       [](const Values& x, const Config& o) { return activations::softmax(x[0], option(o, "axis", -1)); }},
      {"LogSoftmax", kNN, 1,
       [](const Values& x, const Config& o) {
         return activations::log_softmax(x[0], option(o, "axis", -1));
       }},
      RW_REDUCTION("Mean", reduce_mean),
      RW_REDUCTION("Sum", reduce_sum),
      RW_REDUCTION("Max", reduce_max),
      RW_REDUCTION("Min", reduce_min),
      RW_REDUCTION("Prod", reduce_prod),
      {"Reshape", kNumpy, 1,
       [](const Values& x, const Config& o) {
         std::vector<int64_t> sizes = option(o, "newshape", std::vector<int64_t>());
         return reshape(x[0], sizes);
       }},
      {"Transpose", kNumpy, 1,
       [](const Values& x, const Config& o) {
         const std::vector<int64_t> axes = option(o, "axes", std::vector<int64_t>());
         return axes.empty() ? transpose(x[0]) : transpose(x[0], axes);
       }},
      {"ExpandDims", kNumpy, 1,
       [](const Values& x, const Config& o) { return expand_dims(x[0], option(o, "axis", 0)); }},
      {"Squeeze", kNumpy, 1,
       [](const Values& x, const Config& o) {
         return squeeze(x[0], option(o, "axis", std::vector<int64_t>()));
       }},
      {"Concatenate", kNumpy, 0,
       [](const Values& x, const Config& o) { return concat(x, option(o, "axis", 0)); }},
      {"Stack", kNumpy, 0, [](const Values& x, const Config& o) { return stack(x, option(o, "axis", 0)); }},
      {"Clip", kNumpy, 1,
       [](const Values& x, const Config& o) {
         return clip_by_value(x[0], option(o, "x_min", 0.0), option(o, "x_max", 0.0));
       }},
  };
  for (const Row& row : rows)
    if (class_name == row.name) return &row;
  return nullptr;
}
#undef RW_UNARY
#undef RW_BINARY
#undef RW_REDUCTION

bool Operation::known(const std::string& class_name) { return find(class_name) != nullptr; }

Operation::Operation(const std::string& class_name, std::vector<Tensor> arguments, Config options,
                     const std::string& name)
    : LayerOf(class_name, LayerOptions{.name = name}),
      row_(find(class_name)),
      arguments_(std::move(arguments)),
      options_(std::move(options)) {
  if (!row_) fail_unimplemented("from_config", "there is no operation keras.ops \"" + class_name + "\"");
  if (row_->arguments && arguments_.size() != row_->arguments)
    fail_invalid("from_config", "operation " + class_name + " takes " + std::to_string(row_->arguments) +
                                    " arguments: got " + std::to_string(arguments_.size()));
  set_built();
}

const char* Operation::module() const { return row_->module; }

std::vector<Tensor> Operation::call_many(const std::vector<Tensor>& inputs, const CallArgs&) {
  std::vector<Tensor> all;
  size_t next = 0;
  for (const Tensor& fixed : arguments_) {
    if (fixed.defined()) all.push_back(fixed);
    else if (next < inputs.size()) all.push_back(inputs[next++]);
  }
  if (next != inputs.size() || all.size() != arguments_.size())
    fail_invalid(name(),
                 "operation " + class_name() + " received " + std::to_string(inputs.size()) + " inputs");
  return {row_->call(all, options_)};
}

format::Json Operation::get_config() const {
  Config config = options_;
  config["name"] = name();
  return config;
}

void add_operation_classes(ClassRegistry&) {
}  // nodes of graphs are read with their arguments: model_config.cc

}  // namespace rw::keras
