// True and false positives and negatives of predictions at thresholds, as Keras counts them. For the
// library's own files.
#pragma once

#include <optional>
#include <vector>

#include "rewind/tensor/variable.h"

namespace rw::keras {

// Undefined ones are not counted.
struct ConfusionCounts {
  Variable true_positives, false_positives, true_negatives,
      false_negatives;  // (thresholds) or (thresholds, labels)
};

struct ConfusionOptions {
  std::vector<double> thresholds;
  bool even = false;  // thresholds are 0, 1/n, ... 1, up to an epsilon: counted in one pass over buckets
  std::optional<int64_t> top_k = {};
  std::optional<int64_t> class_id = {};
  bool multi_label = false;   // labels are counted apart
  Tensor label_weights = {};  // (labels)
};

void count_confusions(const ConfusionCounts& counts, const Tensor& y_true, const Tensor& y_pred,
                      const Tensor& sample_weight, const ConfusionOptions& options);
// Whether thresholds lie at 0, 1/n, ... 1.
bool evenly_distributed(const std::vector<double>& thresholds);

}  // namespace rw::keras
