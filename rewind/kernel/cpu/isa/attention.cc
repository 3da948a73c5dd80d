// Tiles of the products of attention. The left factor is read where it lies, by rows or by columns; the right
// one is packed.
#include "rewind/kernel/cpu/isa/attention.h"

#include "rewind/kernel/cpu/isa/isa.h"

namespace rw::RW_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kRows = 8;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kRows = 6;
#else
constexpr int kVectorBytes = 16, kRows = 4;
#endif
constexpr int kVectors = 2;  // across a tile
constexpr int kLanes = kVectorBytes / int(sizeof(float));
constexpr int kPanel = kVectors * kLanes;

using Vec [[gnu::vector_size(kVectorBytes)]] = float;
using LooseVec [[gnu::vector_size(kVectorBytes), gnu::aligned(alignof(float)), gnu::may_alias]] = float;

// Multiply-adds are fused where the instruction set can: in the tiles, and only there.
#if defined(__clang__)
#define RW_CONTRACT_HERE _Pragma("clang fp contract(fast)")
#define RW_MAY_CONTRACT
#else
#define RW_CONTRACT_HERE
#define RW_MAY_CONTRACT __attribute__((optimize("fp-contract=fast")))
#endif

void pack(const float* x, int64_t row_step, int64_t column_step, int64_t rows, int64_t columns,
          float* __restrict out) {
  for (int64_t first = 0; first < columns; first += kPanel, x += kPanel * column_step, out += rows * kPanel) {
    const int64_t used = columns - first < kPanel ? columns - first : kPanel;
    if (used == kPanel && column_step == 1) {
      for (int64_t p = 0; p < rows; ++p)
        for (int j = 0; j < kPanel; ++j) out[p * kPanel + j] = x[p * row_step + j];
      continue;
    }
    // A few rows at a time: the panel's lines stay near while all columns write into them.
    constexpr int64_t kSome = 16;
    for (int64_t p0 = 0; p0 < rows; p0 += kSome) {
      const int64_t some = rows - p0 < kSome ? rows - p0 : kSome;
      float* __restrict to = out + p0 * kPanel;
      for (int64_t j = 0; j < used; ++j) {
        const float* from = x + p0 * row_step + j * column_step;
        for (int64_t p = 0; p < some; ++p) to[p * kPanel + j] = from[p * row_step];
      }
      for (int64_t j = used; j < kPanel; ++j)
        for (int64_t p = 0; p < some; ++p) to[p * kPanel + j] = 0;
    }
  }
}

// R rows of a, one panel of b. kAlong: a's rows are contiguous; otherwise its columns are.
template <int R, bool kAlong>
RW_MAY_CONTRACT void tile(const float* a, int64_t step, const float* __restrict b, int64_t depth, float* c,
                          int64_t c_row, int64_t columns, bool add) {
  RW_CONTRACT_HERE
  Vec sums[R][kVectors] = {};
  const bool whole = columns >= kPanel;
  if (add && whole) {
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        sums[i][v] = *reinterpret_cast<const LooseVec*>(c + i * c_row + v * kLanes);
  } else if (add) {
    float edge[R][kPanel] = {};
    for (int i = 0; i < R; ++i)
      for (int64_t j = 0; j < columns; ++j) edge[i][j] = c[i * c_row + j];
    __builtin_memcpy(sums, edge, sizeof(edge));
  }
  for (int64_t p = 0; p < depth; ++p, b += kPanel) {
    Vec right[kVectors];
    for (int v = 0; v < kVectors; ++v) right[v] = *reinterpret_cast<const LooseVec*>(b + v * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      const Vec left = (kAlong ? a[i * step + p] : a[p * step + i]) - Vec{};  // to all lanes
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[i][v] += left * right[v];
    }
  }
  if (whole) {
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        *reinterpret_cast<LooseVec*>(c + i * c_row + v * kLanes) = sums[i][v];
    return;
  }
  float edge[R][kPanel];
  __builtin_memcpy(edge, sums, sizeof(edge));
  for (int i = 0; i < R; ++i)
    for (int64_t j = 0; j < columns; ++j) c[i * c_row + j] = edge[i][j];
}

template <bool kAlong>
void panels(const PanelProduct& p) {
  const int64_t step = kAlong ? p.a_row : p.a_depth;
  const float* b = p.b;
  for (int64_t j = 0; j < p.columns; j += kPanel, b += p.b_panel) {
    const int64_t columns = p.columns - j;
    int64_t i = 0;
    const auto rows = [&]<int R>() {
      for (; i + R <= p.rows; i += R)
        tile<R, kAlong>(p.a + i * p.a_row, step, b, p.depth, p.c + i * p.c_row + j, p.c_row, columns, p.add);
    };
    rows.template operator()<kRows>();
    rows.template operator()<kRows / 2>();
    rows.template operator()<1>();
  }
}

void product(const PanelProduct& p) {
  if (p.a_depth == 1) panels<true>(p);
  else panels<false>(p);
}

void multiply(float* __restrict x, float number, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] * number;
}
void divide(float* __restrict x, float number, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] / number;
}
void add(float* __restrict x, const float* __restrict y, int64_t step, int64_t n) {
  if (step == 0)
    for (int64_t i = 0; i < n; ++i) x[i] = x[i] + *y;
  else
    for (int64_t i = 0; i < n; ++i) x[i] = x[i] + y[i];
}
void hide(float* __restrict x, const uint8_t* __restrict mask, int64_t step, uint8_t keeps, float number,
          int64_t n) {
  if (step == 0) {
    if (*mask != keeps)
      for (int64_t i = 0; i < n; ++i) x[i] = number;
    return;
  }
  for (int64_t i = 0; i < n; ++i) x[i] = mask[i] == keeps ? x[i] : number;
}

float largest(const float* __restrict x, int64_t n) {
  float top[16];
  for (float& t : top) t = -__builtin_inff();
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int j = 0; j < 16; ++j) top[j] = x[i + j] > top[j] ? x[i + j] : top[j];
  for (int j = 0; i < n; ++i, ++j) top[j] = x[i] > top[j] ? x[i] : top[j];
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; ++j) top[j] = top[j + half] > top[j] ? top[j + half] : top[j];
  return top[0];
}

void multiply_pair(const float* __restrict x, const float* __restrict y, float* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * y[i];
}
void softmax_grad(float* __restrict grad, const float* __restrict weight, float sum, int64_t n) {
  for (int64_t i = 0; i < n; ++i) grad[i] = (grad[i] - sum) * weight[i];
}

}  // namespace

const AttentionLoops* attention_loops() {
  static constexpr AttentionLoops loops{kRows, kPanel, pack,    product,       multiply,    divide,
                                        add,   hide,   largest, multiply_pair, softmax_grad};
  return &loops;
}

}  // namespace rw::RW_ISA
