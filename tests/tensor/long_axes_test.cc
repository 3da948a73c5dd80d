// Kernels that treat long axes, short ones and the rest of a block differently, against loops that do not.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "rewind/rewind.h"

namespace rw {
namespace {

template <class T>
std::vector<T> random_values(int64_t n, uint32_t seed, int low, int high) {
  std::mt19937 bits(seed);
  std::uniform_int_distribution<int> values(low, high);
  std::vector<T> list;
  for (int64_t i = 0; i < n; ++i) list.push_back(T(values(bits)));
  return list;
}

// The first place of the extreme of each (outer, inner).
template <class T>
std::vector<int64_t> plain_argmax(const std::vector<T>& x, int64_t outer, int64_t n, int64_t inner,
                                  bool max) {
  std::vector<int64_t> places;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < inner; ++c) {
      const auto at = [&](int64_t i) { return x[size_t((o * n + i) * inner + c)]; };
      int64_t best = -1;
      for (int64_t i = 0; i < n; ++i) {
        if (at(i) != at(i)) continue;
        if (best < 0 || (max ? at(i) > at(best) : at(i) < at(best))) best = i;
      }
      places.push_back(std::max<int64_t>(best, 0));
    }
  }
  return places;
}

template <class T>
void check_argmax(const std::vector<T>& x, const Shape& shape) {
  const Tensor t = constant(x, shape);
  int64_t outer = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t n = shape[axis], inner = shape.num_elements() / outer / n;
    for (const bool max : {true, false}) {
      const Tensor found = max ? argmax(t, axis) : argmin(t, axis);
      ASSERT_EQ(found.to_vector<int64_t>(), plain_argmax(x, outer, n, inner, max))
          << shape.to_string() << " axis " << axis << " " << name_of(t.dtype());
    }
    outer *= n;
  }
}

TEST(LongAxes, ArgMaxFindsTheFirstPlace) {
  for (const int64_t n : {1, 5, 63, 64, 65, 127, 1000, 1024, 1025, 3000}) {
    for (const int64_t m : {1, 3, 9, 70}) {
      const Shape shape{m, n};
      // Few values, so that extremes have equals in other blocks.
      check_argmax(random_values<float>(m * n, uint32_t(n), -40, 40), shape);
      check_argmax(random_values<double>(m * n, uint32_t(n), -3, 3), shape);
      check_argmax(random_values<int32_t>(m * n, uint32_t(n), -2000, 2000), shape);
      check_argmax(random_values<int64_t>(m * n, uint32_t(n), -2000, 2000), shape);
      check_argmax(random_values<uint8_t>(m * n, uint32_t(n), 0, 255), shape);
      check_argmax(random_values<int16_t>(m * n, uint32_t(n), -500, 500), shape);
    }
  }
  check_argmax(random_values<float>(7 * 30 * 11, 1, -9, 9), Shape{7, 30, 11});
  check_argmax(random_values<float>(300000, 2, -1000000, 1000000), Shape{300000});
  check_argmax(random_values<int32_t>(600000, 3, -1000, 1000), Shape{200000, 3});
}

TEST(LongAxes, ArgMaxPassesOverNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const int64_t n : {10, 64, 2500}) {
    std::vector<float> x(size_t(n), nan);
    check_argmax(x, Shape{n});
    x[size_t(n - 1)] = 3;
    check_argmax(x, Shape{n});
    x[size_t(n / 2)] = 3;
    check_argmax(x, Shape{n});
    x.assign(size_t(n), -inf);
    EXPECT_EQ(argmax(constant(x), 0).item<int64_t>(), 0);
    x.assign(size_t(n), -0.0f);
    x[size_t(n - 1)] = 0.0f;
    EXPECT_EQ(argmax(constant(x), 0).item<int64_t>(), 0);
  }
}

TEST(LongAxes, RunningSumsGoElementByElement) {
  for (const int64_t rows : {1, 3, 8, 13}) {
    for (const int64_t n : {1, 2, 37, 4000}) {
      std::vector<float> x = random_values<float>(rows * n, uint32_t(n), -1000, 1000);
      for (float& v : x) v = v / 7.0f;
      for (const bool exclusive : {false, true}) {
        for (const bool reverse : {false, true}) {
          const auto sums =
              cumsum(constant(x, Shape{rows, n}), 1, {.exclusive = exclusive, .reverse = reverse})
                  .to_vector<float>();
          for (int64_t r = 0; r < rows; ++r) {
            float sum = 0;
            for (int64_t i = 0; i < n; ++i) {
              const size_t at = size_t(r * n + (reverse ? n - 1 - i : i));
              const float before = sum;
              sum += x[at];
              ASSERT_EQ(sums[at], exclusive ? before : sum);
            }
          }
        }
      }
    }
  }
}

template <class T>
void check_division(const std::vector<T>& xs, const std::vector<T>& ys) {
  std::vector<T> x, y;
  for (const T a : xs)
    for (const T b : ys)
      if (b != 0) x.push_back(a), y.push_back(b);
  const Tensor tx = constant(x), ty = constant(y);
  const auto quotient = math::floordiv(tx, ty).to_vector<T>(), rest = math::floormod(tx, ty).to_vector<T>();
  const auto cut = truncatediv(tx, ty).to_vector<T>();
  for (size_t i = 0; i < x.size(); ++i) {
    // int64 holds everything; what leaves the type wraps.
    const int64_t a = int64_t(x[i]), b = int64_t(y[i]);
    const int64_t q = a / b, r = a % b;
    const bool crosses = r != 0 && (r < 0) != (b < 0);
    ASSERT_EQ(quotient[i], T(crosses ? q - 1 : q)) << a << " / " << b;
    ASSERT_EQ(rest[i], T(crosses ? r + b : r)) << a << " % " << b;
    ASSERT_EQ(cut[i], T(q)) << a << " / " << b;
  }
}

TEST(LongAxes, IntegersDivideExactly) {
  std::vector<int8_t> bytes;
  for (int v = -128; v < 128; ++v) bytes.push_back(int8_t(v));
  check_division(bytes, bytes);
  std::vector<uint8_t> naturals;
  for (int v = 0; v < 256; ++v) naturals.push_back(uint8_t(v));
  check_division(naturals, naturals);
  constexpr int32_t kLow = INT32_MIN, kHigh = INT32_MAX;
  std::vector<int32_t> edges = {kLow, kLow + 1, kLow + 2, -46341, -46340,    -7,        -3,   -2, -1, 0, 1, 2,
                                3,    7,        46340,    46341,  kHigh - 2, kHigh - 1, kHigh};
  std::mt19937 bits(5);
  for (int i = 0; i < 400; ++i) edges.push_back(int32_t(bits()) >> (bits() % 31));
  check_division(edges, edges);
  std::vector<uint32_t> wide = {0, 1, 2, 3, 65535, 65536, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu};
  for (int i = 0; i < 300; ++i) wide.push_back(uint32_t(bits()) >> (bits() % 31));
  check_division(wide, wide);
  std::vector<int16_t> halves = {INT16_MIN, INT16_MIN + 1, -1, 0, 1, INT16_MAX};
  for (int i = 0; i < 400; ++i) halves.push_back(int16_t(bits()));
  check_division(halves, halves);
  EXPECT_THROW(
      math::floordiv(constant(std::vector<int32_t>(300000, 1)), constant(std::vector<int32_t>(300000, 0))),
      InvalidArgumentError);
}

TEST(LongAxes, BlocksOfTensors) {
  const Tensor x = reshape(range(2 * 3 * 400), {2, 3, 400});
  EXPECT_EQ(x(1, 2, 399).item<int32_t>(), 2399);
  EXPECT_EQ(x(-1, -1, -1).item<int32_t>(), 2399);
  EXPECT_EQ(x(1, 0).shape(), (Shape{400}));
  EXPECT_EQ(x[1](2)(7).item<int32_t>(), 2007);
  EXPECT_EQ(x(1, 0).data<int32_t>()[3], 1203);
  EXPECT_THROW(x(2), InvalidArgumentError);
  EXPECT_THROW(x(0, 0, 0, 0), InvalidArgumentError);
  EXPECT_THROW(x[-3], InvalidArgumentError);
  const Tensor none = zeros({2, 0});
  EXPECT_EQ(none[1].shape(), (Shape{0}));
  const Tensor words = constant(std::vector<std::string>{"a", "b"});
  EXPECT_EQ(words[1].item<std::string>(), "b");
  // Where somebody listens an index is an op.
  Variable v(constant({1., 2., 3.}));
  GradientTape tape;
  const Tensor y = v.value()[1] * v.value()(2);
  EXPECT_EQ(tape.gradient(y, v).tensor().to_vector<float>(), (std::vector<float>{0, 3, 2}));
}

}  // namespace
}  // namespace rw
