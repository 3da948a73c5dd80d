// A steady call of a function asks for no memory: neither malloc nor our allocator, over 1,000 calls. Every
// malloc of this binary is counted while counting is on.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "rewind/function/function.h"
#include "rewind/rewind.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)

extern "C" void* __libc_malloc(size_t bytes);
extern "C" void* __libc_calloc(size_t count, size_t bytes);
extern "C" void* __libc_realloc(void* block, size_t bytes);
extern "C" void* __libc_memalign(size_t alignment, size_t bytes);

namespace {
std::atomic<bool> g_counting{false};
std::atomic<int64_t> g_mallocs{0};
void count() {
  if (g_counting.load(std::memory_order_relaxed)) g_mallocs.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

// operator new comes here too.
extern "C" void* malloc(size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
extern "C" void* calloc(size_t n, size_t bytes) {
  count();
  return __libc_calloc(n, bytes);
}
extern "C" void* realloc(void* block, size_t bytes) {
  count();
  return __libc_realloc(block, bytes);
}
extern "C" void* aligned_alloc(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
extern "C" int posix_memalign(void** block, size_t alignment, size_t bytes) {
  count();
  *block = __libc_memalign(alignment, bytes);
  return *block ? 0 : 12;  // ENOMEM
}

namespace rw {
namespace {

struct Counts {
  int64_t mallocs = 0, allocations = 0;
};

Counts counts_of(int steps, const std::function<void()>& step) {
  for (int i = 0; i < 10; ++i) step();
  const int64_t before = memory::stats().allocations;
  g_mallocs = 0;
  g_counting = true;
  for (int i = 0; i < steps; ++i) step();
  g_counting = false;
  return {g_mallocs, memory::stats().allocations - before};
}

TEST(Allocation, CounterCounts) {
  const Counts c = counts_of(5, [] { free(malloc(100)); });
  EXPECT_EQ(c.mallocs, 5);
  const Counts t = counts_of(5, [] { zeros({1000}); });
  EXPECT_GE(t.allocations, 5);
}

TEST(Allocation, ArithmeticStep) {
  const auto f = function([](Tensor x) { return tanh(x * 2.0 + 1.0) * x; });
  const Tensor x = ones({10, 10});
  const Counts c = counts_of(1000, [&] { f(x); });
  EXPECT_EQ(c.mallocs, 0);
  EXPECT_EQ(c.allocations, 0);
}

// Scratch memory of kernels stays with the program; small objects of libraries are not counted here.
TEST(Allocation, ConvolutionStep) {
  const Variable w(ones({3, 3, 16, 16}) * 0.01f), bias(zeros({16}));
  const auto f = function([&](Tensor x) {
    GradientTape tape;
    const Tensor h = nn::relu(nn::bias_add(nn::conv2d(x, w, 1, "SAME"), bias));
    const Tensor loss = reduce_sum(nn::max_pool(h, 2, 2, "VALID"));
    const auto grads = tape.gradient(loss, std::vector<Variable>{w, bias});
    return reduce_sum(grads[0].tensor()) + reduce_sum(grads[1].tensor());
  });
  const Tensor x = ones({4, 18, 18, 16});
  const Counts c = counts_of(100, [&] { f(x); });
  EXPECT_EQ(c.allocations, 0);
}

TEST(Allocation, AttentionStep) {
  const auto f = function([](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    const std::vector<Tensor> parts = split(transpose(reshape(x, {2, 40, 6, 16}), {0, 2, 1, 3}), 3, 1);
    const Tensor y = nn::scaled_dot_product_attention(parts[0], parts[1], parts[2], {.causal = true});
    return tape.gradient(reduce_sum(y * y), x);
  });
  const Tensor x = ones({2, 40, 96});
  const Counts c = counts_of(100, [&] { f(x); });
  EXPECT_EQ(c.mallocs, 0);
  EXPECT_EQ(c.allocations, 0);
}

}  // namespace
}  // namespace rw

#endif
