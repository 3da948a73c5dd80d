#include "rewind/keras/callbacks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "rewind/keras/optimizers.h"
#include "rewind/keras/progress_bar.h"
#include "rewind/rewind.h"

namespace rw::keras {
namespace {

// Trains nothing: the weight is the number of the epoch, the logs are given.
struct Host : TrainingHost {
  Variable weight{constant(-1.0)};
  SGD sgd{SGDOptions{.learning_rate = 0.5}};
  std::vector<Tensor> get_weights() const override { return {weight.value()}; }
  void set_weights(const std::vector<Tensor>& w) override { weight.assign(w[0]); }
  const Optimizer* optimizer() const override { return &sgd; }
  Direction direction(const std::string& metric) const override {
    return metric == "accuracy" ? Direction::kUp : Direction::kUnknown;
  }
};

// Epochs with these numbers; returns how many were begun.
int64_t run(Host& host, CallbackList& list, const std::string& name, const std::vector<double>& values) {
  list.set_host(&host);
  list.set_params({.verbose = 0, .epochs = int64_t(values.size()), .steps = 1});
  Logs none;
  list.on_train_begin(none);
  int64_t epoch = 0;
  while (epoch < int64_t(values.size()) && !host.stop_training) {
    list.on_epoch_begin(epoch, none);
    host.weight.assign(float(epoch));
    Logs logs{{name, values[size_t(epoch)]}};
    list.on_epoch_end(epoch, logs);
    ++epoch;
  }
  list.on_train_end(none);
  return epoch;
}

TEST(Callbacks, EarlyStoppingWaitsAndRestoresTheBest) {
  Host host;
  const auto stop = std::make_shared<EarlyStopping>(
      EarlyStoppingOptions{.monitor = "val_loss", .patience = 2, .restore_best_weights = true});
  CallbackList list({stop});
  EXPECT_EQ(run(host, list, "val_loss", {3.0, 1.0, 2.0, 1.5, 0.5}), 4);
  EXPECT_EQ(stop->stopped_epoch(), 3);
  EXPECT_EQ(stop->best_epoch(), 1);
  EXPECT_EQ(host.weight.item<float>(), 1.0f);
}

TEST(Callbacks, EarlyStoppingKnowsWhatIsBetter) {
  Host host;
  CallbackList list({EarlyStopping({.monitor = "val_accuracy", .patience = 1})});
  EXPECT_EQ(run(host, list, "val_accuracy", {0.1, 0.2, 0.3, 0.25, 0.5}), 4);
  Host other;
  CallbackList unknown({EarlyStopping({.monitor = "val_speed"})});
  EXPECT_THROW(run(other, unknown, "val_speed", {0.1, 0.2}), InvalidArgumentError);
}

TEST(Callbacks, ReduceLROnPlateauLowersTheRate) {
  Host host;
  CallbackList list({ReduceLROnPlateau({.monitor = "loss", .factor = 0.5, .patience = 2, .min_lr = 0.2})});
  run(host, list, "loss", {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0});
  EXPECT_FLOAT_EQ(host.sgd.learning_rate().item<float>(), 0.2f);
}

TEST(Callbacks, LearningRateSchedulerSetsTheRate) {
  Host host;
  const auto history = std::make_shared<History>();
  CallbackList list({LearningRateScheduler([](int64_t, double rate) { return rate / 2; }), history});
  run(host, list, "loss", {1.0, 1.0});
  EXPECT_EQ((*history)["learning_rate"], (std::vector<double>{0.25, 0.125}));
  EXPECT_EQ((*history)["loss"].size(), 2u);
  EXPECT_THROW((*history)["accuracy"], NotFoundError);
}

TEST(Callbacks, CSVLoggerWritesWhatKerasWrites) {
  const std::string path = (std::filesystem::temp_directory_path() / "rewind_csv_logger.csv").string();
  Host host;
  CallbackList list({CSVLogger(path)});
  run(host, list, "loss", {0.1, 1e-5});
  CallbackList more({CSVLogger(path, {.append = true})});
  run(host, more, "loss", {2.0});
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), "epoch,loss,val_loss\r\n0,0.1,NA\r\n1,1e-05,NA\r\n0,2.0,NA\r\n");
  std::filesystem::remove(path);
}

TEST(Callbacks, TerminateOnNaNStops) {
  Host host;
  TerminateOnNaN terminate;
  terminate.set_host(&host);
  Logs fine{{"loss", 1.0}};
  terminate.on_train_batch_end(0, fine);
  EXPECT_FALSE(host.stop_training);
  Logs bad{{"loss", std::numeric_limits<double>::quiet_NaN()}};
  terminate.on_train_batch_end(1, bad);
  EXPECT_TRUE(host.stop_training);
  EXPECT_THROW(TerminateOnNaN(true).on_train_batch_end(1, bad), InvalidArgumentError);
}

TEST(Callbacks, LogsAreComputedWhenSomebodyLooks) {
  int computed = 0;
  Logs logs([&](Logs& l) {
    ++computed;
    l.set("loss", 2.0);
  });
  LambdaCallback quiet({.on_train_batch_end = [](int64_t, Logs&) {}});
  quiet.on_train_batch_end(0, logs);
  EXPECT_EQ(computed, 0);
  EXPECT_EQ(logs.get("loss"), 2.0);
  EXPECT_EQ(logs.get("loss"), 2.0);
  EXPECT_EQ(computed, 1);
}

struct Drawn {
  double now = 0;
  std::ostringstream out;
  ProgressBar bar;
  Drawn(bool terminal, const TrainingParams& params, int columns = 0)
      : bar({.output = &out,
             .terminal = terminal,
             .clock = [this] { return now; },
             .columns = [columns] { return columns; }}) {
    bar.set_params(params);
  }
  void epoch(int64_t steps) {
    Logs none;
    bar.on_train_begin(none);
    bar.on_epoch_begin(0, none);
    for (int64_t i = 0; i < steps; ++i) {
      now += i == 0 ? 1.0 : 0.1;
      Logs logs{{"accuracy", 0.5}, {"loss", 1.25}};
      bar.on_train_batch_end(i, logs);
    }
    Logs logs{{"accuracy", 0.5}, {"loss", 0.0005}};
    bar.on_epoch_end(0, logs);
    bar.on_train_end(none);
  }
};

TEST(ProgressBar, DrawsOverItsLineOnATerminal) {
  Drawn d(true, {.verbose = 1, .epochs = 3, .steps = 10});
  d.epoch(10);
  const std::string text = d.out.str();
  EXPECT_EQ(text.substr(0, 10), "Epoch 1/3\n");
  EXPECT_NE(text.find("\r\x1b[1m 1/10\x1b[0m \x1b[32m━━\x1b[0m"), std::string::npos);
  EXPECT_NE(text.find(" \x1b[1m9s\x1b[0m 1s/step - accuracy: 0.5000 - loss: 1.2500"), std::string::npos);
  EXPECT_NE(text.find("\r\x1b[1m10/10\x1b[0m \x1b[32m━━━━━━━━━━━━━━━━━━━━\x1b[0m\x1b[37m\x1b[0m "
                      "\x1b[1m2s\x1b[0m 100ms/step "
                      "- accuracy: 0.5000 - loss: 5.0000e-04"),
            std::string::npos);
  EXPECT_EQ(text.back(), '\n');
}

// A line that wraps could not be drawn over: numbers are cut while it changes, the last one is whole.
TEST(ProgressBar, FitsNarrowTerminals) {
  Drawn d(true, {.verbose = 1, .epochs = 1, .steps = 10}, 50);
  d.epoch(10);
  std::istringstream lines(d.out.str());
  size_t drawn = 0;
  for (std::string line; std::getline(lines, line, '\r');) {
    std::string shown;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\x1b') i = std::min(line.find_first_of("mK", i), line.size());
      else if ((line[i] & 0xc0) != 0x80) shown += line[i];  // a character each
    }
    if (shown.find("10/10") == std::string::npos) EXPECT_LT(shown.size(), 50u) << shown;
    else if (shown.find('\n') != std::string::npos)
      EXPECT_NE(shown.find("loss: 5.0000e-04"), std::string::npos);
    ++drawn;
  }
  EXPECT_GT(drawn, 8u);
}

TEST(ProgressBar, WritesPlainLinesElsewhere) {
  Drawn d(false, {.verbose = 1, .epochs = 3, .steps = 10});
  d.epoch(10);
  EXPECT_EQ(d.out.str(), "Epoch 1/3\n10/10 - 2s - 100ms/step - accuracy: 0.5000 - loss: 5.0000e-04\n");
}

TEST(ProgressBar, IsSilentOnRequest) {
  Drawn d(true, {.verbose = 0, .epochs = 3, .steps = 10});
  d.epoch(10);
  EXPECT_EQ(d.out.str(), "");
}

TEST(ProgressBar, ShowsStepsThatWereNotKnown) {
  Drawn d(true, {.verbose = 1, .epochs = 1, .steps = -1});
  d.epoch(3);
  EXPECT_NE(d.out.str().find("      1/Unknown \x1b[1m1s\x1b[0m"), std::string::npos);
  EXPECT_NE(d.out.str().find("3/3"), std::string::npos);
}

}  // namespace
}  // namespace rw::keras
