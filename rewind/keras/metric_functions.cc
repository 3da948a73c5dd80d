// The functions of metrics.h.
#include "rewind/base/error.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/keras/losses.h"
#include "rewind/keras/metrics.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras::metrics {
namespace {

Tensor ones_where(const Tensor& condition) { return cast(condition, float32); }

// Class numbers compared as they are, or as numbers of the labels' type.
Tensor matches(const Tensor& labels, const Tensor& scores) {
  const Tensor best = argmax(scores, -1);
  return ones_where(is_floating(labels.dtype()) ? labels == cast(best, labels.dtype())
                                                : as_type(labels, DType::kInt64) == best);
}

// in_top_k over the last axis of scores of any rank.
Tensor top_k_matches(const Tensor& labels, const Tensor& scores, int64_t k) {
  const Tensor flat = scores.rank() > 2 ? reshape(scores, {-1, scores.dim(-1)}) : scores;
  const Tensor rows = labels.rank() > 1 ? reshape(labels, {-1}) : labels;
  const Tensor hits = ones_where(math::in_top_k(as_type(rows, DType::kInt32), flat, int32_t(k)));
  if (labels.rank() <= 1) return hits;
  return labels.shape().fully_known() ? reshape(hits, labels.shape()) : reshape(hits, shape(labels));
}

std::pair<Tensor, Tensor> typed(const Operand& y_true, const Operand& y_pred) {
  const Tensor& pred = y_pred.tensor();
  return same_rank(as_type(y_true.tensor(pred.dtype()), pred.dtype()), pred);
}

}  // namespace

Tensor accuracy(const Operand& y_true, const Operand& y_pred) {
  const auto [truth, pred] = typed(y_true, y_pred);
  return ones_where(truth == pred);
}

Tensor binary_accuracy(const Operand& y_true, const Operand& y_pred, double threshold) {
  const auto [truth, pred] = same_rank(y_true.tensor(), y_pred.tensor());
  return ones_where(truth == cast(pred > threshold, truth.dtype()));
}

Tensor categorical_accuracy(const Operand& y_true, const Operand& y_pred) {
  return matches(argmax(y_true, -1), y_pred.tensor());
}

Tensor sparse_categorical_accuracy(const Operand& y_true, const Operand& y_pred) {
  Tensor truth = y_true.tensor();
  const Tensor& pred = y_pred.tensor();
  if (truth.rank() == pred.rank() && truth.dim(-1) == 1) truth = squeeze(truth, {-1});
  if (truth.rank() + 1 != pred.rank())
    fail_invalid("sparse_categorical_accuracy",
                 "y_true must have the shape of y_pred without its last axis: y_true is " +
                     truth.shape().to_string() + ", y_pred is " + pred.shape().to_string());
  const Tensor hits = matches(truth, pred);
  return hits.rank() > 1 && hits.dim(-1) == 1 ? squeeze(hits, {-1}) : hits;
}

Tensor top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred, int64_t k) {
  return top_k_matches(argmax(y_true, -1), y_pred.tensor(), k);
}

Tensor sparse_top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred, int64_t k) {
  return top_k_matches(y_true.tensor(), y_pred.tensor(), k);
}

Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred, int axis) {
  return -losses::cosine_similarity(y_true, y_pred, axis);
}

Tensor pearson_correlation(const Operand& y_true, const Operand& y_pred, int axis) {
  const auto [truth, pred] = typed(y_true, y_pred);
  const Tensor a = truth - reduce_mean(truth, axis, true);
  const Tensor b = pred - reduce_mean(pred, axis, true);
  return reduce_mean(a / reduce_std(a, axis, true) * (b / reduce_std(b, axis, true)), axis);
}

Tensor concordance_correlation(const Operand& y_true, const Operand& y_pred, int axis) {
  const auto [truth, pred] = typed(y_true, y_pred);
  const Tensor mean_a = reduce_mean(truth, axis, true);
  const Tensor mean_b = reduce_mean(pred, axis, true);
  const Tensor var_a = reduce_variance(truth - mean_a, axis, true);
  const Tensor var_b = reduce_variance(pred - mean_b, axis, true);
  const Tensor covar = (truth - mean_b) * (pred - mean_b);
  const Tensor norm = var_a + var_b + square(mean_a - mean_b);
  return reduce_mean(2.0 * covar / (norm + kEpsilon), axis);
}

Tensor confusion_matrix(const Operand& labels, const Operand& predictions, int64_t num_classes,
                        const Tensor& weights, DType dtype) {
  const auto [rows, columns] =
      same_rank(as_type(labels.tensor(), DType::kInt64), as_type(predictions.tensor(), DType::kInt64));
  const Tensor counts = weights.defined() ? as_type(weights, dtype) : ones_like(columns, dtype);
  return scatter_nd(stack({rows, columns}, 1), counts,
                    constant(std::vector<int64_t>{num_classes, num_classes}));
}

}  // namespace rw::keras::metrics
