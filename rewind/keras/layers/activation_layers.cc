#include "rewind/keras/layers/activation_layers.h"

#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {

ActivationLayer::ActivationLayer(Activation activation, const LayerOptions& options)
    : LayerOf("Activation", options), activation_(std::move(activation)) {
  set_built();
}

ReLU::ReLU(const ReLUOptions& options) : LayerOf(layer_options(options)), options_(options) { set_built(); }
Tensor ReLU::call(const Tensor& x, const CallArgs&) {
  return activations::relu(x, {.negative_slope = options_.negative_slope,
                               .max_value = options_.max_value,
                               .threshold = options_.threshold});
}

LeakyReLU::LeakyReLU(const LeakyReLUOptions& options) : LayerOf(layer_options(options)), options_(options) {
  set_built();
}
Tensor LeakyReLU::call(const Tensor& x, const CallArgs&) {
  return activations::leaky_relu(x, options_.negative_slope);
}

ELU::ELU(const ELUOptions& options) : LayerOf(layer_options(options)), options_(options) { set_built(); }
Tensor ELU::call(const Tensor& x, const CallArgs&) { return activations::elu(x, options_.alpha); }

Softmax::Softmax(const SoftmaxOptions& options) : LayerOf(layer_options(options)), options_(options) {
  set_built();
}
Tensor Softmax::call(const Tensor& x, const CallArgs& args) {
  Tensor scores = x;
  if (args.mask.defined()) {
    const double low = x.dtype() == DType::kFloat16 ? -3e4 : -1e9;
    scores = x + (1.0 - cast(args.mask, x.dtype())) * low;
  }
  Tensor y;
  if (options_.axis.size() == 1) {
    y = activations::softmax(scores, options_.axis[0]);
  } else {
    const std::vector<int64_t> axes(options_.axis.begin(), options_.axis.end());
    y = exp(scores - reduce_logsumexp(scores, axes, true));
  }
  return args.mask.defined() ? y * cast(args.mask, y.dtype()) : y;
}

PReLU::PReLU(const PReLUOptions& options) : LayerOf(layer_options(options)), options_(options) {}
void PReLU::build(const Shape& input) {
  Shape shape = input;
  shape.erase(0);
  for (const int axis : options_.shared_axes) shape.set(axis - 1, 1);
  alpha_ = add_weight({.name = "alpha",
                       .shape = shape,
                       .initializer = options_.alpha_initializer,
                       .regularizer = options_.alpha_regularizer,
                       .constraint = options_.alpha_constraint});
  InputSpec spec{.ndim = input.rank()};
  for (int axis = 1; axis < input.rank(); ++axis)
    if (std::find(options_.shared_axes.begin(), options_.shared_axes.end(), axis) ==
        options_.shared_axes.end())
      spec.axes.push_back({axis, input[axis]});
  set_input_spec(spec);
}
Tensor PReLU::call(const Tensor& x, const CallArgs&) { return nn::relu(x) - value_of(alpha_) * nn::relu(-x); }

}  // namespace rw::keras
