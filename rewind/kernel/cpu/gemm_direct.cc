// Small products straight from memory: nothing is packed but a transposed right factor. For the sizes of
// small layers this takes a fifth less time than a library's general way.
#include <algorithm>

#include "rewind/device/parallel.h"
#include "rewind/device/shares.h"
#include "rewind/kernel/cpu/gemm.h"
#include "rewind/kernel/cpu/isa/gemm_direct.h"
#include "rewind/kernel/cpu/transpose_tile.h"

namespace rw {
namespace {

// The shapes: a vector of columns, one chain of additions that is not too long, and factors that the caches
// hold. A transposed right factor is turned first, which takes rows enough to pay for it.
constexpr int64_t kFewestRows = 16, kFewestColumns = 16, kLongestInner = 1024;
constexpr int64_t kMostRight = 512 << 10;
constexpr int64_t kMostTurned = 128 << 10, kTurnedOfRow = 256;
constexpr int64_t kMostWork = int64_t{1} << 26;  // multiply-adds
constexpr int64_t kWorkOfThread = 48 << 10;
constexpr int64_t kFewStrips = 8;      // of a thread, up to which they are evened out
constexpr int64_t kFewPieces = 4;      // up to which each turns the right factor for itself
constexpr int64_t kPanel = 128 << 10;  // elements of the right factor that stay in the second-level cache
constexpr int64_t kPanelColumns = 48;  // a multiple of every tile's
constexpr int64_t kStripsOfPanel = 8;  // that take a panel in turn

// Columns [begin, end) for a few strips at a time: all, or panels of them that the cache holds.
int64_t panel_end(const Gemm& g, int64_t begin) {
  if (g.k * g.n <= kPanel) return g.n;
  const int64_t columns = std::max<int64_t>(1, kPanel / 2 / g.k / kPanelColumns) * kPanelColumns;
  return begin + 2 * columns > g.n ? g.n : begin + columns;
}

}  // namespace

bool is_direct(DType dtype, const Gemm& g) {
  if (dtype != DType::kFloat32 || g.batch != 1 || g.k == 0 || g.k > kLongestInner) return false;
  if (g.m < kFewestRows || g.n < kFewestColumns || g.k * g.n > kMostRight || g.m * g.n * g.k > kMostWork)
    return false;
  return !g.transpose_b || g.k * g.n <= std::min(kMostTurned, kTurnedOfRow * g.m);
}

void gemm_direct(Workspace& workspace, const Gemm& g, const float* a, const float* b, float* c,
                 FunctionRef<void(int64_t, int64_t)> rows_done) {
  const DirectLoops& loops = direct_loops();
  const int64_t threads = num_threads();
  int64_t strips = (g.m + loops.most_rows(g.n) - 1) / loops.most_rows(g.n);
  if (strips < kFewStrips * threads) strips = std::min(g.m, (strips + threads - 1) / threads * threads);
  const int64_t pieces = std::clamp<int64_t>(g.m * g.n * g.k / kWorkOfThread, 1, std::min(threads, strips));
  const int64_t turned_size = g.transpose_b ? g.k * g.n : 0;
  const bool turn_each = pieces <= kFewPieces;
  float* turned = reinterpret_cast<float*>(
      workspace.room(size_t((turn_each ? pieces : 1) * turned_size) * sizeof(float)));
  if (g.transpose_b && !turn_each) {
    parallel_for(g.k, 16, [&](int64_t begin, int64_t end) {
      transpose_band(turned + begin * g.n, g.n, b + begin, g.ldb, g.n, end - begin);
    });
  }
  const int64_t at_once = g.k * g.n <= kPanel ? 1 : kStripsOfPanel;
  Shares shares(strips, pieces);
  const auto run_piece = [&](int64_t piece) {
    float* mine = turned + (turn_each ? piece * turned_size : 0);
    if (g.transpose_b && turn_each) transpose_band(mine, g.n, b, g.ldb, g.n, g.k);
    const float* right = g.transpose_b ? mine : b;
    const int64_t ldb = g.transpose_b ? g.n : g.ldb;
    const auto first_row = [&](int64_t s) { return g.m * s / strips; };
    for (int64_t s = 0, last = 0; shares.take(piece, at_once, s, last);) {
      for (int64_t j = 0, next = 0; j < g.n; j = next) {
        next = panel_end(g, j);
        for (int64_t t = s; t < last; ++t) {
          const int64_t row = first_row(t);
          const int64_t end_row = first_row(t + 1);
          DirectStrip strip{a + (g.transpose_a ? row : row * g.lda),
                            g.lda,
                            g.transpose_a,
                            right + j,
                            ldb,
                            c + row * g.ldc + j,
                            g.ldc,
                            next - j,
                            g.k,
                            int(end_row - row)};
          if (j == 0 && t + 1 < strips) {
            strip.ahead = a + (g.transpose_a ? first_row(t + 2) - 1 : end_row * g.lda);
            strip.ahead_step = g.transpose_a ? g.lda : first_row(t + 2) - end_row;
          }
          loops.strip(strip);
        }
      }
      rows_done(first_row(s), first_row(last));
    }
  };
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) run_piece(piece);
  });
}

}  // namespace rw
