// ModelCheckpoint: keeps the model, or its weights, in files while fit runs.
//
//   keras::ModelCheckpoint("run/{epoch:02d}-{val_loss:.2f}.keras")
//   keras::ModelCheckpoint("best.weights.h5", {.monitor = "val_accuracy", .save_best_only = true,
//                                              .save_weights_only = true})
#pragma once

#include "rewind/keras/callbacks.h"
#include "rewind/keras/save_frequency.h"

namespace rw::keras {
inline namespace callbacks {

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  int verbose = 0;  // 1: says what it does
  bool save_best_only = false;
  bool save_weights_only = false;
  std::string mode = "auto";  // whether less ("min") or more ("max") of `monitor` is better
  SaveFrequency save_freq = "epoch";
  std::optional<double> initial_value_threshold = {};  // the best so far
};

// The path may have {epoch}, {batch} and names of the logs in it, with Python's formats: {epoch:02d},
// {val_loss:.2f}; epochs and batches count from 1. It ends in .keras or .h5, or with save_weights_only in
// .weights.h5. Folders that it names are made. A file appears whole or not at all.
class ModelCheckpoint : public Callback {
 public:
  explicit ModelCheckpoint(std::string filepath, const ModelCheckpointOptions& options = {});
  void on_epoch_begin(int64_t epoch, Logs& logs) override;
  void on_train_batch_end(int64_t batch, Logs& logs) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  std::string save_state() const override;
  void load_state(const std::string& state) override;

  std::optional<double> best() const { return best_; }

 private:
  void save(int64_t epoch, std::optional<int64_t> batch, const Logs& logs);
  bool should_save(int64_t epoch, const Logs& logs, const std::string& path);
  std::string filepath_;
  ModelCheckpointOptions o_;
  Monitor monitor_;
  std::optional<double> best_;
  int64_t epoch_ = 0;
};

}  // namespace callbacks

// A path whose {fields} are replaced: Python's str.format for numbers by name. Throws InvalidArgumentError
// for names that are not there and formats that numbers do not have.
std::string formatted_path(const std::string& pattern, int64_t epoch, std::optional<int64_t> batch,
                           const Logs& logs);

}  // namespace rw::keras
