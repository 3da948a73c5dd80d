// F-scores, and intersection over union.
#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/keras/layer_name.h"
#include "rewind/keras/metric_config.h"
#include "rewind/keras/metrics.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/linalg.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras::metrics {
namespace {

class FBetaState : public MetricState {
 public:
  FBetaState(const FBetaScoreOptions& o, const char* default_name)
      : MetricState(o.name.empty() ? default_name : o.name, o.dtype, Direction::kUp), o_(o) {
    if (!o.average.empty() && o.average != "micro" && o.average != "macro" && o.average != "weighted")
      fail_invalid(name(), "average must be micro, macro, weighted or empty: it is " + o.average);
    if (!(o.beta > 0)) fail_invalid(name(), "beta must be positive: it is " + number_text(o.beta));
    if (o.threshold && !(*o.threshold > 0 && *o.threshold <= 1))
      fail_invalid(name(), "threshold must lie in (0, 1]: it is " + number_text(*o.threshold));
  }

  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
              const Tensor&) override {
    const Tensor truth = as_type(y_true, dtype());
    const Tensor scores = as_type(y_pred, dtype());
    build(truth, scores);
    const Tensor pos = o_.threshold ? scores > *o_.threshold
                                    : (scores >= reduce_max(scores, -1, true)) & (abs(scores) > 1e-9);
    const Tensor pred = cast(pos, dtype());
    const auto sum = [&](const Tensor& x) {
      const Tensor weighted =
          sample_weight.defined() ? x * expand_dims(as_type(sample_weight, dtype()), 1) : x;
      return o_.average == "micro" ? reduce_sum(weighted) : reduce_sum(weighted, 0);
    };
    true_positives_.assign_add(sum(pred * truth));
    false_positives_.assign_add(sum(pred * (1.0 - truth)));
    false_negatives_.assign_add(sum((1.0 - pred) * truth));
    weights_.assign_add(sum(truth));
  }

  Tensor result() const override {
    if (!weights_.defined()) fail_precondition(name(), "has seen nothing yet");
    const Tensor precision = true_positives_ / (true_positives_ + false_positives_ + kEpsilon);
    const Tensor recall = true_positives_ / (true_positives_ + false_negatives_ + kEpsilon);
    const double beta2 = o_.beta * o_.beta;
    const Tensor score = precision * recall / (beta2 * precision + recall + kEpsilon) * (1.0 + beta2);
    if (o_.average == "weighted") return reduce_sum(score * (weights_ / (reduce_sum(weights_) + kEpsilon)));
    return o_.average.empty() ? score : reduce_mean(score);
  }

 private:
  void build(const Tensor& truth, const Tensor& pred) {
    if (weights_.defined()) return;
    if (truth.rank() != 2 || pred.rank() != 2 || pred.dim(1) < 0)
      fail_invalid(name(), "y_true and y_pred must be (batch, classes): they are " +
                               truth.shape().to_string() + " and " + pred.shape().to_string());
    const Shape shape = o_.average == "micro" ? Shape() : Shape{pred.dim(1)};
    true_positives_ = add_variable(shape, "true_positives", dtype());
    false_positives_ = add_variable(shape, "false_positives", dtype());
    false_negatives_ = add_variable(shape, "false_negatives", dtype());
    weights_ = add_variable(shape, "intermediate_weights", dtype());
  }
  FBetaScoreOptions o_;
  Variable true_positives_, false_positives_, false_negatives_, weights_;
};

class IoUState : public MetricState {
 public:
  IoUState(std::string name, int64_t num_classes, std::vector<int64_t> targets, const IoUOptions& o,
           std::optional<double> threshold = {})
      : MetricState(std::move(name), DType::kInt64, Direction::kUp),
        classes_(num_classes),
        targets_(std::move(targets)),
        o_(o),
        threshold_(threshold) {
    for (const int64_t t : targets_)
      if (t < 0 || t >= num_classes)
        fail_invalid(this->name(), "target class " + std::to_string(t) + " is not one of " +
                                       std::to_string(num_classes) + " classes");
    matrix_ = add_variable({num_classes, num_classes}, "total_confusion_matrix", DType::kInt64);
  }

  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
              const Tensor&) override {
    const Tensor truth = flat(o_.sparse_y_true ? y_true : argmax(y_true, o_.axis));
    const Tensor pred = flat(threshold_         ? as_type(y_pred, float32) >= *threshold_
                             : o_.sparse_y_pred ? y_pred
                                                : argmax(y_pred, o_.axis));
    Tensor inside = (truth >= int64_t(0)) & (truth < classes_) & (pred >= int64_t(0)) & (pred < classes_);
    if (o_.ignore_class) inside = inside & (truth != *o_.ignore_class);
    Tensor weight = cast(inside, DType::kInt64);
    if (sample_weight.defined()) weight = weight * flat(sample_weight);
    const Tensor none = zeros_like(truth);
    matrix_.assign_add(confusion_matrix(where(inside, truth, none), where(inside, pred, none), classes_,
                                        weight, DType::kInt64));
  }

  Tensor result() const override {
    const Tensor matrix = matrix_;
    const Tensor hits = linalg::tensor_diag_part(matrix);
    const Tensor unions = reduce_sum(matrix, 0) + reduce_sum(matrix, 1) - hits;
    const Tensor ids = constant(targets_);
    const Tensor both = cast(gather(hits, ids), float32);
    const Tensor either = cast(gather(unions, ids), float32);
    const Tensor valid = either > 1e-9;
    const Tensor iou = where(valid, both / (either + kEpsilon), zeros_like(either));
    return reduce_sum(iou) / (reduce_sum(cast(valid, float32)) + kEpsilon);
  }

 private:
  static Tensor flat(const Tensor& x) {
    const Tensor numbers = as_type(x, DType::kInt64);
    return x.rank() > 1 ? reshape(numbers, {-1}) : numbers;
  }
  int64_t classes_;
  std::vector<int64_t> targets_;
  IoUOptions o_;
  std::optional<double> threshold_;
  Variable matrix_;
};

std::vector<int64_t> all_classes(int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) ids[size_t(i)] = i;
  return ids;
}
IoUOptions one_hot_options(const OneHotIoUOptions& o) {
  return {.ignore_class = o.ignore_class,
          .sparse_y_true = false,
          .sparse_y_pred = o.sparse_y_pred,
          .axis = o.axis};
}

// ---- configs

RW_KERAS_METRIC_ARGUMENTS(ScoreArguments)

template <class M, class O>
void fields(ConfigFields& f, ScoreArguments<M, O>& a) {
  O& o = a.options;
  common_fields(f, o);
  if constexpr (requires { o.target_class_ids; }) f("target_class_ids", o.target_class_ids);
  if constexpr (requires { o.average; }) f.or_null("average", o.average);
  if constexpr (requires { o.beta; }) f("beta", o.beta);
  else f.ignore("beta");
  f("threshold", o.threshold);
}

template <class M, class O>
struct OverlapArguments {
  using Made = M;
  int64_t num_classes = 0;
  std::vector<int64_t> target_class_ids;
  O options = {};
  M make() const {
    if constexpr (std::is_constructible_v<M, int64_t, std::vector<int64_t>, O>)
      return M(num_classes, target_class_ids, options);
    else return M(num_classes, options);
  }
};
template <class M, class O>
void fields(ConfigFields& f, OverlapArguments<M, O>& a) {
  O& o = a.options;
  f("num_classes", a.num_classes);
  if constexpr (std::is_constructible_v<M, int64_t, std::vector<int64_t>, O>)
    f("target_class_ids", a.target_class_ids);
  common_fields(f, o);
  f("ignore_class", o.ignore_class);
  if constexpr (requires { o.sparse_y_true; }) f("sparse_y_true", o.sparse_y_true);
  f("sparse_y_pred", o.sparse_y_pred);
  f("axis", o.axis);
}

}  // namespace

static void add_overlap_metrics(ClassRegistry& r) {
  add_class<ScoreArguments<FBetaScore, FBetaScoreOptions>>(r.metrics);
  add_class<ScoreArguments<F1Score, F1ScoreOptions>>(r.metrics);
  add_class<ScoreArguments<BinaryIoU, BinaryIoUOptions>>(r.metrics);
  add_class<OverlapArguments<IoU, IoUOptions>>(r.metrics);
  add_class<OverlapArguments<MeanIoU, IoUOptions>>(r.metrics);
  add_class<OverlapArguments<OneHotIoU, OneHotIoUOptions>>(r.metrics);
  add_class<OverlapArguments<OneHotMeanIoU, OneHotIoUOptions>>(r.metrics);
}

FBetaScore::FBetaScore(const FBetaScoreOptions& o) : Metric(std::make_shared<FBetaState>(o, "fbeta_score")) {
  set_origin(origin_of(ScoreArguments<FBetaScore, FBetaScoreOptions>{o}));
}
F1Score::F1Score(const F1ScoreOptions& o)
    : Metric(std::make_shared<FBetaState>(
          FBetaScoreOptions{.average = o.average, .threshold = o.threshold, .name = o.name, .dtype = o.dtype},
          "f1_score")) {
  set_origin(origin_of(ScoreArguments<F1Score, F1ScoreOptions>{o}));
}

IoU::IoU(int64_t num_classes, const std::vector<int64_t>& target_class_ids, const IoUOptions& o)
    : Metric(std::make_shared<IoUState>(name_or_auto(o.name, "IoU"), num_classes, target_class_ids, o)) {
  set_origin(origin_of(OverlapArguments<IoU, IoUOptions>{num_classes, target_class_ids, o}));
}
MeanIoU::MeanIoU(int64_t num_classes, const IoUOptions& o)
    : Metric(std::make_shared<IoUState>(name_or_auto(o.name, "MeanIoU"), num_classes,
                                        all_classes(num_classes), o)) {
  set_origin(origin_of(OverlapArguments<MeanIoU, IoUOptions>{num_classes, {}, o}));
}
OneHotIoU::OneHotIoU(int64_t num_classes, const std::vector<int64_t>& target_class_ids,
                     const OneHotIoUOptions& o)
    : Metric(std::make_shared<IoUState>(name_or_auto(o.name, "OneHotIoU"), num_classes, target_class_ids,
                                        one_hot_options(o))) {
  set_origin(origin_of(OverlapArguments<OneHotIoU, OneHotIoUOptions>{num_classes, target_class_ids, o}));
}
OneHotMeanIoU::OneHotMeanIoU(int64_t num_classes, const OneHotIoUOptions& o)
    : Metric(std::make_shared<IoUState>(name_or_auto(o.name, "OneHotMeanIoU"), num_classes,
                                        all_classes(num_classes), one_hot_options(o))) {
  set_origin(origin_of(OverlapArguments<OneHotMeanIoU, OneHotIoUOptions>{num_classes, {}, o}));
}
BinaryIoU::BinaryIoU(const BinaryIoUOptions& o)
    : Metric(std::make_shared<IoUState>(name_or_auto(o.name, "BinaryIoU"), 2, o.target_class_ids,
                                        IoUOptions{}, o.threshold)) {
  set_origin(origin_of(ScoreArguments<BinaryIoU, BinaryIoUOptions>{o}));
}

}  // namespace rw::keras::metrics

namespace rw::keras {
void add_overlap_metric_classes(ClassRegistry& r) { metrics::add_overlap_metrics(r); }
}  // namespace rw::keras
