// What training, testing and predicting share: what callbacks see of a model, and the numbers that they are
// told.
#pragma once

#include <functional>

#include "rewind/keras/model.h"
#include "rewind/keras/trainer.h"

namespace rw::keras {

class ModelHost : public TrainingHost {
 public:
  ModelHost(Model* model, Trainer* trainer) : model_(model), trainer_(trainer) {}
  std::vector<Tensor> get_weights() const override { return model_->get_weights(); }
  void set_weights(const std::vector<Tensor>& weights) override { model_->set_weights(weights); }
  const Optimizer* optimizer() const override { return &trainer_->options.optimizer; }
  Direction direction(const std::string& metric) const override { return trainer_->direction(metric); }
  Model* model() override { return model_; }
  TrainingPosition position() const override { return where ? where() : TrainingPosition(); }
  void resume_from(const TrainingPosition& position) override;

  // While fit runs, and before its first epoch.
  std::function<TrainingPosition()> where;
  std::function<void(const TrainingPosition&)> begin_at;

 private:
  Model* model_;
  Trainer* trainer_;
};

// The callbacks with the progress bar that `verbose` asks for. One that keeps where training stands comes
// last, so that it keeps what the others have done.
CallbackList listeners(const std::vector<CallbackRef>& given, int verbose);
// By name; converted when somebody looks.
Logs numbers(const std::vector<std::string>& names, const std::vector<Tensor>& values);
// Weights go with arrays: throws InvalidArgumentError for those of a dataset that are given beside it.
void refuse_sample_weight(const char* tag, const Tensor& weights);
// Steps of a pass (-1: unknown) that a limit (0: none) may cut.
int64_t shorter(int64_t steps, int64_t limit);

// What callbacks that keep state have seen, in their order; and back. Throws InvalidArgumentError for states
// of other callbacks.
std::vector<std::string> save_states(const CallbackList& callbacks);
void load_states(const CallbackList& callbacks, const std::vector<std::string>& states);

}  // namespace rw::keras
