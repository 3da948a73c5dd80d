#include "rewind/keras/layers/activation_layers.h"

#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

struct ActivationArguments {
  static constexpr const char* kName = "Activation";
  Activation activation;
  LayerOptions options = {};
  ActivationLayer make() const { return ActivationLayer(activation, options); }
};
void fields(ConfigFields& f, ActivationArguments& a) { f("activation", a.activation); }
struct ReLUArguments {
  using Made = ReLU;
  ReLUOptions options = {};
  ReLU make() const { return ReLU(options); }
};
void fields(ConfigFields& f, ReLUArguments& a) {
  f("max_value", a.options.max_value);
  f("negative_slope", a.options.negative_slope);
  f("threshold", a.options.threshold);
}
struct LeakyReLUArguments {
  using Made = LeakyReLU;
  LeakyReLUOptions options = {};
  LeakyReLU make() const { return LeakyReLU(options); }
};
void fields(ConfigFields& f, LeakyReLUArguments& a) {
  f("negative_slope", a.options.negative_slope);
  if (const Config* c = f.take("alpha")) f.read("alpha", [&] { from_config(*c, &a.options.negative_slope); });
}
struct ELUArguments {
  using Made = ELU;
  ELUOptions options = {};
  ELU make() const { return ELU(options); }
};
void fields(ConfigFields& f, ELUArguments& a) { f("alpha", a.options.alpha); }
struct SoftmaxArguments {
  using Made = Softmax;
  SoftmaxOptions options = {};
  Softmax make() const { return Softmax(options); }
};
void fields(ConfigFields& f, SoftmaxArguments& a) { f.one_or_list("axis", a.options.axis); }
struct PReLUArguments {
  using Made = PReLU;
  PReLUOptions options = {};
  PReLU make() const { return PReLU(options); }
};
void fields(ConfigFields& f, PReLUArguments& a) {
  f("alpha_initializer", a.options.alpha_initializer);
  f("alpha_regularizer", a.options.alpha_regularizer);
  f("alpha_constraint", a.options.alpha_constraint);
  f.list_or_null("shared_axes", a.options.shared_axes);
}

}  // namespace

void add_activation_layer_classes(ClassRegistry& r) {
  add_class<ActivationArguments>(r.layers);
  add_class<ReLUArguments>(r.layers);
  add_class<LeakyReLUArguments>(r.layers);
  add_class<ELUArguments>(r.layers);
  add_class<SoftmaxArguments>(r.layers);
  add_class<PReLUArguments>(r.layers);
}

ActivationLayer::ActivationLayer(Activation activation, const LayerOptions& options)
    : LayerOf("Activation", options), activation_(std::move(activation)) {
  set_origin(origin_of(ActivationArguments{activation_, options}));
  set_built();
}

ReLU::ReLU(const ReLUOptions& options) : LayerOf(layer_options(options)), options_(options) {
  set_origin(origin_of(ReLUArguments{options}));
  set_built();
}
Tensor ReLU::call(const Tensor& x, const CallArgs&) {
  return activations::relu(x, {.negative_slope = options_.negative_slope,
                               .max_value = options_.max_value,
                               .threshold = options_.threshold});
}

LeakyReLU::LeakyReLU(const LeakyReLUOptions& options) : LayerOf(layer_options(options)), options_(options) {
  set_origin(origin_of(LeakyReLUArguments{options}));
  set_built();
}
Tensor LeakyReLU::call(const Tensor& x, const CallArgs&) {
  return activations::leaky_relu(x, options_.negative_slope);
}

ELU::ELU(const ELUOptions& options) : LayerOf(layer_options(options)), options_(options) {
  set_origin(origin_of(ELUArguments{options}));
  set_built();
}
Tensor ELU::call(const Tensor& x, const CallArgs&) { return activations::elu(x, options_.alpha); }

Softmax::Softmax(const SoftmaxOptions& options) : LayerOf(layer_options(options)), options_(options) {
  set_origin(origin_of(SoftmaxArguments{options}));
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

PReLU::PReLU(const PReLUOptions& options) : LayerOf(layer_options(options)), options_(options) {
  set_origin(origin_of(PReLUArguments{options}));
}
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
