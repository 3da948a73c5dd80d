#include "rewind/keras/metrics.h"

#include "tests/interop/keras_training/cases.h"

namespace rw::interop {
namespace {

namespace m = keras::metrics;

struct Data {
  Tensor y_true, y_pred;
};
using MakeData = std::function<Data(int number)>;

// Results after each of three updates, the second with weights, made in a function.
void run_metric(const std::string& name, const std::function<keras::Metric()>& make, const MakeData& data,
                const Tensor& weight = shares({4}, 5)) {
  run("metric_" + name, [&] {
    const keras::Metric metric = make();
    const auto plain = function([&](const Tensor& y, const Tensor& p) { metric.update_state(y, p); });
    const auto weighted =
        function([&](const Tensor& y, const Tensor& p, const Tensor& w) { metric.update_state(y, p, w); });
    std::vector<Tensor> results;
    for (int i = 0; i < 3; ++i) {
      const Data d = data(i);
      if (i == 1) weighted(d.y_true, d.y_pred, weight);
      else plain(d.y_true, d.y_pred);
      results.push_back(metric.result());
    }
    metric.reset_state();
    const Data d = data(3);
    metric.update_state(d.y_true, d.y_pred);
    results.push_back(metric.result());
    return results;
  });
}

}  // namespace

void run_metrics() {
  const MakeData real = [](int i) { return Data{wave({4, 3}, i), wave({4, 3}, i + 7)}; };
  const MakeData positive = [](int i) { return Data{shares({4, 3}, i), shares({4, 3}, i + 7)}; };
  const MakeData binary = [](int i) { return Data{cast(ids({4, 3}, 2, i), float32), shares({4, 3}, i + 7)}; };
  const MakeData column = [](int i) { return Data{ids({4}, 2, i), shares({4, 1}, i + 7)}; };
  const MakeData classes = [](int i) { return Data{hot({4}, 5, i), rows({4, 5}, i + 7)}; };
  const MakeData sparse = [](int i) { return Data{ids({4}, 5, i), rows({4, 5}, i + 7)}; };
  const MakeData numbers = [](int i) { return Data{ids({4}, 3, i), ids({4}, 3, 2 * i + 1)}; };
  const auto named = [](const char* name) { return [name] { return keras::Metric(name); }; };

  run("metric_mean", [] {
    const m::Mean mean;
    std::vector<Tensor> out;
    out.push_back(mean(wave({4, 3}, 1)));
    out.push_back(mean(wave({4, 3}, 2), shares({4}, 5)));
    out.push_back(mean(wave({4, 3}, 3), shares({4, 3}, 5)));
    out.push_back(mean(2.5));
    return out;
  });
  run("metric_sum", [] {
    const m::Sum sum;
    std::vector<Tensor> out;
    out.push_back(sum(wave({4, 3}, 1)));
    out.push_back(sum(wave({4, 3}, 2), shares({4}, 5)));
    return out;
  });
  for (const char* name : {"MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
                           "RootMeanSquaredError", "LogCoshError", "CosineSimilarity", "CategoricalHinge",
                           "PearsonCorrelation", "ConcordanceCorrelation", "R2Score"})
    run_metric(name, named(name), real);
  for (const char* name : {"MeanSquaredLogarithmicError", "KLDivergence", "Poisson"})
    run_metric(name, named(name), positive);
  for (const char* name :
       {"Hinge", "SquaredHinge", "BinaryAccuracy", "BinaryCrossentropy", "TruePositives", "TrueNegatives",
        "FalsePositives", "FalseNegatives", "Precision", "Recall", "AUC", "F1Score", "FBetaScore"})
    run_metric(name, named(name), binary);
  for (const char* name : {"BinaryAccuracy", "Precision", "AUC"})
    run_metric(std::string(name) + "_column", named(name), column);
  run_metric("Accuracy", named("Accuracy"), numbers);
  run_metric("CategoricalAccuracy", named("CategoricalAccuracy"), classes);
  run_metric("CategoricalCrossentropy", named("CategoricalCrossentropy"), classes);
  run_metric("SparseCategoricalAccuracy", named("SparseCategoricalAccuracy"), sparse);
  run_metric("SparseCategoricalCrossentropy", named("SparseCategoricalCrossentropy"), sparse);
  run_metric("SparseCategoricalAccuracy_steps", named("SparseCategoricalAccuracy"),
             [](int i) { return Data{ids({4, 3}, 5, i), wave({4, 3, 5}, i)}; });
  run_metric("TopKCategoricalAccuracy", [] { return m::TopKCategoricalAccuracy({.k = 2}); }, classes);
  run_metric(
      "SparseTopKCategoricalAccuracy", [] { return m::SparseTopKCategoricalAccuracy({.k = 3}); }, sparse);
  run_metric("BinaryAccuracy_threshold", [] { return m::BinaryAccuracy({.threshold = 0.7}); }, binary);
  run_metric(
      "BinaryCrossentropy_logits",
      [] { return m::BinaryCrossentropy({.from_logits = true, .label_smoothing = 0.1}); },
      [](int i) { return Data{cast(ids({4, 3}, 2, i), float32), wave({4, 3}, i, 2.0)}; });
  run_metric(
      "SparseCategoricalCrossentropy_ignore",
      [] { return m::SparseCategoricalCrossentropy({.ignore_class = 1}); }, sparse);
  run_metric(
      "R2Score_weighted_classes",
      [] { return m::R2Score({.class_aggregation = "variance_weighted_average"}); }, real);
  run_metric(
      "R2Score_adjusted", [] { return m::R2Score({.class_aggregation = "", .num_regressors = 2}); }, real);
  run_metric("TruePositives_thresholds", [] { return m::TruePositives({.thresholds = {0.2, 0.8}}); }, binary);
  run_metric(
      "TrueNegatives_even", [] { return m::TrueNegatives({.thresholds = {0.0, 0.25, 0.5, 0.75, 1.0}}); },
      binary);
  run_metric("Precision_top_k", [] { return m::Precision({.top_k = 2}); }, classes);
  run_metric(
      "Precision_class", [] { return m::Precision({.thresholds = {0.2, 0.6}, .class_id = 1}); }, classes);
  run_metric("Recall_top_k_class", [] { return m::Recall({.top_k = 3, .class_id = 2}); }, classes);
  run_metric("SensitivityAtSpecificity", [] { return m::SensitivityAtSpecificity(0.4); }, binary);
  run_metric(
      "SpecificityAtSensitivity", [] { return m::SpecificityAtSensitivity(0.6, {.num_thresholds = 20}); },
      binary);
  run_metric("PrecisionAtRecall", [] { return m::PrecisionAtRecall(0.5); }, binary);
  run_metric("RecallAtPrecision", [] { return m::RecallAtPrecision(0.5, {.num_thresholds = 1}); }, binary);
  for (const char* curve : {"ROC", "PR", "PRGAIN"})
    for (const char* method : {"interpolation", "minoring", "majoring"})
      run_metric(
          std::string("AUC_") + curve + "_" + method,
          [=] { return m::AUC({.num_thresholds = 30, .curve = curve, .summation_method = method}); }, binary);
  run_metric("AUC_thresholds", [] { return m::AUC({.thresholds = {0.1, 0.3, 0.6}}); }, binary);
  run_metric(
      "AUC_labels", [] { return m::AUC({.multi_label = true, .label_weights = {0.2, 0.3, 0.5}}); }, binary);
  run_metric(
      "AUC_labels_thresholds",
      [] { return m::AUC({.thresholds = {0.1, 0.3, 0.6}, .multi_label = true, .num_labels = 3}); }, binary);
  run_metric(
      "AUC_logits", [] { return m::AUC({.label_weights = {0.2, 0.3, 0.5}, .from_logits = true}); },
      [](int i) { return Data{cast(ids({4, 3}, 2, i), float32), wave({4, 3}, i, 2.0)}; });
  for (const char* average : {"micro", "macro", "weighted"})
    run_metric(
        std::string("FBetaScore_") + average,
        [=] { return m::FBetaScore({.average = average, .beta = 2.0, .threshold = 0.4}); }, binary);
  run_metric("F1Score_macro", [] { return m::F1Score({.average = "macro"}); }, classes);
  const Tensor whole = ids({4}, 3, 1);
  run_metric("IoU", [] { return m::IoU(3, {0, 2}); }, numbers, whole);
  run_metric("IoU_ignore", [] { return m::IoU(3, {0, 1}, {.ignore_class = 2}); }, numbers, whole);
  run_metric("MeanIoU", [] { return m::MeanIoU(3); }, numbers, whole);
  run_metric("MeanIoU_scores", [] { return m::MeanIoU(5, {.sparse_y_pred = false}); }, sparse, whole);
  run_metric("OneHotIoU", [] { return m::OneHotIoU(5, {0, 1, 4}); }, classes, whole);
  run_metric("OneHotMeanIoU", [] { return m::OneHotMeanIoU(5); }, classes, whole);
  run_metric(
      "BinaryIoU", [] { return m::BinaryIoU({.target_class_ids = {0}, .threshold = 0.3}); },
      [](int i) { return Data{ids({4}, 2, i), shares({4}, i)}; }, whole);
  run("metric_confusion_matrix", [] {
    return std::vector<Tensor>{m::confusion_matrix(ids({9}, 4), ids({9}, 4, 2), 4),
                               m::confusion_matrix(ids({9}, 4), ids({9}, 4, 2), 4, shares({9}, 1), float32)};
  });
}

}  // namespace rw::interop
