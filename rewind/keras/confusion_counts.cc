#include "rewind/keras/confusion_counts.h"

#include <cmath>

#include "rewind/base/error.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/tensor/indexing.h"
#include "rewind/tensor/ops/activation.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

Tensor all_true(const Tensor& x) { return ones_like(x); }

Tensor broadcast_like(const Tensor& weight, const Tensor& x) { return weight * all_true(x); }

// All but the k largest of each example become very negative.
Tensor keep_top_k(const Tensor& x, int64_t k) {
  constexpr double kNegative = -1e10;
  const Tensor indices = math::top_k(x, int32_t(k)).indices;
  const Tensor depth = x.dim(-1) >= 0 ? constant(int32_t(x.dim(-1))) : shape(x)[x.rank() - 1];
  const Tensor mask = reduce_sum(one_hot(indices, depth, {.dtype = x.dtype()}), -2);
  return x * mask + kNegative * (1.0 - mask);
}

// One column of the last axis, which stays, with size 1.
Tensor column(const Tensor& x, int64_t id) { return expand_dims(gather(x, int32_t(id), -1), -1); }

// Labels, predictions and weights (undefined: all 1), made ready by the rules that both ways share.
struct Data {
  Tensor truth, pred, weight;
};

Data prepare(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
             const ConfusionOptions& o) {
  auto [pred, truth] = same_rank(as_type(y_pred, float32), as_type(y_true, float32));
  if (!truth.shape().compatible_with(pred.shape()))
    fail_invalid("confusion counts", "y_true and y_pred must have the same shape: y_true is " +
                                         truth.shape().to_string() + ", y_pred is " +
                                         pred.shape().to_string());
  Tensor weight;
  if (sample_weight.defined())
    weight = same_rank(truth, expand_dims(as_type(sample_weight, float32), -1), false).second;
  if (o.top_k) pred = keep_top_k(pred, *o.top_k);
  if (o.class_id) {
    if (pred.rank() < 2)
      fail_invalid("confusion counts",
                   "class_id needs predictions (batch, classes): they are " + pred.shape().to_string());
    truth = column(truth, *o.class_id);
    pred = column(pred, *o.class_id);
  }
  if (weight.defined()) weight = broadcast_like(weight, pred);
  if (o.label_weights.defined() && !o.multi_label) {
    const Tensor by_label = broadcast_like(o.label_weights, pred);
    weight = weight.defined() ? weight * by_label : by_label;
  }
  return {truth, pred, weight};
}

void add(const Variable& count, const Tensor& value) {
  if (count.defined()) count.assign_add(value);
}

// Sums from each place to the end of the axis.
Tensor sums_to_end(const Tensor& x, int axis) { return cumsum(x, axis, {.reverse = true}); }

// Predictions fall into the bucket between two thresholds; sums over buckets give all counts at once.
void count_in_buckets(const ConfusionCounts& counts, const Data& d, const ConfusionOptions& o) {
  const int64_t buckets = int64_t(o.thresholds.size());
  Tensor truth = cast(cast(d.truth, DType::kBool), float32);
  Tensor index = math::ceil(clip_by_value(d.pred, 0.0, 1.0) * double(buckets - 1)) - 1.0;
  if (o.thresholds.front() < 0.0 || o.thresholds.back() > 1.0) index = nn::relu(index);
  Tensor ids = cast(index, DType::kInt32);
  Tensor yes = truth;
  Tensor no = 1.0 - truth;
  if (d.weight.defined()) {
    yes = yes * d.weight;
    no = no * d.weight;
  }
  Tensor tp, fp, all_yes, all_no;
  if (o.multi_label) {
    const int64_t labels = d.pred.dim(1);
    // Ids below 0 belong to no bucket, in any label.
    const Tensor base = range(int32_t(labels)) * int32_t(buckets);
    ids = where(ids < 0, ids, ids + base);
    const auto by_label = [&](const Tensor& x) {
      const Tensor flat =
          math::unsorted_segment_sum(reshape(x, {-1}), reshape(ids, {-1}), int32_t(labels * buckets));
      return transpose(sums_to_end(reshape(flat, {labels, buckets}), 1));
    };
    tp = by_label(yes);
    fp = by_label(no);
    all_yes = reduce_sum(yes, 0);
    all_no = reduce_sum(no, 0);
  } else {
    ids = reshape(ids, {-1});
    yes = reshape(yes, {-1});
    no = reshape(no, {-1});
    tp = sums_to_end(math::unsorted_segment_sum(yes, ids, int32_t(buckets)), 0);
    fp = sums_to_end(math::unsorted_segment_sum(no, ids, int32_t(buckets)), 0);
    all_yes = reduce_sum(yes);
    all_no = reduce_sum(no);
  }
  add(counts.true_positives, tp);
  add(counts.false_positives, fp);
  if (counts.true_negatives.defined()) add(counts.true_negatives, all_no - fp);
  if (counts.false_negatives.defined()) add(counts.false_negatives, all_yes - tp);
}

}  // namespace

void count_confusions(const ConfusionCounts& counts, const Tensor& y_true, const Tensor& y_pred,
                      const Tensor& sample_weight, const ConfusionOptions& o) {
  const Data d = prepare(y_true, y_pred, sample_weight, o);
  if (o.even) return count_in_buckets(counts, d, o);
  const Tensor thresholds = constant(std::vector<double>(o.thresholds), float32);
  // (thresholds, examples) or (thresholds, examples, labels).
  const auto laid_out = [&](const Tensor& x) {
    return o.multi_label ? expand_dims(x, 0) : reshape(x, {1, -1});
  };
  const Tensor pos = laid_out(d.pred) > reshape(thresholds, o.multi_label ? Ints({-1, 1, 1}) : Ints({-1, 1}));
  const Tensor yes = laid_out(cast(d.truth, DType::kBool));
  const Tensor weight = d.weight.defined() ? laid_out(d.weight) : Tensor();
  const auto count = [&](const Variable& v, const auto& label, const auto& prediction) {
    if (!v.defined()) return;
    const Tensor hit = cast(label() & prediction(), float32);
    v.assign_add(reduce_sum(weight.defined() ? hit * weight : hit, 1));
  };
  const auto label_yes = [&] { return yes; };
  const auto label_no = [&] { return logical_not(yes); };
  const auto pred_yes = [&] { return pos; };
  const auto pred_no = [&] { return logical_not(pos); };
  count(counts.true_positives, label_yes, pred_yes);
  count(counts.false_negatives, label_yes, pred_no);
  count(counts.false_positives, label_no, pred_yes);
  count(counts.true_negatives, label_no, pred_no);
}

bool evenly_distributed(const std::vector<double>& thresholds) {
  const size_t n = thresholds.size();
  if (n < 3) return false;
  for (size_t i = 0; i < n; ++i) {
    const double even = double(float(i) / float(n - 1));
    if (std::abs(thresholds[i] - even) > kEpsilon + 1e-5 * std::abs(even)) return false;
  }
  return true;
}

}  // namespace rw::keras
