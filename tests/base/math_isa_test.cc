// The scalar math gives the same bits whichever instruction set a loop was compiled for, in the body and the
// tail of a vector loop and alone, whether the thread flushes denormals or not. NaN counts as equal to NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "math_isa_loops.h"
#include "rewind/base/float_mode.h"

namespace {

using rw_math_isa::Entry;

template <class T>
bool same(T x, T y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0 || (std::isnan(x) && std::isnan(y));
}

template <class T>
std::vector<T> arguments(std::uint64_t seed, std::size_t n) {
  std::mt19937_64 random(seed);
  std::vector<T> out(n);
  for (T& v : out) {
    const std::uint64_t pattern = random();
    switch (random() % 5) {
      case 4:  // denormals, and the smallest numbers above them
        v = static_cast<T>(
            std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random),
                       std::numeric_limits<T>::min_exponent + 4 - static_cast<int>(random() % 12)));
        break;
      case 0: std::memcpy(&v, &pattern, sizeof(T)); break;  // any bits at all
      case 1: v = std::uniform_real_distribution<T>(-2, 2)(random); break;
      case 2: v = std::uniform_real_distribution<T>(-90, 90)(random); break;
      default: v = std::rint(std::uniform_real_distribution<T>(-9, 9)(random)) / 2; break;
    }
  }
  return out;
}

template <class T>
void compare(const char* name, rw_math_isa::Loop<T> loop, rw_math_isa::Loop<T> reference) {
  constexpr std::size_t kCount = 19999;  // odd: a body and a tail
  const auto a = arguments<T>(11, kCount), b = arguments<T>(12, kCount);
  std::vector<T> want(kCount), got(kCount);
  reference(a.data(), b.data(), want.data(), kCount);
  loop(a.data(), b.data(), got.data(), kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(same(want[i], got[i]))
        << name << "(" << a[i] << ", " << b[i] << "): " << want[i] << " and " << got[i];
    T alone = 0;
    if (i % 7 == 0) {
      loop(&a[i], &b[i], &alone, 1);
      ASSERT_TRUE(same(want[i], alone)) << name << "(" << a[i] << ", " << b[i] << ") alone: " << alone;
    }
  }
}

void compare_all(const std::vector<Entry>& entries) {
  const std::vector<Entry> base = rw_math_isa::base_loops();
  const auto compare_each = [&] {
    for (std::size_t i = 0; i < base.size(); ++i) {
      compare<float>(base[i].name, entries[i].f32, base[i].f32);
      compare<double>(base[i].name, entries[i].f64, base[i].f64);
    }
  };
  compare_each();
  const rw::KernelFloatMode flushing;
  compare_each();
}

TEST(MathIsa, BodyTailAndAlone) { compare_all(rw_math_isa::base_loops()); }

#if defined(__x86_64__)
TEST(MathIsa, Avx2) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP();
  compare_all(rw_math_isa::v3_loops());
}
TEST(MathIsa, Avx512) {
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq")) GTEST_SKIP();
  compare_all(rw_math_isa::v4_loops());
}
#endif

}  // namespace
