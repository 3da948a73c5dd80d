// A gradient of the user's own goes with the trace: under tapes inside and outside, in branches and loops,
// twice.
#include <gtest/gtest.h>

#include "rewind/rewind.h"

namespace rw {
namespace {

// Its gradient is not its derivative, so that nobody can find it by another way.
Tensor odd(const Tensor& x) {
  static const auto f = custom_gradient([](const Tensor& x) {
    const Tensor kept = x * x;
    return with_gradient(x * 1.0, [=](const Tensor& dy) { return dy * 100.0 * kept; });
  });
  return f(x);
}

TEST(CustomGradientInFunctions, TapeInside) {
  auto f = function([](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(odd(x), x).tensor();
  });
  EXPECT_EQ(f(constant(3.0)).item<float>(), 900);
}

TEST(CustomGradientInFunctions, TapeOutside) {
  auto f = function([](Tensor x) { return odd(x) * 2.0; });
  const Tensor x = constant(3.0);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  EXPECT_EQ(y.item<float>(), 6);
  EXPECT_EQ(Tensor(tape.gradient(y, x)).item<float>(), 1800);
}

TEST(CustomGradientInFunctions, TwiceThroughTheKeptValue) {
  auto f = function([](Tensor x) { return odd(x); });
  const Tensor x = constant(3.0);
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape inner;
    inner.watch(x);
    first = inner.gradient(f(x), x);
  }
  EXPECT_EQ(first.item<float>(), 900);
  EXPECT_EQ(Tensor(outer.gradient(first, x)).item<float>(), 600);
}

TEST(CustomGradientInFunctions, InBranchesAndLoops) {
  auto f = function([](Tensor x) {
    const Tensor y = cond(x > 0.0, [&] { return odd(x); }, [&] { return x; });
    const auto [i, z] =
        while_loop([](Tensor i, Tensor) { return i < 2; },
                   [](Tensor i, Tensor z) { return std::tuple{i + 1, odd(z)}; }, std::tuple{constant(0), y});
    return z;
  });
  const Tensor x = constant(2.0);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  EXPECT_EQ(y.item<float>(), 2);
  EXPECT_EQ(Tensor(tape.gradient(y, x)).item<float>(), 400.f * 400 * 400);
}

TEST(CustomGradientInFunctions, LeavesTheGraphDefPlain) {
  auto f = function([](Tensor x) { return odd(x); });
  const auto concrete = f.get_concrete_function(TensorSpec{{}, DType::kFloat32});
  EXPECT_EQ(concrete->graph().as_graph_def().find("CustomGradient"), std::string::npos);
}

}  // namespace
}  // namespace rw
