#include "rewind/base/float_mode.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "rewind/base/half.h"

namespace rw {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)

// 1e-40 as the thread computes with it.
float denormal_times_one() {
  volatile float x = std::bit_cast<float>(0x000116c2u);
  volatile float one = 1;
  return x * one;
}
bool flushes() { return std::bit_cast<uint32_t>(denormal_times_one()) == 0; }

TEST(FloatMode, KernelsFlushAndTheCallerGetsItsModeBack) {
  const FloatControl before = float_control();
  ASSERT_FALSE(flushes());
  {
    const KernelFloatMode mode;
    EXPECT_TRUE(flushes());
    {
      const KernelFloatMode again;
      EXPECT_TRUE(flushes());
    }
    EXPECT_TRUE(flushes());
    {
      const CallersFloatMode callers;
      EXPECT_FALSE(flushes());
      EXPECT_EQ(float_control() & kResultBits, before & kResultBits);
      {
        const KernelFloatMode inner;
        EXPECT_TRUE(flushes());
      }
      EXPECT_FALSE(flushes());
    }
    EXPECT_TRUE(flushes());
  }
  EXPECT_EQ(float_control() & kResultBits, before & kResultBits);
  EXPECT_FALSE(flushes());
}

TEST(FloatMode, AnExceptionGivesItBackToo) {
  try {
    const KernelFloatMode mode;
    throw std::runtime_error("stop");
  } catch (const std::runtime_error&) {  // NOLINT(bugprone-empty-catch)
  }
  EXPECT_FALSE(flushes());
}

TEST(FloatMode, TheCallersRoundingDoesNotMatterAndStays) {
  const FloatControl before = float_control();
  set_float_control(before | (kRounding & -kRounding) | kFlush);  // downwards or upwards, and flushing
  const FloatControl odd = float_control();
  {
    const KernelFloatMode mode;
    EXPECT_EQ(float_control() & kRounding, 0u);
  }
  EXPECT_EQ(float_control(), odd);
  g_kernel_float_mode = 0;
  {
    const KernelFloatMode mode;
    EXPECT_FALSE(flushes());  // kernels' mode is the switch's alone
  }
  g_kernel_float_mode = kFlush;
  EXPECT_EQ(float_control(), odd);
  set_float_control(before);
}

TEST(FloatMode, HelpersComputeAsTheHelped) {
  const KernelFloatMode mode;
  const FloatControl helped = float_control();
  std::thread([helped] {
    const FloatControl own = float_control() & ~kResultBits;
    set_float_control(own);
    {
      const HelpersFloatMode same(helped);
      EXPECT_TRUE(flushes());
    }
    EXPECT_EQ(float_control() & kResultBits, 0u);
  }).join();
}

#endif

// float16's denormals are ordinary floats.
TEST(FloatMode, Float16HasItsDenormalsInBothModes) {
  for (const bool flushing : {false, true}) {
    for (uint32_t h = 0; h < 0x10000; ++h) {
      const uint32_t exponent = h >> 10 & 31, fraction = h & 1023;
      if (exponent == 31) continue;
      const double size = exponent == 0 ? std::ldexp(double(fraction), -24)
                                        : std::ldexp(1 + fraction / 1024.0, int(exponent) - 15);
      float value = 0;
      uint16_t back = 0;
      {
        const auto convert = [&] {
          value = half_bits_to_float(uint16_t(h));
          back = float_to_half_bits(value);
        };
        if (flushing) {
          const KernelFloatMode mode;
          convert();
        } else {
          convert();
        }
      }
      ASSERT_EQ(double(value), h & 0x8000 ? -size : size) << h;
      ASSERT_EQ(back, h);
    }
    EXPECT_EQ(half_bits_to_float(0x7c00), INFINITY);
    EXPECT_TRUE(std::isnan(half_bits_to_float(0x7e00)));
  }
}

}  // namespace
}  // namespace rw
