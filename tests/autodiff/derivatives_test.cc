// Custom gradients, forward mode, vectorised maps and jacobians.
#include <gtest/gtest.h>

#include "rewind/rewind.h"

namespace rw {
namespace {

TEST(CustomGradient, ReplacesTheDerivative) {
  const auto clipped = custom_gradient(
      [](const Tensor& x) { return with_gradient(x * 2.0, [](const Tensor& dy) { return dy * 100.0; }); });
  const Tensor x = constant(3.0);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = Tensor(clipped(x)) * 1.0;
  EXPECT_FLOAT_EQ(y.item<float>(), 6.0f);
  EXPECT_FLOAT_EQ(tape.gradient(y, x).tensor().item<float>(), 100.0f);
}

TEST(CustomGradient, SeveralInputsAndVariables) {
  const Variable w(5.0);
  const auto f = custom_gradient([&](const Tensor& a, const Tensor& b) {
    return with_gradients({a * b * w},
                          [=](const std::vector<Tensor>& dy) -> std::vector<Gradient> {
                            return {dy[0] * 1.0, dy[0] * 2.0, dy[0] * 3.0};
                          },
                          {w});
  });
  const Tensor a = constant(1.0), b = constant(2.0);
  GradientTape tape({.persistent = true});
  tape.watch({a, b});
  const Tensor y = f(a, b);
  EXPECT_FLOAT_EQ(tape.gradient(y, b).tensor().item<float>(), 2.0f);
}

TEST(ForwardAccumulator, DirectionalDerivative) {
  const Tensor x = constant({1.0, 2.0});
  const Tensor v = constant({1.0, 10.0});
  ForwardAccumulator acc(x, v);
  const Tensor y = x * x * 3.0;
  EXPECT_EQ(acc.jvp(y).tensor().to_vector<float>(), (std::vector<float>{6, 120}));
  EXPECT_TRUE(acc.jvp(constant(1.0)).none());
}

TEST(ForwardAccumulator, ThroughBroadcastReductionAndProduct) {
  const Tensor x = constant({{1.0, 2.0}, {3.0, 4.0}});
  const Tensor v = constant({{1.0, 0.0}, {0.0, 1.0}});
  ForwardAccumulator acc(x, v);
  const Tensor y = reduce_sum(matmul(x, x) * constant({1.0, 2.0}));
  // d(x x) = v x + x v = 2x for v = 1.
  EXPECT_FLOAT_EQ(acc.jvp(y).tensor().item<float>(), 2 * (1 + 4 + 3 + 8));
}

TEST(ForwardAccumulator, HessianVectorProductOverATape) {
  const Tensor x = constant({1.0, 2.0});
  const Tensor v = constant({1.0, 1.0});
  ForwardAccumulator acc(x, v);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = reduce_sum(x * x * x);
  const Tensor g = tape.gradient(y, x);
  EXPECT_EQ(acc.jvp(g).tensor().to_vector<float>(), (std::vector<float>{6, 12}));
}

TEST(ForwardAccumulator, VariablesAsPrimals) {
  const Variable w(3.0);
  ForwardAccumulator acc(w, constant(2.0));
  const Tensor y = w * w;
  EXPECT_FLOAT_EQ(acc.jvp(y).tensor().item<float>(), 12.0f);
}

TEST(VectorizedMap, ElementwiseAndMatmulRunOnce) {
  const Tensor x = constant({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  const Tensor m = constant({{1.0, 0.0}, {0.0, 2.0}});
  const Tensor y = vectorized_map(
      [&](const Tensor& row) { return reduce_sum(matmul(reshape(row, {1, 2}), m) * 10.0 + row); }, x);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{53, 117, 181}));
}

TEST(VectorizedMap, ResultsThatDoNotDependOnTheBatchAreRepeated) {
  const Tensor x = constant({1.0, 2.0, 3.0});
  const Tensor y = vectorized_map([](const Tensor&) { return constant(7.0); }, x);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{7, 7, 7}));
}

TEST(VectorizedMap, NestsAndDifferentiates) {
  const Tensor x = constant({{1.0, 2.0}, {3.0, 4.0}});
  GradientTape outer;
  outer.watch(x);
  const Tensor y = vectorized_map(
      [](const Tensor& row) {
        return vectorized_map(
            [](const Tensor& e) {
              GradientTape inner;
              inner.watch(e);
              const Tensor cube = e * e * e;
              return inner.gradient(cube, e).tensor();
            },
            row);
      },
      x);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 12, 27, 48}));
  const Tensor g = outer.gradient(y, x);
  EXPECT_EQ(g.to_vector<float>(), (std::vector<float>{6, 12, 18, 24}));
}

TEST(Jacobian, OfALinearMapIsItsMatrix) {
  const Tensor a = constant({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  const Tensor x = constant({{1.0}, {1.0}, {1.0}});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = matmul(a, x);
  const Tensor j = tape.jacobian(y, x);
  EXPECT_EQ(j.shape(), (Shape{2, 1, 3, 1}));
  EXPECT_EQ(j.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Jacobian, HessianByATapeAroundATape) {
  const Tensor x = constant({1.0, 2.0});
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor y = reduce_prod(x * x);
  const Tensor g = inner.gradient(y, x);
  const Tensor h = outer.jacobian(g, x);
  EXPECT_EQ(h.to_vector<float>(), (std::vector<float>{8, 8, 8, 2}));
}

TEST(Jacobian, BatchJacobianIsPerRow) {
  const Tensor x = constant({{1.0, 2.0}, {3.0, 4.0}});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  const Tensor j = tape.batch_jacobian(y, x);
  EXPECT_EQ(j.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(j.to_vector<float>(), (std::vector<float>{2, 0, 0, 4, 6, 0, 0, 8}));
}

}  // namespace
}  // namespace rw
