// ModelCheckpoint and BackupAndRestore. resume/check.py kills trainings at random moments.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

namespace fs = std::filesystem;

// Sets the numbers that others see, one an epoch.
struct Says : keras::Callback {
  Says(std::string n, std::vector<double> v) : name(std::move(n)), values(std::move(v)) {}
  void on_epoch_end(int64_t epoch, keras::Logs& logs) override { logs.set(name, values.at(size_t(epoch))); }
  std::string name;
  std::vector<double> values;
};

struct Interruption : std::runtime_error {
  Interruption() : std::runtime_error("interrupted") {}
};
struct FailAt : keras::Callback {
  explicit FailAt(int64_t n) : left(n) {}
  void on_train_batch_end(int64_t, keras::Logs&) override {
    if (--left == 0) throw Interruption();
  }
  int64_t left;
};

class Checkpoints : public testing::Test {
 protected:
  void SetUp() override {
    keras::clear_session();
    random::set_seed(4);
  }
  static keras::Sequential network() {
    keras::Sequential model(
        {keras::Input({3}), keras::Dense(4, {.activation = "relu"}), keras::Dropout(0.3), keras::Dense(1)});
    model.compile({.optimizer = keras::Adam({.learning_rate = 0.05}), .loss = "mse"});
    return model;
  }
  void fit(keras::Sequential model, int epochs, const std::vector<keras::CallbackRef>& callbacks) const {
    model.fit(x, y, {.batch_size = 4, .epochs = epochs, .verbose = 0, .callbacks = callbacks});
  }
  std::vector<std::string> files() const {
    std::vector<std::string> list;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(folder / "run")))
      if (entry.is_regular_file()) list.push_back(fs::relative(entry.path(), folder / "run").string());
    std::sort(list.begin(), list.end());
    return list;
  }
  std::string text(const std::string& name) const {
    std::ifstream in(folder / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  test::TemporaryFolder folder;
  const Tensor x = random::stateless_normal({16, 3}, constant({1, 2})), y = reduce_sum(x, 1, true);
};

TEST_F(Checkpoints, NamesByEpochBatchAndLogs) {
  fs::create_directories(folder / "run");
  const auto model = network();
  fit(model, 2,
      {Says("val_loss", {0.5, 1.25}),
       keras::ModelCheckpoint(folder / "run/{epoch:02d}-{val_loss:.2f}.keras")});
  EXPECT_EQ(files(), (std::vector<std::string>{"01-0.50.keras", "02-1.25.keras"}));
  fs::remove_all(folder / "run");
  // Folders are made; batches count over the ends of epochs, as in Keras.
  fit(model, 2,
      {keras::ModelCheckpoint(folder / "run/deep/{epoch}-{batch:03d}.weights.h5",
                              {.save_weights_only = true, .save_freq = 3})});
  EXPECT_EQ(files(), (std::vector<std::string>{"deep/1-003.weights.h5", "deep/2-002.weights.h5"}));
  expect_error<InvalidArgumentError>(
      [&] { fit(model, 1, {keras::ModelCheckpoint(folder / "run/{speed}.keras")}); },
      "there is no \"speed\"; there are epoch");
}

TEST_F(Checkpoints, TheBestOnly) {
  fs::create_directories(folder / "run");
  const auto model = network();
  const auto saved = [&](const keras::ModelCheckpointOptions& o, const std::vector<double>& values) {
    fs::remove_all(folder / "run");
    fs::create_directories(folder / "run");
    fit(model, int(values.size()),
        {Says("val_loss", values), keras::ModelCheckpoint(folder / "run/{epoch}.keras", o)});
    return files();
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(saved({.save_best_only = true}, {3, 2, 2.5, 1}), (Names{"1.keras", "2.keras", "4.keras"}));
  EXPECT_EQ(saved({.save_best_only = true, .mode = "max"}, {3, 2, 3.5, 1}), (Names{"1.keras", "3.keras"}));
  EXPECT_EQ(saved({.save_best_only = true, .initial_value_threshold = 2.2}, {3, 2, 2.5, 1}),
            (Names{"2.keras", "4.keras"}));
  EXPECT_EQ(saved({}, {3, 4}), (Names{"1.keras", "2.keras"}));
  // What is saved is the model as it was then.
  const auto best = keras::models::load_model(folder / "run/2.keras");
  EXPECT_EQ(best.get_weights()[0].to_vector<float>(), model.get_weights()[0].to_vector<float>());
}

TEST_F(Checkpoints, WrongUse) {
  expect_error<InvalidArgumentError>([&] { keras::ModelCheckpoint("m.h5", {.save_weights_only = true}); },
                                     ".weights.h5");
  expect_error<InvalidArgumentError>([&] { keras::ModelCheckpoint("m.onnx"); }, "must end in .keras");
  expect_error<InvalidArgumentError>([&] { keras::ModelCheckpoint("m.keras", {.mode = "best"}); },
                                     "auto, min or max");
  expect_error<InvalidArgumentError>([&] { keras::ModelCheckpoint("m.keras", {.save_freq = "batch"}); },
                                     "\"epoch\" or a number");
  expect_error<InvalidArgumentError>([&] { keras::BackupAndRestore("b", {.save_freq = 0}); },
                                     "positive number of batches");
  expect_error<InvalidArgumentError>([&] { keras::BackupAndRestore(""); }, "backup_dir");
  keras::Sequential unbuilt({keras::Dense(1)});
  unbuilt.compile({.loss = "mse"});
  expect_error<FailedPreconditionError>([&] { fit(unbuilt, 1, {keras::BackupAndRestore(folder / "b")}); },
                                        "must be built before fit");
}

// Stopped in a step between two backups, started again as a new process would: same bits, same lines.
TEST_F(Checkpoints, ABackupGoesOn) {
  const auto callbacks = [&](const std::string& name, std::vector<keras::CallbackRef> more = {}) {
    std::vector<keras::CallbackRef> list{
        keras::BackupAndRestore(folder / (name + "_backup"), {.save_freq = 3}),
        keras::CSVLogger(folder / (name + ".csv")),
        keras::ReduceLROnPlateau({.monitor = "loss", .factor = 0.5, .patience = 1, .min_delta = 10}),
        keras::EarlyStopping({.monitor = "loss", .patience = 3, .restore_best_weights = true})};
    list.insert(list.end(), more.begin(), more.end());
    return list;
  };
  random::set_seed(4);
  const auto whole = network();
  fit(whole, 5, callbacks("whole"));
  for (const int64_t stop : {2, 7, 11, 14}) {
    const std::string name = "stopped" + std::to_string(stop);
    keras::clear_session();
    random::set_seed(4);
    EXPECT_THROW(fit(network(), 5, callbacks(name, {FailAt(stop)})), Interruption);
    keras::clear_session();
    random::set_seed(4);
    const auto again = network();
    fit(again, 5, callbacks(name));
    for (size_t i = 0; i < whole.weights().size(); ++i)
      EXPECT_EQ(again.weights()[i].to_vector<float>(), whole.weights()[i].to_vector<float>()) << stop;
    EXPECT_EQ(text(name + ".csv"), text("whole.csv")) << stop;
    EXPECT_FALSE(fs::exists(folder / (name + "_backup")));
  }
}

TEST_F(Checkpoints, WhatIsLeftOfABackup) {
  // A training that has ended deletes it, or is at its end when it is asked to go on.
  fit(network(), 2, {keras::BackupAndRestore(folder / "b")});
  EXPECT_FALSE(fs::exists(folder / "b"));
  const auto model = network();
  fit(model, 2, {keras::BackupAndRestore(folder / "b", {.delete_checkpoint = false})});
  const auto at_end = model.get_weights()[0].to_vector<float>();
  const auto same = network();
  fit(same, 2, {keras::BackupAndRestore(folder / "b", {.delete_checkpoint = false})});
  EXPECT_EQ(same.get_weights()[0].to_vector<float>(), at_end);
  // One of another model is refused with the file's name, a damaged one gives way to the one before.
  keras::Sequential other({keras::Input({3}), keras::Dense(7), keras::Dense(1)});
  other.compile({.loss = "mse"});
  expect_error<InvalidArgumentError>([&] { fit(other, 2, {keras::BackupAndRestore(folder / "b")}); },
                                     "is of another training");
  const auto twice = network();
  fit(twice, 3,
      {keras::BackupAndRestore(folder / "d", {.double_checkpoint = true, .delete_checkpoint = false})});
  const auto latest = folder / "d/latest.safetensors";
  fs::resize_file(latest, fs::file_size(latest) - 5);
  const auto late = network();
  fit(late, 3, {keras::BackupAndRestore(folder / "d", {.double_checkpoint = true})});
  EXPECT_EQ(late.get_weights()[0].to_vector<float>(), twice.get_weights()[0].to_vector<float>());
}

}  // namespace
}  // namespace rw
