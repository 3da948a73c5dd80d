#include "rewind/keras/activations.h"

#include <vector>

#include "rewind/base/error.h"
#include "rewind/base/thread_own.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/activation.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::keras {

Activation::Activation(const char* name) : Activation(activations::get(name)) {}
Activation::Activation(const std::string& name) : Activation(activations::get(name)) {}

const std::string& Activation::name() const {
  static const auto& linear = *new std::string("linear");
  return state_ ? state_->name : linear;
}

namespace activations {
namespace {

struct WithLogits {
  Tensor output, logits;
};

// Pairs whose output somebody else still holds, and few of them: the one that a loss asks for is among the
// last.
struct Recent {
  std::vector<WithLogits> pairs;
};
std::vector<WithLogits>& recent() { return ThreadOwn<Recent>::get().pairs; }

Tensor remembered(Tensor output, const Tensor& logits) {
  constexpr size_t kKept = 8;
  std::vector<WithLogits>& pairs = recent();
  std::erase_if(pairs, [](const WithLogits& p) { return p.output.impl()->unique(); });
  if (pairs.size() == kKept) pairs.erase(pairs.begin());
  pairs.push_back({output, logits});
  return output;
}

int positive(int axis, const Tensor& x, const char* name) {
  const int at = axis < 0 ? axis + x.rank() : axis;
  if (at < 0 || at >= x.rank())
    fail_invalid(name, "axis " + std::to_string(axis) + " is not one of shape " + x.shape().to_string());
  return at;
}

}  // namespace

Tensor logits_of(const Tensor& output) {
  for (const WithLogits& p : recent())
    if (p.output.impl() == output.impl()) return p.logits;
  return {};
}

Tensor relu(const Operand& features, const ReluOptions& o) {
  const Tensor& x = features.tensor();
  if (o.negative_slope != 0 && !o.max_value && o.threshold == 0) return nn::leaky_relu(x, o.negative_slope);
  Tensor y = o.threshold != 0   ? where(x > o.threshold, x, zeros_like(x))
             : o.max_value == 6 ? nn::relu6(x)
                                : nn::relu(x);
  if (o.max_value && !(o.threshold == 0 && *o.max_value == 6)) y = clip_by_value(y, 0.0, *o.max_value);
  if (o.negative_slope != 0) y = y - o.negative_slope * nn::relu(o.threshold != 0 ? -x + o.threshold : -x);
  return y;
}

Tensor leaky_relu(const Operand& x, double negative_slope) { return nn::leaky_relu(x, negative_slope); }
Tensor relu6(const Operand& x) { return nn::relu6(x); }
Tensor softmax(const Operand& x, int axis) {
  const Tensor& logits = x.tensor();
  return remembered(nn::softmax(logits, axis), logits);
}
Tensor log_softmax(const Operand& x, int axis) { return nn::log_softmax(x, axis); }

Tensor sparsemax(const Operand& operand, int axis) {
  const Tensor& x = operand.tensor();
  const int at = positive(axis, x, "sparsemax");
  const Tensor sorted = sort(x, at, "DESCENDING");
  const Tensor sums = cumsum(sorted, at);
  std::vector<int64_t> along(size_t(x.rank()), 1);
  along[size_t(at)] = -1;
  const Tensor size = gather(shape(x), at);
  const Tensor count = reshape(cast(range(1, size + 1), x.dtype()), along);
  const Tensor support = sorted - (sums - 1.0) / count > 0.0;
  const Tensor k = reduce_sum(cast(support, x.dtype()), at, true);
  // Keras' arithmetic: all partial sums of the support count, where the projection onto the simplex takes the
  // last one.
  const Tensor tau = (reduce_sum(where(support, sums, zeros_like(sums)), at, true) - 1.0) / k;
  return maximum(x - tau, 0.0);
}

Tensor elu(const Operand& x, double alpha) {
  const Tensor y = nn::elu(x);
  return alpha == 1 ? y : where(x.tensor() > 0.0, y, alpha * y);
}
Tensor selu(const Operand& x) { return nn::selu(x); }
Tensor celu(const Operand& operand, double alpha) {
  const Tensor& x = operand.tensor();
  return maximum(x, 0.0) + alpha * math::expm1(minimum(x, 0.0) / alpha);
}
Tensor softplus(const Operand& x) { return nn::softplus(x); }
Tensor softsign(const Operand& x) { return nn::softsign(x); }
Tensor squareplus(const Operand& operand, double b) {
  const Tensor& x = operand.tensor();
  return (x + sqrt(square(x) + b)) / 2.0;
}
Tensor soft_shrink(const Operand& operand, double threshold) {
  const Tensor& x = operand.tensor();
  return where(x > threshold, x - threshold, where(x < -threshold, x + threshold, zeros_like(x)));
}
Tensor hard_shrink(const Operand& operand, double threshold) {
  const Tensor& x = operand.tensor();
  return where(abs(x) > threshold, x, zeros_like(x));
}
Tensor sparse_plus(const Operand& operand) {
  const Tensor& x = operand.tensor();
  return where(x <= -1.0, zeros_like(x), where(x < 1.0, 0.25 * pow(x + 1.0, 2.0), x));
}
Tensor silu(const Operand& x) { return nn::silu(x); }
Tensor swish(const Operand& x) { return nn::silu(x); }
Tensor gelu(const Operand& x, bool approximate) { return nn::gelu(x, approximate); }
Tensor glu(const Operand& operand, int axis) {
  const Tensor& x = operand.tensor();
  const int at = positive(axis, x, "glu");
  if (x.dim(at) >= 0 && x.dim(at) % 2)
    fail_invalid("glu",
                 "the size of axis " + std::to_string(axis) + " must be even: x is " + x.shape().to_string());
  const std::vector<Tensor> halves = split(x, 2, at);
  return halves[0] * rw::sigmoid(halves[1]);
}
Tensor tanh(const Operand& x) { return rw::tanh(x); }
Tensor tanh_shrink(const Operand& x) { return x.tensor() - rw::tanh(x); }
Tensor hard_tanh(const Operand& x) { return clip_by_value(x, -1.0, 1.0); }
Tensor threshold(const Operand& operand, double threshold, double default_value) {
  const Tensor& x = operand.tensor();
  return where(x > threshold, x, scalar_tensor(default_value, x.dtype()));
}
Tensor sigmoid(const Operand& x) {
  const Tensor& logits = x.tensor();
  return remembered(rw::sigmoid(logits), logits);
}
Tensor log_sigmoid(const Operand& x) { return math::log_sigmoid(x); }
Tensor sparse_sigmoid(const Operand& operand) {
  const Tensor& x = operand.tensor();
  return where(x <= -1.0, zeros_like(x), where(x >= 1.0, ones_like(x), 0.5 * (x + 1.0)));
}
Tensor hard_sigmoid(const Operand& x) { return nn::relu6(x.tensor() + 3.0) / 6.0; }
Tensor hard_silu(const Operand& x) { return x.tensor() * hard_sigmoid(x); }
Tensor hard_swish(const Operand& x) { return hard_silu(x); }
Tensor exponential(const Operand& x) { return exp(x); }
Tensor linear(const Operand& x) { return x.tensor(); }
Tensor mish(const Operand& x) { return x.tensor() * rw::tanh(nn::softplus(x)); }

namespace {

struct Named {
  const char* name;
  Tensor (*call)(const Tensor&);
};

const Named kNamed[] = {
    {"linear", [](const Tensor& x) { return linear(x); }},
    {"relu", [](const Tensor& x) { return relu(x); }},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x); }},
    {"relu6", [](const Tensor& x) { return relu6(x); }},
    {"softmax", [](const Tensor& x) { return softmax(x); }},
    {"log_softmax", [](const Tensor& x) { return log_softmax(x); }},
    {"sparsemax", [](const Tensor& x) { return sparsemax(x); }},
    {"elu", [](const Tensor& x) { return elu(x); }},
    {"selu", [](const Tensor& x) { return selu(x); }},
    {"celu", [](const Tensor& x) { return celu(x); }},
    {"softplus", [](const Tensor& x) { return softplus(x); }},
    {"softsign", [](const Tensor& x) { return softsign(x); }},
    {"squareplus", [](const Tensor& x) { return squareplus(x); }},
    {"soft_shrink", [](const Tensor& x) { return soft_shrink(x); }},
    {"hard_shrink", [](const Tensor& x) { return hard_shrink(x); }},
    {"sparse_plus", [](const Tensor& x) { return sparse_plus(x); }},
    {"silu", [](const Tensor& x) { return silu(x); }},
    {"swish", [](const Tensor& x) { return silu(x); }},
    {"gelu", [](const Tensor& x) { return gelu(x); }},
    {"glu", [](const Tensor& x) { return glu(x); }},
    {"tanh", [](const Tensor& x) { return activations::tanh(x); }},
    {"tanh_shrink", [](const Tensor& x) { return tanh_shrink(x); }},
    {"hard_tanh", [](const Tensor& x) { return hard_tanh(x); }},
    {"sigmoid", [](const Tensor& x) { return activations::sigmoid(x); }},
    {"log_sigmoid", [](const Tensor& x) { return log_sigmoid(x); }},
    {"sparse_sigmoid", [](const Tensor& x) { return sparse_sigmoid(x); }},
    {"hard_sigmoid", [](const Tensor& x) { return hard_sigmoid(x); }},
    {"hard_silu", [](const Tensor& x) { return hard_silu(x); }},
    {"hard_swish", [](const Tensor& x) { return hard_silu(x); }},
    {"exponential", [](const Tensor& x) { return exponential(x); }},
    {"mish", [](const Tensor& x) { return mish(x); }},
};

}  // namespace

Activation get(const std::string& name) {
  std::string known;
  for (const Named& n : kNamed) {
    if (name == n.name) return Activation(n.name, n.call);
    known += std::string(known.empty() ? "" : ", ") + n.name;
  }
  fail_invalid("activations.get", "there is no activation \"" + name + "\"; known are " + known);
}

}  // namespace activations

// ---- configs

namespace {

// A layer that serves as an activation.
class LayerOrigin : public Origin {
 public:
  explicit LayerOrigin(LayerRef layer) : layer_(std::move(layer)) {}
  std::string class_name() const override { return layer_->class_name(); }
  void write(ConfigFields&) const override {}
  Config serialized(const char*) const override { return to_config(layer_); }

 private:
  LayerRef layer_;
};

}  // namespace

Config to_config(const Activation& v) {
  if (v.origin()) return v.origin()->serialized("keras.activations");
  if (v.name() == "swish" || v.name() == "silu") return "silu";
  if (v.name() == "hard_swish") return "hard_silu";
  if (v.name() == "custom")
    fail_unimplemented("get_config",
                       "an activation that is a function of the program's own has no config: register it by "
                       "keras::saving::register_keras_serializable(package, name, activation)");
  return v.name();
}

void from_config(const Config& c, Activation* v) {
  if (c.is_null()) {
    *v = Activation();
    return;
  }
  const NamedConfig named = named_config(c, "activation");
  if (named.options && class_registry().layers.find(named.name)) {
    LayerRef layer;
    from_config(c, &layer);
    *v = Activation(layer.name(), [layer](const Tensor& x) { return (*layer)(x); });
    v->set_origin(std::make_shared<LayerOrigin>(layer));
    return;
  }
  *v = object_from(c, class_registry().activations, "activation", activations::get);
}

void add_activation_classes(ClassRegistry&) {}  // they go by their names alone

}  // namespace rw::keras
