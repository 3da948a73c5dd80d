#include "rewind/keras/losses.h"

#include <gtest/gtest.h>

#include <cmath>

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

// Minus the log of the summed probabilities of all ways to write the labels over time.
double ctc_by_hand(const std::vector<std::vector<double>>& probabilities, const std::vector<int>& labels) {
  const size_t classes = probabilities[0].size();
  double total = 0;
  std::vector<size_t> path(probabilities.size(), 0);
  while (true) {
    std::vector<int> read;
    double p = 1;
    for (size_t t = 0; t < path.size(); ++t) {
      p *= probabilities[t][path[t]];
      if (path[t] != 0 && (t == 0 || path[t] != path[t - 1])) read.push_back(int(path[t]));
    }
    if (read == labels) total += p;
    size_t t = 0;
    while (t < path.size() && ++path[t] == classes) path[t++] = 0;
    if (t == path.size()) break;
  }
  return -std::log(total);
}

TEST(Losses, CtcSumsOverAllAlignments) {
  const Tensor logits = random::stateless_normal({3, 5, 4}, constant({5, 6}));
  const Tensor labels = constant(std::vector<int32_t>{1, 1, 2, 3, 0, 0, 0, 0, 0}, {3, 3});
  const std::vector<float> loss = CTC({.reduction = "none"})(labels, logits).to_vector<float>();
  const Tensor p = nn::softmax(logits);
  const std::vector<std::vector<int>> read{{1, 1, 2}, {3}, {}};
  for (int64_t b = 0; b < 3; ++b) {
    std::vector<std::vector<double>> rows;
    for (int64_t t = 0; t < 5; ++t) {
      const auto row = p[b][t].to_vector<float>();
      rows.emplace_back(row.begin(), row.end());
    }
    EXPECT_NEAR(loss[size_t(b)], ctc_by_hand(rows, read[size_t(b)]), 1e-4) << b;
  }
}

TEST(Losses, CtcHasTheGradientOfDifferences) {
  for (const int64_t time : {6, 40}) {  // written out, and as a loop
    const Tensor logits = random::stateless_normal({2, time, 4}, constant({7, 8}));
    const Tensor labels = constant(std::vector<int32_t>{1, 1, 2, 3, 0, 0}, {2, 3});
    const CTC loss;
    const auto step = function([&](const Tensor& x) {
      GradientTape tape;
      tape.watch(x);
      const Tensor value = loss(labels, x);
      return Tensor(tape.gradient(value, x));
    });
    const Tensor gradient = step(logits);
    const Tensor direction = random::stateless_normal(logits.shape(), constant({9, 9}));
    const float h = 1e-2f;
    const float slope = (loss(labels, logits + direction * h).item<float>() -
                         loss(labels, logits - direction * h).item<float>()) /
                        (2 * h);
    EXPECT_NEAR(reduce_sum(gradient * direction).item<float>(), slope, 2e-2 * std::abs(slope) + 2e-3);
    // Raising all logits of a step changes nothing.
    EXPECT_LT(reduce_max(abs(reduce_sum(gradient, -1))).item<float>(), 1e-5);
  }
}

TEST(Losses, CtcRefusesOtherShapes) {
  EXPECT_THROW(ctc(zeros({2}), zeros({2, 3, 4})), InvalidArgumentError);
  EXPECT_THROW(ctc(zeros({2, 3}), zeros({2, 3})), InvalidArgumentError);
}

}  // namespace
}  // namespace rw::keras
