// mixed_float16: compile() puts the optimizer into a LossScaleOptimizer. Numbers are Keras'.
#include <gtest/gtest.h>

#include <cmath>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

class LossScale : public testing::Test {
 protected:
  void SetUp() override {
    keras::clear_session();
    keras::set_dtype_policy("mixed_float16");
  }
  void TearDown() override { keras::set_dtype_policy("float32"); }

  // One weight, one bias; gradients of examples are 1.6e-8, which is 0 in float16.
  static keras::Sequential tiny(bool auto_scale) {
    auto model = keras::Sequential({keras::Dense(1, {.kernel_initializer = "zeros"})});
    model.compile(
        {.optimizer = keras::SGD({.learning_rate = 1000.0}), .loss = "mse", .auto_scale_loss = auto_scale});
    return model;
  }
  const Tensor x = ones({64, 1}), y = fill({64, 1}, constant(5e-7f));
  static double scale_of(const keras::Optimizer& optimizer) {
    for (const auto& v : optimizer.own_variables())
      if (v.name == "dynamic_scale") return double(v.variable.item<float>());
    return 0;
  }
};

TEST_F(LossScale, SmallGradientsArrive) {
  auto scaled = tiny(true), plain = tiny(false);
  for (auto* model : {&scaled, &plain}) model->fit(x, y, {.batch_size = 64, .verbose = 0});
  EXPECT_TRUE(scaled.optimizer().adapts_loss_scale());
  EXPECT_FALSE(plain.optimizer().adapts_loss_scale());
  EXPECT_NEAR(scaled.weights()[1].item<float>(), 1e-3, 1e-4);
  EXPECT_EQ(plain.weights()[1].item<float>(), 0);
}

TEST_F(LossScale, StepsThatOverflowAreSkipped) {
  auto model = tiny(true);
  model.fit(x, y * 1e12, {.batch_size = 32, .verbose = 0});
  EXPECT_EQ(model.weights()[1].item<float>(), 0);
  EXPECT_EQ(model.optimizer().iterations().item<int64_t>(), 0);
  EXPECT_EQ(scale_of(model.optimizer()), 32768.0 / 4);
}

TEST_F(LossScale, OnlyUnderThePolicyAndOnce) {
  const keras::LossScaleOptimizer own(keras::SGD(), {.initial_scale = 8.0});
  auto model = keras::Sequential({keras::Dense(1)});
  model.compile({.optimizer = own, .loss = "mse"});
  EXPECT_EQ(scale_of(model.optimizer()), 8.0);
  keras::set_dtype_policy("mixed_bfloat16");
  auto other = keras::Sequential({keras::Dense(1)});
  other.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_FALSE(other.optimizer().adapts_loss_scale());
}

// The scale stays finite where the loss is float16, and a factor of the inner optimizer does not divide
// again.
TEST_F(LossScale, LoopsOfOnesOwn) {
  const Variable w(constant(1.0f));
  const keras::LossScaleOptimizer optimizer(keras::SGD({.learning_rate = 0.5, .loss_scale_factor = 4.0}),
                                            {.initial_scale = 131072.0});
  auto step = function([&] {
    GradientTape tape;
    const Tensor loss = optimizer.scale_loss(cast(w * w, float16));
    optimizer.apply_gradients(tape.gradient(loss, std::vector<Variable>{w}), {w});
    return loss;
  });
  EXPECT_EQ(step().dtype(), float32);
  EXPECT_EQ(optimizer.iterations().item<int64_t>(), 0);  // 2 * 131072 is not finite in float16
  while (optimizer.iterations().item<int64_t>() == 0) step();
  EXPECT_FLOAT_EQ(w.item<float>(), 0);
}

}  // namespace
}  // namespace rw
