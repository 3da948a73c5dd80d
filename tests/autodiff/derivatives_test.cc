// Custom gradients, forward mode, vectorised maps and jacobians.
#include <gtest/gtest.h>

#include <cmath>

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

// The numbers of one draw for the whole batch, as in TensorFlow.
TEST(VectorizedMap, EveryElementDrawsItsOwnNumbers) {
  random::set_seed(1);
  const Tensor all = random::uniform({3, 2}, {.seed = 7});
  random::set_seed(1);
  const Tensor each =
      vectorized_map([](const Tensor& x) { return x + random::uniform({2}, {.seed = 7}); }, zeros({3, 2}));
  EXPECT_EQ(each.to_vector<float>(), all.to_vector<float>());
}

TEST(VectorizedMap, AStatelessDrawFollowsItsSeed) {
  const auto draw = [](const Tensor& seed) { return random::stateless_normal({2}, seed); };
  const Tensor seeds = constant({{1, 2}, {3, 4}, {1, 2}});
  const std::vector<float> all = vectorized_map(draw, seeds).to_vector<float>();
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> alone = draw(seeds[i]).to_vector<float>();
    EXPECT_EQ(std::vector<float>(all.begin() + 2 * i, all.begin() + 2 * i + 2), alone);
  }
  const Tensor same = vectorized_map([&](const Tensor& x) { return x + draw(seeds[0]); }, zeros({2, 2}));
  EXPECT_EQ(same[0].to_vector<float>(), same[1].to_vector<float>());
}

// Sizes are the same for all elements: nothing runs once per element because of them.
TEST(VectorizedMap, ShapesAreNotBatched) {
  const Tensor x = ones({3, 2, 5});
  const auto f = [](const Tensor& t) {
    const Tensor dims = shape(t);
    EXPECT_EQ(dims.to_vector<int32_t>(), (std::vector<int32_t>{2, 5}));
    return reshape(t, stack({dims[1], dims[0]})) * cast(size(t), float32);
  };
  const Tensor y = vectorized_map(f, x);
  EXPECT_EQ(y.shape(), (Shape{3, 5, 2}));
  EXPECT_EQ(y.to_vector<float>()[0], 10.0f);
}

// The gradient of each example by itself: images, filters and what comes back differ.
TEST(VectorizedMap, GradientsPerExampleThroughConvolutions) {
  const Tensor images = random::stateless_normal({4, 1, 8, 8, 6}, constant({1, 2}));
  const Tensor filter = random::stateless_normal({3, 3, 6, 4}, constant({3, 4}));
  const Tensor depthwise = random::stateless_normal({3, 3, 4, 2}, constant({5, 6}));
  const auto slopes = [&](const Tensor& image) {
    GradientTape tape;
    tape.watch({filter, depthwise});
    const Tensor hidden = tanh(nn::conv2d(image, filter, 1, "SAME"));
    const Tensor loss = reduce_sum(square(nn::depthwise_conv2d(hidden, depthwise, {1, 1, 1, 1}, "SAME")));
    const std::vector<Gradient> g = tape.gradient(loss, std::vector<Tensor>{filter, depthwise});
    return std::vector<Tensor>{g[0].tensor(), g[1].tensor()};
  };
  const std::vector<Tensor> all =
      vectorized_map([&](const std::vector<Tensor>& x) { return slopes(x[0]); }, std::vector<Tensor>{images});
  for (int i = 0; i < 4; ++i) {
    const std::vector<Tensor> one = slopes(images[i]);
    for (size_t k = 0; k < 2; ++k) {
      const std::vector<float> got = all[k][i].to_vector<float>(), want = one[k].to_vector<float>();
      ASSERT_EQ(got.size(), want.size());
      for (size_t j = 0; j < got.size(); ++j)
        EXPECT_NEAR(got[j], want[j], 1e-4 * (1 + std::abs(want[j]))) << i << " " << k << " " << j;
    }
  }
}

std::vector<float> list(const Tensor& t) { return t.to_vector<float>(); }

TEST(VectorizedMap, PlacesThatDiffer) {
  const Tensor x = reshape(cast(range(0, 12), float32), {3, 4});
  const Tensor at = constant({2, 0, -1});
  EXPECT_EQ(list(vectorized_map([&](const Tensor& i) { return reduce_sum(x.index({i})); }, at)),
            (std::vector<float>{38, 6, 38}));
  EXPECT_EQ(list(vectorized_map([&](const Tensor& i) { return x.index({1, i}); }, at)),
            (std::vector<float>{6, 4, 7}));
  const Tensor both = vectorized_map(
      [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].index({in[1]})}; }, {x, at})[0];
  EXPECT_EQ(list(both), (std::vector<float>{2, 4, 11}));
  const Tensor from = constant({{1, 2}, {0, 1}});
  const Tensor pieces = vectorized_map([&](const Tensor& b) { return slice(x, b, {2, 2}); }, from);
  EXPECT_EQ(list(pieces), (std::vector<float>{6, 7, 10, 11, 1, 2, 5, 6}));
  EXPECT_EQ(
      list(vectorized_map([&](const Tensor& b) { return slice(x, b, {1, 4}); }, constant({{2, 0}, {0, 0}}))),
      (std::vector<float>{8, 9, 10, 11, 0, 1, 2, 3}));
  EXPECT_THROW(vectorized_map([&](const Tensor& i) { return x.index({i}); }, constant({0, 3})), Error);
}

TEST(VectorizedMap, GradientsAtPlacesThatDiffer) {
  const Tensor rows = constant({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  const std::vector<Tensor> slopes = vectorized_map(
      [](const std::vector<Tensor>& in) {
        GradientTape tape;
        tape.watch(in[0]);
        const Tensor y = square(in[0].index({in[1]}));
        return std::vector<Tensor>{tape.gradient(y, in[0])};
      },
      {rows, constant({2, -3})});
  EXPECT_EQ(list(slopes[0]), (std::vector<float>{0, 0, 6, 8, 0, 0}));
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
