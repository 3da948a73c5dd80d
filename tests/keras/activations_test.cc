#include "rewind/keras/activations.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rewind/keras/constraints.h"
#include "rewind/keras/regularizers.h"
#include "rewind/rewind.h"

namespace rw::keras {
namespace {

TEST(Activations, ByNameByFunctionOrNone) {
  const Tensor x = constant({-1.0, 2.0});
  EXPECT_EQ(Activation("relu")(x).to_vector<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ(Activation(&nn::relu)(x).to_vector<float>(), (std::vector<float>{0, 2}));
  const Activation twice = [](const Tensor& t) { return t * 2.0; };
  EXPECT_EQ(twice(x).to_vector<float>(), (std::vector<float>{-2, 4}));
  EXPECT_EQ(Activation()(x).to_vector<float>(), (std::vector<float>{-1, 2}));
  EXPECT_EQ(Activation().name(), "linear");
  EXPECT_THROW(Activation("rleu"), InvalidArgumentError);
}

TEST(Activations, ReluHasKerasOptions) {
  const Tensor x = constant({-10.0, -5.0, 0.0, 5.0, 10.0});
  EXPECT_EQ(activations::relu(x, {.negative_slope = 0.5}).to_vector<float>(),
            (std::vector<float>{-5, -2.5, 0, 5, 10}));
  EXPECT_EQ(activations::relu(x, {.max_value = 5.0}).to_vector<float>(), (std::vector<float>{0, 0, 0, 5, 5}));
  EXPECT_EQ(activations::relu(x, {.threshold = 5.0}).to_vector<float>(),
            (std::vector<float>{0, 0, 0, 0, 10}));
}

TEST(Activations, SparsemaxIsKerasOwn) {
  const auto v = activations::sparsemax(constant({{1.0, 0.8, -3.0}})).to_vector<float>();
  EXPECT_NEAR(v[0], 0.1, 1e-6);
  EXPECT_EQ(v[1], 0);
  EXPECT_EQ(v[2], 0);
}

TEST(Activations, RememberLogitsWhileTheResultLives) {
  const Tensor x = constant({{1.0, 2.0}});
  const Tensor y = activations::softmax(x);
  EXPECT_EQ(activations::logits_of(y).impl(), x.impl());
  EXPECT_FALSE(activations::logits_of(nn::softmax(x)).defined());
}

TEST(Regularizers, Penalties) {
  const Tensor x = constant({{1.0, -2.0}, {3.0, -4.0}});
  EXPECT_FLOAT_EQ(Regularizer("l1")(x).item<float>(), 0.1f);
  EXPECT_FLOAT_EQ(Regularizer("l2")(x).item<float>(), 0.3f);
  EXPECT_FLOAT_EQ(regularizers::L1L2({.l1 = 0.1, .l2 = 0.2})(x).item<float>(), 7.0f);
  EXPECT_EQ(Regularizer()(x).item<float>(), 0.0f);
  EXPECT_THROW(regularizers::L2(-1.0), InvalidArgumentError);
}

TEST(Constraints, Projections) {
  const Tensor w = constant({{3.0, -0.5}, {4.0, 0.0}});
  EXPECT_EQ(Constraint("non_neg")(w).to_vector<float>(), (std::vector<float>{3, 0, 4, 0}));
  const auto bounded = Constraint("max_norm")(w).to_vector<float>();
  EXPECT_NEAR(bounded[0], 1.2, 1e-6);
  EXPECT_NEAR(bounded[1], -0.5, 1e-6);
  const auto unit = Constraint("unit_norm")(w).to_vector<float>();
  EXPECT_NEAR(unit[2], 0.8, 1e-6);
  EXPECT_NEAR(unit[1], -1.0, 1e-6);
}

}  // namespace
}  // namespace rw::keras
