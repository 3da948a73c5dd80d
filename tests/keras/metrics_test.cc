#include "rewind/keras/metrics.h"

#include <gtest/gtest.h>

#include "rewind/keras/losses.h"
#include "rewind/rewind.h"

namespace rw::keras {
namespace {

TEST(Metrics, MeansWeighTheirValues) {
  const Mean mean;
  EXPECT_EQ(mean.result().item<float>(), 0);
  mean.update_state(constant({1.0, 3.0}));
  EXPECT_EQ(mean.result().item<float>(), 2);
  mean.update_state(constant({10.0, 0.0}), constant({2.0, 0.0}));
  EXPECT_EQ(mean.result().item<float>(), 6);
  mean.reset_state();
  EXPECT_EQ(mean(5.0).item<float>(), 5);
  EXPECT_THROW(mean.Metric::update_state(1.0, 2.0), InvalidArgumentError);
}

TEST(Metrics, UpdatesInAFunctionAreReadOutside) {
  const SparseCategoricalAccuracy accuracy;
  const auto step = function([&](const Tensor& y, const Tensor& logits) { return accuracy(y, logits); });
  const Tensor logits = constant({{1.0, 2.0}, {3.0, 1.0}});
  EXPECT_EQ(step(constant(std::vector<int64_t>{1, 1}), logits).item<float>(), 0.5f);
  EXPECT_EQ(step(constant(std::vector<int64_t>{1, 0}), logits).item<float>(), 0.75f);
  EXPECT_EQ(accuracy.result().item<float>(), 0.75f);
  accuracy.reset_state();
  EXPECT_EQ(accuracy.result().item<float>(), 0);
}

TEST(Metrics, StateMadeInAFunctionIsKept) {
  const F1Score f1({.average = "macro"});
  const auto step = function([&](const Tensor& y, const Tensor& p) { f1.update_state(y, p); });
  step(constant({{1.0, 0.0}, {0.0, 1.0}}), constant({{0.9, 0.1}, {0.2, 0.8}}));
  step(constant({{1.0, 0.0}, {0.0, 1.0}}), constant({{0.9, 0.1}, {0.2, 0.8}}));
  EXPECT_NEAR(f1.result().item<float>(), 1.0f, 1e-5);
  EXPECT_EQ(f1.variables().size(), 4u);
}

TEST(Metrics, CopiesAreTheSameMetric) {
  const Metric one = "mse";
  const Metric two = one;
  two.update_state(constant({1.0}), constant({3.0}));
  EXPECT_EQ(one.result().item<float>(), 4);
}

TEST(Metrics, ByNameLossOrFunction) {
  EXPECT_EQ(Metric("AUC").direction(), Direction::kUp);
  EXPECT_EQ(Metric("mse").direction(), Direction::kDown);
  EXPECT_EQ(Metric(Huber()).name(), "huber_loss");
  const Metric own = [](const Tensor& y, const Tensor& p) { return abs(y - p); };
  EXPECT_EQ(own(constant({1.0, 2.0}), constant({3.0, 2.0})).item<float>(), 1);
  EXPECT_THROW(Metric("accurcy"), InvalidArgumentError);
}

TEST(Metrics, AccuracyFollowsTheShapes) {
  const auto kind = [](const Shape& truth, const Shape& pred) {
    return metrics::get("accuracy", truth, pred);
  };
  EXPECT_EQ(kind({2}, {2, 1})(constant({1.0, 0.0}), constant({{0.7}, {0.6}})).item<float>(), 0.5f);
  EXPECT_EQ(kind({2}, {2, 3})(constant({1, 0}), constant({{0.1, 0.7, 0.2}, {0.9, 0.0, 0.1}})).item<float>(),
            1.0f);
  EXPECT_EQ(kind({1, 2}, {1, 2})(constant({{1.0, 0.0}}), constant({{0.1, 0.9}})).item<float>(), 0.0f);
  EXPECT_EQ(kind({2}, {2, 1}).name(), "accuracy");
}

TEST(Metrics, ConfusionMatrixCountsPairs) {
  EXPECT_EQ(metrics::confusion_matrix(constant({0, 1, 1}), constant({0, 1, 0}), 2).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 0, 1, 1}));
}

TEST(Metrics, RefuseWhatTheyCannotDo) {
  EXPECT_THROW(Precision({.thresholds = {1.5}}), InvalidArgumentError);
  EXPECT_THROW(AUC({.curve = "area"}), InvalidArgumentError);
  EXPECT_THROW(IoU(2, {2}), InvalidArgumentError);
  EXPECT_THROW(F1Score().update_state(constant({1.0}), constant({1.0})), InvalidArgumentError);
  EXPECT_THROW(Precision().update_state(ones({2, 3}), ones({2, 2})), InvalidArgumentError);
}

}  // namespace
}  // namespace rw::keras
