// Transforms and products of winograd.h. Transforms run over channels with every element of a tile in a
// vector; the products' order of summation is that of the inner axis.
#include "rewind/kernel/cpu/isa/winograd.h"

#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/vectors.h"

namespace rw::RW_ISA {
namespace {

constexpr int kRows = kVectorBytes == 64 ? 8 : 4;
constexpr int kLanes = kLanesOf<float>;
constexpr int kPanel = kWinogradPanel;

using Vec = VectorOf<float>;
using LooseVec = LooseVectorOf<float>;

template <class V>
[[gnu::always_inline]] inline V load(const float* p) {
  if constexpr (sizeof(V) == sizeof(float)) return *p;
  else return *reinterpret_cast<const LooseVec*>(p);
}
template <class V>
[[gnu::always_inline]] inline void store(float* p, V v) {
  if constexpr (sizeof(V) == sizeof(float)) *p = v;
  else *reinterpret_cast<LooseVec*>(p) = v;
}

// The points 0, ±a, ±b, ∞.
constexpr float a = 0.75f, b = 1.5f;
constexpr float a2 = a * a, b2 = b * b, a3 = a2 * a, b3 = b2 * b, a2b2 = a2 * b2, a2_b2 = a2 + b2;
constexpr float kZeroScale = float(1 / (double(a2) * b2));
constexpr float kAScale = float(1 / (2 * double(a2) * (double(a2) - b2)));
constexpr float kBScale = float(1 / (2 * double(b2) * (double(b2) - a2)));

// One line of each transform; the second axis goes by the same functions.
struct Data {  // Bᵀ
  static constexpr int kIn = 6, kOut = 6;
  template <class V>
  [[gnu::always_inline]] static void line(const V* d, V* o) {
    const V even_a = d[4] - b2 * d[2], odd_a = a * (d[3] - b2 * d[1]);
    const V even_b = d[4] - a2 * d[2], odd_b = b * (d[3] - a2 * d[1]);
    o[0] = a2b2 * d[0] + (d[4] - a2_b2 * d[2]);
    o[1] = even_a + odd_a;
    o[2] = even_a - odd_a;
    o[3] = even_b + odd_b;
    o[4] = even_b - odd_b;
    o[5] = a2b2 * d[1] + (d[5] - a2_b2 * d[3]);
  }
};
struct Output {  // Aᵀ
  static constexpr int kIn = 6, kOut = 4;
  template <class V>
  [[gnu::always_inline]] static void line(const V* d, V* o) {
    const V even_a = d[1] + d[2], odd_a = d[1] - d[2];
    const V even_b = d[3] + d[4], odd_b = d[3] - d[4];
    o[0] = d[0] + even_a + even_b;
    o[1] = a * odd_a + b * odd_b;
    o[2] = a2 * even_a + b2 * even_b;
    o[3] = a3 * odd_a + b3 * odd_b + d[5];
  }
};
struct Gradient {  // A
  static constexpr int kIn = 4, kOut = 6;
  template <class V>
  [[gnu::always_inline]] static void line(const V* d, V* o) {
    const V even_a = d[0] + a2 * d[2], odd_a = a * d[1] + a3 * d[3];
    const V even_b = d[0] + b2 * d[2], odd_b = b * d[1] + b3 * d[3];
    o[0] = d[0];
    o[1] = even_a + odd_a;
    o[2] = even_a - odd_a;
    o[3] = even_b + odd_b;
    o[4] = even_b - odd_b;
    o[5] = d[3];
  }
};
struct Filter {  // G
  static constexpr int kIn = 3, kOut = 6;
  template <class V>
  [[gnu::always_inline]] static void line(const V* d, V* o) {
    const V even_a = kAScale * (d[0] + a2 * d[2]), odd_a = (kAScale * a) * d[1];
    const V even_b = kBScale * (d[0] + b2 * d[2]), odd_b = (kBScale * b) * d[1];
    o[0] = kZeroScale * d[0];
    o[1] = even_a + odd_a;
    o[2] = even_a - odd_a;
    o[3] = even_b + odd_b;
    o[4] = even_b - odd_b;
    o[5] = d[2];
  }
};
struct FilterGradient {  // Gᵀ
  static constexpr int kIn = 6, kOut = 3;
  template <class V>
  [[gnu::always_inline]] static void line(const V* d, V* o) {
    const V even_a = kAScale * (d[1] + d[2]), odd_a = kAScale * (d[1] - d[2]);
    const V even_b = kBScale * (d[3] + d[4]), odd_b = kBScale * (d[3] - d[4]);
    o[0] = kZeroScale * d[0] + even_a + even_b;
    o[1] = a * odd_a + b * odd_b;
    o[2] = a2 * even_a + b2 * even_b + d[5];
  }
};

// get(i, j) gives the elements of a tile, put(i, j, v) takes those of its transform.
template <class Lines, class V, class Get, class Put>
[[gnu::always_inline]] inline void transform(Get get, Put put) {
  V half[Lines::kIn][Lines::kOut];  // columns done: (column, transformed row)
#pragma GCC unroll 6
  for (int j = 0; j < Lines::kIn; ++j) {
    V in[Lines::kIn];
#pragma GCC unroll 6
    for (int i = 0; i < Lines::kIn; ++i) in[i] = get(i, j);
    Lines::line(in, half[j]);
  }
#pragma GCC unroll 6
  for (int i = 0; i < Lines::kOut; ++i) {
    V in[Lines::kIn], out[Lines::kOut];
#pragma GCC unroll 6
    for (int j = 0; j < Lines::kIn; ++j) in[j] = half[j][i];
    Lines::line(in, out);
#pragma GCC unroll 6
    for (int j = 0; j < Lines::kOut; ++j) put(i, j, out[j]);
  }
}

// run<V>(channel) over vectors, then over what is left.
template <class Run>
[[gnu::always_inline]] inline void over_channels(int64_t channels, Run run) {
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) run(c, Vec{});
  for (; c < channels; ++c) run(c, float{});
}

void data(const float* const* taps, float* out, int64_t point_step, int64_t channels, int64_t padded) {
  over_channels(channels, [=](int64_t c, auto like) {
    using V = decltype(like);
    transform<Data, V>([=](int i, int j) { return load<V>(taps[i * 6 + j] + c); },
                       [=](int i, int j, V v) { store<V>(out + (i * 6 + j) * point_step + c, v); });
  });
  for (int p = 0; p < kWinogradPoints; ++p)
    for (int64_t c = channels; c < padded; ++c) out[p * point_step + c] = 0;
}

void output(const float* points, int64_t point_step, float* out, int64_t row_step, int64_t column_step,
            int rows, int columns, int64_t channels) {
  over_channels(channels, [=](int64_t c, auto like) {
    using V = decltype(like);
    transform<Output, V>([=](int i, int j) { return load<V>(points + (i * 6 + j) * point_step + c); },
                         [=](int i, int j, V v) {
                           if (i < rows && j < columns) store<V>(out + i * row_step + j * column_step + c, v);
                         });
  });
}

// Where column c of a row of a right factor lies inside its point.
[[gnu::always_inline]] inline int64_t place(const WinogradPanels& p, int64_t row, int64_t c) {
  const int64_t first = c / kPanel * kPanel;
  const int64_t width = p.columns - first < kPanel ? p.columns - first : kPanel;
  return first * p.rows + row * width + (c - first);
}

template <class Lines>
void right_row(const float* const* taps, WinogradPanels out, int64_t row, int64_t channels) {
  over_channels(channels, [=](int64_t c, auto like) {
    using V = decltype(like);
    float* to = out.at + place(out, row, c);
    transform<Lines, V>([=](int i, int j) { return load<V>(taps[i * Lines::kIn + j] + c); },
                        [=](int i, int j, V v) { store<V>(to + (i * 6 + j) * out.point_step, v); });
  });
  for (int64_t c = channels; c < out.columns; ++c)
    for (int p = 0; p < kWinogradPoints; ++p) out.at[p * out.point_step + place(out, row, c)] = 0;
}

void filter_gradient(const float* points, int64_t point_step, float* out, int64_t tap_step,
                     int64_t channels) {
  over_channels(channels, [=](int64_t c, auto like) {
    using V = decltype(like);
    transform<FilterGradient, V>([=](int i, int j) { return load<V>(points + (i * 6 + j) * point_step + c); },
                                 [=](int i, int j, V v) { store<V>(out + (i * 3 + j) * tap_step + c, v); });
  });
}

// kRows x (kVectors vectors) of a product; kDense: the left factor's rows are neighbours in memory.
template <int kVectors, bool kDense>
RW_MAY_CONTRACT void tile(const float* __restrict x, const float* __restrict y, float* c, int64_t width,
                          const WinogradProduct& s) {
  RW_CONTRACT_HERE
  const int64_t row_step = kDense ? 1 : s.row_step;
  Vec sums[kRows][kVectors] = {};
  if (s.add) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] = load<Vec>(c + i * s.ldc + v * kLanes);
  }
  for (int64_t p = 0; p < s.depth; ++p, x += s.depth_step, y += width) {
    Vec right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) right[v] = load<Vec>(y + v * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const Vec left = x[i * row_step] - Vec{};
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] += left * right[v];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) store<Vec>(c + i * s.ldc + v * kLanes, sums[i][v]);
}

template <bool kDense>
void product_of(const float* x, const float* y, float* c, const WinogradProduct& s) {
  constexpr int kWide = 2 * kLanes;
  for (int64_t first = 0; first < s.columns; first += kPanel) {
    const int64_t width = s.columns - first < kPanel ? s.columns - first : kPanel;
    const float* panel = y + first * s.depth;
    for (int64_t j = 0; j < width; j += kWide)
      for (int64_t i = 0; i < s.rows; i += kRows) {
        const float* left = x + i * s.row_step;
        float* to = c + i * s.ldc + first + j;
        if (width - j >= kWide) tile<2, kDense>(left, panel + j, to, width, s);
        else tile<1, kDense>(left, panel + j, to, width, s);
      }
  }
}

void product(const float* x, const float* y, float* c, const WinogradProduct& s) {
  if (s.row_step == 1) product_of<true>(x, y, c, s);
  else product_of<false>(x, y, c, s);
}

}  // namespace

const WinogradLoops* winograd_loops() {
  static constexpr WinogradLoops loops = {
      data, output, right_row<Filter>, right_row<Gradient>, filter_gradient, product};
  return &loops;
}

}  // namespace rw::RW_ISA
