// Triangular solves, Cholesky and LU by recursion on halves.
#include "rewind/kernel/cpu/dense.h"

#include <algorithm>
#include <cmath>

namespace rw::dense {
namespace {

constexpr int64_t kBase = 16;  // sizes at which plain loops take over

// A split near the middle, at a multiple of the base.
int64_t half(int64_t n) { return std::max<int64_t>(kBase / 2, (n / 2 + kBase - 1) / kBase * kBase); }

template <class T>
Gemm gemm_of(bool transpose_a, int64_t lda, bool transpose_b, int64_t ldb, int64_t ldc, int64_t m, int64_t n,
             int64_t k) {
  Gemm g;
  g.m = m, g.n = n, g.k = k;
  g.transpose_a = transpose_a, g.transpose_b = transpose_b;
  g.lda = lda, g.ldb = ldb, g.ldc = ldc;
  return g;
}

template <class T>
void solve_base(const T* a, int64_t lda, bool down, bool transposed, bool unit, T* b, int64_t ldb, int64_t n,
                int64_t cols) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = down ? step : n - 1 - step;
    T* bi = b + i * ldb;
    for (int64_t j = down ? 0 : i + 1; j < (down ? i : n); ++j) {
      const T factor = transposed ? a[j * lda + i] : a[i * lda + j];
      const T* bj = b + j * ldb;
      for (int64_t c = 0; c < cols; ++c) bi[c] -= factor * bj[c];
    }
    if (unit) continue;
    const T pivot = a[i * lda + i];
    for (int64_t c = 0; c < cols; ++c) bi[c] /= pivot;
  }
}

// b (rows, n) becomes b l^-T for a lower triangle l (n, n).
template <class T>
void solve_from_right(Workspace& w, const T* l, int64_t ldl, T* b, int64_t ldb, int64_t rows, int64_t n) {
  if (n <= kBase) {
    for (int64_t r = 0; r < rows; ++r) {
      T* x = b + r * ldb;
      for (int64_t j = 0; j < n; ++j) {
        T sum = x[j];
        for (int64_t k = 0; k < j; ++k) sum -= x[k] * l[j * ldl + k];
        x[j] = sum / l[j * ldl + j];
      }
    }
    return;
  }
  const int64_t h = half(n);
  solve_from_right(w, l, ldl, b, ldb, rows, h);
  subtract_product(w, b, ldb, false, l + h * ldl, ldl, true, b + h, ldb, rows, n - h, h);
  solve_from_right(w, l + h * ldl + h, ldl, b + h, ldb, rows, n - h);
}

// The lower triangle of c (n, n) -= a aᵀ, a (n, k); some of the upper one is written too.
template <class T>
void subtract_square(Workspace& w, const T* a, int64_t lda, T* c, int64_t ldc, int64_t n, int64_t k) {
  if (n <= 4 * kBase) return subtract_product(w, a, lda, false, a, lda, true, c, ldc, n, n, k);
  const int64_t h = half(n);
  subtract_square(w, a, lda, c, ldc, h, k);
  subtract_product(w, a + h * lda, lda, false, a, lda, true, c + h * ldc, ldc, n - h, h, k);
  subtract_square(w, a + h * lda, lda, c + h * ldc + h, ldc, n - h, k);
}

template <class T>
T cholesky_base(T* a, int64_t lda, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    T pivot = a[j * lda + j];
    for (int64_t k = 0; k < j; ++k) pivot -= a[j * lda + k] * a[j * lda + k];
    if (!(pivot > 0)) return pivot;
    const T root = std::sqrt(pivot);
    a[j * lda + j] = root;
    for (int64_t i = j + 1; i < n; ++i) {
      T sum = a[i * lda + j];
      for (int64_t k = 0; k < j; ++k) sum -= a[i * lda + k] * a[j * lda + k];
      a[i * lda + j] = sum / root;
    }
  }
  return 1;
}

template <class T>
void exchange_rows(T* a, int64_t lda, int64_t cols, const int64_t* pivots, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (pivots[i] != i) std::swap_ranges(a + i * lda, a + i * lda + cols, a + pivots[i] * lda);
}

// A tall block (m, n), m >= n. NaN counts as the largest value, so that it is not divided away.
template <class T>
bool lu_block(Workspace& w, T* a, int64_t lda, int64_t m, int64_t n, int64_t* pivots) {
  if (n <= kBase / 2) {
    bool regular = true;
    for (int64_t j = 0; j < n; ++j) {
      int64_t best = j;
      for (int64_t i = j + 1; i < m; ++i)
        if (std::abs(a[i * lda + j]) > std::abs(a[best * lda + j])) best = i;
      pivots[j] = best;
      if (best != j) std::swap_ranges(a + j * lda, a + j * lda + n, a + best * lda);
      const T pivot = a[j * lda + j];
      if (pivot == 0) {
        regular = false;
        continue;
      }
      for (int64_t i = j + 1; i < m; ++i) {
        T* row = a + i * lda;
        const T factor = row[j] /= pivot;
        for (int64_t c = j + 1; c < n; ++c) row[c] -= factor * a[j * lda + c];
      }
    }
    return regular;
  }
  const int64_t h = half(n) < n ? half(n) : n / 2;
  bool regular = lu_block(w, a, lda, m, h, pivots);
  exchange_rows(a + h, lda, n - h, pivots, h);
  solve_triangular(w, a, lda, Triangle::kUnitLower, false, a + h, lda, h, n - h);
  subtract_product(w, a + h * lda, lda, false, a + h, lda, false, a + h * lda + h, lda, m - h, n - h, h);
  regular &= lu_block(w, a + h * lda + h, lda, m - h, n - h, pivots + h);
  exchange_rows(a + h * lda, lda, h, pivots + h, n - h);
  for (int64_t i = h; i < n; ++i) pivots[i] += h;
  return regular;
}

}  // namespace

template <class T>
void subtract_product(Workspace& w, const T* a, int64_t lda, bool transpose_a, const T* b, int64_t ldb,
                      bool transpose_b, T* c, int64_t ldc, int64_t m, int64_t n, int64_t k) {
  if (m == 0 || n == 0 || k == 0) return;
  gemm_plain(w, dtype_of<T>, gemm_of<T>(transpose_a, lda, transpose_b, ldb, ldc, m, n, k), a, b, c,
             GemmMode::kSubtract);
}

template <class T>
void product(Workspace& w, const T* a, int64_t lda, bool transpose_a, const T* b, int64_t ldb,
             bool transpose_b, T* c, int64_t ldc, int64_t m, int64_t n, int64_t k) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, T(0));
    return;
  }
  gemm_plain(w, dtype_of<T>, gemm_of<T>(transpose_a, lda, transpose_b, ldb, ldc, m, n, k), a, b, c);
}

template <class T>
void solve_triangular(Workspace& w, const T* a, int64_t lda, Triangle triangle, bool transposed, T* b,
                      int64_t ldb, int64_t n, int64_t cols) {
  const bool lower = triangle != Triangle::kUpper;
  const bool down = lower != transposed;  // op(a) is lower
  if (n <= kBase)
    return solve_base(a, lda, down, transposed, triangle == Triangle::kUnitLower, b, ldb, n, cols);
  const int64_t h = half(n);
  const T* second = a + h * lda + h;
  const T* corner = lower ? a + h * lda : a + h;  // the block off the diagonal, as it lies
  T* low = b + h * ldb;
  if (down) {
    solve_triangular(w, a, lda, triangle, transposed, b, ldb, h, cols);
    subtract_product(w, corner, lda, transposed, b, ldb, false, low, ldb, n - h, cols, h);
    solve_triangular(w, second, lda, triangle, transposed, low, ldb, n - h, cols);
  } else {
    solve_triangular(w, second, lda, triangle, transposed, low, ldb, n - h, cols);
    subtract_product(w, corner, lda, transposed, low, ldb, false, b, ldb, h, cols, n - h);
    solve_triangular(w, a, lda, triangle, transposed, b, ldb, h, cols);
  }
}

template <class T>
T cholesky(Workspace& w, T* a, int64_t lda, int64_t n) {
  if (n <= kBase) return cholesky_base(a, lda, n);
  const int64_t h = half(n);
  const T first = cholesky(w, a, lda, h);
  if (!(first > 0)) return first;
  T* low = a + h * lda;
  solve_from_right(w, a, lda, low, lda, n - h, h);
  subtract_square(w, low, lda, low + h, lda, n - h, h);
  return cholesky(w, low + h, lda, n - h);
}

template <class T>
bool lu(Workspace& w, T* a, int64_t lda, int64_t n, int64_t* pivots) {
  return lu_block(w, a, lda, n, n, pivots);
}

#define RW_INSTANTIATE(T)                                                                                   \
  template void subtract_product(Workspace&, const T*, int64_t, bool, const T*, int64_t, bool, T*, int64_t, \
                                 int64_t, int64_t, int64_t);                                                \
  template void product(Workspace&, const T*, int64_t, bool, const T*, int64_t, bool, T*, int64_t, int64_t, \
                        int64_t, int64_t);                                                                  \
  template void solve_triangular(Workspace&, const T*, int64_t, Triangle, bool, T*, int64_t, int64_t,       \
                                 int64_t);                                                                  \
  template T cholesky(Workspace&, T*, int64_t, int64_t);                                                    \
  template bool lu(Workspace&, T*, int64_t, int64_t, int64_t*);
RW_INSTANTIATE(float)
RW_INSTANTIATE(double)
#undef RW_INSTANTIATE

}  // namespace rw::dense
