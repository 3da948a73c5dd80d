// Gradients of softmax, cross entropy, biases and normalisation.
#include "rewind/autodiff/gradients/batch_norm.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"

namespace rw {
namespace {

Tensor sum_last(const Tensor& x) {
  const Tensor axis = constant(-1);
  return apply_one(RW_OP("Sum"), {&x, &axis}, {{"keep_dims", true}});
}

Tensor expand_last(const Tensor& x) {
  const Tensor axis = constant(-1);
  return apply_one(RW_OP("ExpandDims"), {&x, &axis});
}

Tensor raw(const Op& op, const Tensor& x) { return apply_one(op, {&x}); }

// Through y = softmax(x).
Tensor softmax_grad(const Tensor& dy, const Tensor& y) { return (dy - sum_last(dy * y)) * y; }

// The part of a cross entropy's gradient that both kinds share: the loss's own, and, when somebody
// differentiates the gradient, that of the second output, which is softmax(logits) - labels.
template <class Probabilities>
Tensor logits_grad(GradContext& g, Probabilities probabilities) {
  Tensor dx;
  if (g.has_grad(0)) dx = expand_last(g.grad(0)) * g.output(1);
  if (g.has_grad(1)) {
    const Tensor second = softmax_grad(g.grad(1), probabilities());
    dx = dx.defined() ? dx + second : second;
  }
  return dx;
}

}  // namespace

void register_nn_gradients() {
  register_gradient("Softmax", kNeedsOutputs,
                    [](GradContext& g) { g.set(0, softmax_grad(g.grad(), g.output(0))); });
  register_gradient("LogSoftmax", kNeedsOutputs, [](GradContext& g) {
    g.set(0, g.grad() - sum_last(g.grad()) * raw(RW_OP("Exp"), g.output(0)));
  });
  register_gradient("SoftmaxCrossEntropyWithLogits", {0b01, 0b10}, [](GradContext& g) {
    const Tensor& logits = g.input(0);
    if (g.wants(0)) {
      const Tensor dx = logits_grad(g, [&] { return raw(RW_OP("Softmax"), logits); });
      if (dx.defined()) g.set(0, sum_to_input(dx, g, 0));
    }
    if (g.wants(1)) {
      Tensor dy;
      if (g.has_grad(0)) dy = -(expand_last(g.grad(0)) * raw(RW_OP("LogSoftmax"), logits));
      if (g.has_grad(1)) dy = dy.defined() ? dy - g.grad(1) : -g.grad(1);
      if (dy.defined()) g.set(1, sum_to_input(dy, g, 1));
    }
  });
  // The probabilities are remade from the second output and the labels, so that the logits need not be kept.
  register_gradient("SparseSoftmaxCrossEntropyWithLogits", {0b10, 0b10}, [](GradContext& g) {
    const Tensor dx = logits_grad(g, [&] {
      const Tensor& minus = g.output(1);
      const Tensor one = scalar_tensor(int64_t{1}, minus.dtype());
      const Tensor zero = scalar_tensor(int64_t{0}, minus.dtype());
      const Shape& s = g.input_shape(0);
      const Size classes = s.has_rank() && s[1] >= 0 ? Size(s[1]) : element_of(input_dims(g, 0), 1);
      const Tensor depth = classes.tensor(DType::kInt32);
      return minus + apply_one(RW_OP("OneHot"), {&g.input(1), &depth, &one, &zero});
    });
    if (dx.defined()) g.set(0, dx);
  });
  const auto bias_add = [](GradContext& g) {
    if (g.wants(0)) g.set(0, g.raw_grad());
    if (!g.wants(1)) return;
    Attrs attrs;
    if (g.op().name == "BiasAdd") attrs = attrs.with("data_format", g.attr<std::string>("data_format"));
    g.set(1, apply_one(RW_OP("BiasAddGrad"), {&g.grad()}, attrs));
  };
  register_gradient("BiasAdd", kNeedsNothing, bias_add);
  register_gradient("BiasAddV1", kNeedsNothing, bias_add);
  register_gradient("BiasAddGrad", kNeedsInputs, [](GradContext& g) {
    // A bias of the incoming gradient on zeros is its broadcast along the summed axes.
    const Tensor zeros = raw(RW_OP("ZerosLike"), g.input(0));
    g.set(0, apply_one(RW_OP("BiasAdd"), {&zeros, &g.grad()},
                       {{"data_format", g.attr<std::string>("data_format")}}));
  });
  register_gradient("L2Loss", kNeedsInputs, [](GradContext& g) { g.set(0, g.input(0) * g.grad()); });
  register_batch_norm_gradients();
  // TensorFlow has no second derivative of it either.
  register_gradient("LRNGrad", kNeedsNothing, [](GradContext&) {
    fail_unimplemented("local_response_normalization", "it can be differentiated once, not twice");
  });
  register_gradient("LRN", kNeedsAll, [](GradContext& g) {
    g.set(0, apply_one(RW_OP("LRNGrad"), {&g.grad(), &g.input(0), &g.output(0)}, g.attrs()));
  });
}

}  // namespace rw
