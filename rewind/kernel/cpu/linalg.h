// Parts of the linalg family's kernels.
#pragma once

#include <algorithm>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/gemm.h"
#include "rewind/kernel/kernel.h"

namespace rw {

void register_linalg_diag_cpu_kernels();
void register_linalg_solve_cpu_kernels();
void register_linalg_factor_cpu_kernels();

// Sizes of the matrices in the last two axes, and how many there are.
inline int64_t rows_of(const View& v) { return v.dim(v.rank() - 2); }
inline int64_t cols_of(const View& v) { return v.dim(v.rank() - 1); }
inline int64_t count_of(const View& v) {
  int64_t n = 1;
  for (int i = 0; i < v.rank() - 2; ++i) n *= v.dim(i);
  return n;
}

// Calls f(i, workspace) for each matrix of a batch: matrices side by side on the threads when there are
// several small ones, else one after another, each on all threads. Either way gives the same bits. `cost` is
// in multiply-adds.
template <class F>
void for_each_matrix(KernelContext& ctx, int64_t batch, int64_t cost, F&& f) {
  constexpr int64_t kLarge = 20'000'000;
  constexpr int64_t kPiece = 20'000;
  if (batch == 1 || cost > kLarge) {
    Workspace workspace(ctx);
    for (int64_t i = 0; i < batch; ++i) f(i, workspace);
    return;
  }
  parallel_for(batch, std::max<int64_t>(1, kPiece / std::max<int64_t>(1, cost)),
               [&](int64_t begin, int64_t end) {
                 Workspace workspace;
                 for (int64_t i = begin; i < end; ++i) f(i, workspace);
               });
}

}  // namespace rw
