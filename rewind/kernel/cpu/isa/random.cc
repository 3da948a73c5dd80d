// Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3") on many blocks at once, one block a
// lane.
#include "rewind/kernel/cpu/isa/random.h"

#include <bit>

#include "rewind/base/math/exp_log.h"
#include "rewind/base/math/trig.h"

namespace rw::RW_ISA {
namespace {

constexpr int kLanes = 64;  // more than compilers unroll before they look for vectors

[[gnu::always_inline]] inline void rounds(uint32_t& c0, uint32_t& c1, uint32_t& c2, uint32_t& c3, uint32_t k0,
                                          uint32_t k1) {
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c0;
    const uint64_t b = uint64_t{0xCD9E8D57} * c2;
    c0 = uint32_t(b >> 32) ^ c1 ^ k0;
    c2 = uint32_t(a >> 32) ^ c3 ^ k1;
    c1 = uint32_t(b);
    c3 = uint32_t(a);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
}

// Blocks step(0), step(1), ... behind the start.
template <class Step>
[[gnu::always_inline]] inline void words_of(const Philox& start, uint32_t* __restrict out, int64_t count,
                                            Step step_of) {
  const uint64_t low = start.low, high = start.high;
  const uint32_t k0 = uint32_t(start.key), k1 = uint32_t(start.key >> 32);
  int64_t begin = 0;
  for (; begin + kLanes <= count; begin += kLanes) {
    uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t step = step_of(begin + i);
      const uint64_t at = low + step;
      const uint64_t above = high + (at < step ? 1 : 0);
      c0[i] = uint32_t(at);
      c1[i] = uint32_t(at >> 32);
      c2[i] = uint32_t(above);
      c3[i] = uint32_t(above >> 32);
    }
    for (int i = 0; i < kLanes; ++i) rounds(c0[i], c1[i], c2[i], c3[i], k0, k1);
    uint32_t* __restrict to = out + begin * 4;
    for (int i = 0; i < kLanes; ++i) {
      to[4 * i] = c0[i];
      to[4 * i + 1] = c1[i];
      to[4 * i + 2] = c2[i];
      to[4 * i + 3] = c3[i];
    }
  }
  for (; begin < count; ++begin) {
    const uint64_t step = step_of(begin);
    const uint64_t at = low + step;
    const uint64_t above = high + (at < step ? 1 : 0);
    uint32_t c0 = uint32_t(at), c1 = uint32_t(at >> 32), c2 = uint32_t(above), c3 = uint32_t(above >> 32);
    rounds(c0, c1, c2, c3, k0, k1);
    out[begin * 4] = c0;
    out[begin * 4 + 1] = c1;
    out[begin * 4 + 2] = c2;
    out[begin * 4 + 3] = c3;
  }
}

void words(const Philox& start, uint64_t stride, uint32_t* __restrict out, int64_t count) {
  words_of(start, out, count, [stride](int64_t i) { return uint64_t(i) * stride; });
}

void words_at(const Philox& start, const uint64_t* steps, uint32_t* __restrict out, int64_t count) {
  words_of(start, out, count, [steps](int64_t i) { return steps[i]; });
}

[[gnu::always_inline]] inline float unit(uint32_t word) {
  return std::bit_cast<float>((word & 0x7fffffu) | 0x3f800000u) - 1.0f;
}
[[gnu::always_inline]] inline double unit(uint32_t high, uint32_t low) {
  return std::bit_cast<double>((uint64_t(high & 0xfffffu) << 32) | low | (uint64_t{1023} << 52)) - 1.0;
}

void uniform(const uint32_t* __restrict words, float* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = unit(words[i]);
}

constexpr int kPairs = 128;

// No logarithm of zero. Clamped when u is stored: next to the logarithm, compilers make a branch of it, and
// no vectors.
template <class T>
[[gnu::always_inline]] inline T above_zero(T u) {
  return scalar::select(u < T(1.0e-7), T(1.0e-7), u);
}

// n pairs from uniform numbers u and v: a and b.
template <class T>
[[gnu::always_inline]] inline void box_muller(const T* __restrict u, const T* __restrict v, T* __restrict a,
                                              T* __restrict b, int n) {
  for (int i = 0; i < n; ++i) {
    const T length = scalar::sqrt(T(-2) * scalar::log(u[i]));
    const T angle = static_cast<T>(2 * 3.14159265358979323846 * double(v[i]));
    const scalar::Angle<T> reduced = scalar::reduce_small(angle);
    const scalar::SinCos<T> s = scalar::sin_cos_of(reduced);
    const bool odd = (reduced.k & 1) != 0;
    a[i] = scalar::keep_zero(angle, scalar::flip_sign_if(reduced.k >> 1, scalar::select(odd, s.cos, s.sin))) *
           length;
    b[i] = scalar::flip_sign_if((reduced.k + 1) >> 1, scalar::select(odd, s.sin, s.cos)) * length;
  }
}

void normal(const uint32_t* __restrict words, float* __restrict out, int64_t n) {
  float u[kPairs], v[kPairs], a[kPairs], b[kPairs];
  for (int64_t begin = 0; begin < n / 2; begin += kPairs) {
    const int count = n / 2 - begin < kPairs ? int(n / 2 - begin) : kPairs;
    const uint32_t* __restrict w = words + 2 * begin;
    float* __restrict o = out + 2 * begin;
    for (int i = 0; i < count; ++i) {
      u[i] = above_zero(unit(w[2 * i]));
      v[i] = unit(w[2 * i + 1]);
    }
    box_muller(u, v, a, b, count);
    for (int i = 0; i < count; ++i) {
      o[2 * i] = a[i];
      o[2 * i + 1] = b[i];
    }
  }
}

void normal_double(const uint32_t* __restrict words, double* __restrict out, int64_t n) {
  double u[kPairs], v[kPairs], a[kPairs], b[kPairs];
  for (int64_t begin = 0; begin < n / 2; begin += kPairs) {
    const int count = n / 2 - begin < kPairs ? int(n / 2 - begin) : kPairs;
    const uint32_t* __restrict w = words + 4 * begin;
    double* __restrict o = out + 2 * begin;
    for (int i = 0; i < count; ++i) {
      u[i] = above_zero(unit(w[4 * i], w[4 * i + 1]));
      v[i] = unit(w[4 * i + 2], w[4 * i + 3]);
    }
    box_muller(u, v, a, b, count);
    for (int i = 0; i < count; ++i) {
      o[2 * i] = a[i];
      o[2 * i + 1] = b[i];
    }
  }
}

}  // namespace

const RandomLoops* random_loops() {
  static constinit RandomLoops loops{words, words_at, uniform, normal, normal_double};
  return &loops;
}

}  // namespace rw::RW_ISA
