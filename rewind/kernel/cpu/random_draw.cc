#include "rewind/kernel/cpu/random_draw.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/isa/isa.h"

namespace rw {
namespace {

constexpr int64_t kUnit = 1024;  // words made at a time: they stay in the L1 cache
constexpr int64_t kGrain = 16;   // units a thread should at least have

// Calls f(words, first, count) for all n words of a stream, in parts of kUnit that start at multiples of it.
template <class F>
void for_words(const Philox& state, int64_t n, const F& f) {
  const RandomLoops& loops = *isa_loops().random;
  parallel_for((n + kUnit - 1) / kUnit, kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[kUnit];
    for (int64_t u = begin; u < end; ++u) {
      const int64_t count = std::min(kUnit, n - u * kUnit);
      loops.words(state.skipped(uint64_t(u) * (kUnit / 4)), 1, words, (count + 3) / 4);
      f(words, u * kUnit, count);
    }
  });
}

double unit_double(uint32_t high, uint32_t low) {
  return std::bit_cast<double>((uint64_t(high & 0xfffffu) << 32) | low | (uint64_t{1023} << 52)) - 1.0;
}

template <class T>
T unit_of(uint32_t word) {
  if constexpr (std::is_same_v<T, Half>)
    return Half(float(Half::from_bits(uint16_t((word & 0x3ffu) | (15u << 10)))) - 1.0f);
  else return Bfloat16(float(Bfloat16::from_bits(uint16_t((word & 0x7fu) | (127u << 7)))) - 1.0f);
}

// Normal numbers of n elements, n <= kUnit, from their words; pairs are always computed whole.
template <class T>
void normal_part(const uint32_t* words, T* out, int64_t n) {
  const RandomLoops& loops = *isa_loops().random;
  if constexpr (std::is_same_v<T, float>) {
    if (n % 2 == 0) return loops.normal(words, out, n);
  }
  alignas(64) float numbers[kUnit];
  loops.normal(words, numbers, (n + 1) / 2 * 2);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(numbers[i]);
}

// Groups of 4 (2 for double) each have their own stretch of the stream, long enough for all rejections.
template <class T>
void truncated(const Philox& state, T* out, int64_t n) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr int64_t kGroup = std::is_same_v<T, double> ? 2 : 4;
  constexpr uint64_t kStretch = uint64_t(kGroup) * kReservedBlocks / 4;
  constexpr int64_t kGroups = 1024;
  constexpr C kBound = C(2);
  const RandomLoops& loops = *isa_loops().random;
  auto numbers_of = [&](const uint32_t* words, C* numbers, int64_t blocks) {
    if constexpr (std::is_same_v<C, double>) loops.normal_double(words, numbers, blocks * 2);
    else loops.normal(words, numbers, blocks * 4);
  };
  const int64_t groups = (n + kGroup - 1) / kGroup;
  parallel_for((groups + kGroups - 1) / kGroups, 1, [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[kGroups * 4];
    alignas(64) C numbers[kGroups * kGroup];
    struct Open {
      int64_t group, have;
    } open[kGroups];  // groups that lack numbers
    uint64_t steps[kGroups];
    for (int64_t u = begin; u < end; ++u) {
      const int64_t first = u * kGroups;
      const int64_t count = std::min(kGroups, groups - first);
      const auto wanted = [&](int64_t group) { return std::min(kGroup, n - group * kGroup); };
      // Takes what is within the bounds of a block of numbers; whether the group is complete.
      const auto take = [&](const C* from, int64_t group, int64_t& have) {
        T* to = out + group * kGroup;
        for (int64_t i = 0; i < kGroup && have < wanted(group); ++i)
          if (std::abs(from[i]) < kBound) to[have++] = static_cast<T>(from[i]);
        return have == wanted(group);
      };
      loops.words(state.skipped(uint64_t(first) * kStretch), kStretch, words, count);
      numbers_of(words, numbers, count);
      int64_t left = 0;
      for (int64_t g = 0; g < count; ++g) {
        const C* from = numbers + g * kGroup;
        const int64_t group = first + g;
        bool all = wanted(group) == kGroup;
        for (int64_t i = 0; i < kGroup; ++i) all &= std::abs(from[i]) < kBound;
        if (all) {
          for (int64_t i = 0; i < kGroup; ++i) out[group * kGroup + i] = static_cast<T>(from[i]);
          continue;
        }
        int64_t have = 0;
        if (!take(from, group, have)) open[left++] = {group, have};
      }
      for (uint64_t block = 1; left > 0; ++block) {
        for (int64_t k = 0; k < left; ++k) steps[k] = uint64_t(open[k].group) * kStretch + block;
        loops.words_at(state, steps, words, left);
        numbers_of(words, numbers, left);
        int64_t still = 0;
        for (int64_t k = 0; k < left; ++k) {
          Open o = open[k];
          if (!take(numbers + k * kGroup, o.group, o.have)) open[still++] = o;
        }
        left = still;
      }
    }
  });
}

}  // namespace

bool draw_uniform(const Philox& state, const View& out) {
  const RandomLoops& loops = *isa_loops().random;
  return dispatch<kFloatTypes>(out.dtype, [&]<class T>() {
    T* to = out.as<T>();
    if constexpr (std::is_same_v<T, double>) {
      for_words(state, out.size * 2, [&](const uint32_t* words, int64_t first, int64_t count) {
        for (int64_t i = 0; i < count / 2; ++i)
          to[first / 2 + i] = unit_double(words[2 * i], words[2 * i + 1]);
      });
    } else {
      for_words(state, out.size, [&](const uint32_t* words, int64_t first, int64_t count) {
        if constexpr (std::is_same_v<T, float>) loops.uniform(words, to + first, count);
        else
          for (int64_t i = 0; i < count; ++i) to[first + i] = unit_of<T>(words[i]);
      });
    }
  });
}

bool draw_normal(const Philox& state, const View& out) {
  const RandomLoops& loops = *isa_loops().random;
  return dispatch<kFloatTypes>(out.dtype, [&]<class T>() {
    T* to = out.as<T>();
    if constexpr (std::is_same_v<T, double>) {
      // Two words an element, four a pair: an odd last element still takes its pair's words.
      for_words(state, (out.size + 1) / 2 * 4, [&](const uint32_t* words, int64_t first, int64_t count) {
        const int64_t n = std::min(count / 2, out.size - first / 2);
        if (n % 2 == 0) return loops.normal_double(words, to + first / 2, n);
        double numbers[kUnit / 2];
        loops.normal_double(words, numbers, n + 1);
        std::copy_n(numbers, n, to + first / 2);
      });
    } else {
      for_words(state, out.size, [&](const uint32_t* words, int64_t first, int64_t count) {
        normal_part(words, to + first, count);
      });
    }
  });
}

bool draw_truncated_normal(const Philox& state, const View& out) {
  return dispatch<kFloatTypes>(out.dtype, [&]<class T>() { truncated<T>(state, out.as<T>(), out.size); });
}

constexpr DTypeSet kIntegers = set_of(DType::kInt32, DType::kInt64, DType::kUint32, DType::kUint64);

bool draw_full_int(const Philox& state, const View& out) {
  return dispatch<kIntegers>(out.dtype, [&]<class T>() {
    T* to = out.as<T>();
    constexpr int64_t kWords = sizeof(T) / 4;
    for_words(state, out.size * kWords, [&](const uint32_t* words, int64_t first, int64_t count) {
      for (int64_t i = 0; i < count / kWords; ++i) {
        if constexpr (kWords == 1) to[first + i] = T(words[i]);
        else to[first / 2 + i] = T(words[2 * i] | uint64_t(words[2 * i + 1]) << 32);
      }
    });
  });
}

bool draw_uniform_int(const Philox& state, const View& out, const View& low, const View& high) {
  return dispatch<kIntegers>(out.dtype, [&]<class T>() {
    using U = std::make_unsigned_t<T>;
    const U start = U(*low.as<T>());
    const U span = U(*high.as<T>()) - start;
    T* to = out.as<T>();
    constexpr int64_t kWords = sizeof(T) / 4;
    for_words(state, out.size * kWords, [&](const uint32_t* words, int64_t first, int64_t count) {
      for (int64_t i = 0; i < count / kWords; ++i) {
        if constexpr (kWords == 1) to[first + i] = T(start + words[i] % span);
        else to[first / 2 + i] = T(start + (words[2 * i] | uint64_t(words[2 * i + 1]) << 32) % span);
      }
    });
  });
}

Philox scramble_seeds(uint64_t seed0, uint64_t seed1) {
  uint32_t mix[4];
  isa_loops().random->words({0x02461e293ec8f720u, seed0, seed1}, 1, mix, 1);
  return {mix[0] | uint64_t(mix[1]) << 32, 0, mix[2] | uint64_t(mix[3]) << 32};
}

uint32_t PhiloxWords::operator()() {
  if (at_ == 4 * kBlocks) {
    isa_loops().random->words(state_, 1, words_, kBlocks);
    state_ = state_.skipped(kBlocks);
    at_ = 0;
  }
  return words_[at_++];
}

double PhiloxWords::unit() {
  const uint32_t high = (*this)();
  return unit_double(high, (*this)());
}

}  // namespace rw
