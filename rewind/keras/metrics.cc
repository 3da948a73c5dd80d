#include "rewind/keras/metrics.h"

#include "rewind/base/error.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/keras/losses.h"
#include "rewind/keras/mean_metrics.h"
#include "rewind/keras/metric_config.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras::metrics {
namespace {

template <class O>
MetricOptions common(const O& o) {
  return {o.name, o.dtype};
}

class RootMeanState : public MeanState {
 public:
  using MeanState::MeanState;
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
              const Tensor&) override {
    const auto [truth, pred] = same_rank(as_type(y_true, dtype()), as_type(y_pred, dtype()));
    update_values(square(pred - truth), sample_weight, {});
  }
  Tensor result() const override { return sqrt(MeanState::result()); }
};

class R2State : public MetricState {
 public:
  explicit R2State(const R2ScoreOptions& o)
      : MetricState(o.name.empty() ? "r2_score" : o.name, o.dtype, Direction::kUp),
        aggregation_(o.class_aggregation),
        regressors_(o.num_regressors),
        samples_(add_variable({}, "num_samples")) {
    if (!aggregation_.empty() && aggregation_ != "uniform_average" &&
        aggregation_ != "variance_weighted_average")
      fail_invalid("R2Score",
                   "class_aggregation must be uniform_average, variance_weighted_average or empty: it is " +
                       aggregation_);
    if (regressors_ < 0)
      fail_invalid("R2Score", "num_regressors must not be negative: it is " + std::to_string(regressors_));
  }

  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
              const Tensor&) override {
    const auto [truth, pred] = same_rank(as_type(y_true, dtype()), as_type(y_pred, dtype()));
    build(truth, pred);
    Tensor weight = sample_weight.defined() ? as_type(sample_weight, dtype()) : scalar_tensor(1.0, dtype());
    if (weight.rank() == 1) weight = expand_dims(weight, 1);
    weight = weight * ones_like(truth);
    const Tensor weighted = truth * weight;
    sum_.assign_add(reduce_sum(weighted, 0));
    squares_.assign_add(reduce_sum(truth * weighted, 0));
    residual_.assign_add(reduce_sum(square(truth - pred) * weight, 0));
    count_.assign_add(reduce_sum(weight, 0));
    samples_.assign_add(element_count(truth, float32));
  }

  Tensor result() const override {
    if (!sum_.defined()) fail_precondition(name(), "has seen nothing yet");
    const Tensor mean = sum_ / count_;
    const Tensor total = squares_ - sum_ * mean;
    Tensor scores = 1.0 - residual_ / total;
    scores = where(math::is_inf(scores), zeros_like(scores), scores);
    Tensor score = aggregation_ == "uniform_average" ? reduce_mean(scores)
                   : aggregation_.empty()            ? scores
                                                     : reduce_sum(total * scores) / reduce_sum(total);
    if (regressors_ == 0) return score;
    const Tensor adjusted = 1.0 - (1.0 - score) * (samples_ - 1.0) / (samples_ - double(regressors_) - 1.0);
    return where(samples_ - 1.0 > double(regressors_), adjusted, score);
  }

 private:
  void build(const Tensor& truth, const Tensor& pred) {
    if (sum_.defined()) return;
    if (truth.rank() != 2 || pred.rank() != 2 || pred.dim(1) < 0)
      fail_invalid(name(), "y_true and y_pred must be (batch, outputs): they are " +
                               truth.shape().to_string() + " and " + pred.shape().to_string());
    squares_ = add_variable({pred.dim(1)}, "squared_sum");
    sum_ = add_variable({pred.dim(1)}, "sum");
    residual_ = add_variable({pred.dim(1)}, "residual");
    count_ = add_variable({pred.dim(1)}, "count");
  }

  std::string aggregation_;
  int64_t regressors_;
  Variable samples_, squares_, sum_, residual_, count_;
};

RW_KERAS_METRIC_ARGUMENTS(MeanArguments)
template <class M, class O>
void fields(ConfigFields& f, MeanArguments<M, O>& a) {
  O& o = a.options;
  common_fields(f, o);
  if constexpr (requires { o.threshold; }) f("threshold", o.threshold);
  if constexpr (requires { o.k; }) f("k", o.k);
  if constexpr (requires { o.from_logits; }) f("from_logits", o.from_logits);
  if constexpr (requires { o.label_smoothing; }) f("label_smoothing", o.label_smoothing);
  if constexpr (requires { o.ignore_class; }) f("ignore_class", o.ignore_class);
  // Keras leaves the axis of this one out.
  if constexpr (std::is_same_v<M, CosineSimilarity>) f.unless("axis", o.axis, -1);
  else if constexpr (requires { o.axis; }) f("axis", o.axis);
  if constexpr (std::is_same_v<M, CategoricalCrossentropy> ||
                std::is_same_v<M, SparseCategoricalCrossentropy>)
    f.only("axis", -1);
  if constexpr (requires { o.class_aggregation; }) f.or_null("class_aggregation", o.class_aggregation);
  if constexpr (requires { o.num_regressors; }) f("num_regressors", o.num_regressors);
  f.ignore("fn");
}

}  // namespace

#define RW_KERAS_SIMPLE_METRIC(Class, function, name, direction)                                           \
  Class::Class(const MetricOptions& o)                                                                     \
      : Metric(of_function([](const Tensor& y, const Tensor& p) { return LossValues(function(y, p)); }, o, \
                           Direction::direction, name)) {                                                  \
    set_origin(origin_of(MeanArguments<Class, MetricOptions>{o}));                                         \
  }
RW_KERAS_SIMPLE_METRIC(Accuracy, accuracy, "accuracy", kUp)
RW_KERAS_SIMPLE_METRIC(CategoricalAccuracy, categorical_accuracy, "categorical_accuracy", kUp)
RW_KERAS_SIMPLE_METRIC(SparseCategoricalAccuracy, sparse_categorical_accuracy, "sparse_categorical_accuracy",
                       kUp)
RW_KERAS_SIMPLE_METRIC(MeanSquaredError, mean_squared_error, "mean_squared_error", kDown)
RW_KERAS_SIMPLE_METRIC(MeanAbsoluteError, mean_absolute_error, "mean_absolute_error", kDown)
RW_KERAS_SIMPLE_METRIC(MeanAbsolutePercentageError, mean_absolute_percentage_error,
                       "mean_absolute_percentage_error", kDown)
RW_KERAS_SIMPLE_METRIC(MeanSquaredLogarithmicError, mean_squared_logarithmic_error,
                       "mean_squared_logarithmic_error", kDown)
RW_KERAS_SIMPLE_METRIC(LogCoshError, log_cosh, "logcosh", kDown)
RW_KERAS_SIMPLE_METRIC(Hinge, hinge, "hinge", kDown)
RW_KERAS_SIMPLE_METRIC(SquaredHinge, squared_hinge, "squared_hinge", kDown)
RW_KERAS_SIMPLE_METRIC(CategoricalHinge, categorical_hinge, "categorical_hinge", kDown)
RW_KERAS_SIMPLE_METRIC(KLDivergence, kl_divergence, "kl_divergence", kDown)
RW_KERAS_SIMPLE_METRIC(Poisson, poisson, "poisson", kDown)
#undef RW_KERAS_SIMPLE_METRIC

RootMeanSquaredError::RootMeanSquaredError(const MetricOptions& o)
    : Metric(std::make_shared<RootMeanState>(o.name.empty() ? "root_mean_squared_error" : o.name, o.dtype,
                                             Direction::kDown)) {
  set_origin(origin_of(MeanArguments<RootMeanSquaredError, MetricOptions>{o}));
}
R2Score::R2Score(const R2ScoreOptions& o) : Metric(std::make_shared<R2State>(o)) {
  set_origin(origin_of(MeanArguments<R2Score, R2ScoreOptions>{o}));
}

BinaryAccuracy::BinaryAccuracy(const BinaryAccuracyOptions& o)
    : Metric(of_function(
          [t = o.threshold](const Tensor& y, const Tensor& p) { return binary_accuracy(y, p, t); }, common(o),
          Direction::kUp, "binary_accuracy")) {
  set_origin(origin_of(MeanArguments<BinaryAccuracy, BinaryAccuracyOptions>{o}));
}
TopKCategoricalAccuracy::TopKCategoricalAccuracy(const TopKOptions& o)
    : Metric(of_function(
          [k = o.k](const Tensor& y, const Tensor& p) { return top_k_categorical_accuracy(y, p, k); },
          common(o), Direction::kUp, "top_k_categorical_accuracy")) {
  set_origin(origin_of(MeanArguments<TopKCategoricalAccuracy, TopKOptions>{o}));
}
SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(const TopKOptions& o)
    : Metric(of_function(
          [k = o.k](const Tensor& y, const Tensor& p) { return sparse_top_k_categorical_accuracy(y, p, k); },
          common(o), Direction::kUp, "sparse_top_k_categorical_accuracy")) {
  set_origin(origin_of(MeanArguments<SparseTopKCategoricalAccuracy, TopKOptions>{o}));
}

BinaryCrossentropy::BinaryCrossentropy(const CrossentropyMetricOptions& o)
    : Metric(of_function([c = CrossentropyOptions{o.from_logits, o.label_smoothing}](
                             const Tensor& y, const Tensor& p) { return binary_crossentropy(y, p, c); },
                         common(o), Direction::kDown, "binary_crossentropy")) {
  set_origin(origin_of(MeanArguments<BinaryCrossentropy, CrossentropyMetricOptions>{o}));
}
CategoricalCrossentropy::CategoricalCrossentropy(const CrossentropyMetricOptions& o)
    : Metric(of_function([c = CrossentropyOptions{o.from_logits, o.label_smoothing}](
                             const Tensor& y, const Tensor& p) { return categorical_crossentropy(y, p, c); },
                         common(o), Direction::kDown, "categorical_crossentropy")) {
  set_origin(origin_of(MeanArguments<CategoricalCrossentropy, CrossentropyMetricOptions>{o}));
}
SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(const SparseCrossentropyMetricOptions& o)
    : Metric(of_function(
          [c = SparseCrossentropyOptions{o.from_logits, o.ignore_class}](const Tensor& y, const Tensor& p) {
            return sparse_categorical_crossentropy(y, p, c);
          },
          common(o), Direction::kDown, "sparse_categorical_crossentropy")) {
  set_origin(origin_of(MeanArguments<SparseCategoricalCrossentropy, SparseCrossentropyMetricOptions>{o}));
}

CosineSimilarity::CosineSimilarity(const AxisMetricOptions& o)
    : Metric(of_function(
          [a = o.axis](const Tensor& y, const Tensor& p) { return metrics::cosine_similarity(y, p, a); },
          common(o), Direction::kUp, "cosine_similarity")) {
  set_origin(origin_of(MeanArguments<CosineSimilarity, AxisMetricOptions>{o}));
}
PearsonCorrelation::PearsonCorrelation(const AxisMetricOptions& o)
    : Metric(
          of_function([a = o.axis](const Tensor& y, const Tensor& p) { return pearson_correlation(y, p, a); },
                      common(o), Direction::kUp, "pearson_correlation")) {
  set_origin(origin_of(MeanArguments<PearsonCorrelation, AxisMetricOptions>{o}));
}
ConcordanceCorrelation::ConcordanceCorrelation(const AxisMetricOptions& o)
    : Metric(of_function(
          [a = o.axis](const Tensor& y, const Tensor& p) { return concordance_correlation(y, p, a); },
          common(o), Direction::kUp, "concordance_correlation")) {
  set_origin(origin_of(MeanArguments<ConcordanceCorrelation, AxisMetricOptions>{o}));
}

// ---- by name ----------------------------------------------------------------------------------------------

namespace {

struct Named {
  const char* class_name;
  const char* function_name;
  const char* short_name;
  Metric (*make)();
};

#define RW_NAMED(Class, function, brief) {#Class, function, brief, [] { return Metric(Class()); }}
const Named kNamed[] = {
    RW_NAMED(Accuracy, "accuracy", "acc"),
    RW_NAMED(BinaryAccuracy, "binary_accuracy", "bacc"),
    RW_NAMED(CategoricalAccuracy, "categorical_accuracy", ""),
    RW_NAMED(SparseCategoricalAccuracy, "sparse_categorical_accuracy", ""),
    RW_NAMED(TopKCategoricalAccuracy, "top_k_categorical_accuracy", ""),
    RW_NAMED(SparseTopKCategoricalAccuracy, "sparse_top_k_categorical_accuracy", ""),
    RW_NAMED(MeanSquaredError, "mean_squared_error", "mse"),
    RW_NAMED(MeanAbsoluteError, "mean_absolute_error", "mae"),
    RW_NAMED(MeanAbsolutePercentageError, "mean_absolute_percentage_error", "mape"),
    RW_NAMED(MeanSquaredLogarithmicError, "mean_squared_logarithmic_error", "msle"),
    RW_NAMED(RootMeanSquaredError, "root_mean_squared_error", "rmse"),
    RW_NAMED(LogCoshError, "log_cosh_error", "logcosh"),
    RW_NAMED(R2Score, "r2_score", ""),
    RW_NAMED(BinaryCrossentropy, "binary_crossentropy", "bce"),
    RW_NAMED(CategoricalCrossentropy, "categorical_crossentropy", ""),
    RW_NAMED(SparseCategoricalCrossentropy, "sparse_categorical_crossentropy", ""),
    RW_NAMED(KLDivergence, "kl_divergence", "kld"),
    RW_NAMED(Poisson, "poisson", ""),
    RW_NAMED(Hinge, "hinge", ""),
    RW_NAMED(SquaredHinge, "squared_hinge", ""),
    RW_NAMED(CategoricalHinge, "categorical_hinge", ""),
    RW_NAMED(CosineSimilarity, "cosine_similarity", ""),
    RW_NAMED(PearsonCorrelation, "pearson_correlation", ""),
    RW_NAMED(ConcordanceCorrelation, "concordance_correlation", ""),
    RW_NAMED(TruePositives, "true_positives", ""),
    RW_NAMED(TrueNegatives, "true_negatives", ""),
    RW_NAMED(FalsePositives, "false_positives", ""),
    RW_NAMED(FalseNegatives, "false_negatives", ""),
    RW_NAMED(Precision, "precision", ""),
    RW_NAMED(Recall, "recall", ""),
    RW_NAMED(AUC, "auc", ""),
    RW_NAMED(FBetaScore, "fbeta_score", ""),
    RW_NAMED(F1Score, "f1_score", ""),
    RW_NAMED(BinaryIoU, "binary_io_u", ""),
};
#undef RW_NAMED

std::string small_letters(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return text;
}

}  // namespace

Metric get(const std::string& name) {
  std::string known;
  for (const Named& n : kNamed) {
    const bool short_form = *n.short_name && small_letters(name) == n.short_name;
    if (name == n.class_name || name == n.function_name || short_form) return n.make();
    known += std::string(known.empty() ? "" : ", ") + n.function_name;
  }
  fail_invalid("metrics.get", "there is no metric \"" + name + "\"; known are " + known);
}

Metric get(const std::string& name, const Shape& y_true, const Shape& y_pred) {
  const std::string small = small_letters(name);
  if (small != "accuracy" && small != "acc") {
    Metric metric = get(name);
    metric.rename(name);
    return metric;
  }
  if (y_pred.has_rank() && y_pred.rank() > 0 && y_pred.back() == 1) return BinaryAccuracy({.name = name});
  if (y_true.rank() < y_pred.rank() || (y_true.rank() > 0 && y_true.back() == 1 && y_pred.back() > 1))
    return SparseCategoricalAccuracy({.name = name});
  return CategoricalAccuracy({.name = name});
}

template <class M, class O>
static void add_metric(ClassRegistry& r) {
  add_class<MeanArguments<M, O>>(r.metrics);
}
static void add_mean_metrics(ClassRegistry& r) {
  add_metric<Accuracy, MetricOptions>(r);
  add_metric<CategoricalAccuracy, MetricOptions>(r);
  add_metric<SparseCategoricalAccuracy, MetricOptions>(r);
  add_metric<MeanSquaredError, MetricOptions>(r);
  add_metric<MeanAbsoluteError, MetricOptions>(r);
  add_metric<MeanAbsolutePercentageError, MetricOptions>(r);
  add_metric<MeanSquaredLogarithmicError, MetricOptions>(r);
  add_metric<LogCoshError, MetricOptions>(r);
  add_metric<Hinge, MetricOptions>(r);
  add_metric<SquaredHinge, MetricOptions>(r);
  add_metric<CategoricalHinge, MetricOptions>(r);
  add_metric<KLDivergence, MetricOptions>(r);
  add_metric<Poisson, MetricOptions>(r);
  add_metric<RootMeanSquaredError, MetricOptions>(r);
  add_metric<BinaryAccuracy, BinaryAccuracyOptions>(r);
  add_metric<TopKCategoricalAccuracy, TopKOptions>(r);
  add_metric<SparseTopKCategoricalAccuracy, TopKOptions>(r);
  add_metric<BinaryCrossentropy, CrossentropyMetricOptions>(r);
  add_metric<CategoricalCrossentropy, CrossentropyMetricOptions>(r);
  add_metric<SparseCategoricalCrossentropy, SparseCrossentropyMetricOptions>(r);
  add_metric<CosineSimilarity, AxisMetricOptions>(r);
  add_metric<PearsonCorrelation, AxisMetricOptions>(r);
  add_metric<ConcordanceCorrelation, AxisMetricOptions>(r);
  add_metric<R2Score, R2ScoreOptions>(r);
}

}  // namespace rw::keras::metrics

namespace rw::keras {

void add_mean_metric_classes(ClassRegistry& r) {
  metrics::add_mean_metrics(r);
  metrics::add_value_metrics(r);
}

}  // namespace rw::keras
