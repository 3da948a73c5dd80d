// Public neural network functions: axes, shapes, compositions, mistakes.
#include <gtest/gtest.h>

#include <cmath>

#include "rewind/rewind.h"

namespace rw {
namespace {

void expect_near(const Tensor& t, const std::vector<float>& wanted, float tolerance = 1e-5f) {
  const std::vector<float> got = t.to_vector<float>();
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], tolerance) << i;
}

TEST(Nn, SoftmaxAlongAnyAxis) {
  const Tensor x = constant({{1.0, 5.0}, {1.0, 5.0}});
  expect_near(nn::softmax(x, 0), {0.5, 0.5, 0.5, 0.5});
  expect_near(nn::log_softmax(x, -2), {-0.6931472f, -0.6931472f, -0.6931472f, -0.6931472f});
  EXPECT_THROW(nn::softmax(x, 2), InvalidArgumentError);
}

TEST(Nn, CrossEntropyOfAnyRank) {
  const Tensor logits = constant({{{1.0, 2.0, 3.0}, {0.0, 0.0, 0.0}}});
  const Tensor labels = constant({{2, 0}});
  const Tensor loss = nn::sparse_softmax_cross_entropy_with_logits(labels, logits);
  EXPECT_EQ(loss.shape(), (Shape{1, 2}));
  expect_near(loss, {0.40760595f, 1.0986123f});
  const Tensor one_hot = constant({{{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}}});
  expect_near(nn::softmax_cross_entropy_with_logits(one_hot, logits), {0.40760595f, 1.0986123f});
  EXPECT_EQ(nn::softmax_cross_entropy_with_logits(one_hot, logits, 1).shape(), (Shape{1, 3}));
  EXPECT_THROW(nn::sparse_softmax_cross_entropy_with_logits(one_hot, logits), InvalidArgumentError);
}

TEST(Nn, BinaryLosses) {
  const Tensor x = constant({-2.0, 0.0, 3.0});
  const Tensor y = constant({0.0, 1.0, 1.0});
  const auto softplus = [](float v) { return std::log1p(std::exp(v)); };
  expect_near(nn::sigmoid_cross_entropy_with_logits(y, x), {softplus(-2), softplus(0), softplus(-3)});
  expect_near(nn::weighted_cross_entropy_with_logits(y, x, 2.0),
              {softplus(-2), 2 * softplus(0), 2 * softplus(-3)});
}

TEST(Nn, Normalisations) {
  expect_near(nn::l2_normalize(constant({3.0, 4.0})), {0.6f, 0.8f});
  const Tensor x = constant({{1.0, 3.0}, {2.0, 6.0}});
  expect_near(nn::layer_normalization(x, Tensor(), Tensor(), {.epsilon = 0.0}), {-1, 1, -1, 1});
  expect_near(nn::l2_loss(constant({1.0, 2.0})), {2.5f});
}

TEST(Nn, AttentionLooksWhereItMay) {
  const Tensor q = constant({{1.0, 0.0}, {0.0, 1.0}});
  const Tensor v = constant({{1.0, 2.0}, {3.0, 4.0}});
  expect_near(nn::scaled_dot_product_attention(q, q, v, {.scale = 0.0}), {2, 3, 2, 3});
  expect_near(nn::scaled_dot_product_attention(q, q, v, {.causal = true, .scale = 0.0}), {1, 2, 2, 3});
}

TEST(Nn, DropoutKeepsTheExpectedSum) {
  const Tensor x = constant(std::vector<float>(1000, 1.0f));
  int kept = 0;
  for (const float v : nn::dropout(x, 0.25, {.seed = 7}).to_vector<float>()) {
    kept += v != 0;
    if (v != 0) EXPECT_FLOAT_EQ(v, 1 / 0.75f);
  }
  EXPECT_NEAR(kept, 750, 60);
  EXPECT_THROW(nn::dropout(x, 1.0), InvalidArgumentError);
}

}  // namespace
}  // namespace rw
