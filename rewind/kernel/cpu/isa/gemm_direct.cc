#include "rewind/kernel/cpu/isa/gemm_direct.h"

#include <utility>

#include "rewind/kernel/cpu/isa/vectors.h"

namespace rw::RW_ISA {
namespace {

constexpr int kLanes = kLanesOf<float>;
constexpr int kRows = kLanes == 16 ? 8 : kLanes == 8 ? 6 : 4;
constexpr int kVectors = kLanes == 16 ? 3 : 2;  // of a tile
// With 32 registers a tile of all vectors has room for a tail, when it has one row less.
constexpr bool kTailBesideAll = kLanes == 16;
constexpr int kShortTail = 4;

template <int kWidth>
struct Tail {
  using V [[gnu::vector_size(kWidth * 4)]] = float;
  using Loose [[gnu::vector_size(kWidth * 4), gnu::aligned(4), gnu::may_alias]] = float;
};
template <>
struct Tail<0> : Tail<kShortTail> {};

template <int kWidth>
[[gnu::always_inline]] inline typename Tail<kWidth>::V first_lanes(const VectorOf<float>& v) {
  if constexpr (kWidth == kLanes) return v;
  else return __builtin_shufflevector(v, v, 0, 1, 2, 3);
}

// kVecs full vectors of columns from j on, and the last kTail columns. The latter cover those behind the last
// full vector; what they cover a second time has the same bits.
template <int kHigh, int kVecs, int kTail, bool kTransposed>
RW_MAY_CONTRACT void tile(const DirectStrip& s, int64_t j) {
  RW_CONTRACT_HERE
  using V = VectorOf<float>;
  using Loose = LooseVectorOf<float>;
  using T = typename Tail<kTail>::V;
  const float* __restrict a = s.a;
  const float* __restrict b = s.b + j;
  const float* __restrict tail = s.b + s.n - kTail;
  const int64_t lda = s.lda, ldb = s.ldb, depth = s.depth;
  const bool first = j == 0 && s.ahead != nullptr;
  const float* ahead = first ? s.ahead : a;
  const int64_t ahead_step = first ? s.ahead_step : 0;
  V sums[kHigh][kVecs > 0 ? kVecs : 1] = {};
  T tail_sums[kHigh] = {};
  for (int64_t p = 0; p < depth; ++p) {
    __builtin_prefetch(ahead + p * ahead_step, 0, 2);
    V right[kVecs > 0 ? kVecs : 1];
    T right_tail{};
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) right[v] = *reinterpret_cast<const Loose*>(b + p * ldb + v * kLanes);
    if constexpr (kTail > 0)
      right_tail = *reinterpret_cast<const typename Tail<kTail>::Loose*>(tail + p * ldb);
#pragma GCC unroll 8
    for (int i = 0; i < kHigh; ++i) {
      const float left = kTransposed ? a[p * lda + i] : a[i * lda + p];
      const V spread = left - V{};
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) sums[i][v] += spread * right[v];
      if constexpr (kTail > 0) tail_sums[i] += first_lanes<kTail>(spread) * right_tail;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kHigh; ++i) {
    float* to = s.c + i * s.ldc;
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) *reinterpret_cast<Loose*>(to + j + v * kLanes) = sums[i][v];
    if constexpr (kTail > 0) *reinterpret_cast<typename Tail<kTail>::Loose*>(to + s.n - kTail) = tail_sums[i];
  }
}

using Tile = void (*)(const DirectStrip&, int64_t);
struct Tiles {
  Tile at[2][3][kVectors + 1][kRows];  // transposed, width of the tail (none, short, a vector), vectors, rows
};

template <bool kTransposed, int kTail, int kVecs, int... kLess>
constexpr void list_rows(Tile* tiles, std::integer_sequence<int, kLess...>) {
  if constexpr (kTail > 0 || kVecs > 0) ((tiles[kLess] = tile<kLess + 1, kVecs, kTail, kTransposed>), ...);
}
template <bool kTransposed, int kTail, int... kVecs>
constexpr void list_vectors(Tile (*tiles)[kRows], std::integer_sequence<int, kVecs...>) {
  (list_rows<kTransposed, kTail, kVecs>(tiles[kVecs], std::make_integer_sequence<int, kRows>()), ...);
}
template <bool kTransposed>
constexpr void list_tails(Tile (*tiles)[kVectors + 1][kRows]) {
  constexpr auto vectors = std::make_integer_sequence<int, kVectors + 1>();
  list_vectors<kTransposed, 0>(tiles[0], vectors);
  list_vectors<kTransposed, kShortTail>(tiles[1], vectors);
  list_vectors<kTransposed, kLanes>(tiles[2], vectors);
}
constexpr Tiles list_tiles() {
  Tiles tiles{};
  list_tails<false>(tiles.at[0]);
  list_tails<true>(tiles.at[1]);
  return tiles;
}
constexpr Tiles kTiles = list_tiles();

// Whether the tail has no full vectors of its own and goes with the last tile of all vectors.
bool tail_beside_all(int64_t n) {
  const int64_t rest = n % (kLanes * kVectors);
  return kTailBesideAll && n > rest && rest > 0 && rest < kLanes;
}

int most_rows(int64_t n) { return tail_beside_all(n) ? kRows - 1 : kRows; }

void strip(const DirectStrip& s) {
  const auto& tiles = kTiles.at[s.a_transposed];
  const int64_t rest = s.n % (kLanes * kVectors);
  const int row = s.rows - 1;
  const bool beside = tail_beside_all(s.n);
  int64_t whole = s.n - rest;
  if (beside) whole -= kLanes * kVectors;
  int64_t j = 0;
  for (; j < whole; j += kLanes * kVectors) tiles[0][kVectors][row](s, j);
  if (rest == 0) return;
  const int width = rest % kLanes == 0 ? 0 : rest % kLanes <= kShortTail ? 1 : 2;
  tiles[width][beside ? kVectors : rest / kLanes][row](s, j);
}

}  // namespace

const DirectLoops* direct_loops() {
  static constexpr DirectLoops loops = {most_rows, strip};
  return &loops;
}

}  // namespace rw::RW_ISA
