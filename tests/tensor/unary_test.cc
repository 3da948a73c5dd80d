// Public unary functions: defaults, conversions, compositions.
#include "rewind/tensor/ops/unary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rewind/rewind.h"

namespace rw {
namespace {

TEST(Unary, NumbersAreTakenAsTensors) {
  EXPECT_FLOAT_EQ(exp(1.0).item<float>(), std::exp(1.0f));
  EXPECT_EQ(abs(-3).item<int32_t>(), 3);
  EXPECT_THROW(exp(1), InvalidArgumentError);  // exp of an int32
}

TEST(Unary, CastKeepsWhatFitsAlready) {
  const Tensor x = constant({1.5f, -2.5f});
  EXPECT_EQ(cast(x, float32).impl(), x.impl());
  EXPECT_EQ(cast(x, int32).to_vector<int32_t>(), (std::vector<int32_t>{1, -2}));
  EXPECT_EQ(cast(x, bool_).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_THROW(cast(constant("1"), int32), UnimplementedError);
}

TEST(Unary, CastOfWhatDoesNotFitIsTheSameEverywhere) {
  std::vector<float> values(40, 3e9f);
  values[0] = NAN;
  values[1] = -INFINITY;
  const auto to_int = cast(constant(values), int32).to_vector<int32_t>();
  for (const int32_t v : to_int) EXPECT_EQ(v, INT32_MIN);
  EXPECT_EQ(cast(300.0, int8).item<int8_t>(), 127);
  EXPECT_EQ(cast(-1.5, uint8).item<uint8_t>(), 0);
  EXPECT_EQ(cast(3e9, uint32).item<uint32_t>(), 3000000000u);
}

TEST(Unary, SaturateCastStaysInRange) {
  EXPECT_EQ(saturate_cast(constant({-5.0, 300.0}), uint8).to_vector<uint8_t>(),
            (std::vector<uint8_t>{0, 255}));
  EXPECT_EQ(saturate_cast(1e20, int32).item<int32_t>(), 2147483520);  // the last float below 2^31
  EXPECT_EQ(saturate_cast(constant(std::vector<int64_t>{-1, 70000}), uint16).to_vector<uint16_t>(),
            (std::vector<uint16_t>{0, 65535}));
}

TEST(Unary, BitcastAddsAndTakesTheLastAxis) {
  const Tensor bytes = bitcast(constant({1.0f, 2.0f}), uint8);
  EXPECT_EQ(bytes.shape(), (Shape{2, 4}));
  EXPECT_EQ(bytes.size(), 8);
  EXPECT_EQ(bitcast(bytes, float32).to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_THROW(bitcast(constant(std::vector<uint8_t>{1, 2, 3}), float32), InvalidArgumentError);
}

TEST(Unary, RoundLeavesIntegersAndGoesToEven) {
  EXPECT_EQ(round(constant({1, 2})).to_vector<int32_t>(), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(round(constant({0.5, 1.5, 2.5})).to_vector<float>(), (std::vector<float>{0, 2, 2}));
}

TEST(Unary, StopGradientStops) {
  const Tensor x = constant(3.0);
  GradientTape tape;
  tape.watch(x);
  EXPECT_FLOAT_EQ(tape.gradient(x * stop_gradient(x), x).tensor().item<float>(), 3.0f);
}

TEST(Unary, PreventGradientSaysWhy) {
  const Tensor x = constant(3.0);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = raw_op("PreventGradient", {x}, {{"message", "frozen"}})[0];
  try {
    (void)tape.gradient(y, x);
    FAIL() << "no error";
  } catch (const Error& e) { EXPECT_NE(std::string(e.what()).find("frozen"), std::string::npos); }
}

TEST(Activation, Defaults) {
  EXPECT_FLOAT_EQ(nn::leaky_relu(-1.0).item<float>(), -0.2f);
  EXPECT_NEAR(nn::gelu(1.0).item<float>(), 0.8413447f, 1e-6f);
  EXPECT_NEAR(nn::gelu(1.0, true).item<float>(), 0.841192f, 1e-6f);
  EXPECT_NEAR(nn::silu(1.0).item<float>(), 0.7310586f, 1e-6f);
  EXPECT_EQ(nn::leaky_relu(constant({-5})).dtype(), float32);
}

TEST(Math, ComposedFunctions) {
  EXPECT_NEAR(math::log_sigmoid(1.0).item<float>(), -0.31326166f, 1e-6f);
  EXPECT_NEAR(math::erfcinv(0.5).item<float>(), 0.4769363f, 1e-6f);
  EXPECT_EQ(math::reciprocal_no_nan(constant({0.0, 2.0})).to_vector<float>(), (std::vector<float>{0, 0.5f}));
}

}  // namespace
}  // namespace rw
