// Symmetric eigenproblems and singular values: by LAPACK, or by Jacobi's rotations where it is not built in.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "rewind/kernel/cpu/dense.h"

#ifdef REWIND_LAPACK
#include <lapacke.h>
#endif

namespace rw::dense {
namespace {

// Iterations need not end on other numbers.
template <class T>
bool all_finite(const T* x, int64_t n) {
  return std::all_of(x, x + n, [](T value) { return std::isfinite(value); });
}

}  // namespace

#ifdef REWIND_LAPACK

namespace {

// LAPACK's matrices lie by columns: a row-major matrix is its transpose there, and a lower triangle an upper
// one.
lapack_int syevd(char job, lapack_int n, float* a, float* w) {
  return LAPACKE_ssyevd(LAPACK_COL_MAJOR, job, 'U', n, a, n, w);
}
lapack_int syevd(char job, lapack_int n, double* a, double* w) {
  return LAPACKE_dsyevd(LAPACK_COL_MAJOR, job, 'U', n, a, n, w);
}
lapack_int gesdd(char job, lapack_int m, lapack_int n, float* a, float* s, float* u, lapack_int ldu,
                 float* vt, lapack_int ldvt) {
  return LAPACKE_sgesdd(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, ldu, vt, ldvt);
}
lapack_int gesdd(char job, lapack_int m, lapack_int n, double* a, double* s, double* u, lapack_int ldu,
                 double* vt, lapack_int ldvt) {
  return LAPACKE_dgesdd(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, ldu, vt, ldvt);
}

}  // namespace

template <class T>
bool eigh(T* a, int64_t n, T* values, T* v) {
  if (n == 0) return true;
  for (int64_t i = 0; i < n; ++i)
    if (!all_finite(a + i * n, i + 1)) return false;
  if (syevd(v ? 'V' : 'N', lapack_int(n), a, values) != 0) return false;
  if (v)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) v[i * n + j] = a[j * n + i];
  return true;
}

template <class T>
bool svd(Workspace&, T* a, int64_t m, int64_t n, bool full, T* s, T* u, T* v) {
  const int64_t p = std::min(m, n);
  if (p == 0) return true;
  if (!all_finite(a, m * n)) return false;
  // aᵀ = v s uᵀ: LAPACK's left vectors are v by columns, its right ones u by rows.
  const int64_t v_cols = full ? n : p;
  const int64_t u_cols = full ? m : p;
  std::vector<T> left(u ? size_t(n * v_cols) : 1);
  const char job = !u ? 'N' : full ? 'A' : 'S';
  T none = 0;
  if (gesdd(job, lapack_int(n), lapack_int(m), a, s, left.data(), lapack_int(n), u ? u : &none,
            lapack_int(u_cols)) != 0)
    return false;
  if (u)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < v_cols; ++j) v[i * v_cols + j] = left[size_t(j * n + i)];
  return true;
}

#else

namespace {

constexpr int kSweeps = 60;

// The rotation that makes the off-diagonal entry of [[a, b], [b, d]] zero.
template <class T>
void rotation(T a, T b, T d, T* c, T* s) {
  const T theta = (d - a) / (2 * b);
  const T t = (theta >= 0 ? T(1) : T(-1)) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  *c = 1 / std::sqrt(t * t + 1);
  *s = t * *c;
}

template <class T>
void rotate(T* x, T* y, int64_t n, T c, T s) {
  for (int64_t i = 0; i < n; ++i) {
    const T u = x[i];
    const T w = y[i];
    x[i] = c * u - s * w;
    y[i] = s * u + c * w;
  }
}

// Completes `rows` (count, n), which are orthonormal or zero, to an orthonormal basis of n rows: unit vectors
// are made orthogonal to all that is there.
template <class T>
void complete_basis(T* rows, int64_t count, int64_t wanted, int64_t n) {
  int64_t next = 0;
  for (int64_t r = 0; r < wanted; ++r) {
    T* x = rows + r * n;
    if (r < count && std::any_of(x, x + n, [](T value) { return value != 0; })) continue;
    for (; next < n; ++next) {
      std::fill_n(x, n, T(0));
      x[next] = 1;
      for (int pass = 0; pass < 2; ++pass)
        for (int64_t k = 0; k < wanted; ++k) {
          if (k == r || (k > r && k >= count)) continue;
          const T dot = std::inner_product(x, x + n, rows + k * n, T(0));
          for (int64_t i = 0; i < n; ++i) x[i] -= dot * rows[k * n + i];
        }
      const T norm = std::sqrt(std::inner_product(x, x + n, x, T(0)));
      if (norm < T(0.1) / T(n)) continue;
      for (int64_t i = 0; i < n; ++i) x[i] /= norm;
      ++next;
      break;
    }
  }
}

}  // namespace

template <class T>
bool eigh(T* a, int64_t n, T* values, T* v) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) a[i * n + j] = a[j * n + i];
  if (!all_finite(a, n * n)) return false;
  std::vector<T> vectors(size_t(n * n));  // by rows
  for (int64_t i = 0; i < n; ++i) vectors[size_t(i * n + i)] = 1;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool changed = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const T off = a[p * n + q];
        if (std::abs(off) <= std::numeric_limits<T>::epsilon() / 8 * std::sqrt(std::abs(a[p * n + p])) *
                                 std::sqrt(std::abs(a[q * n + q])) ||
            off == 0 || std::abs(off) < std::numeric_limits<T>::min())
          continue;
        changed = true;
        T c, s;
        rotation(a[p * n + p], off, a[q * n + q], &c, &s);
        rotate(a + p * n, a + q * n, n, c, s);
        for (int64_t i = 0; i < n; ++i) {
          const T x = a[i * n + p];
          const T y = a[i * n + q];
          a[i * n + p] = c * x - s * y;
          a[i * n + q] = s * x + c * y;
        }
        a[p * n + q] = a[q * n + p] = 0;
        rotate(&vectors[size_t(p * n)], &vectors[size_t(q * n)], n, c, s);
      }
    }
    if (!changed) break;
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t x, int64_t y) { return a[x * n + x] < a[y * n + y]; });
  for (int64_t j = 0; j < n; ++j) {
    values[j] = a[order[size_t(j)] * (n + 1)];
    if (v)
      for (int64_t i = 0; i < n; ++i) v[i * n + j] = vectors[size_t(order[size_t(j)] * n + i)];
  }
  return true;
}

// One-sided: the rows of a wide matrix (p, k) are rotated until they are orthogonal; their lengths are the
// singular values.
template <class T>
bool svd(Workspace&, T* a, int64_t m, int64_t n, bool full, T* s, T* u, T* v) {
  const bool wide = m <= n;
  const int64_t p = std::min(m, n);
  const int64_t k = std::max(m, n);
  if (!all_finite(a, m * n)) return false;
  std::vector<T> rows(size_t(std::max<int64_t>(k * k, 1)));  // (p, k) at first, room for a full basis
  for (int64_t i = 0; i < p; ++i)
    for (int64_t j = 0; j < k; ++j) rows[size_t(i * k + j)] = wide ? a[i * n + j] : a[j * n + i];
  std::vector<T> turns(size_t(p * p));
  for (int64_t i = 0; i < p; ++i) turns[size_t(i * p + i)] = 1;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool changed = false;
    for (int64_t i = 0; i < p; ++i) {
      for (int64_t j = i + 1; j < p; ++j) {
        T* x = &rows[size_t(i * k)];
        T* y = &rows[size_t(j * k)];
        const T xx = std::inner_product(x, x + k, x, T(0));
        const T yy = std::inner_product(y, y + k, y, T(0));
        const T xy = std::inner_product(x, x + k, y, T(0));
        if (std::abs(xy) <= std::numeric_limits<T>::epsilon() * std::sqrt(xx) * std::sqrt(yy) || xy == 0)
          continue;
        changed = true;
        T c, t;
        rotation(xx, xy, yy, &c, &t);
        rotate(x, y, k, c, t);
        rotate(&turns[size_t(i * p)], &turns[size_t(j * p)], p, c, t);
      }
    }
    if (!changed) break;
  }
  std::vector<T> lengths(static_cast<size_t>(p));
  std::vector<int64_t> order(static_cast<size_t>(p));
  for (int64_t i = 0; i < p; ++i)
    lengths[size_t(i)] = std::sqrt(
        std::inner_product(&rows[size_t(i * k)], &rows[size_t(i * k)] + k, &rows[size_t(i * k)], T(0)));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t x, int64_t y) { return lengths[size_t(x)] > lengths[size_t(y)]; });
  std::vector<T> sorted(rows.size()), short_side(size_t(p * p));
  for (int64_t i = 0; i < p; ++i) {
    const int64_t from = order[size_t(i)];
    s[i] = lengths[size_t(from)];
    for (int64_t j = 0; j < k; ++j)
      sorted[size_t(i * k + j)] =
          s[i] > std::numeric_limits<T>::min() ? rows[size_t(from * k + j)] / s[i] : T(0);
    std::copy_n(&turns[size_t(from * p)], p, &short_side[size_t(i * p)]);
  }
  if (!u) return true;
  const int64_t long_cols = full ? k : p;
  complete_basis(sorted.data(), p, long_cols, k);
  T* long_out = wide ? v : u;
  T* short_out = wide ? u : v;
  for (int64_t j = 0; j < long_cols; ++j)
    for (int64_t i = 0; i < k; ++i) long_out[i * long_cols + j] = sorted[size_t(j * k + i)];
  for (int64_t j = 0; j < p; ++j)
    for (int64_t i = 0; i < p; ++i) short_out[i * p + j] = short_side[size_t(j * p + i)];
  return true;
}

#endif

template bool eigh(float*, int64_t, float*, float*);
template bool eigh(double*, int64_t, double*, double*);
template bool svd(Workspace&, float*, int64_t, int64_t, bool, float*, float*, float*);
template bool svd(Workspace&, double*, int64_t, int64_t, bool, double*, double*, double*);

}  // namespace rw::dense
