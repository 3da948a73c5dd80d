// The part of a model that training needs: what compile was given, the metrics, the compiled steps.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "rewind/format/json.h"
#include "rewind/keras/training.h"

namespace rw::keras {

// A model's compiled steps.
struct TrainerSteps {
  using Step = std::function<std::vector<Tensor>(const Batch&)>;
  const void* owner = nullptr;  // the object that the steps call
  Step train, test, predict;
  // Of the values that a step gives; whoever trains the model reads and writes them (LayerState::training).
  std::vector<std::string> train_names, test_names;
};

class Trainer {
 public:
  // A model that only predicts was not compiled.
  Trainer(const CompileOptions& options, bool compiled);

  // The loss of the outputs, weighted and reduced, without what layers added; notes each output's own.
  Tensor loss_of(const Batch& batch, const std::vector<Tensor>& y_pred);
  void update_metrics(const Batch& batch, const std::vector<Tensor>& y_pred);
  // The mean of the loss over the examples seen.
  void note_loss(const Tensor& loss, const Batch& batch);
  // Of all metrics, by the names that they have in logs; of two with one name the second.
  StepLogs results() const;
  void reset_metrics();
  // The mean of the loss, the metrics of compile(), the means of each output's loss.
  std::vector<Metric> metrics() const;
  // Which way a number of the logs improves.
  Direction direction(const std::string& name) const;
  // What they have seen, and back; values of other metrics are left aside: false.
  std::vector<Tensor> metric_values() const;
  bool set_metric_values(const std::vector<Tensor>& values);

  CompileOptions options;
  // Where the model was compiled from a config: losses, metrics and weights as it wrote them.
  format::Json written = {};
  bool compiled;
  bool compiled_unbuilt = false;  // the model was not built then
  std::vector<std::string> output_names;
  std::vector<std::string> loss_names;  // of the outputs, as logs call their losses
  std::mutex mutex;                     // guards what follows
  std::shared_ptr<TrainerSteps> steps;
  TrainingHost* host = nullptr;  // while fit runs

 private:
  struct OutputMetrics {
    std::vector<Metric> plain, weighted;
  };
  void find_metrics(const Batch& batch, const std::vector<Tensor>& y_pred);
  // What compile() gave for output `i`: a list for all outputs has one metric for each.
  std::vector<MetricChoice> choices(const std::vector<MetricChoice>& given, const char* what, size_t i,
                                    size_t outputs) const;
  // Metrics by their names in logs, in the order of metrics().
  std::vector<std::pair<std::string, Metric>> named_metrics() const;

  metrics::Mean loss_;
  std::vector<metrics::Mean> output_losses_;  // of a model with several
  std::vector<OutputMetrics> outputs_;
  bool found_ = false;
};

}  // namespace rw::keras
