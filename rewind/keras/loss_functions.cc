// The functions of losses.h.
#include <cmath>
#include <limits>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/activations.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/keras/losses.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
inline namespace losses {
namespace {

struct Pair {
  Tensor truth, pred;
};

// Both as tensors of the predictions' type.
Pair typed(const Operand& y_true, const Operand& y_pred) {
  const Tensor& pred = y_pred.tensor();
  return {as_type(y_true.tensor(pred.dtype()), pred.dtype()), pred};
}
Pair ranked(const Operand& y_true, const Operand& y_pred) {
  const Pair p = typed(y_true, y_pred);
  const auto [truth, pred] = same_rank(p.truth, p.pred);
  return {truth, pred};
}

Tensor mean(const Tensor& x) { return reduce_mean(x, -1); }

void check_same_shape(const char* tag, const Tensor& truth, const Tensor& pred) {
  if (!truth.shape().compatible_with(pred.shape()))
    fail_invalid(tag, "y_true and y_pred must have the same shape: y_true is " + truth.shape().to_string() +
                          ", y_pred is " + pred.shape().to_string());
}

// The tensor to work on, and whether it holds logits.
struct Scores {
  Tensor values;
  bool logits;
};
Scores scores_of(const Tensor& pred, bool from_logits) {
  if (Tensor logits = activations::logits_of(pred); logits.defined()) return {logits, true};
  return {pred, from_logits};
}

Tensor clipped(const Tensor& p) { return clip_by_value(p, kEpsilon, 1.0 - kEpsilon); }

// Element by element.
Tensor binary_values(const Tensor& truth, const Tensor& pred, bool from_logits) {
  check_same_shape("binary_crossentropy", truth, pred);
  const Scores s = scores_of(pred, from_logits);
  if (s.logits) return nn::sigmoid_cross_entropy_with_logits(truth, s.values);
  const Tensor p = clipped(s.values);
  return -(truth * math::log(p) + (1.0 - truth) * math::log(1.0 - p));
}

Tensor smoothed(const Tensor& truth, double smoothing, int axis) {
  if (smoothing == 0) return truth;
  if (truth.dim(axis) >= 0) return truth * (1.0 - smoothing) + smoothing / double(truth.dim(axis));
  const Tensor classes = cast(shape(truth)[truth.rank() - 1], truth.dtype());
  return truth * (1.0 - smoothing) + smoothing / classes;
}

// 0 and 1 become -1 and 1.
Tensor hinge_labels(const Tensor& truth) {
  const Tensor binary = reduce_all((truth == 0.0) | (truth == 1.0));
  return where(binary, 2.0 * truth - 1.0, truth);
}

}  // namespace

Tensor mean_squared_error(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = ranked(y_true, y_pred);
  return mean(square(truth - pred));
}
Tensor mean_absolute_error(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = ranked(y_true, y_pred);
  return mean(abs(truth - pred));
}
Tensor mean_absolute_percentage_error(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = ranked(y_true, y_pred);
  return 100.0 * mean(abs((truth - pred) / maximum(abs(truth), kEpsilon)));
}
Tensor mean_squared_logarithmic_error(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = ranked(y_true, y_pred);
  const Tensor first = math::log(maximum(pred, kEpsilon) + 1.0);
  const Tensor second = math::log(maximum(truth, kEpsilon) + 1.0);
  return mean(square(first - second));
}
Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred, int axis) {
  const auto [truth, pred] = ranked(y_true, y_pred);
  return -reduce_sum(normalized(truth, axis) * normalized(pred, axis), axis);
}
Tensor huber(const Operand& y_true, const Operand& y_pred, double delta) {
  const auto [truth, pred] = ranked(y_true, y_pred);
  const Tensor error = pred - truth;
  const Tensor size = abs(error);
  return mean(where(size <= delta, 0.5 * square(error), delta * size - 0.5 * delta * delta));
}
Tensor log_cosh(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = ranked(y_true, y_pred);
  const Tensor x = pred - truth;
  return mean(x + nn::softplus(x * -2.0) - std::log(2.0));
}
Tensor hinge(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = typed(y_true, y_pred);
  return mean(maximum(1.0 - hinge_labels(truth) * pred, 0.0));
}
Tensor squared_hinge(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = typed(y_true, y_pred);
  return mean(square(maximum(1.0 - hinge_labels(truth) * pred, 0.0)));
}
Tensor categorical_hinge(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = typed(y_true, y_pred);
  return maximum(reduce_max((1.0 - truth) * pred, -1) - reduce_sum(truth * pred, -1) + 1.0, 0.0);
}
Tensor kl_divergence(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = typed(y_true, y_pred);
  const Tensor p = clip_by_value(truth, kEpsilon, 1.0);
  return reduce_sum(p * math::log(p / clip_by_value(pred, kEpsilon, 1.0)), -1);
}
Tensor poisson(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = typed(y_true, y_pred);
  return mean(pred - truth * math::log(pred + kEpsilon));
}

Tensor binary_crossentropy(const Operand& y_true, const Operand& y_pred, const CrossentropyOptions& o) {
  auto [truth, pred] = typed(y_true, y_pred);
  if (o.label_smoothing != 0) truth = truth * (1.0 - o.label_smoothing) + 0.5 * o.label_smoothing;
  return reduce_mean(binary_values(truth, pred, o.from_logits), o.axis);
}

Tensor categorical_crossentropy(const Operand& y_true, const Operand& y_pred, const CrossentropyOptions& o) {
  auto [truth, pred] = typed(y_true, y_pred);
  check_same_shape("categorical_crossentropy", truth, pred);
  truth = smoothed(truth, o.label_smoothing, -1);
  const Scores s = scores_of(pred, o.from_logits);
  if (s.logits) return nn::softmax_cross_entropy_with_logits(truth, s.values, o.axis);
  const Tensor p = clipped(s.values / reduce_sum(s.values, o.axis, true));
  return -reduce_sum(truth * math::log(p), o.axis);
}

LossValues sparse_categorical_crossentropy(const Operand& y_true, const Operand& y_pred,
                                           const SparseCrossentropyOptions& o) {
  Tensor truth = y_true.tensor();
  Tensor pred = y_pred.tensor();
  if (truth.rank() == pred.rank() && truth.dim(-1) == 1) truth = squeeze(truth, {-1});
  if (truth.rank() + 1 != pred.rank())
    fail_invalid("sparse_categorical_crossentropy",
                 "y_true must have the shape of y_pred without its last axis: y_true is " +
                     truth.shape().to_string() + ", y_pred is " + pred.shape().to_string() +
                     "; for one-hot labels take categorical_crossentropy");
  Tensor labels = truth.dtype() == DType::kInt32 ? truth : as_type(truth, DType::kInt64);
  Tensor valid;
  if (o.ignore_class) {
    valid = labels != *o.ignore_class;
    labels = where(valid, labels, zeros_like(labels));
    pred = where(expand_dims(valid, -1), pred, zeros_like(pred));
  }
  const Scores s = scores_of(pred, o.from_logits);
  const Tensor logits = s.logits ? s.values : math::log(clipped(s.values));
  const Tensor values = nn::sparse_softmax_cross_entropy_with_logits(labels, logits);
  if (!o.ignore_class) return values;
  return {where(valid, values, zeros_like(values)), valid};
}

Tensor binary_focal_crossentropy(const Operand& y_true, const Operand& y_pred, const BinaryFocalOptions& o) {
  auto [truth, pred] = typed(y_true, y_pred);
  if (o.label_smoothing != 0) truth = truth * (1.0 - o.label_smoothing) + 0.5 * o.label_smoothing;
  if (o.from_logits) pred = activations::sigmoid(pred);
  const Tensor bce = binary_values(truth, pred, false);
  const Tensor p_t = truth * pred + (1.0 - truth) * (1.0 - pred);
  Tensor focal = pow(1.0 - p_t, o.gamma) * bce;
  if (o.apply_class_balancing) focal = (truth * o.alpha + (1.0 - truth) * (1.0 - o.alpha)) * focal;
  return reduce_mean(focal, o.axis);
}

Tensor categorical_focal_crossentropy(const Operand& y_true, const Operand& y_pred,
                                      const CategoricalFocalOptions& o) {
  auto [truth, pred] = typed(y_true, y_pred);
  check_same_shape("categorical_focal_crossentropy", truth, pred);
  truth = smoothed(truth, o.label_smoothing, -1);
  if (o.from_logits) pred = nn::softmax(pred, o.axis);
  const Tensor p = clipped(pred / reduce_sum(pred, o.axis, true));
  return reduce_sum(pow(1.0 - p, o.gamma) * o.alpha * (-truth * math::log(p)), o.axis);
}

Tensor categorical_generalized_cross_entropy(const Operand& y_true, const Operand& y_pred, double q) {
  if (!(q > 0 && q < 1))
    fail_invalid("categorical_generalized_cross_entropy", "q must lie in (0, 1): it is " + number_text(q));
  const Tensor& pred = y_pred.tensor();
  const Tensor classes = pred.dim(-1) >= 0 ? constant(int32_t(pred.dim(-1))) : shape(pred)[pred.rank() - 1];
  const Tensor hot = one_hot(as_type(y_true.tensor(), DType::kInt64), classes, {.dtype = pred.dtype()});
  return (1.0 - pow(reduce_sum(pred * hot, -1), q)) / q;
}

Tensor dice(const Operand& y_true, const Operand& y_pred, const std::vector<int64_t>& axis) {
  const auto [truth, pred] = typed(y_true, y_pred);
  const Axes axes = axis.empty() ? Axes() : Axes(axis);
  const Tensor common = reduce_sum(truth * pred, axes);
  return 1.0 - 2.0 * common / (reduce_sum(truth, axes) + reduce_sum(pred, axes) + kEpsilon);
}

Tensor tversky(const Operand& y_true, const Operand& y_pred, double alpha, double beta,
               const std::vector<int64_t>& axis) {
  const auto [truth, pred] = typed(y_true, y_pred);
  const Axes axes = axis.empty() ? Axes() : Axes(axis);
  const Tensor common = reduce_sum(truth * pred, axes);
  const Tensor first = reduce_sum((1.0 - pred) * truth, axes);
  const Tensor second = reduce_sum(pred * (1.0 - truth), axes);
  return 1.0 - common / (common + first * alpha + second * beta + kEpsilon);
}

LossValues circle(const Operand& y_true, const Operand& y_pred, const CircleOptions& o) {
  const Tensor& pred = y_pred.tensor();
  const Tensor labels = reshape(as_type(y_true.tensor(), DType::kInt32), {-1});
  const Tensor distance = maximum(1.0 - matmul(pred, pred, {.transpose_b = true}), 0.0);
  const Tensor same = expand_dims(labels, 1) == expand_dims(labels, 0);
  Tensor positive = same;
  if (o.remove_diagonal) {
    const Tensor numbers = range(pred.dim(0) >= 0 ? constant(int32_t(pred.dim(0))) : shape(pred)[0]);
    positive = same & (expand_dims(numbers, 1) != expand_dims(numbers, 0));
  }
  const Tensor negative = logical_not(same);
  const DType dtype = pred.dtype();
  const Tensor pos_weights = maximum((o.margin + distance) * cast(positive, dtype), 0.0);
  const Tensor neg_weights = maximum((1.0 + o.margin - distance) * cast(negative, dtype), 0.0);
  const Tensor pos = -o.gamma * pos_weights * (o.margin - distance);
  const Tensor neg = o.gamma * neg_weights * ((1.0 - o.margin) - distance);
  const Tensor nothing = scalar_tensor(-std::numeric_limits<double>::infinity(), dtype);
  const Tensor values = nn::softplus(reduce_logsumexp(where(positive, pos, nothing), 1) +
                                     reduce_logsumexp(where(negative, neg, nothing), 1));
  return {values, values > 0.0};
}

}  // namespace losses
}  // namespace rw::keras
