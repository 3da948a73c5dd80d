// Values that tell definitions apart, and the comparison of results by their bits.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "rewind/base/dispatch.h"
#include "rewind/base/dtype.h"

namespace rw::loop {

// n elements of a type: special ones first (in another order for each `turn`), then random ones.
inline std::vector<char> test_values(DType dtype, int64_t n, uint64_t seed, size_t turn = 0) {
  std::vector<char> bytes(size_t(n) * size_of(dtype));
  std::mt19937_64 random(seed);
  dispatch<kRealTypes | set_of(DType::kBool)>(dtype, [&]<class T>() {
    std::vector<T> special;
    if constexpr (is_float_element<T>) {
      for (double v : {0.0,    -0.0,   1.0,   -1.0,    0.5,    -0.5,   2.0,   3.0,     -2.5,   10.0,
                       1e-3,   0.3,    -0.7,  88.0,    -104.0, 1e5,    -3e6,  6.0,     1e-30,  1e30,
                       -1e-42, 5e-324, 1e300, 65504.0, 1e-40,  -3e-39, 2e-38, -4e-310, 3e-308, 2e-7})
        special.push_back(T(static_cast<Compute<T>>(v)));
      special.push_back(T(std::numeric_limits<Compute<T>>::infinity()));
      special.push_back(T(-std::numeric_limits<Compute<T>>::infinity()));
      special.push_back(T(std::numeric_limits<Compute<T>>::quiet_NaN()));
    } else if constexpr (std::is_same_v<T, bool>) {
      special = {false, true};
    } else {
      using L = std::numeric_limits<T>;
      special = {T(0), T(1), T(2), T(3), T(7), T(31), T(-1), T(-2), L::max(), L::min(), T(L::max() / 2)};
    }
    // Each special value of one operand meets each of another: one runs slowly, one fast.
    const size_t count = special.size();
    for (int64_t i = 0; i < n; ++i) {
      size_t at = size_t(i);
      for (size_t t = 0; t < turn; ++t) at /= count;
      T value = special[at % count];
      if (size_t(i) >= count * count || (turn == 0 && size_t(i) >= count && n < int64_t(count * count))) {
        if constexpr (is_float_element<T>) {
          std::normal_distribution<double> normal(0, random() % 4 ? 2.0 : 1e4);
          value = T(static_cast<Compute<T>>(normal(random)));
        } else {
          value = T(random() % 3 ? random() : random() % 9);
        }
      }
      std::memcpy(bytes.data() + size_t(i) * sizeof(T), static_cast<const void*>(&value), sizeof(T));
    }
  });
  return bytes;
}

template <class T>
std::string bits_and_value(T v) {
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const void*>(&v), sizeof(T));
  char text[60];
  std::snprintf(text, sizeof text, "0x%llx (%.9g)", static_cast<unsigned long long>(bits),
                double(static_cast<Compute<T>>(v)));
  return text;
}

// "" when all elements have the same bits, NaN being NaN; else the first that differs.
inline std::string difference(DType dtype, const void* got, const void* want, int64_t n) {
  std::string text;
  dispatch<kRealTypes | set_of(DType::kBool)>(dtype, [&]<class T>() {
    for (int64_t i = 0; i < n && text.empty(); ++i) {
      T a, b;
      std::memcpy(static_cast<void*>(&a), static_cast<const char*>(got) + size_t(i) * sizeof(T), sizeof(T));
      std::memcpy(static_cast<void*>(&b), static_cast<const char*>(want) + size_t(i) * sizeof(T), sizeof(T));
      if (std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof(T)) == 0) continue;
      if constexpr (is_float_element<T>)
        if (std::isnan(double(static_cast<Compute<T>>(a))) && std::isnan(double(static_cast<Compute<T>>(b))))
          continue;
      text = "element " + std::to_string(i) + ": " + bits_and_value(a) + " instead of " + bits_and_value(b);
    }
  });
  return text;
}

}  // namespace rw::loop
