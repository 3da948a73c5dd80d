#include "rewind/kernel/cpu/gemm.h"

#include <algorithm>
#include <cstring>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/isa/isa.h"

namespace rw {
namespace {

constexpr int64_t kDepth = 256;           // of one block: a panel of both factors stays in the first cache
constexpr int64_t kSmallProduct = 16384;  // multiply-adds below which a library's overhead shows
constexpr int64_t kStackBytes = 32768;

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

const char* at(const void* p, int64_t bytes) { return static_cast<const char*>(p) + bytes; }
char* at(void* p, int64_t bytes) { return static_cast<char*>(p) + bytes; }

// One matrix product in terms of bytes and steps.
struct Product {
  const GemmBlocks& blocks;
  int64_t element;  // bytes of a and b
  int64_t m, n, k;
  int64_t a_step, a_depth_step;  // elements between rows of op(a), and along the inner axis
  int64_t b_step, b_depth_step;  // elements between columns of op(b), and along the inner axis
  GemmMode mode;

  GemmMode mode_at(int64_t p) const { return mode == GemmMode::kSet && p > 0 ? GemmMode::kAdd : mode; }
  int64_t packed_a_bytes() const { return round_up(m, blocks.rows) * std::min(k, kDepth) * blocks.acc_bytes; }
  int64_t packed_b_bytes() const { return round_up(n, blocks.cols) * std::min(k, kDepth) * blocks.acc_bytes; }

  void pack_a(const void* a, int64_t p, int64_t depth, int64_t begin, int64_t end, void* packed) const {
    blocks.pack(at(a, (begin * a_step + p * a_depth_step) * element), a_step, a_depth_step, end - begin,
                depth, blocks.rows, at(packed, begin * depth * blocks.acc_bytes));
  }
  void pack_b(const void* b, int64_t p, int64_t depth, int64_t begin, int64_t end, void* packed) const {
    blocks.pack(at(b, (begin * b_step + p * b_depth_step) * element), b_step, b_depth_step, end - begin,
                depth, blocks.cols, at(packed, begin * depth * blocks.acc_bytes));
  }
  // Rows [begin, end) and columns [left, right) of c, which start at multiples of the tile's sizes.
  void tiles(const void* packed_a, const void* packed_b, int64_t depth, int64_t begin, int64_t end,
             int64_t left, int64_t right, void* c, int64_t ldc, GemmMode mode) const {
    for (int64_t j = left; j < right; j += blocks.cols)
      for (int64_t i = begin; i < end; i += blocks.rows)
        blocks.tile(at(packed_a, i * depth * blocks.acc_bytes), at(packed_b, j * depth * blocks.acc_bytes),
                    depth, at(c, (i * ldc + j) * blocks.acc_bytes), ldc,
                    int(std::min<int64_t>(blocks.rows, end - i)),
                    int(std::min<int64_t>(blocks.cols, right - j)), mode);
  }

  // On one thread.
  void run(const void* a, const void* b, void* c, int64_t ldc, void* packed_a, void* packed_b) const {
    for (int64_t p = 0; p < k; p += kDepth) {
      const int64_t depth = std::min(kDepth, k - p);
      pack_a(a, p, depth, 0, m, packed_a);
      pack_b(b, p, depth, 0, n, packed_b);
      tiles(packed_a, packed_b, depth, 0, m, 0, n, c, ldc, mode_at(p));
    }
  }

  // On all threads: the same tiles, shared out over c.
  void run_parallel(const void* a, const void* b, void* c, int64_t ldc, void* packed_a,
                    void* packed_b) const {
    const int64_t row_block = round_up(64, blocks.rows);
    const int64_t col_block = round_up(128, blocks.cols);
    const int64_t rows = (m + row_block - 1) / row_block;
    const int64_t cols = (n + col_block - 1) / col_block;
    for (int64_t p = 0; p < k; p += kDepth) {
      const int64_t depth = std::min(kDepth, k - p);
      parallel_for(m, row_block,
                   [&](int64_t begin, int64_t end) { pack_a(a, p, depth, begin, end, packed_a); });
      parallel_for(n, col_block,
                   [&](int64_t begin, int64_t end) { pack_b(b, p, depth, begin, end, packed_b); });
      parallel_for(rows * cols, 1, [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t) {
          const int64_t i = t % rows * row_block;
          const int64_t j = t / rows * col_block;
          tiles(packed_a, packed_b, depth, i, std::min(m, i + row_block), j, std::min(n, j + col_block), c,
                ldc, mode_at(p));
        }
      });
    }
  }
};

#ifdef REWIND_ONEDNN

// aᵀ b of few columns, over a long inner axis: oneDNN is faster at few rows, bᵀ a.
bool is_better_turned(DType dtype, const Gemm& g) {
  return dtype == DType::kFloat32 && g.batch == 1 && g.transpose_a && !g.transpose_b && g.k > 1024 &&
         g.n <= 32 && g.m > 4 * g.n;
}

bool gemm_turned(Workspace& workspace, const Gemm& g, const void* a, const void* b, float* c) {
  const Gemm turned{
      .m = g.n, .n = g.m, .k = g.k, .transpose_a = true, .lda = g.ldb, .ldb = g.lda, .ldc = g.m};
  float* product = reinterpret_cast<float*>(workspace.room(size_t(g.m * g.n) * sizeof(float)));
  Workspace own = workspace.another();
  if (!gemm_onednn(own, DType::kFloat32, turned, b, a, product)) return false;
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) c[i * g.ldc + j] = product[j * g.m + i];
  return true;
}

#endif

void convert_rows(const GemmBlocks& blocks, const Gemm& g, int64_t element, const void* sums, void* c) {
  for (int64_t i = 0; i < g.m; ++i)
    blocks.finish(at(sums, i * g.n * blocks.acc_bytes), at(c, i * g.ldc * element), g.n);
}

}  // namespace

void gemm_plain(Workspace& workspace, DType dtype, const Gemm& g, const void* a, const void* b, void* c,
                GemmMode mode) {
  const GemmBlocks& blocks = isa_loops().gemm[size_t(dtype)];
  const int64_t element = int64_t(size_of(dtype));
  const bool direct = element == blocks.acc_bytes;
  const Product product{blocks,
                        element,
                        g.m,
                        g.n,
                        g.k,
                        g.transpose_a ? 1 : g.lda,
                        g.transpose_a ? g.lda : 1,
                        g.transpose_b ? g.ldb : 1,
                        g.transpose_b ? 1 : g.ldb,
                        mode};
  const int64_t a_bytes = round_up(product.packed_a_bytes(), 64);
  const int64_t b_bytes = round_up(product.packed_b_bytes(), 64);
  const int64_t c_bytes = direct ? 0 : round_up(g.m * g.n * blocks.acc_bytes, 64);
  const int64_t room = a_bytes + b_bytes + c_bytes;
  const int64_t work = g.m * g.n * g.k;

  auto one = [&](int64_t i, char* memory, bool parallel) {
    const void* ai = at(a, i * g.stride_a * element);
    const void* bi = at(b, i * g.stride_b * element);
    void* ci = at(c, i * g.stride_c * element);
    void* sums = direct ? ci : memory + a_bytes + b_bytes;
    const int64_t ldc = direct ? g.ldc : g.n;
    if (parallel) product.run_parallel(ai, bi, sums, ldc, memory, memory + a_bytes);
    else product.run(ai, bi, sums, ldc, memory, memory + a_bytes);
    if (!direct) convert_rows(blocks, g, element, sums, ci);
  };

  if (room <= kStackBytes) {
    const int64_t grain = std::max<int64_t>(1, 200'000 / std::max<int64_t>(work, 1));
    parallel_for(g.batch, grain, [&](int64_t begin, int64_t end) {
      alignas(64) char memory[kStackBytes];
      for (int64_t i = begin; i < end; ++i) one(i, memory, false);
    });
    return;
  }
  char* memory = workspace.room(size_t(room));
  for (int64_t i = 0; i < g.batch; ++i) one(i, memory, work > 200'000);
}

bool gemm(Workspace& workspace, DType dtype, const Gemm& g, const void* a, const void* b, void* c) {
  if (!contains(kRealTypes, dtype)) return false;
  if (g.m == 0 || g.n == 0 || g.batch == 0) return true;
  if (g.k == 0) {
    const int64_t element = int64_t(size_of(dtype));
    for (int64_t i = 0; i < g.batch; ++i)
      for (int64_t row = 0; row < g.m; ++row)
        std::memset(at(c, (i * g.stride_c + row * g.ldc) * element), 0, size_t(g.n * element));
    return true;
  }
  const bool small = g.m * g.n <= kSmallProduct && g.m * g.n * g.k <= kSmallProduct;
  if (!small && is_direct(dtype, g)) {
    gemm_direct(workspace, g, static_cast<const float*>(a), static_cast<const float*>(b),
                static_cast<float*>(c), [](int64_t, int64_t) {});
    return true;
  }
  if (!small && is_long(dtype, g)) {
    gemm_long(workspace, g, static_cast<const float*>(a), static_cast<const float*>(b),
              static_cast<float*>(c));
    return true;
  }
#ifdef REWIND_ONEDNN
  if (is_better_turned(dtype, g) && gemm_turned(workspace, g, a, b, static_cast<float*>(c))) return true;
  if (!small && gemm_onednn(workspace, dtype, g, a, b, c)) return true;
#endif
  gemm_plain(workspace, dtype, g, a, b, c);
  return true;
}

}  // namespace rw
