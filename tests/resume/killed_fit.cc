// A training that keeps backups, for check.py, which kills it and starts it again.
//   killed_fit KIND FOLDER    leaves FOLDER/result.npz, log.csv, best.weights.h5 when it is done
#include <cstdio>
#include <filesystem>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;         // NOLINT: a program of its own
using namespace rw::keras;  // NOLINT

// Counts the steps that were made since the last start, so that kills meet steps, too.
struct Progress : Callback {
  void on_train_batch_end(int64_t, Logs&) override {
    std::puts("step");
    std::fflush(stdout);
  }
};

Sequential network(const std::string& kind) {
  Sequential model({Input({6}), Dense(16, {.activation = "relu"}), BatchNormalization(), Dropout(0.3),
                    GaussianNoise(0.1), Dense(3)});
  if (kind == "schedule") {
    const auto rate = optimizers::schedules::CosineDecay({0.05, 60});
    model.compile({.optimizer = Adam({.learning_rate = rate, .use_ema = true, .ema_overwrite_frequency = 7}),
                   .loss = "mse",
                   .metrics = {"mae"}});
  } else {
    model.compile(
        {.optimizer = Adam({.learning_rate = 0.05, .amsgrad = true}), .loss = "mse", .metrics = {"mae"}});
  }
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string kind = argv[1], folder = argv[2];
  random::set_seed(11);
  Sequential model = network(kind);
  const Tensor x = random::stateless_normal({90, 6}, constant({1, 2}));
  const Tensor y = concat({reduce_sum(x, 1, true), x(Slice(), Slice(0, 2))}, 1);
  std::vector<CallbackRef> callbacks{
      BackupAndRestore(folder + "/backup",
                       {.save_freq = kind == "epochs" ? SaveFrequency("epoch") : SaveFrequency(4),
                        .double_checkpoint = kind == "double"}),
      ModelCheckpoint(folder + "/best.weights.h5", {.save_best_only = true, .save_weights_only = true}),
      ModelCheckpoint(folder + "/at-{epoch:02d}.keras", {.save_freq = 7}), CSVLogger(folder + "/log.csv"),
      Progress()};
  if (kind != "schedule") {
    callbacks.push_back(ReduceLROnPlateau({.factor = 0.5, .patience = 1, .min_delta = 0.05}));
    callbacks.push_back(EarlyStopping({.patience = 4, .restore_best_weights = true}));
  }
  const ValidationData held{x(Slice(80, none)), y(Slice(80, none))};
  if (kind == "dataset") {
    auto data = data::Dataset::from_tensor_slices(std::pair{x, y}).shuffle(40).batch(16);
    auto check = data::Dataset::from_tensor_slices(std::pair{held.x.list()[0], held.y.list()[0]}).batch(10);
    model.fit(data, check, {.epochs = 9, .verbose = 0, .callbacks = callbacks});
  } else {
    model.fit(x, y,
              {.batch_size = 16, .epochs = 9, .verbose = 0, .callbacks = callbacks, .validation_data = held});
  }
  std::map<std::string, Tensor> result;
  size_t i = 0;
  for (const Variable& v : model.variables()) result["v" + std::to_string(i++)] = v.value();
  for (const Variable& v : model.optimizer().variables()) result["v" + std::to_string(i++)] = v.value();
  numpy::savez(folder + "/result.npz", result);
  return 0;
}
