// Public reductions and creations: defaults, axes, messages.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rewind/rewind.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

TEST(Reduce, AxesInAllForms) {
  const Tensor x = constant({{1., 2., 3.}, {4., 5., 6.}});
  EXPECT_EQ(reduce_sum(x).item<float>(), 21);
  EXPECT_EQ(reduce_sum(x, 0).to_vector<float>(), (Floats{5, 7, 9}));
  EXPECT_EQ(reduce_sum(x, -1).to_vector<float>(), (Floats{6, 15}));
  EXPECT_EQ(reduce_sum(x, {0, 1}, true).shape(), (Shape{1, 1}));
  EXPECT_EQ(reduce_max(x, constant(1)).to_vector<float>(), (Floats{3, 6}));
  EXPECT_EQ(reduce_sum(x, std::vector<int64_t>{}).to_vector<float>(), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_THROW(reduce_sum(x, 2), InvalidArgumentError);
  EXPECT_THROW(reduce_sum(x, {0, -2}), InvalidArgumentError);
}

TEST(Reduce, Composed) {
  const Tensor x = constant({{1., 2., 3.}, {4., 5., 6.}});
  EXPECT_FLOAT_EQ(reduce_logsumexp(constant({1000., 1000.})).item<float>(), 1000 + std::log(2.0f));
  EXPECT_EQ(reduce_logsumexp(constant({-std::numeric_limits<double>::infinity()})).item<float>(),
            -std::numeric_limits<float>::infinity());
  EXPECT_FLOAT_EQ(reduce_variance(x).item<float>(), 35.0f / 12);
  EXPECT_FLOAT_EQ(reduce_std(x, 1).to_vector<float>()[0], std::sqrt(2.0f / 3));
  EXPECT_FLOAT_EQ(norm(x).item<float>(), std::sqrt(91.0f));
  EXPECT_EQ(norm(x, {.ord = 1, .axis = 1}).to_vector<float>(), (Floats{6, 15}));
  EXPECT_EQ(norm(x, {.ord = INFINITY}).item<float>(), 6);
  EXPECT_EQ(norm(x, {.ord = 1, .axis = {0, 1}}).item<float>(), 9);
  EXPECT_EQ(norm(x, {.ord = INFINITY, .axis = {0, 1}}).item<float>(), 15);
  EXPECT_EQ(math::count_nonzero(constant({0, 3, 0, 4})).item<int64_t>(), 2);
  const auto m = nn::moments(x, 0);
  EXPECT_EQ(m.mean.to_vector<float>(), (Floats{2.5f, 3.5f, 4.5f}));
  EXPECT_EQ(m.variance.to_vector<float>(), (Floats{2.25f, 2.25f, 2.25f}));
  EXPECT_EQ(nn::zero_fraction(constant({0., 1., 0., 2.})).item<float>(), 0.5f);
  EXPECT_THROW(reduce_std(constant({1, 2})), InvalidArgumentError);
}

TEST(Reduce, Clipping) {
  const Tensor x = constant({3., 4.});
  EXPECT_EQ(clip_by_norm(x, 1.0).to_vector<float>(), (Floats{0.6f, 0.8f}));
  EXPECT_EQ(clip_by_norm(x, 10.0).to_vector<float>(), (Floats{3, 4}));
  const auto c = clip_by_global_norm({x, Tensor(), constant({0., 12.})}, 6.5);
  EXPECT_EQ(c.global_norm.item<float>(), 13);
  EXPECT_FALSE(c.tensors[1].defined());
  EXPECT_EQ(c.tensors[0].to_vector<float>(), (Floats{1.5f, 2}));
}

TEST(Creation, Shapes) {
  EXPECT_EQ(zeros({2, 3}).shape(), (Shape{2, 3}));
  EXPECT_EQ(zeros({}).shape(), Shape());
  EXPECT_EQ(ones({2}, int32).to_vector<int32_t>(), (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(zeros(constant({1, 2})).shape(), (Shape{1, 2}));
  EXPECT_EQ(fill({2}, 7).to_vector<int32_t>(), (std::vector<int32_t>{7, 7}));
  EXPECT_EQ(ones_like(constant({1, 2}), float32).to_vector<float>(), (Floats{1, 1}));
  EXPECT_THROW(zeros({-1}), InvalidArgumentError);
}

TEST(Creation, Sequences) {
  EXPECT_EQ(range(3).to_vector<int32_t>(), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(range(3, 9, 2).to_vector<int32_t>(), (std::vector<int32_t>{3, 5, 7}));
  EXPECT_EQ(range(0, 1, 0.25).to_vector<float>(), (Floats{0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(range(3, float64).dtype(), float64);
  EXPECT_EQ(range(constant(3, int64)).dtype(), int64);
  EXPECT_EQ(linspace(0.0, 1.0, 5).to_vector<float>(), (Floats{0, 0.25f, 0.5f, 0.75f, 1}));
  EXPECT_EQ(linspace(constant({0., 10.}), constant({1., 20.}), 3, -1).to_vector<float>(),
            (Floats{0, 0.5f, 1, 10, 15, 20}));
  EXPECT_EQ(eye(2, {.num_columns = 3}).to_vector<float>(), (Floats{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(eye(2, {.batch_shape = {3}}).shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(one_hot({1, 0}, 2).to_vector<float>(), (Floats{0, 1, 1, 0}));
  EXPECT_EQ(one_hot({1}, 2, {.on_value = 5, .off_value = -1}).to_vector<int32_t>(),
            (std::vector<int32_t>{-1, 5}));
}

}  // namespace
}  // namespace rw
