#include "rewind/keras/layers/dense.h"

#include "rewind/base/error.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

struct DenseArguments {
  using Made = Dense;
  int64_t units = 0;
  DenseOptions options = {};
  Dense make() const { return Dense(units, options); }
};
void fields(ConfigFields& f, DenseArguments& a) {
  DenseOptions& o = a.options;
  f.if_set("activity_regularizer", o.activity_regularizer);
  f("units", a.units);
  f("activation", o.activation);
  f("use_bias", o.use_bias);
  f("kernel_initializer", o.kernel_initializer);
  f("bias_initializer", o.bias_initializer);
  f("kernel_regularizer", o.kernel_regularizer);
  f("bias_regularizer", o.bias_regularizer);
  f("kernel_constraint", o.kernel_constraint);
  f("bias_constraint", o.bias_constraint);
  f.only("quantization_config", nullptr);
}

}  // namespace

void add_dense_classes(ClassRegistry& r) { add_class<DenseArguments>(r.layers); }

Dense::Dense(int64_t units, const DenseOptions& options)
    : LayerOf(layer_options(options)), units_(units), options_(options) {
  if (units <= 0) fail_invalid("Dense", "units must be a positive number: got " + std::to_string(units));
  set_input_spec({.min_ndim = 2});
  set_activity_regularizer(options.activity_regularizer);
  set_origin(origin_of(DenseArguments{units, options}));
}

void Dense::build(const Shape& input) {
  if (input.back() < 0)
    fail_invalid(name(), "the last axis of the input of layer \"" + name() +
                             "\" must have a known size: its shape is " + input.to_string());
  kernel_ = add_weight({.name = "kernel",
                        .shape = {input.back(), units_},
                        .initializer = options_.kernel_initializer,
                        .regularizer = options_.kernel_regularizer,
                        .constraint = options_.kernel_constraint});
  if (options_.use_bias)
    bias_ = add_weight({.name = "bias",
                        .shape = {units_},
                        .initializer = options_.bias_initializer,
                        .regularizer = options_.bias_regularizer,
                        .constraint = options_.bias_constraint});
  set_input_spec({.min_ndim = 2, .axes = {{-1, input.back()}}});
}

Tensor Dense::call(const Tensor& input, const CallArgs&) {
  const Tensor kernel = value_of(kernel_);
  const Tensor x = is_floating(input.dtype()) ? input : cast(input, kernel.dtype());
  Tensor y = x.rank() == 2 ? matmul(x, kernel) : tensordot(x, kernel, 1);
  if (bias_.defined()) y = y + value_of(bias_);
  return options_.activation(y);
}

}  // namespace rw::keras
