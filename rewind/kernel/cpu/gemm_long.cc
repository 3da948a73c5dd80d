// aᵀ b with a long inner axis and a small result, as the gradient of a small layer's weights over a large
// batch: memory is the limit, so both factors are read once, straight from where they lie. The inner axis is
// cut into parts, a sum each, which are added in order; where the cuts are follows from the sizes.
#include <algorithm>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/gemm.h"
#include "rewind/kernel/cpu/isa/gemm_direct.h"

namespace rw {
namespace {

constexpr int64_t kShortestInner = 1025;  // shorter ones are gemm_direct's
constexpr int64_t kMostNarrow = 32, kFewestWide = 16, kMostWide = 128;
constexpr int64_t kPartFloats = 256 << 10;  // of the wide factor: what the second-level cache holds

// The result's shorter side is rows of tiles, the longer one columns.
struct Sides {
  int64_t narrow, wide, part, parts;
  bool turned;  // the result's rows are the longer side
};

Sides sides_of(const Gemm& g) {
  Sides s;
  s.turned = g.n < g.m;
  s.narrow = std::min(g.m, g.n);
  s.wide = std::max(g.m, g.n);
  s.part = std::clamp<int64_t>(kPartFloats / s.wide / 64 * 64, 64, 1024);
  s.parts = (g.k + s.part - 1) / s.part;
  return s;
}

}  // namespace

bool is_long(DType dtype, const Gemm& g) {
  if (dtype != DType::kFloat32 || g.batch != 1 || !g.transpose_a || g.transpose_b) return false;
  return g.k >= kShortestInner && std::min(g.m, g.n) <= kMostNarrow && std::max(g.m, g.n) >= kFewestWide &&
         std::max(g.m, g.n) <= kMostWide;
}

void gemm_long(Workspace& workspace, const Gemm& g, const float* a, const float* b, float* c) {
  const DirectLoops& loops = direct_loops();
  const Sides s = sides_of(g);
  const int64_t size = s.narrow * s.wide;
  float* sums = reinterpret_cast<float*>(workspace.room(size_t(s.parts * size) * sizeof(float)));
  const float* rows = s.turned ? b : a;
  const float* columns = s.turned ? a : b;
  const int64_t row_step = s.turned ? g.ldb : g.lda, column_step = s.turned ? g.lda : g.ldb;
  const int64_t most = loops.most_rows(s.wide);
  const int64_t strips = (s.narrow + most - 1) / most;
  parallel_for(s.parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t first = p * s.part, depth = std::min(s.part, g.k - first);
      for (int64_t t = 0; t < strips; ++t) {
        const int64_t row = s.narrow * t / strips, next = s.narrow * (t + 1) / strips;
        loops.strip({rows + first * row_step + row, row_step, true, columns + first * column_step,
                     column_step, sums + p * size + row * s.wide, s.wide, s.wide, depth, int(next - row)});
      }
    }
  });
  parallel_for(s.wide, std::max<int64_t>(16, 16384 / (s.parts * s.narrow)), [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < s.narrow; ++i) {
      float* __restrict total = sums + i * s.wide;
      for (int64_t p = 1; p < s.parts; ++p) {
        const float* __restrict part = total + p * size;
        for (int64_t j = begin; j < end; ++j) total[j] += part[j];
      }
      for (int64_t j = begin; j < end; ++j) c[s.turned ? j * g.ldc + i : i * g.ldc + j] = total[j];
    }
  });
}

}  // namespace rw
