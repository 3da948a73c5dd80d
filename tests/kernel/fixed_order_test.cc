// The bits of reductions and random draws do not depend on instruction set or number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/random.h"
#include "rewind/kernel/cpu/isa/reduce.h"
#include "rewind/rewind.h"

namespace rw {

#define RW_DECLARE(name)             \
  namespace name {                   \
  const ReduceRow* reduce_rows();    \
  const RandomLoops* random_loops(); \
  }
RW_DECLARE(isa_base)
#ifdef __x86_64__
RW_DECLARE(isa_v3)
RW_DECLARE(isa_v4)
#endif
#undef RW_DECLARE

namespace {

struct Set {
  const ReduceRow* reduce;
  const RandomLoops* random;
};

std::vector<Set> wider_sets() {
  std::vector<Set> sets;
#ifdef __x86_64__
  const std::string best = isa_name();
  if (best != "base") sets.push_back({isa_v3::reduce_rows(), isa_v3::random_loops()});
  if (best == "v4") sets.push_back({isa_v4::reduce_rows(), isa_v4::random_loops()});
#endif
  return sets;
}

std::vector<float> numbers(size_t n) {
  std::vector<float> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = std::sin(float(i) * 1.7f) * std::exp(std::cos(float(i) * 0.3f) * 5);
  return x;
}

TEST(FixedOrder, ReductionsAreEqualOnAllInstructionSets) {
  const std::vector<float> x = numbers(5000);
  for (const Set& set : wider_sets()) {
    const ReduceRow* base = isa_base::reduce_rows();
    for (int k = 0; base[k].op; ++k) {
      if (base[k].in != DType::kFloat32) continue;
      for (const int64_t n : {1, 7, 16, 17, 31, 64, 127, 128, 255, 300, 1000, 4096}) {
        float a = 0, b = 0;
        base[k].rows(x.data(), 0, n, 1, &a);
        set.reduce[k].rows(x.data(), 0, n, 1, &b);
        EXPECT_EQ(std::memcmp(&a, &b, 4), 0) << base[k].op << " of " << n;
      }
      std::vector<float> a(77), b(77);
      base[k].columns(x.data(), 77, 63, 77, a.data());
      set.reduce[k].columns(x.data(), 77, 63, 77, b.data());
      EXPECT_EQ(std::memcmp(a.data(), b.data(), 77 * 4), 0) << base[k].op;
    }
  }
}

TEST(FixedOrder, DrawsAreEqualOnAllInstructionSets) {
  std::vector<uint32_t> w(4 * 300), v(4 * 300);
  isa_base::random_loops()->words({42, ~uint64_t{0} - 20, 3}, 5, w.data(), 300);
  std::vector<float> a(1200), b(1200);
  isa_base::random_loops()->normal(w.data(), a.data(), 1200);
  for (const Set& set : wider_sets()) {
    set.random->words({42, ~uint64_t{0} - 20, 3}, 5, v.data(), 300);
    EXPECT_EQ(w, v);
    set.random->normal(w.data(), b.data(), 1200);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), 1200 * 4), 0);
  }
}

TEST(FixedOrder, ThreadsDoNotMatter) {
  const Tensor x = constant(numbers(300 * 1700), Shape{300, 1700});
  const Tensor seed = constant(std::vector<int64_t>{1, 2});
  auto all = [&] {
    std::vector<float> values;
    for (const Tensor& t :
         {reduce_sum(x), reduce_sum(x, 0), reduce_sum(x, 1), reduce_mean(x), cumsum(x, 1),
          random::stateless_uniform({100001}, seed), random::stateless_normal({100001}, seed),
          random::stateless_truncated_normal({100001}, seed)}) {
      const auto d = t.data<float>();
      values.insert(values.end(), d.begin(), d.end());
    }
    return values;
  };
  set_num_threads(1);
  const std::vector<float> one = all();
  for (const int threads : {2, 3, 5}) {
    set_num_threads(threads);
    EXPECT_EQ(one, all()) << threads;
  }
  set_num_threads(0);
}

TEST(FixedOrder, SumsAreAccurate) {
  const std::vector<float> tenth(1 << 20, 0.1f);
  EXPECT_NEAR(reduce_sum(constant(tenth)).item<float>(), 0.1f * (1 << 20), 0.1);
  EXPECT_NEAR(reduce_sum(constant(tenth, Shape{1 << 18, 4}), 0).data<float>()[0], 0.1f * (1 << 18), 0.05);
}

}  // namespace
}  // namespace rw
