// Arrays as loop variables: written and read inside while_loop, staged as eagerly, with gradients, and with
// sizes that the trace does not know.
#include <gtest/gtest.h>

#include "rewind/function/function.h"
#include "rewind/function/while_loop.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

// h = tanh(x[i] + h w) for every row of x; all the h, stacked.
Tensor scan(const Tensor& x, const Tensor& w) {
  const Tensor steps = shape(x)[0];
  const auto rows = TensorArray(float32, {.size = steps, .clear_after_read = false}).unstack(x);
  const auto states = TensorArray(float32, {.size = steps, .element_shape = {2}});
  auto [i, h, written] = while_loop([&](Tensor i, Tensor, const TensorArray&) { return i < steps; },
                                    [&](Tensor i, Tensor h, const TensorArray& a) {
                                      const Tensor row = reshape(rows.read(i), {1, 2});
                                      const Tensor next = tanh(row + matmul(h, w));
                                      return std::tuple(i + 1, next, a.write(i, reshape(next, {2})));
                                    },
                                    std::tuple(0, zeros({1, 2}), states));
  return written.stack();
}

std::vector<Floats> results_of(const std::function<Tensor(Tensor, Tensor)>& f, const Tensor& x,
                               const Tensor& w) {
  GradientTape tape;
  tape.watch(std::vector<Tensor>{x, w});
  const Tensor y = f(x, w);
  const auto g = tape.gradient(reduce_sum(y * y), std::vector<Tensor>{x, w});
  return {y.to_vector<float>(), g[0].tensor().to_vector<float>(), g[1].tensor().to_vector<float>()};
}

void expect_same(const std::vector<Floats>& want, const std::vector<Floats>& got) {
  for (size_t k = 0; k < want.size(); ++k) {
    ASSERT_EQ(want[k].size(), got[k].size());
    for (size_t i = 0; i < want[k].size(); ++i) EXPECT_NEAR(want[k][i], got[k][i], 1e-5) << k << ", " << i;
  }
}

TEST(ArrayLoop, StagedAsEagerly) {
  const Tensor x = constant({{.1, .2}, {.3, -.4}, {-.5, .6}});
  const Tensor w = constant({{.5, -.3}, {.2, .7}});
  auto f = function(scan);
  expect_same(results_of(scan, x, w), results_of(f, x, w));
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(ArrayLoop, OneTraceForEveryLength) {
  const std::vector<TensorSpec> any_length{{.shape = {Shape::kUnknown, 2}}, {.shape = {2, 2}}};
  auto f = function(scan, FunctionOptions{.input_signature = any_length});
  const Tensor w = constant({{.5, -.3}, {.2, .7}});
  for (const int n : {1, 4, 2}) {
    const Tensor x = sin(reshape(cast(range(2 * n), float32), {n, 2}));
    expect_same(results_of(scan, x, w), results_of(f, x, w));
  }
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(ArrayLoop, GrowsInTheLoop) {
  auto squares = [](Tensor n) {
    auto [i, a] = while_loop(
        [&](Tensor i, const TensorArray&) { return i < n; },
        [](Tensor i, const TensorArray& a) { return std::tuple(i + 1, a.write(i, cast(i * i, float32))); },
        std::tuple(0, TensorArray(float32, {.dynamic_size = true, .element_shape = {}})));
    return a.stack();
  };
  auto f = function(squares);
  EXPECT_EQ(f(constant(4)).to_vector<float>(), (Floats{0, 1, 4, 9}));
  EXPECT_EQ(squares(constant(3)).to_vector<float>(), (Floats{0, 1, 4}));
}

}  // namespace
}  // namespace rw
