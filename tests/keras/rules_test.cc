// Rules of Keras 3 that are not arithmetic: sizes that a Sequential takes, masks, names of metrics, single
// batches. check_keras_rules.py compares the whole tables live; the numbers here are Keras'.
#include <gtest/gtest.h>

#include "rewind/data/dataset.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

using Texts = std::vector<std::string>;

class KerasRules : public testing::Test {
 protected:
  void SetUp() override {
    keras::clear_session();
    random::set_seed(3);
  }
};

template <class F>
void refuses(F f, const Texts& parts) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InvalidArgumentError& e) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << " is not in: " << e.what();
  }
}

Texts names_of(const keras::Logs& logs) {
  Texts names;
  for (const auto& [name, value] : logs.items()) names.push_back(name);
  return names;
}

// ---- sizes ------------------------------------------------------------------------------------------------

TEST_F(KerasRules, SequentialTakesOtherLengthsThanItsFirst) {
  auto model = keras::Sequential({keras::Embedding(10, 4), keras::GRU(3), keras::Dense(2)});
  for (const int64_t length : {5, 6, 3})
    EXPECT_EQ(model(ones({16, length}, int32)).shape(), (Shape{16, 2})) << length;
  EXPECT_EQ(model.weights().size(), 6u);
  EXPECT_EQ(model.predict(ones({4, 9}, int32), {.verbose = 0}).shape(), (Shape{4, 2}));
}

TEST_F(KerasRules, SequentialTakesOtherImageSizesThanItsFirst) {
  auto model = keras::Sequential({keras::Conv2D(4, 3), keras::GlobalAveragePooling2D(), keras::Dense(2)});
  EXPECT_EQ(model(ones({2, 8, 8, 3})).shape(), (Shape{2, 2}));
  EXPECT_EQ(model(ones({3, 10, 9, 3})).shape(), (Shape{3, 2}));
  auto sized = keras::Sequential({keras::Input({8, 8, 3}), keras::Conv2D(4, 3), keras::GlobalMaxPooling2D()});
  EXPECT_EQ(sized(ones({2, 5, 6, 3})).shape(), (Shape{2, 4}));
}

TEST_F(KerasRules, LayersOfASequentialRefuseSizesThatTheyDependOn) {
  auto dense = keras::Sequential({keras::Dense(4), keras::Dense(2)});
  dense(ones({2, 8}));
  refuses([&] { dense(ones({2, 9})); }, {"dense", "axis -1 of input shape to have value 8", "(2, 9)"});
  auto flat = keras::Sequential({keras::Flatten(), keras::Dense(2)});
  flat(ones({2, 4, 4}));
  EXPECT_EQ(flat(ones({2, 2, 8})).shape(), (Shape{2, 2}));
  refuses([&] { flat(ones({2, 5, 4})); }, {"value 16", "(2, 20)"});
  refuses([&] { flat(ones({2, 16})); }, {"expected shape", "(2, 16)"});
}

TEST_F(KerasRules, FunctionalModelsCompareSizesAlsoWhenAnAxisIsAdded) {
  const auto i = keras::Input({8, 1});
  const keras::Model model(i, keras::Flatten()(i));
  EXPECT_EQ(model(ones({2, 8})).shape(), (Shape{2, 8}));
  EXPECT_EQ(model(ones({3, 8, 1, 1})).shape(), (Shape{3, 8}));
  EXPECT_THROW(model(ones({2, 7})), InvalidArgumentError);
}

TEST_F(KerasRules, FitTakesBatchesOfDifferentLengths) {
  auto model = keras::Sequential({keras::Embedding(10, 4), keras::LSTM(3), keras::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  for (const int64_t length : {5, 6})
    model.fit(ones({8, length}, int32), ones({8, 1}), {.batch_size = 4, .verbose = 0});
  EXPECT_EQ(model.optimizer().iterations().item<int64_t>(), 4);
}

// ---- masks ------------------------------------------------------------------------------------------------

struct Probe : keras::LayerOf<Probe> {
  inline static Tensor seen;
  Tensor call(const Tensor& x, const keras::CallArgs& args) override {
    seen = args.mask;
    return x;
  }
  bool supports_masking() const override { return true; }
};

// What stands at the end of f, given three steps of which the last is masked, and three that are not.
template <class F>
Tensor mask_behind(F f) {
  const auto i = keras::Input({3, 2}), j = keras::Input({3, 2});
  const keras::Model model({i, j}, Probe()(f(keras::Masking()(i), j)));
  Probe::seen = {};
  model({constant({{{1.0, 2.0}, {3.0, 4.0}, {0.0, 0.0}}}), ones({1, 3, 2})});
  return Probe::seen;
}
using Symbol = keras::KerasTensor;

TEST_F(KerasRules, OperatorsAndLambdasDropMasks) {
  const auto scale = [](const Tensor& x) { return x * 2.0; };
  EXPECT_FALSE(mask_behind([](const Symbol& m, const Symbol& j) { return m + j; }).defined());
  EXPECT_FALSE(mask_behind([](const Symbol& m, const Symbol&) { return m * 2.0; }).defined());
  EXPECT_FALSE(mask_behind([](const Symbol& m, const Symbol&) { return -m; }).defined());
  EXPECT_FALSE(
      mask_behind([&](const Symbol& m, const Symbol&) { return keras::Lambda(scale)(m); }).defined());
  EXPECT_FALSE(
      mask_behind([](const Symbol& m, const Symbol&) { return keras::Reshape({3, 2})(m); }).defined());
}

TEST_F(KerasRules, LayersKeepAndMergeMasks) {
  const std::vector<bool> first_two{true, true, false}, all{true, true, true};
  auto values = [](const Tensor& t) { return t.to_vector<bool>(); };
  EXPECT_EQ(values(mask_behind([](const Symbol& m, const Symbol&) { return keras::Dense(2)(m); })),
            first_two);
  EXPECT_EQ(values(mask_behind([](const Symbol& m, const Symbol&) { return keras::Add()({m, m}); })),
            first_two);
  EXPECT_EQ(
      values(mask_behind([](const Symbol& m, const Symbol& j) { return keras::Concatenate()({m, j}); })),
      all);
  EXPECT_FALSE(mask_behind([](const Symbol& m, const Symbol& j) { return keras::Add()({m, j}); }).defined());
}

TEST_F(KerasRules, MaskedStepsTakeNoPartInProductsAndExtremes) {
  const Tensor a = constant({{{1.0, -2.0}, {3.0, 4.0}}}), b = constant({{{5.0, -6.0}, {-7.0, 8.0}}});
  auto run = [&](const auto& layer) {
    const auto i = keras::Input({2, 2}), j = keras::Input({2, 2});
    const keras::Model model({i, j}, layer({keras::Masking()(i), j}));
    return model({a * constant({{{1.0}, {0.0}}}), b}).template to_vector<float>();
  };
  EXPECT_EQ(run(keras::Multiply()), (std::vector<float>{5, 12, -7, 8}));
  EXPECT_EQ(run(keras::Maximum()), (std::vector<float>{5, -2, -7, 8}));
  EXPECT_EQ(run(keras::Minimum()), (std::vector<float>{1, -6, -7, 8}));
}

// ---- logs -------------------------------------------------------------------------------------------------

TEST_F(KerasRules, MetricsWithOneNameAreNumbered) {
  auto model = keras::Sequential({keras::Dense(1)});
  model.compile({.optimizer = "sgd",
                 .loss = "mse",
                 .metrics = {"mae", "mae"},
                 .weighted_metrics = {"mse", "mae", "mae"}});
  const Tensor x = ones({4, 2}), y = ones({4, 1});
  const auto history = model.fit(x, y, {.verbose = 0, .validation_data = keras::ValidationData{x, y}});
  Texts names;
  for (const auto& [name, values] : history.history) names.push_back(name);
  EXPECT_EQ(names, (Texts{"loss", "mae", "mae_1", "mse", "val_loss", "val_mae", "val_mae_1", "val_mse",
                          "val_weighted_mae", "val_weighted_mae_1", "weighted_mae", "weighted_mae_1"}));
}

TEST_F(KerasRules, WeightedMetricsKeepTheirOwnNumbers) {
  auto model = keras::Sequential({keras::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = keras::SGD({.learning_rate = 0.0}),
                 .loss = "mse",
                 .metrics = {"mae"},
                 .weighted_metrics = {"mae"}});
  const auto logs = model.train_on_batch(ones({2, 1}), constant({{1.0}, {3.0}}), constant({1.0, 0.0}));
  EXPECT_EQ(names_of(logs), (Texts{"loss", "mae", "weighted_mae"}));
  EXPECT_FLOAT_EQ(float(logs["mae"]), 2);
  EXPECT_FLOAT_EQ(float(logs["weighted_mae"]), 1);
}

TEST_F(KerasRules, AMetricForEachOutput) {
  const auto in = keras::Input({4});
  keras::Model model(in, {keras::Dense(1, {.name = "a"})(in), keras::Dense(1, {.name = "b"})(in)});
  const Tensor x = ones({4, 4}), y = ones({4, 1});
  model.compile(
      {.optimizer = "sgd", .loss = "mse", .metrics = {"mae", "mse"}, .weighted_metrics = {"mae", "mae"}});
  EXPECT_EQ(names_of(model.train_on_batch(x, {y, y})),
            (Texts{"a_loss", "a_mae", "a_weighted_mae", "b_loss", "b_mae", "b_mse", "loss"}));
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  refuses([&] { model.train_on_batch(x, {y, y}); }, {"metrics", "2 outputs", "got 1"});
}

TEST_F(KerasRules, MetricObjectsKeepTheirNames) {
  const auto in = keras::Input({4});
  keras::Model model(in, {keras::Dense(1, {.name = "a"})(in), keras::Dense(1, {.name = "b"})(in)});
  const keras::metrics::MeanAbsoluteError metric({.name = "distance"});
  model.compile({.optimizer = "sgd", .loss = "mse", .output_metrics = {{metric}, {}}});
  const Tensor x = ones({4, 4}), y = ones({4, 1});
  EXPECT_TRUE(model.train_on_batch(x, {y, y}).get("a_distance"));
  EXPECT_EQ(metric.name(), "distance");
}

TEST_F(KerasRules, BatchesAreMeasuredAlone) {
  auto model = keras::Sequential({keras::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = keras::SGD({.learning_rate = 0.0}), .loss = "mse", .metrics = {"mae"}});
  for (const double target : {1.0, 3.0}) {
    const Tensor y = fill({2, 1}, constant(float(target)));
    EXPECT_FLOAT_EQ(float(model.train_on_batch(ones({2, 1}), y)["mae"]), float(target));
    EXPECT_FLOAT_EQ(float(model.test_on_batch(ones({2, 1}), y)["loss"]), float(target * target));
  }
}

// ---- accessors --------------------------------------------------------------------------------------------

TEST_F(KerasRules, HandlesSeeWeightsThatAModelBuilt) {
  keras::Dense functional(2), listed(3), no_bias(2, {.use_bias = false});
  keras::Embedding table(7, 3);
  EXPECT_FALSE(listed.kernel().defined());
  const auto i = keras::Input({4});
  const keras::Model model(i, functional(i));
  EXPECT_EQ(functional.kernel().shape(), (Shape{4, 2}));
  EXPECT_TRUE(same_variable(functional.bias(), model.weights()[1]));
  auto sequential = keras::Sequential({table, listed, no_bias});
  sequential(ones({2, 5}, int32));
  EXPECT_EQ(table.embeddings().shape(), (Shape{7, 3}));
  EXPECT_TRUE(same_variable(listed.kernel(), sequential.weights()[1]));
  EXPECT_TRUE(no_bias.kernel().defined());
  EXPECT_FALSE(no_bias.bias().defined());
}

}  // namespace
}  // namespace rw
