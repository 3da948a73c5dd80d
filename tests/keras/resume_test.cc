// Training that stops and goes on: with the variables and the position of that moment, it gives the bits of
// a run that was never stopped. And the same seed gives the same run.
#include <gtest/gtest.h>

#include "rewind/data/dataset.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

using Values = std::vector<std::vector<float>>;

// All the state of a model's training: weights, seeds of random layers, optimizer.
struct Snapshot {
  explicit Snapshot(const keras::Model& model) {
    auto add = [&](const std::vector<Variable>& list) {
      for (const Variable& v : list) {
        variables.push_back(v);
        values.push_back(v.value());
      }
    };
    add(model.variables());
    add(model.optimizer().variables());
  }
  void restore() const {
    for (size_t i = 0; i < variables.size(); ++i) variables[i].assign(values[i]);
  }
  std::vector<Variable> variables;
  std::vector<Tensor> values;
};

struct StopAt : keras::Callback {
  explicit StopAt(int64_t when) : left(when) {}
  void on_train_batch_end(int64_t, keras::Logs&) override {
    if (--left == 0) host().stop_training = true;
  }
  int64_t left;
};

class Resume : public testing::Test {
 protected:
  void SetUp() override {
    keras::clear_session();
    random::set_seed(9);
  }
  // Everything that draws: augmentation, dropout, noise; and batch statistics.
  static keras::Sequential network() {
    return keras::Sequential({keras::Input({6, 6, 1}), keras::RandomFlip(), keras::GaussianNoise(0.1),
                              keras::Conv2D(3, 3, {.activation = "relu"}), keras::BatchNormalization(),
                              keras::SpatialDropout2D(0.2), keras::Flatten(),
                              keras::Dense(8, {.activation = "tanh"}), keras::Dropout(0.3), keras::Dense(4)});
  }
  static keras::Sequential compiled(bool eagerly = false) {
    return compiled(keras::Adam({.learning_rate = 0.01}), eagerly);
  }
  static keras::Sequential compiled(const keras::Optimizer& optimizer, bool eagerly = false) {
    auto model = network();
    model.compile({.optimizer = optimizer,
                   .loss = keras::SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {"accuracy"},
                   .run_eagerly = eagerly});
    return model;
  }
  static Values values(const keras::Model& model) {
    Values list;
    for (const Variable& v : model.weights()) list.push_back(v.to_vector<float>());
    return list;
  }
  const Tensor x = random::stateless_normal({50, 6, 6, 1}, constant({1, 2}));
  const Tensor y =
      random::stateless_uniform({50}, constant({3, 4}), {.minval = 0, .maxval = 4, .dtype = int32});
};

TEST_F(Resume, SameSeedSameRun) {
  std::vector<Values> runs;
  std::vector<std::vector<double>> losses;
  for (int run = 0; run < 2; ++run) {
    SetUp();
    auto model = compiled();
    losses.push_back(model.fit(x, y, {.batch_size = 8, .epochs = 3, .verbose = 0})["loss"]);
    runs.push_back(values(model));
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_EQ(losses[0], losses[1]);
  random::set_seed(10);
  auto other = compiled();
  other.fit(x, y, {.batch_size = 8, .epochs = 3, .verbose = 0});
  EXPECT_NE(values(other), runs[0]);
}

// Seven batches an epoch: stops in the first one, at ends of epochs, in the middle of the second and third.
TEST_F(Resume, FitOnArraysGoesOnFromAnyStep) {
  const keras::FitOptions options{.batch_size = 8, .epochs = 3, .verbose = 0, .validation_split = 0.0};
  const auto held = keras::ValidationData{x, y};
  auto whole_model = compiled();
  auto with_validation = options;
  with_validation.validation_data = held;
  const auto whole = whole_model.fit(x, y, with_validation);
  const Values want = values(whole_model);
  EXPECT_EQ(whole.position.epoch, 3);
  for (const int64_t stop : {1, 3, 7, 8, 11, 14, 20, 21}) {
    SetUp();
    auto model = compiled();
    auto first = with_validation;
    first.callbacks = {StopAt(stop)};
    const auto before = model.fit(x, y, first);
    EXPECT_EQ(before.position.epoch, int(stop / 7)) << stop;
    EXPECT_EQ(before.position.step, stop % 7) << stop;
    EXPECT_EQ(model.optimizer().iterations().item<int64_t>(), stop);
    const Snapshot snapshot(model);
    model.fit(x, y, {.epochs = 1, .verbose = 0});  // something else happens
    random::normal({3});
    snapshot.restore();
    auto rest = with_validation;
    rest.resume_from = before.position;
    const auto after = model.fit(x, y, rest);
    EXPECT_EQ(values(model), want) << stop;
    if (stop < 21) {
      EXPECT_EQ(after["loss"].back(), whole["loss"].back()) << stop;
      EXPECT_EQ(after["accuracy"].front(), whole["accuracy"][size_t(stop / 7)]) << stop;
      EXPECT_EQ(after["val_loss"].back(), whole["val_loss"].back()) << stop;
    }
  }
}

TEST_F(Resume, FitOnADatasetGoesOnFromAnyStep) {
  const auto make = [&] {
    return data::Dataset::from_tensor_slices(std::tuple{x, y})
        .shuffle(20, {.seed = 5})
        .map([](const Tensor& a, const Tensor& b) { return std::tuple{a * 2.0, b}; },
             {.num_parallel_calls = 2})
        .batch(8)
        .prefetch(2);
  };
  for (const int64_t steps_per_epoch : {0, 5}) {
    const keras::FitOptions options{.epochs = 3, .verbose = 0, .steps_per_epoch = steps_per_epoch};
    SetUp();
    auto whole_model = compiled();
    whole_model.fit(make(), options);
    const Values want = values(whole_model);
    for (const int64_t stop : {2, 5, 7, 9, 11}) {
      SetUp();
      auto model = compiled();
      auto first = options;
      first.callbacks = {StopAt(stop)};
      const auto before = model.fit(make(), first);
      const Snapshot snapshot(model);
      model.fit(make(), {.epochs = 1, .verbose = 0});
      snapshot.restore();
      auto rest = options;
      rest.resume_from = before.position;
      model.fit(make(), rest);
      EXPECT_EQ(values(model), want) << stop << " of " << steps_per_epoch;
    }
  }
}

// Dropout's masks are drawn again where a budget asks for it, and are the same.
TEST_F(Resume, ABudgetGivesTheSameRun) {
  const Tensor wide = random::stateless_normal({512, 32}, constant({5, 6}));
  const Tensor target = reduce_sum(wide, 1, true);
  auto trained = [&](int64_t budget) {
    SetUp();
    auto model = keras::Sequential({keras::Input({32})});
    for (int i = 0; i < 6; ++i) {
      model.add(keras::Dense(128, {.activation = "gelu"}));
      model.add(keras::Dropout(0.2));
    }
    model.add(keras::Dense(1));
    model.compile({.optimizer = "adam", .loss = "mse", .memory_budget = budget});
    memory::reset_peak();
    model.fit(wide, target, {.batch_size = 512, .epochs = 4, .verbose = 0});
    return std::pair(values(model), memory::stats().peak);
  };
  const auto [free, peak] = trained(0);
  const int64_t budget = peak * 3 / 4;
  const auto [tight, less] = trained(budget);
  EXPECT_EQ(tight, free);
  EXPECT_LE(less, budget);
}

TEST_F(Resume, EagerStepsToo) {
  const keras::FitOptions options{.batch_size = 10, .epochs = 2, .verbose = 0};
  auto whole = compiled(true);
  whole.fit(x, y, options);
  SetUp();
  auto model = compiled(true);
  auto first = options;
  first.callbacks = {StopAt(3)};
  auto rest = options;
  rest.resume_from = model.fit(x, y, first).position;
  model.fit(x, y, rest);
  EXPECT_EQ(values(model), values(whole));
}

// fit ends with the averages in the weights; the position has what training goes on with.
TEST_F(Resume, MovingAveragesGoOnFromAnyStep) {
  const keras::FitOptions options{.batch_size = 8, .epochs = 3, .verbose = 0};
  for (const std::optional<int64_t> every : {std::optional<int64_t>(), std::optional<int64_t>(5)}) {
    auto make = [&] {
      SetUp();
      return compiled(keras::SGD(
          {.learning_rate = 0.05, .momentum = 0.9, .use_ema = true, .ema_overwrite_frequency = every}));
    };
    auto whole = make();
    const auto curve = whole.fit(x, y, options);
    const Values want = values(whole);
    for (const int64_t stop : {1, 5, 7, 11, 21}) {
      auto model = make();
      auto first = options;
      first.callbacks = {StopAt(stop)};
      const auto before = model.fit(x, y, first);
      const Snapshot snapshot(model);
      model.fit(x, y, {.epochs = 1, .verbose = 0});
      snapshot.restore();
      auto rest = options;
      rest.resume_from = before.position;
      const auto after = model.fit(x, y, rest);
      EXPECT_EQ(values(model), want) << stop;
      if (stop < 21) { EXPECT_EQ(after["loss"].back(), curve["loss"].back()) << stop; }
    }
  }
}

TEST_F(Resume, WeightsOfAPositionMustFit) {
  auto model = compiled(keras::SGD({.use_ema = true}));
  auto position = model.fit(x, y, {.batch_size = 8, .verbose = 0, .callbacks = {StopAt(2)}}).position;
  EXPECT_EQ(position.weights.size(), model.trainable_weights().size());
  position.weights.pop_back();
  expect_error<InvalidArgumentError>(
      [&] { model.fit(x, y, {.batch_size = 8, .verbose = 0, .resume_from = position}); },
      "weights of another model");
}

// A file with the position too: averages, and what metrics have seen of the epoch, in a model made anew.
TEST_F(Resume, AFileKnowsThePosition) {
  const test::TemporaryFolder folder;
  const keras::FitOptions options{.batch_size = 8, .epochs = 3, .verbose = 0};
  const keras::AdamOptions averaging{.learning_rate = 0.01, .use_ema = true};
  auto whole = compiled(keras::Adam(averaging));
  const auto curve = whole.fit(x, y, options);
  for (const int64_t stop : {4, 7, 10}) {
    SetUp();
    {
      auto model = compiled(keras::Adam(averaging));
      auto first = options;
      first.callbacks = {StopAt(stop)};
      const auto position = model.fit(x, y, first).position;
      model.save_weights(folder / "state", {.training_state = true, .position = position});
    }
    random::set_seed(1234);
    auto model = compiled(keras::Adam(averaging));
    const auto loaded = model.load_weights(folder / "state", {.training_state = true});
    ASSERT_TRUE(loaded.position.has_value());
    EXPECT_TRUE(loaded.fits());
    auto rest = options;
    rest.resume_from = loaded.position;
    const auto after = model.fit(x, y, rest);
    EXPECT_EQ(values(model), values(whole)) << stop;
    for (const char* name : {"loss", "accuracy"})
      EXPECT_EQ(after[name].front(), curve[name][size_t(stop / 7)]) << name << " " << stop;
    EXPECT_EQ(compiled().load_weights(folder / "state").position->step, stop % 7);  // the weights alone
  }
}

// From a file with the state of training, into a model made anew, at the end of an epoch and inside of one.
TEST_F(Resume, ANewModelGoesOnFromAFile) {
  const test::TemporaryFolder folder;
  const keras::FitOptions options{.batch_size = 8, .epochs = 3, .verbose = 0};
  auto whole = compiled();
  whole.fit(x, y, options);
  for (const int64_t stop : {7, 10}) {
    SetUp();
    keras::TrainingPosition position;
    {
      auto model = compiled();
      auto first = options;
      first.callbacks = {StopAt(stop)};
      position = model.fit(x, y, first).position;
      model.save_weights(folder / "state", {.training_state = true});
    }
    random::set_seed(1234);
    auto model = compiled();
    model.load_weights(folder / "state", {.training_state = true});
    auto rest = options;
    rest.resume_from = position;
    model.fit(x, y, rest);
    EXPECT_EQ(values(model), values(whole)) << stop;
  }
}

TEST_F(Resume, CallbacksSeeThePosition) {
  struct Keep : keras::Callback {
    void on_train_batch_end(int64_t batch, keras::Logs&) override {
      const auto at = host().position();
      EXPECT_EQ(at.step, batch + 1);
      if (at.epoch == 1 && batch == 2) kept = at;
    }
    keras::TrainingPosition kept;
  };
  const auto keep = std::make_shared<Keep>();
  auto model = compiled();
  model.fit(x, y, {.batch_size = 8, .epochs = 2, .verbose = 0, .callbacks = {keep}});
  EXPECT_EQ(keep->kept.epoch, 1);
  EXPECT_EQ(keep->kept.step, 3);
  EXPECT_FALSE(keep->kept.data.empty());
}

TEST_F(Resume, APositionOfOtherDataIsRefused) {
  auto model = compiled();
  const auto position = model.fit(x, y, {.batch_size = 8, .verbose = 0, .callbacks = {StopAt(2)}}).position;
  const keras::FitOptions rest{.batch_size = 8, .verbose = 0, .resume_from = position};
  expect_error<InvalidArgumentError>([&] { model.fit(x(Slice(0, 40)), y(Slice(0, 40)), rest); },
                                     "the position");
  const auto ds = data::Dataset::from_tensor_slices(std::tuple{x, y}).batch(8);
  expect_error<InvalidArgumentError>([&] { model.fit(ds, rest); }, "the position");
}

// A loop of one's own: variables, and the iterator's position.
TEST_F(Resume, CustomLoopsGoOnFromAnyStep) {
  const auto make = [&] {
    return data::Dataset::from_tensor_slices(std::tuple{x, y}).shuffle(50, {.seed = 2}).repeat().batch(8);
  };
  auto model = network();
  keras::SparseCategoricalCrossentropy loss_of({.from_logits = true});
  keras::Nadam optimizer({.learning_rate = 0.01});
  keras::Mean mean;
  auto step = function([&](const Tensor& a, const Tensor& b) {
    GradientTape tape;
    const Tensor loss = loss_of(b, model(a, {.training = true}));
    const auto weights = model.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, weights), weights);
    mean.update_state(loss);
    return loss;
  });
  auto it = make().iterator();
  auto run = [&](auto& from, int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto [a, b] = *from.next();
      step(a, b);
    }
  };
  run(it, 1);
  for (const int stop : {3, 6, 9}) {
    std::vector<Variable> all = model.variables();
    for (const Variable& v : optimizer.variables()) all.push_back(v);
    for (const Variable& v : mean.variables()) all.push_back(v);
    std::vector<Tensor> kept;
    for (const Variable& v : all) kept.push_back(v.value());
    const data::Position position = it.position();
    run(it, stop);
    const Values want = values(model);
    const float want_mean = mean.result().item<float>();
    for (size_t i = 0; i < all.size(); ++i) all[i].assign(kept[i]);
    auto again = make().iterator_at(position);
    run(again, stop);
    EXPECT_EQ(values(model), want);
    EXPECT_EQ(mean.result().item<float>(), want_mean);
  }
}

}  // namespace
}  // namespace rw
