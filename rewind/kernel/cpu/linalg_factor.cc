// Kernels of the orthogonal factorisations, the matrix square root and the cross product.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/dense.h"
#include "rewind/kernel/cpu/linalg.h"

namespace rw {
namespace {

constexpr DTypeSet kTypes = set_of(DType::kFloat32, DType::kFloat64);

template <class T>
void fill_nan(T* x, int64_t n) {
  if (x) std::fill_n(x, n, std::numeric_limits<T>::quiet_NaN());
}

void qr(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const View& q = ctx.out(0);
  const View& r = ctx.out(1);
  const int64_t m = rows_of(a);
  const int64_t n = cols_of(a);
  const int64_t k = cols_of(q);
  auto run = [&]<class S, class T>() {
    for_each_matrix(ctx, count_of(a), m * n * (n + k), [&](int64_t i, Workspace& w) {
      const S* from = a.as<S>() + i * m * n;
      std::vector<T> copy(from, from + m * n), q_out(size_t(m * k)), r_out(size_t(k * n));
      dense::qr(w, copy.data(), m, n, q_out.data(), k, r_out.data());
      for (int64_t j = 0; j < m * k; ++j) q.as<S>()[i * m * k + j] = static_cast<S>(q_out[size_t(j)]);
      for (int64_t j = 0; j < k * n; ++j) r.as<S>()[i * k * n + j] = static_cast<S>(r_out[size_t(j)]);
    });
  };
  const bool ok = dispatch < kTypes | set_of(DType::kFloat16) > (a.dtype, [&]<class S>() {
                                        run.template operator()<S, Compute<S>>();
                                      });
  if (!ok) ctx.fail_dtype(a.dtype);
}

void svd(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const int64_t m = rows_of(a);
  const int64_t n = cols_of(a);
  const int64_t p = std::min(m, n);
  const bool vectors = ctx.attr<bool>("compute_uv");
  const bool full = ctx.attr<bool>("full_matrices");
  const int64_t u_cols = full ? m : p;
  const int64_t v_cols = full ? n : p;
  const bool ok = dispatch<kTypes>(a.dtype, [&]<class T>() {
    if (!vectors)
      for (int i = 1; i < 3; ++i) *ctx.out(i).as<T>() = T(0);
    for_each_matrix(ctx, count_of(a), 10 * m * n * p, [&](int64_t i, Workspace& w) {
      std::vector<T> copy(a.as<T>() + i * m * n, a.as<T>() + (i + 1) * m * n);
      T* s = ctx.out(0).as<T>() + i * p;
      T* u = vectors ? ctx.out(1).as<T>() + i * m * u_cols : nullptr;
      T* v = vectors ? ctx.out(2).as<T>() + i * n * v_cols : nullptr;
      if (p == 0) {
        // Only a full basis has entries here: any will do.
        for (int64_t k = 0; vectors && k < m * u_cols; ++k) u[k] = k % (u_cols + 1) == 0 ? T(1) : T(0);
        for (int64_t k = 0; vectors && k < n * v_cols; ++k) v[k] = k % (v_cols + 1) == 0 ? T(1) : T(0);
        return;
      }
      if (dense::svd(w, copy.data(), m, n, full, s, u, v)) return;
      fill_nan(s, p);
      fill_nan(u, m * u_cols);
      fill_nan(v, n * v_cols);
    });
  });
  if (!ok) ctx.fail_dtype(a.dtype);
}

void eigh(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const int64_t n = rows_of(a);
  const bool vectors = ctx.attr<bool>("compute_v");
  const bool ok = dispatch<kTypes>(a.dtype, [&]<class T>() {
    if (!vectors) *ctx.out(1).as<T>() = T(0);
    for_each_matrix(ctx, count_of(a), 9 * n * n * n, [&](int64_t i, Workspace&) {
      std::vector<T> copy(a.as<T>() + i * n * n, a.as<T>() + (i + 1) * n * n);
      T* e = ctx.out(0).as<T>() + i * n;
      T* v = vectors ? ctx.out(1).as<T>() + i * n * n : nullptr;
      if (n == 0 || dense::eigh(copy.data(), n, e, v)) return;
      fill_nan(e, n);
      fill_nan(v, n * n);
    });
  });
  if (!ok) ctx.fail_dtype(a.dtype);
}

template <class T>
bool invert(Workspace& w, const std::vector<T>& a, int64_t n, std::vector<T>* out, T* log_abs_det) {
  std::vector<T> f = a;
  std::vector<int64_t> pivots(static_cast<size_t>(n));
  if (!dense::lu(w, f.data(), n, n, pivots.data())) return false;
  out->assign(size_t(n * n), T(0));
  for (int64_t i = 0; i < n; ++i) (*out)[size_t(i * n + i)] = 1;
  for (int64_t i = 0; i < n; ++i)
    if (pivots[size_t(i)] != i)
      std::swap_ranges(out->begin() + i * n, out->begin() + (i + 1) * n,
                       out->begin() + pivots[size_t(i)] * n);
  dense::solve_triangular(w, f.data(), n, dense::Triangle::kUnitLower, false, out->data(), n, n, n);
  dense::solve_triangular(w, f.data(), n, dense::Triangle::kUpper, false, out->data(), n, n, n);
  *log_abs_det = 0;
  for (int64_t i = 0; i < n; ++i) *log_abs_det += std::log(std::abs(f[size_t(i * n + i)]));
  return true;
}

// The principal square root by Newton's method in product form (Denman and Beavers; Cheng, Higham, Kenney,
// Laub), with scaling by the determinant while far away: M <- (I + (g²M + M^-1/g²)/2)/2, X <- g X (I +
// M^-1/g²)/2; M goes to I and X to the root. In double, whatever the type.
bool square_root(Workspace& w, std::vector<double>* x, int64_t n) {
  std::vector<double> m = *x, inverse, next(size_t(n * n));
  for (int step = 0; step < 60; ++step) {
    double log_det = 0;
    if (!invert(w, m, n, &inverse, &log_det)) return false;
    double away = 0;
    for (int64_t i = 0; i < n * n; ++i) away = std::max(away, std::abs(m[size_t(i)] - (i % (n + 1) == 0)));
    if (!std::isfinite(away)) return false;
    if (away < 1e-14) return true;
    const double g2 = away > 1e-2 ? std::exp(-log_det / double(n)) : 1.0;
    const double g = std::sqrt(g2);
    for (int64_t i = 0; i < n * n; ++i) {
      const double one = i % (n + 1) == 0;
      const double scaled = inverse[size_t(i)] / g2;
      m[size_t(i)] = 0.5 * (one + 0.5 * (g2 * m[size_t(i)] + scaled));
      inverse[size_t(i)] = 0.5 * g * (one + scaled);
    }
    dense::product(w, x->data(), n, false, inverse.data(), n, false, next.data(), n, n, n, n);
    std::swap(*x, next);
    if (away < 1e-9) return true;
  }
  return true;
}

void matrix_square_root(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const int64_t n = rows_of(a);
  const bool ok = dispatch<kTypes>(a.dtype, [&]<class T>() {
    if (n == 0) return;
    for_each_matrix(ctx, count_of(a), 30 * n * n * n, [&](int64_t i, Workspace& w) {
      std::vector<double> x(a.as<T>() + i * n * n, a.as<T>() + (i + 1) * n * n);
      T* out = ctx.out(0).as<T>() + i * n * n;
      if (!square_root(w, &x, n)) return fill_nan(out, n * n);
      for (int64_t k = 0; k < n * n; ++k) out[k] = T(x[size_t(k)]);
    });
  });
  if (!ok) ctx.fail_dtype(a.dtype);
}

void cross(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const View& b = ctx.in(1);
  const bool ok = dispatch<kRealTypes>(a.dtype, [&]<class T>() {
    using C = Compute<T>;
    parallel_for(a.size / 3, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* x = a.as<T>() + 3 * i;
        const T* y = b.as<T>() + 3 * i;
        T* z = ctx.out(0).as<T>() + 3 * i;
        for (int k = 0; k < 3; ++k) {
          const int p = (k + 1) % 3;
          const int q = (k + 2) % 3;
          z[k] = static_cast<T>(C(x[p]) * C(y[q]) - C(x[q]) * C(y[p]));
        }
      }
    });
  });
  if (!ok) ctx.fail_dtype(a.dtype);
}

}  // namespace

void register_linalg_factor_cpu_kernels() {
  register_kernel("Qr", DeviceType::kCpu, qr);
  register_kernel("Svd", DeviceType::kCpu, svd);
  register_kernel("SelfAdjointEigV2", DeviceType::kCpu, eigh);
  register_kernel("MatrixSquareRoot", DeviceType::kCpu, matrix_square_root);
  register_kernel("Cross", DeviceType::kCpu, cross);
}

}  // namespace rw
