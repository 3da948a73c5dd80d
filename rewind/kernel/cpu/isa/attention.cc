// The products of attention by tiles, and what happens to rows of scores. The left factor is read where it
// lies, by rows or by columns; the right one is packed.
#include "rewind/kernel/cpu/isa/attention.h"

#include "rewind/base/math/exp_log.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/vectors.h"

namespace rw::RW_ISA {
namespace {

constexpr int kRows = kVectorBytes == 64 ? 8 : kVectorBytes == 32 ? 6 : 4;
constexpr int kVectors = 2;  // across a tile
constexpr int kLanes = kLanesOf<float>;
constexpr int kPanel = kVectors * kLanes;

using Vec = VectorOf<float>;
using LooseVec = LooseVectorOf<float>;

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

// So much depth of a panel stays in the nearest cache.
constexpr int64_t kDepth = 4096 / kPanel;

template <bool kAlong>
void panels(const PanelProduct& p) {
  const int64_t step = kAlong ? p.a_row : p.a_depth;
  const float* panel = p.b;
  for (int64_t j = 0; j < p.columns; j += kPanel, panel += p.b_panel) {
    const int64_t columns = p.columns - j;
    for (int64_t first = 0; first == 0 || first < p.depth; first += kDepth) {
      const int64_t depth = p.depth - first < kDepth ? p.depth - first : kDepth;
      const float* a = p.a + first * p.a_depth;
      const float* b = panel + first * kPanel;
      int64_t i = 0;
      const auto rows = [&]<int R>() {
        for (; i + R <= p.rows; i += R)
          tile<R, kAlong>(a + i * p.a_row, step, b, depth, p.c + i * p.c_row + j, p.c_row, columns,
                          p.add || first > 0);
      };
      rows.template operator()<kRows>();
      rows.template operator()<kRows / 2>();
      rows.template operator()<1>();
    }
  }
}

void product(const PanelProduct& p) {
  if (p.a_depth == 1) panels<true>(p);
  else panels<false>(p);
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

// Step `s` on row r.
void change(const ScoreStep& s, int64_t r, float* __restrict x, int64_t n) {
  const float number = s.number;
  switch (s.kind) {
    case ScoreStep::kMultiply:
      for (int64_t i = 0; i < n; ++i) x[i] = x[i] * number;
      return;
    case ScoreStep::kDivide:
      for (int64_t i = 0; i < n; ++i) x[i] = x[i] / number;
      return;
    case ScoreStep::kAdd: {
      const float* __restrict y = static_cast<const float*>(s.data) + r * s.row_step;
      if (s.key_step == 0)
        for (int64_t i = 0; i < n; ++i) x[i] = x[i] + *y;
      else
        for (int64_t i = 0; i < n; ++i) x[i] = x[i] + y[i];
      return;
    }
    default:
      hide(x, static_cast<const uint8_t*>(s.data) + r * s.row_step, s.key_step, s.kind == ScoreStep::kKeep,
           number, n);
  }
}

// Largest elements and sums run in the lanes of isa/nn.cc, as softmax there, and fold in halves.
using Lanes [[gnu::vector_size(64)]] = float;
using LooseLanes [[gnu::vector_size(64), gnu::aligned(alignof(float)), gnu::may_alias]] = float;
using Half [[gnu::vector_size(32)]] = float;
using Quarter [[gnu::vector_size(16)]] = float;
constexpr int kSumLanes = 16;

struct Larger {
  static constexpr float kStart = -__builtin_inff();
  template <class V>
  [[gnu::always_inline]] static void join(V& a, const V& b) {
    a = b > a ? b : a;
  }
};
struct Added {
  static constexpr float kStart = 0;
  template <class V>
  [[gnu::always_inline]] static void join(V& a, const V& b) {
    a = a + b;
  }
};

template <class F>
float over_row(const float* x, int64_t n) {
  Lanes lanes = Lanes{} + F::kStart;
  int64_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    const Lanes now = *reinterpret_cast<const LooseLanes*>(x + i);
    F::join(lanes, now);
  }
  if (i < n) {
    Lanes rest = Lanes{} + F::kStart;
    for (int64_t j = 0; i + j < n; ++j) rest[j] = x[i + j];
    F::join(lanes, rest);
  }
  Half half = __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7);
  const Half upper = __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15);
  F::join(half, upper);
  Quarter quarter = __builtin_shufflevector(half, half, 0, 1, 2, 3);
  const Quarter fourth = __builtin_shufflevector(half, half, 4, 5, 6, 7);
  F::join(quarter, fourth);
  float even = quarter[0], odd = quarter[1];
  F::join(even, float(quarter[2]));
  F::join(odd, float(quarter[3]));
  F::join(even, odd);
  return even;
}

// Some rows at a time: what one row waits for, another has.
constexpr int64_t kTogether = 8;

bool weights(const ScoreRows& s, bool leaves_out, float left_out) {
  for (int64_t first = 0; first < s.rows; first += kTogether) {
    const int64_t some = s.rows - first < kTogether ? s.rows - first : kTogether;
    float* rows = s.data + first * s.step;
    float numbers[kTogether];  // the largest of a row, then one over its sum
    for (int64_t r = 0; r < some; ++r) {
      for (int k = 0; k < s.count; ++k) change(s.steps[k], first + r, rows + r * s.step, s.keys);
      numbers[r] = over_row<Larger>(rows + r * s.step, s.keys);
    }
    if (leaves_out)
      for (int64_t r = 0; r < some; ++r)
        if (!(left_out - numbers[r] <= -static_cast<float>(scalar::kExpBound<float>))) return false;
    for (int64_t r = 0; r < some; ++r) {
      float* __restrict x = rows + r * s.step;
      const float top = numbers[r];
      for (int64_t i = 0; i < s.keys; ++i) x[i] = scalar::exp(x[i] - top);
    }
    for (int64_t r = 0; r < some; ++r) numbers[r] = 1.0f / over_row<Added>(rows + r * s.step, s.keys);
    for (int64_t r = 0; r < some; ++r) {
      float* __restrict x = rows + r * s.step;
      const float inverse = numbers[r];
      for (int64_t i = 0; i < s.keys; ++i) x[i] = x[i] * inverse;
    }
  }
  return true;
}

void weights_grad(const ScoreRows& s, const float* p, SumOfRow sum, int64_t first, int64_t all, float* work) {
  for (int64_t r = 0; r < s.rows; ++r) {
    float* __restrict x = s.data + r * s.step;
    const float* __restrict w = p + r * s.step;
    float* __restrict products = work + first;
    // Keys that are left out weigh nothing.
    for (int64_t i = 0; i < first; ++i) work[i] = 0;
    for (int64_t i = 0; i < s.keys; ++i) products[i] = x[i] * w[i];
    for (int64_t i = first + s.keys; i < all; ++i) work[i] = 0;
    const float t = sum(work, all);
    for (int64_t i = 0; i < s.keys; ++i) x[i] = (x[i] - t) * w[i];
    for (int k = s.count; k-- > 0;) {
      ScoreStep step = s.steps[k];
      if (step.kind == ScoreStep::kAdd) continue;
      if (step.kind == ScoreStep::kKeep || step.kind == ScoreStep::kDrop) step.number = 0;
      change(step, r, x, s.keys);
    }
  }
}

}  // namespace

const AttentionLoops* attention_loops() {
  static constexpr AttentionLoops loops{kRows, kPanel, pack, product, weights, weights_grad};
  return &loops;
}

}  // namespace rw::RW_ISA
