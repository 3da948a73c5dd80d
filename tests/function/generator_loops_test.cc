// Loops over a generator that says nothing of its shapes, in functions: states learn shapes that say less.
#include <gtest/gtest.h>

#include "rewind/function/function.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

auto scalars(int n) {
  return data::Dataset::from_generator([i = 0, n]() mutable -> std::optional<Tensor> {
    return i < n ? std::optional(constant(float(++i))) : std::nullopt;
  });
}
auto vectors(int n) {
  return data::Dataset::from_generator([i = 0, n]() mutable -> std::optional<Tensor> {
    return ++i <= n ? std::optional(ones({i})) : std::nullopt;
  });
}
Tensor add(const Tensor& a, const Tensor& b) { return a + b; }

TEST(GeneratorLoops, ReduceInAFunction) {
  const auto ds = scalars(4);
  const auto f = function([&](const Tensor& start) { return ds.reduce(start, add); });
  EXPECT_EQ(f(constant(0.0F)).item<float>(), 10);
  EXPECT_EQ(f(constant(5.0F)).item<float>(), 15);
  EXPECT_EQ(f.tracing_count(), 1);
  const auto ints = data::Dataset::from_generator(
      [i = 0]() mutable -> std::optional<int> { return i < 5 ? std::optional(i++) : std::nullopt; });
  EXPECT_EQ(function([&] { return ints.reduce(0, add); })().item<int32_t>(), 10);
}

TEST(GeneratorLoops, ForEachWithSeveralStates) {
  const auto ds = scalars(4).map([](const Tensor& x) { return x * 2.0; });
  const auto f = function([&] {
    return for_each(ds, std::tuple(0.0, 0), [](const Tensor& s, const Tensor& n, const Tensor& x) {
      return std::tuple(s + x, n + 1);
    });
  });
  const auto [sum, count] = f();
  EXPECT_EQ(sum.item<float>(), 20);
  EXPECT_EQ(count.item<int32_t>(), 4);
}

TEST(GeneratorLoops, StatesThatGrow) {
  const auto ds = vectors(3);
  const auto f = function([&] {
    return ds.reduce(zeros({0}), [](const Tensor& s, const Tensor& x) { return concat({s, x}, 0); });
  });
  EXPECT_EQ(f().to_vector<float>(), std::vector<float>(6, 1.0F));
  const auto total = function(
      [&] { return ds.reduce(0.0, [](const Tensor& s, const Tensor& x) { return s + reduce_sum(x); }); });
  EXPECT_EQ(total().item<float>(), 6);
}

TEST(GeneratorLoops, ShapesThatTheUserStatesStay) {
  const auto ds = scalars(3);
  const auto f = function([&] { return for_each(ds, constant(0.0F), add, {.shape_invariants = {Shape{}}}); });
  EXPECT_THROW(f(), InvalidArgumentError);
}

TEST(GeneratorLoops, GeneratorsThatUseTheLibrary) {
  const auto ds = data::Dataset::from_generator([i = 0]() mutable -> std::optional<Tensor> {
    return i < 3 ? std::optional(constant(float(++i)) * 2.0 + 1.0) : std::nullopt;
  });
  EXPECT_EQ(function([&] { return ds.reduce(0.0, add); })().item<float>(), 15);
}

}  // namespace
}  // namespace rw
