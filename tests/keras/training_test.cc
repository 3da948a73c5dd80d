// compile, fit, evaluate, predict: what they compute, what they tell, what they refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "rewind/data/dataset.h"
#include "rewind/keras/keras.h"
#include "rewind/keras/losses.h"
#include "rewind/keras/metrics.h"
#include "rewind/keras/optimizers.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

struct Problem {
  Tensor x = random::stateless_normal({64, 4}, constant({1, 2}));
  Tensor y = reduce_sum(x, 1, true) * 0.5;
};

class KerasTraining : public testing::Test {
 protected:
  void SetUp() override {
    keras::clear_session();
    random::set_seed(3);
  }
  keras::Sequential regression() {
    return keras::Sequential({keras::Dense(8, {.activation = "tanh"}), keras::Dense(1)});
  }
};

TEST_F(KerasTraining, FitReducesTheLossAndTellsHistory) {
  const Problem p;
  auto model = regression();
  model.compile({.optimizer = keras::Adam({.learning_rate = 0.02}), .loss = "mse", .metrics = {"mae"}});
  const auto history =
      model.fit(p.x, p.y, {.batch_size = 16, .epochs = 12, .verbose = 0, .validation_split = 0.25});
  EXPECT_EQ(history.epoch.size(), 12u);
  for (const char* name : {"loss", "mae", "val_loss", "val_mae"}) EXPECT_TRUE(history.contains(name)) << name;
  EXPECT_LT(history["loss"].back(), history["loss"].front() * 0.3);
  EXPECT_EQ(model.optimizer().iterations().item<int64_t>(), 12 * 3);
}

TEST_F(KerasTraining, SameSeedSameWeights) {
  const Problem p;
  std::vector<std::vector<float>> runs;
  for (int run = 0; run < 2; ++run) {
    keras::clear_session();
    random::set_seed(11);
    auto model =
        keras::Sequential({keras::Dense(8, {.activation = "relu"}), keras::Dropout(0.2), keras::Dense(1)});
    model.compile({.optimizer = keras::SGD({.learning_rate = 0.05}), .loss = "mse"});
    model.fit(p.x, p.y, {.batch_size = 10, .epochs = 3, .verbose = 0});
    runs.push_back(model.weights()[0].to_vector<float>());
  }
  EXPECT_EQ(runs[0], runs[1]);
}

TEST_F(KerasTraining, EvaluateWeighsBatchesByTheirSize) {
  const Problem p;
  auto model = regression();
  model.compile({.loss = "mse"});
  const double whole = *model.evaluate(p.x, p.y, {.batch_size = 64, .verbose = 0}).get("loss");
  const double parts = *model.evaluate(p.x, p.y, {.batch_size = 24, .verbose = 0}).get("loss");
  EXPECT_NEAR(whole, parts, 1e-5);
  EXPECT_NEAR(whole, reduce_mean(square(model(p.x) - p.y)).item<float>(), 1e-5);
}

TEST_F(KerasTraining, PredictJoinsBatches) {
  const Problem p;
  auto model = regression();
  const Tensor y = model.predict(p.x, {.batch_size = 24, .verbose = 0});
  EXPECT_EQ(y.shape(), Shape({64, 1}));
  EXPECT_NEAR(reduce_max(abs(y - model(p.x))).item<float>(), 0, 1e-6);
}

TEST_F(KerasTraining, FitOnADataset) {
  const Problem p;
  auto model = regression();
  model.compile({.optimizer = keras::Adam({.learning_rate = 0.02}), .loss = "mse"});
  const auto ds = data::Dataset::from_tensor_slices(std::tuple{p.x, p.y}).shuffle(64, {.seed = 1}).batch(16);
  const auto history = model.fit(ds, ds, {.epochs = 10, .verbose = 0});
  EXPECT_LT(history["val_loss"].back(), history["val_loss"].front() * 0.5);
  EXPECT_EQ(model.optimizer().iterations().item<int64_t>(), 40);
}

TEST_F(KerasTraining, StepsPerEpochGoOnWithThePass) {
  const Problem p;
  auto model = regression();
  model.compile({.loss = "mse"});
  model.fit(p.x, p.y, {.batch_size = 16, .epochs = 3, .verbose = 0, .steps_per_epoch = 3});
  EXPECT_EQ(model.optimizer().iterations().item<int64_t>(), 3 + 1 + 3);  // a pass has four batches
}

TEST_F(KerasTraining, AccuracyMeansWhatTheShapesSay) {
  const Tensor x = random::stateless_normal({30, 4}, constant({1, 2}));
  const Tensor classes = argmax(x, 1);
  auto model = keras::Sequential({keras::Dense(4, {.activation = "softmax"})});
  model.compile({.optimizer = keras::Adam({.learning_rate = 0.1}),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  const auto history = model.fit(x, classes, {.epochs = 40, .verbose = 0});
  EXPECT_GT(history["accuracy"].back(), 0.9);
  EXPECT_EQ(history.history.size(), 2u);
}

struct Halving : keras::Model {
  keras::Dense layer{1, {.use_bias = false, .kernel_initializer = "ones"}};
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return layer(x); }
  keras::StepLogs train_step(const keras::Batch& batch) override {
    const Tensor y = (*this)(batch.x[0], {.training = true});
    const Variable w = trainable_weights()[0];
    w.assign(w * 0.5);
    return {{"largest", reduce_max(y)}};
  }
  RW_TRACK(layer)
};

TEST_F(KerasTraining, SubclassesTrainTheirOwnWay) {
  Halving model;
  model.compile({});
  const auto history = model.fit(ones({8, 2}), ones({8, 1}), {.batch_size = 4, .epochs = 2, .verbose = 0});
  EXPECT_EQ(history["largest"], (std::vector<double>{1.0, 0.25}));
  EXPECT_EQ(model.weights()[0].to_vector<float>(), (std::vector<float>{0.0625, 0.0625}));
}

TEST_F(KerasTraining, EagerStepsGiveTheSame) {
  const Problem p;
  std::vector<double> losses;
  for (const bool eager : {false, true}) {
    keras::clear_session();
    random::set_seed(5);
    auto model = regression();
    model.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = eager});
    losses.push_back(model.fit(p.x, p.y, {.epochs = 3, .verbose = 0, .shuffle = false})["loss"].back());
  }
  EXPECT_NEAR(losses[0], losses[1], 1e-6);
}

TEST_F(KerasTraining, SampleAndClassWeights) {
  const Tensor x = ones({4, 1});
  const Tensor y = constant({{0.0}, {1.0}, {1.0}, {1.0}});
  auto model = keras::Sequential({keras::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = keras::SGD({.learning_rate = 0.0}), .loss = "mse"});
  const auto plain = model.fit(x, y, {.verbose = 0});
  const auto weighted = model.fit(x, y, {.verbose = 0, .class_weight = {{0, 5.0}, {1, 2.0}}});
  const auto sampled = model.fit(x, y, {.verbose = 0, .sample_weight = constant({0.0, 0.0, 0.0, 4.0})});
  EXPECT_NEAR(plain["loss"][0], 0.75, 1e-6);
  EXPECT_NEAR(weighted["loss"][0], 1.5, 1e-6);
  EXPECT_NEAR(sampled["loss"][0], 1.0, 1e-6);
}

TEST_F(KerasTraining, SeveralOutputs) {
  const auto in = keras::Input({4});
  const auto a = keras::Dense(1, {.name = "a"})(in), b = keras::Dense(3, {.name = "b"})(in);
  keras::Model model(in, {a, b});
  model.compile({.optimizer = "adam",
                 .loss = {"mse", keras::SparseCategoricalCrossentropy({.from_logits = true})},
                 .loss_weights = {2.0, 0.5},
                 .output_metrics = {{"mae"}, {"accuracy"}}});
  const Problem p;
  const Tensor classes = argmax(p.x, 1) % 3;
  const auto logs = model.train_on_batch(p.x, {p.y, classes});
  EXPECT_NEAR(*logs.get("loss"), 2.0 * *logs.get("a_loss") + 0.5 * *logs.get("b_loss"), 1e-5);
  EXPECT_TRUE(logs.get("a_mae") && logs.get("b_accuracy"));
}

TEST_F(KerasTraining, EarlyStoppingStops) {
  const Problem p;
  auto model = regression();
  model.compile({.optimizer = keras::SGD({.learning_rate = 0.0}), .loss = "mse"});
  const auto history = model.fit(p.x, p.y,
                                 {.epochs = 20,
                                  .verbose = 0,
                                  .callbacks = {keras::EarlyStopping({.monitor = "loss", .patience = 2})},
                                  .shuffle = false});
  EXPECT_EQ(history.epoch.size(), 3u);
}

// Ctrl-C: the step at hand ends, callbacks run, fit returns; validation is left too.
TEST_F(KerasTraining, CtrlCEndsTrainingAfterTheStep) {
  struct Interrupt : keras::Callback {
    explicit Interrupt(bool in_validation) : in_validation(in_validation) {}
    void on_train_batch_begin(int64_t batch, keras::Logs&) override {
      if (!in_validation && batch == 2) raise(SIGINT);
    }
    void on_train_batch_end(int64_t, keras::Logs&) override { ++steps; }
    void on_test_batch_end(int64_t batch, keras::Logs&) override {
      ++test_steps;
      if (in_validation && batch == 1) raise(SIGINT);
    }
    void on_epoch_end(int64_t, keras::Logs&) override { ++epochs; }
    void on_train_end(keras::Logs&) override { ended = true; }
    bool in_validation, ended = false;
    int steps = 0, test_steps = 0, epochs = 0;
  };
  const Problem p;
  struct sigaction before = {}, after = {};
  sigaction(SIGINT, nullptr, &before);
  for (const bool in_validation : {false, true}) {
    auto model = regression();
    model.compile({.loss = "mse"});
    const auto watch = std::make_shared<Interrupt>(in_validation);
    const auto history = model.fit(p.x, p.y,
                                   {.batch_size = 8,
                                    .epochs = 5,
                                    .verbose = 0,
                                    .callbacks = {watch},
                                    .validation_data = keras::ValidationData{p.x, p.y}});
    EXPECT_EQ(watch->steps, in_validation ? 8 : 3);
    EXPECT_EQ(watch->test_steps, in_validation ? 2 : 0);
    EXPECT_EQ(watch->epochs, 1);
    EXPECT_TRUE(watch->ended);
    EXPECT_EQ(history["loss"].size(), 1u);
    EXPECT_FALSE(history.contains("val_loss"));
    EXPECT_EQ(history.position.step, in_validation ? 0 : 3);
    EXPECT_EQ(history.position.epoch, in_validation ? 1 : 0);
    // It is over: what comes next runs to its end.
    EXPECT_EQ(model.fit(p.x, p.y, {.epochs = 2, .verbose = 0})["loss"].size(), 2u);
    model.evaluate(p.x, p.y, {.verbose = 0});
  }
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST_F(KerasTraining, MixedBfloat16TrainsFloat32Weights) {
  const Problem p;
  keras::set_dtype_policy("mixed_bfloat16");
  auto model = regression();
  keras::set_dtype_policy("float32");
  model.compile({.optimizer = keras::Adam({.learning_rate = 0.02}), .loss = "mse"});
  const auto history = model.fit(p.x, p.y, {.batch_size = 16, .epochs = 12, .verbose = 0});
  EXPECT_LT(history["loss"].back(), history["loss"].front() * 0.3);
  EXPECT_EQ(model.weights()[0].dtype(), float32);
  EXPECT_EQ(model(p.x).dtype(), bfloat16);
}

TEST_F(KerasTraining, AMemoryBudgetIsKeptOrRefused) {
  const Problem p;
  std::vector<double> losses;
  for (const int64_t budget : {int64_t(0), int64_t(64) << 20}) {
    keras::clear_session();
    random::set_seed(5);
    auto model = regression();
    model.compile({.optimizer = "sgd", .loss = "mse", .memory_budget = budget});
    losses.push_back(model.fit(p.x, p.y, {.epochs = 3, .verbose = 0})["loss"].back());
  }
  EXPECT_EQ(losses[0], losses[1]);
  auto model = regression();
  model.compile({.optimizer = "sgd", .loss = "mse", .memory_budget = 1000});
  EXPECT_THROW(model.fit(p.x, p.y, {.verbose = 0}), ResourceExhaustedError);
}

TEST_F(KerasTraining, MistakesAreNamed) {
  const Problem p;
  auto model = regression();
  expect_error<FailedPreconditionError>([&] { model.fit(p.x, p.y); }, "compile()");
  model.compile({.loss = "mse"});
  expect_error<InvalidArgumentError>([&] { model.fit(p.x, ones({3, 1}), {.verbose = 0}); },
                                     "same number of samples");
  expect_error<InvalidArgumentError>([&] { model.fit(p.x, p.y, {.batch_size = 0, .verbose = 0}); },
                                     "batch_size");
  model.compile({});
  expect_error<FailedPreconditionError>([&] { model.fit(p.x, p.y, {.verbose = 0}); }, "No loss to compute");
  model.compile({.loss = std::vector<keras::Loss>{"mse", "mae"}});
  expect_error<InvalidArgumentError>([&] { model.fit(p.x, p.y, {.verbose = 0}); }, "2 losses");
}

}  // namespace
}  // namespace rw
