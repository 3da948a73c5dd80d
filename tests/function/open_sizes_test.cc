// Functions with open sizes: what stays known while tracing, and batches whose size comes with the call.
#include <gtest/gtest.h>

#include "rewind/function/function.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

template <class F>
auto open_rows(F f, Shape shape = {-1, 3}) {
  return function(f, {.input_signature = std::vector<TensorSpec>{{shape, float32}}});
}

template <class F>
Shape traced_shape(F f, Shape shape = {-1, 3}) {
  return open_rows(f, shape).get_concrete_function(TensorSpec{shape, float32})->outputs()[0].shape;
}

TEST(OpenSizes, AReshapeKeepsWhatIsKnown) {
  EXPECT_EQ(traced_shape([](const Tensor& x) { return reshape(x * 2.0, rw::shape(x)); }), Shape({-1, 3}));
  EXPECT_EQ(traced_shape([](const Tensor& x) {
              return reshape(x, stack({rw::shape(x)[0], constant(3), constant(1)}));
            }),
            Shape({-1, 3, 1}));
  EXPECT_EQ(
      traced_shape([](const Tensor& x) { return reshape(x, concat({rw::shape(x), constant({1, 1})}, 0)); }),
      Shape({-1, 3, 1, 1}));
  EXPECT_EQ(traced_shape([](const Tensor& x) { return broadcast_to(constant(1.0), rw::shape(x)); }),
            Shape({-1, 3}));
  EXPECT_EQ(traced_shape([](const Tensor& x) { return fill(rw::shape(x), 1.0); }), Shape({-1, 3}));
  EXPECT_EQ(traced_shape([](const Tensor& x) { return zeros_like(x); }), Shape({-1, 3}));
}

TEST(OpenSizes, OneOpenSizeFollowsFromTheOthers) {
  auto f = function([](const Tensor& x, const Tensor& y) { return reshape(x, rw::shape(y)); },
                    {.input_signature = std::vector<TensorSpec>{{{2, 6}, float32}, {{-1, 4}, float32}}});
  const auto concrete = f.get_concrete_function(TensorSpec{{2, 6}, float32}, TensorSpec{{-1, 4}, float32});
  EXPECT_EQ(concrete->outputs()[0].shape, Shape({3, 4}));
  EXPECT_EQ(f(ones({2, 6}), ones({3, 4})).shape(), Shape({3, 4}));
  EXPECT_THROW(f(ones({2, 6}), ones({5, 4})), InvalidArgumentError);
}

TEST(OpenSizes, TheValuesAreThoseOfTheCall) {
  auto f =
      open_rows([](const Tensor& x) { return reshape(x * 2.0, stack({rw::shape(x)[1], rw::shape(x)[0]})); });
  EXPECT_EQ(f(ones({2, 3})).shape(), Shape({3, 2}));
  EXPECT_EQ(f(ones({5, 3})).shape(), Shape({3, 5}));
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(OpenSizes, AVectorizedMapOverAnOpenBatch) {
  const auto norm = [](const Tensor& row) { return reduce_sum(row * row) + row[0]; };
  auto f = open_rows([&](const Tensor& x) { return vectorized_map(norm, x); });
  for (const int rows : {1, 4}) {
    const Tensor x = reshape(cast(range(0, rows * 3), float32), {rows, 3});
    EXPECT_EQ(f(x).to_vector<float>(), vectorized_map(norm, x).to_vector<float>());
  }
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(OpenSizes, ABatchThroughAProductAndABroadcast) {
  const Tensor w = reshape(cast(range(0, 6), float32), {3, 2});
  const auto layer = [&](const Tensor& row) {
    return reduce_max(matmul(reshape(row, {1, 3}), w) + constant({1.0, -1.0}), 0);
  };
  auto f = open_rows([&](const Tensor& x) { return vectorized_map(layer, x); });
  for (const int rows : {1, 3}) {
    const Tensor x = reshape(cast(range(0, rows * 3), float32), {rows, 3});
    const Tensor got = f(x);
    EXPECT_EQ(got.shape(), Shape({rows, 2}));
    EXPECT_EQ(got.to_vector<float>(), vectorized_map(layer, x).to_vector<float>());
  }
}

}  // namespace
}  // namespace rw
