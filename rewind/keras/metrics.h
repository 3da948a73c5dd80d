// The metrics, with Keras' names, defaults and arithmetic. Those whose name no loss has are in rw::keras too:
// keras::AUC and keras::metrics::AUC are the same, keras::MeanSquaredError is the loss.
#pragma once

#include <optional>
#include <vector>

#include "rewind/keras/metric.h"

namespace rw::keras {
namespace metrics {

// ---- functions: one value an example ----------------------------------------------------------------------

Tensor accuracy(const Operand& y_true, const Operand& y_pred);
Tensor binary_accuracy(const Operand& y_true, const Operand& y_pred, double threshold = 0.5);
Tensor categorical_accuracy(const Operand& y_true, const Operand& y_pred);
Tensor sparse_categorical_accuracy(const Operand& y_true, const Operand& y_pred);
Tensor top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred, int64_t k = 5);
Tensor sparse_top_k_categorical_accuracy(const Operand& y_true, const Operand& y_pred, int64_t k = 5);
Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred, int axis = -1);
Tensor pearson_correlation(const Operand& y_true, const Operand& y_pred, int axis = -1);
Tensor concordance_correlation(const Operand& y_true, const Operand& y_pred, int axis = -1);
// Row: label, column: prediction, each a class number. Weights may be undefined.
Tensor confusion_matrix(const Operand& labels, const Operand& predictions, int64_t num_classes,
                        const Tensor& weights = {}, DType dtype = DType::kInt32);

// ---- means ------------------------------------------------------------------------------------------------

#define RW_KERAS_SIMPLE_METRIC(Class)                  \
  class Class : public Metric {                        \
   public:                                             \
    explicit Class(const MetricOptions& options = {}); \
  };
RW_KERAS_SIMPLE_METRIC(Accuracy)
RW_KERAS_SIMPLE_METRIC(CategoricalAccuracy)
RW_KERAS_SIMPLE_METRIC(SparseCategoricalAccuracy)
RW_KERAS_SIMPLE_METRIC(MeanSquaredError)
RW_KERAS_SIMPLE_METRIC(MeanAbsoluteError)
RW_KERAS_SIMPLE_METRIC(MeanAbsolutePercentageError)
RW_KERAS_SIMPLE_METRIC(MeanSquaredLogarithmicError)
RW_KERAS_SIMPLE_METRIC(RootMeanSquaredError)
RW_KERAS_SIMPLE_METRIC(LogCoshError)
RW_KERAS_SIMPLE_METRIC(Hinge)
RW_KERAS_SIMPLE_METRIC(SquaredHinge)
RW_KERAS_SIMPLE_METRIC(CategoricalHinge)
RW_KERAS_SIMPLE_METRIC(KLDivergence)
RW_KERAS_SIMPLE_METRIC(Poisson)
#undef RW_KERAS_SIMPLE_METRIC

// The fields that every metric's options end with.
#define RW_KERAS_METRIC_OPTIONS \
  std::string name = "";        \
  DType dtype = DType::kFloat32;

struct BinaryAccuracyOptions {
  double threshold = 0.5;
  RW_KERAS_METRIC_OPTIONS
};
class BinaryAccuracy : public Metric {
 public:
  explicit BinaryAccuracy(const BinaryAccuracyOptions& options = {});
};
struct TopKOptions {
  int64_t k = 5;
  RW_KERAS_METRIC_OPTIONS
};
class TopKCategoricalAccuracy : public Metric {
 public:
  explicit TopKCategoricalAccuracy(const TopKOptions& options = {});
};
class SparseTopKCategoricalAccuracy : public Metric {
 public:
  explicit SparseTopKCategoricalAccuracy(const TopKOptions& options = {});
};
struct CrossentropyMetricOptions {
  bool from_logits = false;
  double label_smoothing = 0.0;
  RW_KERAS_METRIC_OPTIONS
};
class BinaryCrossentropy : public Metric {
 public:
  explicit BinaryCrossentropy(const CrossentropyMetricOptions& options = {});
};
class CategoricalCrossentropy : public Metric {
 public:
  explicit CategoricalCrossentropy(const CrossentropyMetricOptions& options = {});
};
struct SparseCrossentropyMetricOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  RW_KERAS_METRIC_OPTIONS
};
class SparseCategoricalCrossentropy : public Metric {
 public:
  explicit SparseCategoricalCrossentropy(const SparseCrossentropyMetricOptions& options = {});
};
struct AxisMetricOptions {
  int axis = -1;
  RW_KERAS_METRIC_OPTIONS
};
class CosineSimilarity : public Metric {
 public:
  explicit CosineSimilarity(const AxisMetricOptions& options = {});
};
class PearsonCorrelation : public Metric {
 public:
  explicit PearsonCorrelation(const AxisMetricOptions& options = {});
};
class ConcordanceCorrelation : public Metric {
 public:
  explicit ConcordanceCorrelation(const AxisMetricOptions& options = {});
};
struct R2ScoreOptions {
  std::string class_aggregation =
      "uniform_average";       // "variance_weighted_average", "" for one score a column
  int64_t num_regressors = 0;  // above 0: the adjusted score
  RW_KERAS_METRIC_OPTIONS
};
class R2Score : public Metric {
 public:
  explicit R2Score(const R2ScoreOptions& options = {});
};

// ---- counts at thresholds ---------------------------------------------------------------------------------

struct CountOptions {
  std::vector<double> thresholds = {};  // empty: 0.5
  RW_KERAS_METRIC_OPTIONS
};
class TruePositives : public Metric {
 public:
  explicit TruePositives(const CountOptions& options = {});
};
class TrueNegatives : public Metric {
 public:
  explicit TrueNegatives(const CountOptions& options = {});
};
class FalsePositives : public Metric {
 public:
  explicit FalsePositives(const CountOptions& options = {});
};
class FalseNegatives : public Metric {
 public:
  explicit FalseNegatives(const CountOptions& options = {});
};
struct PrecisionOptions {
  std::vector<double> thresholds = {};   // empty: 0.5, or none where top_k is set
  std::optional<int64_t> top_k = {};     // only the k largest predictions of an example count as positive
  std::optional<int64_t> class_id = {};  // only this column counts
  RW_KERAS_METRIC_OPTIONS
};
using RecallOptions = PrecisionOptions;
class Precision : public Metric {
 public:
  explicit Precision(const PrecisionOptions& options = {});
};
class Recall : public Metric {
 public:
  explicit Recall(const RecallOptions& options = {});
};

// The best value of one rate at the thresholds where the other is at least `value`.
struct AtRateOptions {
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};
  RW_KERAS_METRIC_OPTIONS
};
class SensitivityAtSpecificity : public Metric {
 public:
  explicit SensitivityAtSpecificity(double specificity, const AtRateOptions& options = {});
};
class SpecificityAtSensitivity : public Metric {
 public:
  explicit SpecificityAtSensitivity(double sensitivity, const AtRateOptions& options = {});
};
class PrecisionAtRecall : public Metric {
 public:
  explicit PrecisionAtRecall(double recall, const AtRateOptions& options = {});
};
class RecallAtPrecision : public Metric {
 public:
  explicit RecallAtPrecision(double precision, const AtRateOptions& options = {});
};

struct AUCOptions {
  int64_t num_thresholds = 200;
  std::string curve = "ROC";                       // "PR", "PRGAIN"
  std::string summation_method = "interpolation";  // "minoring", "majoring"
  std::vector<double> thresholds = {};             // instead of num_thresholds even ones
  bool multi_label = false;
  std::optional<int64_t> num_labels = {};
  std::vector<double> label_weights = {};
  bool from_logits = false;
  RW_KERAS_METRIC_OPTIONS
};
// The area under a curve, by sums over thresholds.
class AUC : public Metric {
 public:
  explicit AUC(const AUCOptions& options = {});
};

struct FBetaScoreOptions {
  std::string average = "";  // "micro", "macro", "weighted"; empty: one score a class
  double beta = 1.0;
  std::optional<double> threshold = {};  // none: the largest prediction of an example is positive
  RW_KERAS_METRIC_OPTIONS
};
class FBetaScore : public Metric {
 public:
  explicit FBetaScore(const FBetaScoreOptions& options = {});
};
struct F1ScoreOptions {
  std::string average = "";
  std::optional<double> threshold = {};
  RW_KERAS_METRIC_OPTIONS
};
class F1Score : public Metric {
 public:
  explicit F1Score(const F1ScoreOptions& options = {});
};

// ---- intersection over union ------------------------------------------------------------------------------

struct IoUOptions {
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_true = true;  // class numbers; otherwise scores along `axis`
  bool sparse_y_pred = true;
  int axis = -1;
  std::string name = "";
};
class IoU : public Metric {
 public:
  IoU(int64_t num_classes, const std::vector<int64_t>& target_class_ids, const IoUOptions& options = {});
};
class MeanIoU : public Metric {
 public:
  explicit MeanIoU(int64_t num_classes, const IoUOptions& options = {});
};
struct OneHotIoUOptions {
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_pred = false;
  int axis = -1;
  std::string name = "";
};
class OneHotIoU : public Metric {
 public:
  OneHotIoU(int64_t num_classes, const std::vector<int64_t>& target_class_ids,
            const OneHotIoUOptions& options = {});
};
class OneHotMeanIoU : public Metric {
 public:
  explicit OneHotMeanIoU(int64_t num_classes, const OneHotIoUOptions& options = {});
};
struct BinaryIoUOptions {
  std::vector<int64_t> target_class_ids = {0, 1};
  double threshold = 0.5;
  std::string name = "";
};
class BinaryIoU : public Metric {
 public:
  explicit BinaryIoU(const BinaryIoUOptions& options = {});
};

// By Keras' class name, function name or short form ("mse"); throws InvalidArgumentError for others.
Metric get(const std::string& name);
// As compile does: "accuracy" and "acc" become the accuracy that fits labels and predictions of these shapes.
// The metric carries the name that was asked for.
Metric get(const std::string& name, const Shape& y_true, const Shape& y_pred);

}  // namespace metrics

using metrics::Accuracy;
using metrics::AUC;
using metrics::BinaryAccuracy;
using metrics::BinaryIoU;
using metrics::CategoricalAccuracy;
using metrics::F1Score;
using metrics::FalseNegatives;
using metrics::FalsePositives;
using metrics::FBetaScore;
using metrics::IoU;
using metrics::Mean;
using metrics::MeanIoU;
using metrics::MeanMetricWrapper;
using metrics::OneHotIoU;
using metrics::OneHotMeanIoU;
using metrics::Precision;
using metrics::PrecisionAtRecall;
using metrics::R2Score;
using metrics::Recall;
using metrics::RecallAtPrecision;
using metrics::RootMeanSquaredError;
using metrics::SensitivityAtSpecificity;
using metrics::SparseCategoricalAccuracy;
using metrics::SparseTopKCategoricalAccuracy;
using metrics::SpecificityAtSensitivity;
using metrics::Sum;
using metrics::TopKCategoricalAccuracy;
using metrics::TrueNegatives;
using metrics::TruePositives;

}  // namespace rw::keras
