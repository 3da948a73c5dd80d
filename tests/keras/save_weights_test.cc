// save_weights and load_weights: names, what is refused, and training that goes on from a file.
#include <gtest/gtest.h>

#include "rewind/format/safetensors.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

class SaveWeights : public testing::Test {
 protected:
  void SetUp() override {
    keras::clear_session();
    random::set_seed(5);
  }
  static keras::Sequential network(int64_t hidden = 4) {
    return keras::Sequential({keras::Input({3}), keras::Dense(hidden, {.activation = "tanh"}),
                              keras::BatchNormalization(), keras::Dense(1)});
  }
  static std::vector<std::vector<float>> values(const keras::Model& model) {
    std::vector<std::vector<float>> list;
    for (const Variable& v : model.weights()) list.push_back(v.to_vector<float>());
    return list;
  }
  test::TemporaryFolder folder;
  const Tensor x = random::stateless_normal({64, 3}, constant({1, 2}));
  const Tensor y = reduce_sum(x, 1, true);
};

TEST_F(SaveWeights, NamesArePathsOfTheWeights) {
  const auto model = network();
  model.save_weights(folder / "w.safetensors");
  const format::SafetensorsFile file(folder / "w.safetensors");
  EXPECT_EQ(file.entries().size(), model.weights().size());
  for (const Variable& v : model.weights()) {
    const auto* entry = file.find(keras::weight_path(v));
    ASSERT_NE(entry, nullptr) << keras::weight_path(v);
    EXPECT_EQ(entry->shape, v.shape());
  }
}

TEST_F(SaveWeights, TheSameModelMadeLaterTakesThem) {
  const auto first = network();
  first.save_weights(folder / "w");
  const auto second = network();  // its layers are dense_2, dense_3, ...
  EXPECT_NE(keras::weight_path(second.weights()[0]), keras::weight_path(first.weights()[0]));
  EXPECT_NE(values(second), values(first));
  second.load_weights(folder / "w");
  EXPECT_EQ(values(second), values(first));
  // And the other way round.
  second.weights()[0].assign(zeros_like(second.weights()[0]));
  second.save_weights(folder / "w2");
  first.load_weights(folder / "w2");
  EXPECT_EQ(values(second), values(first));
}

TEST_F(SaveWeights, NumbersOfNamesThatWereGivenStay) {
  auto with = [](const char* a, const char* b) {
    return keras::Sequential({keras::Input({2}), keras::Dense(2, {.name = a}), keras::Dense(2, {.name = b})});
  };
  with("dense_1", "dense_7").save_weights(folder / "w");
  const auto other = with("dense_1", "dense_8");
  expect_error<InvalidArgumentError>([&] { other.load_weights(folder / "w"); }, "missing in the file: ");
}

TEST_F(SaveWeights, LayersOfOneNameAreKeptApart) {
  auto inner = [](const char* name) {
    const auto in = keras::Input({2});
    return keras::Model(in, keras::Dense(2, {.name = "same"})(in), {.name = name});
  };
  auto whole = [&] {
    const auto in = keras::Input({2});
    return keras::Model(in, inner("second")(inner("first")(in)));
  };
  const auto a = whole();
  const auto b = whole();
  a.save_weights(folder / "w");
  b.load_weights(folder / "w");
  EXPECT_EQ(values(a), values(b));
  EXPECT_NE(values(a)[0], values(a)[2]);
}

TEST_F(SaveWeights, OtherModelsAreRefusedWithAList) {
  network(4).save_weights(folder / "w");
  const auto wider = network(5);
  const auto before = values(wider);
  for (const char* part : {"/w does not fit model \"sequential_1\"",
                           "of other shape or type: ", "kernel is (3, 5) float32, in the file (3, 4)"})
    expect_error<InvalidArgumentError>([&] { wider.load_weights(folder / "w"); }, part);
  EXPECT_EQ(values(wider), before);
  const LoadReport report = wider.load_weights(folder / "w", {.skip_mismatch = true});
  EXPECT_EQ(report.mismatched.size(), 7u);
  EXPECT_EQ(values(wider).back(), std::vector<float>{0});
  const auto deeper =
      keras::Sequential({keras::Input({3}), keras::Dense(4), keras::Dense(4), keras::Dense(1)});
  expect_error<InvalidArgumentError>([&] { deeper.load_weights(folder / "w"); },
                                     "not expected in the file: ");
}

TEST_F(SaveWeights, ModelsWithoutWeightsSaySo) {
  const auto model = keras::Sequential({keras::Dense(2)});
  expect_error<FailedPreconditionError>([&] { model.save_weights(folder / "w"); }, "has no weights yet");
  expect_error<FailedPreconditionError>([&] { model.load_weights(folder / "w"); }, "has no weights yet");
  EXPECT_TRUE(folder.files().empty());
}

TEST_F(SaveWeights, OptimizerStateIsThereWhenAskedFor) {
  auto model = network();
  model.compile({.optimizer = keras::Adam(), .loss = "mse"});
  model.fit(x, y, {.verbose = 0});
  model.save_weights(folder / "all", {.training_state = true});
  const format::SafetensorsFile file(folder / "all");
  for (const char* name : {"optimizer/iteration", "optimizer/learning_rate"})
    EXPECT_NE(file.find(name), nullptr) << name;
  for (const Variable& v : model.trainable_weights())
    for (const char* slot : {"momentum", "velocity"})
      EXPECT_NE(file.find("optimizer/" + keras::weight_path(v) + "/" + slot), nullptr) << slot;
  // The weights alone can be taken from it, by a model that was not compiled too.
  const auto other = network();
  other.load_weights(folder / "all");
  EXPECT_EQ(values(other), values(model));
  model.save_weights(folder / "weights");
  expect_error<InvalidArgumentError>(
      [&] { model.load_weights(folder / "weights", {.training_state = true}); },
      "missing in the file: optimizer/iteration");
}

// Four epochs in one go, and two, a file, a new model, two more: the same bits.
TEST_F(SaveWeights, TrainingGoesOnFromAFile) {
  for (const char* optimizer :
       {"sgd", "adam", "adamw", "adamax", "nadam", "rmsprop", "adagrad", "adadelta", "ftrl", "lion"}) {
    auto start = network();
    start.save_weights(folder / "start");
    auto trained = [&](int from, int to, const std::string& file, bool state) {
      auto model = network();
      model.compile({.optimizer = keras::Optimizer(optimizer), .loss = "mse", .metrics = {"mae"}});
      model.load_weights(file, {.training_state = state});
      model.fit(x, y,
                {.batch_size = 16, .epochs = to, .verbose = 0, .shuffle = false, .initial_epoch = from});
      return model;
    };
    const auto whole = trained(0, 4, folder / "start", false);
    trained(0, 2, folder / "start", false).save_weights(folder / "half", {.training_state = true});
    const auto resumed = trained(2, 4, folder / "half", true);
    EXPECT_EQ(values(resumed), values(whole)) << optimizer;
    EXPECT_EQ(resumed.optimizer().iterations().item<int64_t>(), 16) << optimizer;
  }
}

TEST_F(SaveWeights, LossScaleOptimizersKeepTheirScale) {
  auto make = [&] {
    auto model = network();
    model.compile(
        {.optimizer = keras::LossScaleOptimizer(keras::SGD({.momentum = 0.9}), {.dynamic_growth_steps = 3}),
         .loss = "mse"});
    return model;
  };
  auto a = make();
  a.fit(x, y, {.batch_size = 16, .verbose = 0});
  a.save_weights(folder / "w", {.training_state = true});
  auto b = make();
  b.load_weights(folder / "w", {.training_state = true});
  const auto mine = a.optimizer().variables(), theirs = b.optimizer().variables();
  ASSERT_EQ(mine.size(), theirs.size());
  for (size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(mine[i].value().repr(), theirs[i].value().repr());
}

}  // namespace
}  // namespace rw
