// Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3") on many blocks at once, one block a
// lane.
#include "rewind/kernel/cpu/isa/random.h"

#include <bit>

#include "rewind/base/math/exp_log.h"
#include "rewind/base/math/trig.h"

namespace rw::RW_ISA {
namespace {

constexpr int kLanes = 16;

void words(const Philox& start, uint64_t stride, uint32_t* out, int64_t count) {
  const Philox state = start;
  for (int64_t begin = 0; begin < count; begin += kLanes) {
    uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t step = (uint64_t(begin) + uint64_t(i)) * stride;
      const uint64_t low = state.low + step;
      const uint64_t high = state.high + (low < step ? 1 : 0);
      c0[i] = uint32_t(low);
      c1[i] = uint32_t(low >> 32);
      c2[i] = uint32_t(high);
      c3[i] = uint32_t(high >> 32);
    }
    uint32_t k0 = uint32_t(state.key), k1 = uint32_t(state.key >> 32);
    for (int round = 0; round < 10; ++round) {
      for (int i = 0; i < kLanes; ++i) {
        const uint64_t a = uint64_t{0xD2511F53} * c0[i];
        const uint64_t b = uint64_t{0xCD9E8D57} * c2[i];
        c0[i] = uint32_t(b >> 32) ^ c1[i] ^ k0;
        c2[i] = uint32_t(a >> 32) ^ c3[i] ^ k1;
        c1[i] = uint32_t(b);
        c3[i] = uint32_t(a);
      }
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    uint32_t* to = out + begin * 4;
    if (count - begin >= kLanes) {
      for (int i = 0; i < kLanes; ++i) {
        to[4 * i] = c0[i];
        to[4 * i + 1] = c1[i];
        to[4 * i + 2] = c2[i];
        to[4 * i + 3] = c3[i];
      }
    } else {
      for (int64_t i = 0; i < count - begin; ++i) {
        to[4 * i] = c0[i];
        to[4 * i + 1] = c1[i];
        to[4 * i + 2] = c2[i];
        to[4 * i + 3] = c3[i];
      }
    }
  }
}

[[gnu::always_inline]] inline float unit(uint32_t word) {
  return std::bit_cast<float>((word & 0x7fffffu) | 0x3f800000u) - 1.0f;
}
[[gnu::always_inline]] inline double unit(uint32_t high, uint32_t low) {
  return std::bit_cast<double>((uint64_t(high & 0xfffffu) << 32) | low | (uint64_t{1023} << 52)) - 1.0;
}

void uniform(const uint32_t* words, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = unit(words[i]);
}

template <class T>
[[gnu::always_inline]] inline void box_muller(T u, T v, T* a, T* b) {
  const T tiny = T(1.0e-7);
  const T length = scalar::sqrt(T(-2) * scalar::log(u < tiny ? tiny : u));
  const T angle = static_cast<T>(2 * 3.14159265358979323846 * double(v));
  const scalar::Angle<T> reduced = scalar::reduce_small(angle);
  *a = scalar::keep_zero(angle, scalar::sin_of(reduced)) * length;
  *b = scalar::sin_of(scalar::quarter_turn_on(reduced)) * length;
}

void normal(const uint32_t* words, float* out, int64_t n) {
  for (int64_t i = 0; i < n / 2; ++i)
    box_muller(unit(words[2 * i]), unit(words[2 * i + 1]), out + 2 * i, out + 2 * i + 1);
}

void normal_double(const uint32_t* words, double* out, int64_t n) {
  for (int64_t i = 0; i < n / 2; ++i) {
    const uint32_t* w = words + 4 * i;
    box_muller(unit(w[0], w[1]), unit(w[2], w[3]), out + 2 * i, out + 2 * i + 1);
  }
}

}  // namespace

const RandomLoops* random_loops() {
  static constinit RandomLoops loops{words, uniform, normal, normal_double};
  return &loops;
}

}  // namespace rw::RW_ISA
