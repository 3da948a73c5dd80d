// Long chains of elementwise groups run tile by tile: the same bits, and memory for a tile a thread instead
// of a value a layer.
#include <gtest/gtest.h>

#include <cstring>

#include "rewind/compiler/llvm/compile.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

std::vector<Tensor> chain(const Tensor& x0, const Tensor& y, const Tensor& z, int blocks, int layers,
                          bool recompute) {
  const auto block = [&](Tensor x) {
    for (int i = 0; i < layers; ++i) x = x + math::sin(x * y) * z;
    return x;
  };
  const auto again = recompute_grad(block);
  GradientTape tape;
  for (const Tensor& t : {x0, y, z}) tape.watch(t);
  Tensor x = x0;
  for (int i = 0; i < blocks; ++i) x = recompute ? again(x) : block(x);
  const Tensor loss = reduce_sum(x);
  const std::vector<Gradient> g = tape.gradient(loss, std::vector<Tensor>{x0, y, z});
  return {loss, g[0].tensor(), g[1].tensor(), g[2].tensor()};
}

void expect_same_bits(const Tensor& a, const Tensor& b) {
  const auto x = a.to_vector<float>();
  const auto y = b.to_vector<float>();
  ASSERT_EQ(x.size(), y.size());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)), 0);
}

void check(int64_t size, bool recompute, int64_t most_values, int blocks = 8) {
  const auto input = [&](int64_t which) {
    return random::stateless_normal({size}, constant(std::vector<int64_t>{which, 5}));
  };
  const Tensor x = input(1), y = input(2), z = input(3) * 0.1f;
  const auto f =
      function([=](Tensor x, Tensor y, Tensor z) { return chain(x, y, z, blocks, 12, recompute); });
  std::vector<Tensor> results = f(x, y, z);
  const std::vector<Tensor> eager = chain(x, y, z, blocks, 12, false);
  for (size_t i = 0; i < results.size(); ++i) expect_same_bits(results[i], eager[i]);
  results.clear();
  memory::trim();
  memory::reset_peak();
  const int64_t before = memory::stats().current;
  const auto fresh =
      function([=](Tensor x, Tensor y, Tensor z) { return chain(x, y, z, blocks, 12, recompute); });
  fresh(x, y, z);
  if (loop::has_native_code())  // kernels of several ops are what tiles are made of
    EXPECT_LE(memory::stats().peak - before, most_values * size * int64_t(sizeof(float)));
}

// 96 layers: without tiles their values are all alive at once.
TEST(Tiles, PlainChain) { check(64'000, false, 12); }
TEST(Tiles, RecomputedChain) { check(64'000, true, 12); }
// No block divides the length: it runs as before.
TEST(Tiles, PrimeLength) { check(65'537, false, 100, 2); }

TEST(Tiles, BudgetsAroundThem) {
  const Tensor x = random::stateless_normal({64'000}, constant(std::vector<int64_t>{1, 5}));
  const auto step = [](Tensor x) { return chain(x, x * 0.5f, x * 0.1f, 4, 20, false); };
  const int64_t least = function(step).memory_plan(x).curve.back().budget;
  const auto small = function(step, {.memory_budget = least + (64 << 10)});
  memory::reset_peak();
  const std::vector<Tensor> inside = small(x);
  EXPECT_LE(memory::stats().peak, least + (64 << 10));
  const std::vector<Tensor> free_run = function(step)(x);
  for (size_t i = 0; i < inside.size(); ++i) expect_same_bits(inside[i], free_run[i]);
}

}  // namespace
}  // namespace rw
