#include <gtest/gtest.h>

#include "rewind/autodiff/gradient_tape.h"
#include "rewind/tensor/ops/binary.h"

namespace rw {
namespace {

TEST(GradientTape, SquareOfAWatchedTensor) {
  const Tensor x = constant(3.0);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  const Tensor dy_dx = tape.gradient(y, x);
  EXPECT_FLOAT_EQ(dy_dx.item<float>(), 6.0f);
}

TEST(GradientTape, SecondDerivativeByNestedTapes) {
  const Tensor x = constant(2.0);
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape inner;
    inner.watch(x);
    const Tensor y = x * x * x;
    first = inner.gradient(y, x);
  }
  EXPECT_FLOAT_EQ(first.item<float>(), 12.0f);
  const Tensor second = outer.gradient(first, x);
  EXPECT_FLOAT_EQ(second.item<float>(), 12.0f);
}

TEST(GradientTape, VariablesAreWatchedByThemselves) {
  const Variable w(2.0, {.name = "w"});
  GradientTape tape;
  const Tensor y = w * w;
  const Tensor dw = tape.gradient(y, w);
  EXPECT_FLOAT_EQ(dw.item<float>(), 4.0f);
}

}  // namespace
}  // namespace rw
