// A steady call of a function asks for no memory: neither malloc nor our allocator, over 1,000 calls. Every
// malloc of this binary is counted while counting is on; those inside of oneDNN's execution, which makes a
// map of its arguments each time, apart from the rest.
#include <dlfcn.h>
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
std::atomic<int64_t> g_onednn_mallocs{0};
std::atomic<int64_t> g_onednn_calls{0};
std::atomic<int> g_in_onednn{0};
void count() {
  if (!g_counting.load(std::memory_order_relaxed)) return;
  (g_in_onednn.load(std::memory_order_relaxed) ? g_onednn_mallocs : g_mallocs)
      .fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

// Stands before the library's own: dnnl_status_t dnnl_primitive_execute(primitive, stream, count, arguments).
extern "C" int dnnl_primitive_execute(const void* primitive, void* stream, int n, const void* args) {
  using Execute = int (*)(const void*, void*, int, const void*);
  static const auto execute = reinterpret_cast<Execute>(dlsym(RTLD_NEXT, "dnnl_primitive_execute"));
  if (g_counting) ++g_onednn_calls;
  ++g_in_onednn;
  const int status = execute(primitive, stream, n, args);
  --g_in_onednn;
  return status;
}

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
  int64_t onednn_mallocs = 0, onednn_calls = 0;
};

Counts counts_of(int steps, const std::function<void()>& step) {
  for (int i = 0; i < 10; ++i) step();
  const int64_t before = memory::stats().allocations;
  g_mallocs = g_onednn_mallocs = g_onednn_calls = 0;
  g_counting = true;
  for (int i = 0; i < steps; ++i) step();
  g_counting = false;
  return {g_mallocs, memory::stats().allocations - before, g_onednn_mallocs, g_onednn_calls};
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

// Two dense layers, cross entropy, Adam: forward pass, backward pass and update in one graph.
struct Slot {
  Variable v, m, s;
  explicit Slot(const Tensor& initial)
      : v(initial),
        m(zeros(initial.shape()), {.trainable = false}),
        s(zeros(initial.shape()), {.trainable = false}) {}
};

TEST(Allocation, TrainingStep) {
  std::vector<Slot> slots;
  for (const Shape& shape : {Shape{64, 32}, Shape{32}, Shape{32, 10}, Shape{10}})
    slots.emplace_back(random::stateless_uniform(shape, constant({1, 2}),
                                                 {.minval = constant(-0.1), .maxval = constant(0.1)}));
  Variable power1(1.0, {.trainable = false});
  Variable power2(1.0, {.trainable = false});
  const auto step = function([&](const Tensor& x, const Tensor& labels) {
    GradientTape tape;
    const Tensor hidden = nn::relu(matmul(x, slots[0].v) + slots[1].v);
    const Tensor logits = matmul(hidden, slots[2].v) + slots[3].v;
    const Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, logits));
    std::vector<Variable> variables;
    for (const Slot& slot : slots) variables.push_back(slot.v);
    const std::vector<Gradient> grads = tape.gradient(loss, variables);
    power1.assign(power1 * 0.9);
    power2.assign(power2 * 0.999);
    const Tensor rate = 1e-3 * sqrt(1.0 - power2) / (1.0 - power1);
    for (size_t i = 0; i < slots.size(); ++i) {
      const Tensor g = grads[i].tensor();
      slots[i].m.assign(slots[i].m * 0.9 + g * 0.1);
      slots[i].s.assign(slots[i].s * 0.999 + g * g * 0.001);
      slots[i].v.assign_sub(rate * slots[i].m / (sqrt(slots[i].s) + 1e-7));
    }
    return loss;
  });
  const Tensor x = random::stateless_uniform({100, 64}, constant({3, 4}));
  const Tensor labels = cast(range(0, 100), int32) % 10;
  const float before = step(x, labels).item<float>();
  float after = 0;
  const Counts c = counts_of(1000, [&] { after = step(x, labels).item<float>(); });
  EXPECT_LT(after, before * 0.8f);
  EXPECT_EQ(c.allocations, 0);
  EXPECT_EQ(c.mallocs, 0);
  RecordProperty("onednn_executions_a_step", std::to_string(double(c.onednn_calls) / 1000));
  RecordProperty("onednn_mallocs_a_step", std::to_string(double(c.onednn_mallocs) / 1000));
  printf("oneDNN: %g executions a step, %g mallocs inside of them\n", double(c.onednn_calls) / 1000,
         double(c.onednn_mallocs) / 1000);
}

}  // namespace
}  // namespace rw

#endif
