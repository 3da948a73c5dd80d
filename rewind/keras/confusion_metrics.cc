// Metrics that are rates of true and false positives and negatives.
#include <algorithm>

#include "rewind/base/ascii.h"
#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/activations.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/keras/confusion_counts.h"
#include "rewind/keras/layer_name.h"
#include "rewind/keras/metric_config.h"
#include "rewind/keras/metrics.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras::metrics {
namespace {

using math::divide_no_nan;

std::vector<double> thresholds_or(const std::vector<double>& given, double otherwise, const char* tag) {
  for (const double t : given)
    if (!(t >= 0 && t <= 1)) fail_invalid(tag, "thresholds must lie in [0, 1]: one is " + number_text(t));
  return given.empty() ? std::vector<double>{otherwise} : given;
}

// The counts as variables of a metric, and what they count.
class CountingState : public MetricState {
 public:
  CountingState(std::string name, DType dtype, Direction direction, ConfusionOptions options)
      : MetricState(std::move(name), dtype, direction), options_(std::move(options)) {}
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
              const Tensor&) override {
    count_confusions(counts_, y_true, y_pred, sample_weight, options_);
  }

 protected:
  Shape shape() const { return {int64_t(options_.thresholds.size())}; }
  Tensor one_or_all(const Tensor& x) const { return options_.thresholds.size() == 1 ? x[0] : x; }
  Tensor recall() const {
    return divide_no_nan(counts_.true_positives, counts_.true_positives + counts_.false_negatives);
  }
  Tensor precision() const {
    return divide_no_nan(counts_.true_positives, counts_.true_positives + counts_.false_positives);
  }
  Tensor specificity() const {
    return divide_no_nan(counts_.true_negatives, counts_.true_negatives + counts_.false_positives);
  }
  ConfusionOptions options_;
  ConfusionCounts counts_;
};

class OneCountState : public CountingState {
 public:
  OneCountState(const char* class_name, const CountOptions& o, Variable ConfusionCounts::* which)
      : CountingState(name_or_auto(o.name, class_name), o.dtype, Direction::kUnknown, counted(o, class_name)),
        which_(which) {
    counts_.*which = add_variable(shape(), "accumulator");
  }
  Tensor result() const override { return one_or_all((counts_.*which_).value()); }

 private:
  static ConfusionOptions counted(const CountOptions& o, const char* tag) {
    std::vector<double> thresholds = thresholds_or(o.thresholds, 0.5, tag);
    const bool even = evenly_distributed(thresholds);
    return {.thresholds = std::move(thresholds), .even = even};
  }
  Variable ConfusionCounts::* which_;
};

class PrecisionRecallState : public CountingState {
 public:
  PrecisionRecallState(const char* class_name, const PrecisionOptions& o, bool precision)
      : CountingState(name_or_auto(o.name, class_name), o.dtype, Direction::kUp, counted(o, class_name)),
        precision_(precision) {
    counts_.true_positives = add_variable(shape(), "true_positives");
    if (precision) counts_.false_positives = add_variable(shape(), "false_positives");
    else counts_.false_negatives = add_variable(shape(), "false_negatives");
  }
  Tensor result() const override { return one_or_all(precision_ ? precision() : recall()); }

 private:
  static ConfusionOptions counted(const PrecisionOptions& o, const char* tag) {
    constexpr double kBelowAll = -1e10;
    std::vector<double> thresholds = thresholds_or(o.thresholds, o.top_k ? kBelowAll : 0.5, tag);
    const bool even = evenly_distributed(thresholds);
    return {.thresholds = std::move(thresholds), .even = even, .top_k = o.top_k, .class_id = o.class_id};
  }
  bool precision_;
};

enum class Rate { kSensitivity, kSpecificity, kPrecision };

// The best of one rate where the other is at least `value`.
class AtRateState : public CountingState {
 public:
  AtRateState(const char* class_name, double value, const AtRateOptions& o, Rate wanted, Rate bounded)
      : CountingState(name_or_auto(o.name, class_name), o.dtype, Direction::kUp, counted(o, class_name)),
        value_(value),
        wanted_(wanted),
        bounded_(bounded) {
    if (!(value >= 0 && value <= 1))
      fail_invalid(class_name, "the rate must lie in [0, 1]: it is " + number_text(value));
    counts_.true_positives = add_variable(shape(), "true_positives");
    counts_.false_positives = add_variable(shape(), "false_positives");
    counts_.true_negatives = add_variable(shape(), "true_negatives");
    counts_.false_negatives = add_variable(shape(), "false_negatives");
  }
  Tensor result() const override {
    const Tensor wanted = rate(wanted_);
    return reduce_max(where(rate(bounded_) >= value_, wanted, zeros_like(wanted)));
  }

 private:
  static ConfusionOptions counted(const AtRateOptions& o, const char* tag) {
    if (o.num_thresholds <= 0)
      fail_invalid(tag, "num_thresholds must be positive: it is " + std::to_string(o.num_thresholds));
    if (o.num_thresholds == 1) return {.thresholds = {0.5}, .class_id = o.class_id};
    std::vector<double> thresholds{0.0};
    for (int64_t i = 0; i < o.num_thresholds - 2; ++i)
      thresholds.push_back(double(i + 1) / double(o.num_thresholds - 1));
    thresholds.push_back(1.0);
    return {.thresholds = std::move(thresholds), .even = true, .class_id = o.class_id};
  }
  Tensor rate(Rate r) const {
    return r == Rate::kSensitivity ? recall() : r == Rate::kSpecificity ? specificity() : precision();
  }
  double value_;
  Rate wanted_, bounded_;
};

class AUCState : public CountingState {
 public:
  explicit AUCState(const AUCOptions& o)
      : CountingState(name_or_auto(o.name, "AUC"), o.dtype, Direction::kUp, counted(o)), o_(o) {
    o_.curve = ascii::to_upper(o_.curve);
    if (o_.curve != "ROC" && o_.curve != "PR" && o_.curve != "PRGAIN")
      fail_invalid("AUC", "curve must be ROC, PR or PRGAIN: it is " + o.curve);
    if (o.summation_method != "interpolation" && o.summation_method != "minoring" &&
        o.summation_method != "majoring")
      fail_invalid(
          "AUC", "summation_method must be interpolation, minoring or majoring: it is " + o.summation_method);
    if (o.num_labels && !o.multi_label) fail_invalid("AUC", "num_labels needs multi_label");
    if (!o.label_weights.empty()) weights_ = constant(o.label_weights, float32);
    if (!o.multi_label) options_.label_weights = weights_;
    if (!o.multi_label) build(shape());
    else if (o.num_labels) build({shape()[0], *o.num_labels});
  }

  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
              const Tensor& mask) override {
    if (!counts_.true_positives.defined()) {
      if (y_pred.rank() != 2 || y_pred.dim(1) < 0)
        fail_invalid(name(),
                     "multi_label needs predictions (batch, labels): they are " + y_pred.shape().to_string());
      build({shape()[0], y_pred.dim(1)});
    }
    CountingState::update(y_true, o_.from_logits ? sigmoid(y_pred) : y_pred, sample_weight, mask);
  }

  Tensor result() const override {
    if (!counts_.true_positives.defined()) fail_precondition(name(), "has seen nothing yet");
    if (o_.curve == "PR" && o_.summation_method == "interpolation")
      return total(precision_recall_increments());
    Tensor x, y;
    curve(&x, &y);
    const Tensor low = lower(y);
    const Tensor high = upper(y);
    const Tensor heights = o_.summation_method == "interpolation" ? (low + high) / 2.0
                           : o_.summation_method == "minoring"    ? minimum(low, high)
                                                                  : maximum(low, high);
    return total((lower(x) - upper(x)) * heights);
  }

 private:
  static ConfusionOptions counted(const AUCOptions& o) {
    std::vector<double> inner = o.thresholds;
    bool even = true;
    if (inner.empty()) {
      if (o.num_thresholds <= 1)
        fail_invalid("AUC", "num_thresholds must be above 1: it is " + std::to_string(o.num_thresholds));
      for (int64_t i = 0; i < o.num_thresholds - 2; ++i)
        inner.push_back(double(i + 1) / double(o.num_thresholds - 1));
    } else {
      std::sort(inner.begin(), inner.end());
      std::vector<double> all = inner;
      all.insert(all.begin(), 0.0);
      all.push_back(1.0);
      even = evenly_distributed(all);
    }
    inner.insert(inner.begin(), 0.0 - kEpsilon);
    inner.push_back(1.0 + kEpsilon);
    return {.thresholds = std::move(inner), .even = even, .multi_label = o.multi_label};
  }
  void build(const Shape& s) {
    counts_.true_positives = add_variable(s, "true_positives");
    counts_.false_positives = add_variable(s, "false_positives");
    counts_.true_negatives = add_variable(s, "true_negatives");
    counts_.false_negatives = add_variable(s, "false_negatives");
  }
  // All thresholds but the last; all but the first.
  static Tensor lower(const Tensor& x) { return x(Slice(0, x.dim(0) - 1)); }
  static Tensor upper(const Tensor& x) { return x(Slice(1, x.dim(0))); }

  void curve(Tensor* x, Tensor* y) const {
    const Tensor tp = counts_.true_positives;
    const Tensor fp = counts_.false_positives;
    const Tensor fn = counts_.false_negatives;
    if (o_.curve == "ROC") {
      *x = divide_no_nan(fp, fp + counts_.true_negatives);
      *y = recall();
    } else if (o_.curve == "PR") {
      *x = recall();
      *y = precision();
    } else {
      const Tensor scale = divide_no_nan(tp + fn, counts_.true_negatives + fp);
      const Tensor none = tp == 0.0;
      *x = maximum(where(none, zeros_like(tp), 1.0 - scale * divide_no_nan(fn, tp)), 0.0);
      *y = where(none, ones_like(tp), 1.0 - scale * divide_no_nan(fp, tp));
    }
  }

  // The area under a precision-recall curve whose precision is interpolated as Davis and Goadrich do.
  Tensor precision_recall_increments() const {
    const Tensor tp = counts_.true_positives;
    const Tensor p = tp + counts_.false_positives;
    const Tensor dtp = lower(tp) - upper(tp);
    const Tensor slope = divide_no_nan(dtp, maximum(lower(p) - upper(p), 0.0));
    const Tensor intercept = upper(tp) - slope * upper(p);
    const Tensor ratio = where((lower(p) > 0.0) & (upper(p) > 0.0),
                               divide_no_nan(lower(p), maximum(upper(p), 0.0)), ones_like(upper(p)));
    return divide_no_nan(slope * (dtp + intercept * math::log(ratio)),
                         maximum(upper(tp) + upper(counts_.false_negatives), 0.0));
  }

  Tensor total(const Tensor& increments) const {
    if (!o_.multi_label) return reduce_sum(increments);
    const Tensor by_label = reduce_sum(increments, 0);
    if (!weights_.defined()) return reduce_mean(by_label);
    return divide_no_nan(reduce_sum(by_label * weights_), reduce_sum(weights_));
  }

  AUCOptions o_;
  Tensor weights_;
};

// ---- configs

RW_KERAS_METRIC_ARGUMENTS(CountArguments)

template <class M>
void fields(ConfigFields& f, CountArguments<M, CountOptions>& a) {
  common_fields(f, a.options);
  thresholds_field(f, a.options.thresholds);
}
template <class M>
void fields(ConfigFields& f, CountArguments<M, PrecisionOptions>& a) {
  common_fields(f, a.options);
  thresholds_field(f, a.options.thresholds);
  f("top_k", a.options.top_k);
  f("class_id", a.options.class_id);
}

template <class M>
struct AtRateArguments {
  using Made = M;
  double rate = 0;
  AtRateOptions options = {};
  M make() const { return M(rate, options); }
};
template <class M>
void fields(ConfigFields& f, AtRateArguments<M>& a) {
  const char* const rate = std::is_same_v<M, SensitivityAtSpecificity>   ? "specificity"
                           : std::is_same_v<M, SpecificityAtSensitivity> ? "sensitivity"
                           : std::is_same_v<M, PrecisionAtRecall>        ? "recall"
                                                                         : "precision";
  common_fields(f, a.options);
  f("class_id", a.options.class_id);
  f("num_thresholds", a.options.num_thresholds);
  f(rate, a.rate);
}

// Weights are written as a tensor; thresholds of one's own stand beside their number, with the two ends.
void fields(ConfigFields& f, CountArguments<AUC, AUCOptions>& a) {
  AUCOptions& o = a.options;
  common_fields(f, o);
  int64_t count = o.thresholds.empty() ? o.num_thresholds : int64_t(o.thresholds.size()) + 2;
  f("num_thresholds", count);
  o.num_thresholds = count;
  f("curve", o.curve);
  f("summation_method", o.summation_method);
  f("multi_label", o.multi_label);
  f("num_labels", o.num_labels);
  Tensor weights = o.label_weights.empty() ? Tensor() : constant(o.label_weights, float32);
  if (weights.defined() && f.object()) {
    Config value;
    value["class_name"] = "__tensor__";
    value["config"]["value"] = to_config(weights);
    value["config"]["dtype"] = "float32";
    f.set("label_weights", std::move(value));
  } else {
    f("label_weights", weights);
    if (weights.defined()) o.label_weights = cast(weights, float64).to_vector<double>();
  }
  f("from_logits", o.from_logits);
  if (f.is_reading() || !o.thresholds.empty()) f.list_or_null("thresholds", o.thresholds);
}

template <class O, class... M>
void add_metrics(ClassRegistry& r) {
  (add_class<CountArguments<M, O>>(r.metrics), ...);
}
template <class... M>
void add_rates(ClassRegistry& r) {
  (add_class<AtRateArguments<M>>(r.metrics), ...);
}

}  // namespace

static void add_confusion_metrics(ClassRegistry& r) {
  add_metrics<CountOptions, TruePositives, TrueNegatives, FalsePositives, FalseNegatives>(r);
  add_metrics<PrecisionOptions, Precision, Recall>(r);
  add_metrics<AUCOptions, AUC>(r);
  add_rates<SensitivityAtSpecificity, SpecificityAtSensitivity, PrecisionAtRecall, RecallAtPrecision>(r);
}

TruePositives::TruePositives(const CountOptions& o)
    : Metric(std::make_shared<OneCountState>("TruePositives", o, &ConfusionCounts::true_positives)) {
  set_origin(origin_of(CountArguments<TruePositives, CountOptions>{o}));
}
TrueNegatives::TrueNegatives(const CountOptions& o)
    : Metric(std::make_shared<OneCountState>("TrueNegatives", o, &ConfusionCounts::true_negatives)) {
  set_origin(origin_of(CountArguments<TrueNegatives, CountOptions>{o}));
}
FalsePositives::FalsePositives(const CountOptions& o)
    : Metric(std::make_shared<OneCountState>("FalsePositives", o, &ConfusionCounts::false_positives)) {
  set_origin(origin_of(CountArguments<FalsePositives, CountOptions>{o}));
}
FalseNegatives::FalseNegatives(const CountOptions& o)
    : Metric(std::make_shared<OneCountState>("FalseNegatives", o, &ConfusionCounts::false_negatives)) {
  set_origin(origin_of(CountArguments<FalseNegatives, CountOptions>{o}));
}
Precision::Precision(const PrecisionOptions& o)
    : Metric(std::make_shared<PrecisionRecallState>("Precision", o, true)) {
  set_origin(origin_of(CountArguments<Precision, PrecisionOptions>{o}));
}
Recall::Recall(const RecallOptions& o) : Metric(std::make_shared<PrecisionRecallState>("Recall", o, false)) {
  set_origin(origin_of(CountArguments<Recall, PrecisionOptions>{o}));
}

SensitivityAtSpecificity::SensitivityAtSpecificity(double specificity, const AtRateOptions& o)
    : Metric(std::make_shared<AtRateState>("SensitivityAtSpecificity", specificity, o, Rate::kSensitivity,
                                           Rate::kSpecificity)) {
  set_origin(origin_of(AtRateArguments<SensitivityAtSpecificity>{specificity, o}));
}
SpecificityAtSensitivity::SpecificityAtSensitivity(double sensitivity, const AtRateOptions& o)
    : Metric(std::make_shared<AtRateState>("SpecificityAtSensitivity", sensitivity, o, Rate::kSpecificity,
                                           Rate::kSensitivity)) {
  set_origin(origin_of(AtRateArguments<SpecificityAtSensitivity>{sensitivity, o}));
}
PrecisionAtRecall::PrecisionAtRecall(double recall, const AtRateOptions& o)
    : Metric(std::make_shared<AtRateState>("PrecisionAtRecall", recall, o, Rate::kPrecision,
                                           Rate::kSensitivity)) {
  set_origin(origin_of(AtRateArguments<PrecisionAtRecall>{recall, o}));
}
RecallAtPrecision::RecallAtPrecision(double precision, const AtRateOptions& o)
    : Metric(std::make_shared<AtRateState>("RecallAtPrecision", precision, o, Rate::kSensitivity,
                                           Rate::kPrecision)) {
  set_origin(origin_of(AtRateArguments<RecallAtPrecision>{precision, o}));
}

AUC::AUC(const AUCOptions& o) : Metric(std::make_shared<AUCState>(o)) {
  AUCOptions written = o;
  written.curve = ascii::to_upper(o.curve);
  set_origin(origin_of(CountArguments<AUC, AUCOptions>{written}));
}

}  // namespace rw::keras::metrics

namespace rw::keras {
void add_confusion_metric_classes(ClassRegistry& r) { metrics::add_confusion_metrics(r); }
}  // namespace rw::keras
