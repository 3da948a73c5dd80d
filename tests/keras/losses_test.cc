#include "rewind/keras/losses.h"

#include <gtest/gtest.h>

#include "rewind/keras/activations.h"
#include "rewind/rewind.h"

namespace rw::keras {
namespace {

const Tensor& truth() {
  static const Tensor t = constant({{0.0, 1.0}, {0.0, 0.0}});
  return t;
}
const Tensor& pred() {
  static const Tensor t = constant({{0.6, 0.4}, {0.4, 0.6}});
  return t;
}

TEST(Losses, ReduceOverTheBatch) {
  EXPECT_NEAR(MeanSquaredError()(truth(), pred()).item<float>(), 0.31f, 1e-6);
  EXPECT_NEAR(MeanSquaredError({.reduction = "sum"})(truth(), pred()).item<float>(), 0.62f, 1e-6);
  EXPECT_EQ(MeanSquaredError({.reduction = "none"})(truth(), pred()).shape(), Shape({2}));
  EXPECT_THROW(MeanSquaredError({.reduction = "average"}), InvalidArgumentError);
}

TEST(Losses, WeighExamplesAndLeaveMaskedOnesOut) {
  const MeanSquaredError mse;
  EXPECT_NEAR(mse(truth(), pred(), constant({1.0, 0.0})).item<float>(), 0.18f, 1e-6);
  EXPECT_NEAR(mse(truth(), pred(), {}, constant({true, false})).item<float>(), 0.36f, 1e-6);
  EXPECT_NEAR(
      MeanSquaredError({.reduction = "mean_with_sample_weight"})(truth(), pred(), constant({3.0, 1.0}))
          .item<float>(),
      (3 * 0.36 + 0.26) / 4, 1e-6);
}

TEST(Losses, TakeClassNumbersOfAnyType) {
  const Tensor logits = constant({{1.0, 2.0, 0.5}, {0.0, -1.0, 3.0}});
  const SparseCategoricalCrossentropy loss({.from_logits = true});
  const float expected = loss(constant(std::vector<int64_t>{1, 2}), logits).item<float>();
  EXPECT_EQ(loss(constant(std::vector<uint8_t>{1, 2}), logits).item<float>(), expected);
  EXPECT_EQ(loss(constant({{1.0}, {2.0}}), logits).item<float>(), expected);
  const CategoricalCrossentropy dense({.from_logits = true});
  EXPECT_NEAR(dense(constant({{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}), logits).item<float>(), expected, 1e-6);
}

TEST(Losses, IgnoreAClass) {
  const Tensor logits = constant({{1.0, 2.0}, {0.0, -1.0}});
  const SparseCategoricalCrossentropy all({.from_logits = true});
  const SparseCategoricalCrossentropy ignoring({.from_logits = true, .ignore_class = -1});
  EXPECT_NEAR(ignoring(constant({1, -1}), logits).item<float>(),
              all(constant({1}), logits(Slice(0, 1))).item<float>(), 1e-6);
}

TEST(Losses, TakeProbabilitiesBackToTheirLogits) {
  const Tensor logits = constant({{100.0, -100.0}});
  const Tensor p = activations::softmax(logits);
  EXPECT_NEAR(CategoricalCrossentropy()(constant({{0.0, 1.0}}), p).item<float>(), 200.0f, 1e-3);
  EXPECT_LT(CategoricalCrossentropy()(constant({{0.0, 1.0}}), nn::softmax(logits)).item<float>(), 20.0f);
}

TEST(Losses, ByNameOrFunction) {
  EXPECT_EQ(Loss("mse").name(), "mean_squared_error");
  EXPECT_EQ(Loss("MSE").name(), "mean_squared_error");
  EXPECT_EQ(Loss(Huber()).name(), "huber_loss");
  const Loss own = [](const Tensor& y, const Tensor& p) { return reduce_max(abs(y - p), -1); };
  EXPECT_NEAR(own(truth(), pred()).item<float>(), 0.6f, 1e-6);
  EXPECT_THROW(Loss("squared"), InvalidArgumentError);
}

TEST(Losses, RefuseShapesThatDoNotFit) {
  EXPECT_THROW(SparseCategoricalCrossentropy()(pred(), pred()), InvalidArgumentError);
  EXPECT_THROW(CategoricalCrossentropy()(ones({2, 3}), pred()), InvalidArgumentError);
}

}  // namespace
}  // namespace rw::keras
