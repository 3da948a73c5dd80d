// Kernels on LU and Cholesky factors: solves, inverses, determinants, least squares.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rewind/base/dispatch.h"
#include "rewind/base/number_text.h"
#include "rewind/kernel/cpu/dense.h"
#include "rewind/kernel/cpu/elementwise.h"
#include "rewind/kernel/cpu/linalg.h"

namespace rw {
namespace {

constexpr DTypeSet kTypes = set_of(DType::kFloat32, DType::kFloat64);

template <class F>
void by_type(KernelContext& ctx, DType dtype, F&& f) {
  if (!dispatch<kTypes>(dtype, f)) ctx.fail_dtype(dtype);
}

template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

// Zeros above the diagonal; all NaN where the matrix was not positive definite.
template <class T>
void finish_cholesky(T* a, int64_t n, bool ok) {
  for (int64_t i = 0; i < n; ++i) {
    if (!ok) std::fill_n(a + i * n, i + 1, kNan<T>);
    std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));
  }
}

void cholesky(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  const int64_t n = cols_of(x);
  by_type(ctx, x.dtype, [&]<class T>() {
    if (x.size == 0) return;
    for_each_matrix(ctx, count_of(x), n * n * n / 3, [&](int64_t i, Workspace& w) {
      T* a = out.as<T>() + i * n * n;
      std::copy_n(x.as<T>() + i * n * n, n * n, a);
      finish_cholesky(a, n, dense::cholesky(w, a, n, n) > 0);
    });
  });
}

// The gradient of Cholesky: with P = tril(Lᵀ G), its diagonal halved, S = L^-T P L^-1 and the result is (S +
// Sᵀ) / 2.
void cholesky_grad(KernelContext& ctx) {
  const View& l = ctx.in(0);
  const View& grad = ctx.in(1);
  const View& out = ctx.out(0);
  const int64_t n = cols_of(l);
  by_type(ctx, l.dtype, [&]<class T>() {
    if (l.size == 0) return;
    for_each_matrix(ctx, count_of(l), 2 * n * n * n, [&](int64_t b, Workspace& w) {
      const T* factor = l.as<T>() + b * n * n;
      std::vector<T> lower(factor, factor + n * n),
          given(grad.as<T>() + b * n * n, grad.as<T>() + (b + 1) * n * n);
      std::vector<T> middle(size_t(n * n)), turned(size_t(n * n));
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i + 1; j < n; ++j) lower[size_t(i * n + j)] = given[size_t(i * n + j)] = 0;
      dense::product(w, lower.data(), n, true, given.data(), n, false, middle.data(), n, n, n, n);
      for (int64_t i = 0; i < n; ++i) {
        middle[size_t(i * n + i)] /= 2;
        for (int64_t j = i + 1; j < n; ++j) middle[size_t(i * n + j)] = 0;
      }
      dense::solve_triangular(w, lower.data(), n, dense::Triangle::kLower, true, middle.data(), n, n, n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) turned[size_t(j * n + i)] = middle[size_t(i * n + j)];
      dense::solve_triangular(w, lower.data(), n, dense::Triangle::kLower, true, turned.data(), n, n, n);
      T* result = out.as<T>() + b * n * n;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          result[i * n + j] = (turned[size_t(i * n + j)] + turned[size_t(j * n + i)]) / 2;
    });
  });
}

void triangular_solve(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const View& b = ctx.in(1);
  const View& out = ctx.out(0);
  const int64_t n = rows_of(a);
  const int64_t cols = cols_of(b);
  const auto triangle = ctx.attr<bool>("lower") ? dense::Triangle::kLower : dense::Triangle::kUpper;
  const bool adjoint = ctx.attr<bool>("adjoint");
  auto batch_of = [](const View& v) { return Shape(v.shape->dims().first(size_t(v.rank() - 2))); };
  by_type(ctx, a.dtype, [&]<class T>() {
    if (out.size == 0) return;
    const BroadcastPlan plan = plan_broadcast(batch_of(a), batch_of(b), batch_of(out));
    for_each_matrix(ctx, count_of(out), n * n * cols, [&](int64_t i, Workspace& w) {
      int64_t rest = i, a_at = 0, b_at = 0;
      for (size_t d = plan.dims.size(); d-- > 0; rest /= plan.dims[d]) {
        a_at += rest % plan.dims[d] * plan.x_strides[d];
        b_at += rest % plan.dims[d] * plan.y_strides[d];
      }
      T* x = out.as<T>() + i * n * cols;
      std::copy_n(b.as<T>() + b_at * n * cols, n * cols, x);
      dense::solve_triangular(w, a.as<T>() + a_at * n * n, n, triangle, adjoint, x, cols, n, cols);
    });
  });
}

// x (n, cols) becomes op(a)^-1 x, given a's factors.
template <class T>
void solve_by_lu(Workspace& w, const T* lu, int64_t n, const int64_t* pivots, bool transposed, T* x,
                 int64_t cols) {
  using dense::Triangle;
  if (!transposed) {
    for (int64_t i = 0; i < n; ++i)
      if (pivots[i] != i) std::swap_ranges(x + i * cols, x + (i + 1) * cols, x + pivots[i] * cols);
    dense::solve_triangular(w, lu, n, Triangle::kUnitLower, false, x, cols, n, cols);
    dense::solve_triangular(w, lu, n, Triangle::kUpper, false, x, cols, n, cols);
    return;
  }
  dense::solve_triangular(w, lu, n, Triangle::kUpper, true, x, cols, n, cols);
  dense::solve_triangular(w, lu, n, Triangle::kUnitLower, true, x, cols, n, cols);
  for (int64_t i = n; i-- > 0;)
    if (pivots[i] != i) std::swap_ranges(x + i * cols, x + (i + 1) * cols, x + pivots[i] * cols);
}

template <class T>
struct Factors {
  std::vector<T> lu;
  std::vector<int64_t> pivots;
  bool regular;

  Factors(Workspace& w, const T* a, int64_t n) : lu(a, a + n * n), pivots(size_t(n)) {
    regular = dense::lu(w, lu.data(), n, n, pivots.data());
  }
};

void solve(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const View& b = ctx.in(1);
  const View& out = ctx.out(0);
  const int64_t n = rows_of(a);
  const int64_t cols = cols_of(b);
  const bool adjoint = ctx.attr<bool>("adjoint");
  by_type(ctx, a.dtype, [&]<class T>() {
    if (out.size == 0) return;
    for_each_matrix(ctx, count_of(a), n * n * (n / 3 + cols), [&](int64_t i, Workspace& w) {
      const Factors<T> f(w, a.as<T>() + i * n * n, n);
      if (!f.regular)
        ctx.fail("matrix must be invertible: entry " + std::to_string(i) + " of the batch is singular");
      T* x = out.as<T>() + i * n * cols;
      std::copy_n(b.as<T>() + i * n * cols, n * cols, x);
      solve_by_lu(w, f.lu.data(), n, f.pivots.data(), adjoint, x, cols);
    });
  });
}

void inverse(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const View& out = ctx.out(0);
  const int64_t n = rows_of(a);
  const bool adjoint = ctx.attr<bool>("adjoint");
  auto run = [&]<class S, class T>(const S* from, S* to) {
    for_each_matrix(ctx, count_of(a), 4 * n * n * n / 3, [&](int64_t i, Workspace& w) {
      const std::vector<T> matrix(from + i * n * n, from + (i + 1) * n * n);
      const Factors<T> f(w, matrix.data(), n);
      if (!f.regular)
        ctx.fail("matrix must be invertible: entry " + std::to_string(i) + " of the batch is singular");
      std::vector<T> x(size_t(n * n));
      for (int64_t k = 0; k < n; ++k) x[size_t(k * n + k)] = 1;
      solve_by_lu(w, f.lu.data(), n, f.pivots.data(), adjoint, x.data(), n);
      for (int64_t k = 0; k < n * n; ++k) to[i * n * n + k] = static_cast<S>(x[size_t(k)]);
    });
  };
  const bool ok = dispatch < kTypes | set_of(DType::kFloat16) > (a.dtype, [&]<class S>() {
                                        if (a.size > 0)
                                          run.template operator()<S, Compute<S>>(a.as<S>(), out.as<S>());
                                      });
  if (!ok) ctx.fail_dtype(a.dtype);
}

// Sign and logarithm of |det| from the factors.
template <class T>
void log_determinant(const Factors<T>& f, int64_t n, T* sign, T* log_abs) {
  *sign = 1;
  *log_abs = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T pivot = f.lu[size_t(i * n + i)];
    if (f.pivots[size_t(i)] != i) *sign = -*sign;
    *sign *= std::isnan(pivot) ? pivot : pivot > 0 ? T(1) : pivot < 0 ? T(-1) : T(0);
    *log_abs += std::log(std::abs(pivot));
  }
}

void determinant(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const int64_t n = rows_of(a);
  const bool logarithm = ctx.num_outputs() == 2;
  by_type(ctx, a.dtype, [&]<class T>() {
    for_each_matrix(ctx, ctx.out(0).size, n * n * n / 3, [&](int64_t i, Workspace& w) {
      T sign = 1, log_abs = 0, plain = 1;
      if (n > 0) {
        const Factors<T> f(w, a.as<T>() + i * n * n, n);
        log_determinant(f, n, &sign, &log_abs);
        for (int64_t k = 0; k < n; ++k)
          plain *= f.pivots[size_t(k)] == k ? f.lu[size_t(k * n + k)] : -f.lu[size_t(k * n + k)];
      }
      ctx.out(0).as<T>()[i] = logarithm ? sign : plain;
      if (logarithm) ctx.out(1).as<T>()[i] = log_abs;
    });
  });
}

void lu(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const View& out = ctx.out(0);
  const View& p = ctx.out(1);
  const int64_t n = rows_of(a);
  by_type(ctx, a.dtype, [&]<class T>() {
    if (a.size == 0) return;
    for_each_matrix(ctx, count_of(a), n * n * n / 3, [&](int64_t i, Workspace& w) {
      T* f = out.as<T>() + i * n * n;
      std::copy_n(a.as<T>() + i * n * n, n * n, f);
      std::vector<int64_t> pivots(static_cast<size_t>(n)), order(static_cast<size_t>(n));
      if (!dense::lu(w, f, n, n, pivots.data()))
        ctx.fail("matrix must be invertible: entry " + std::to_string(i) + " of the batch is singular");
      for (int64_t k = 0; k < n; ++k) order[size_t(k)] = k;
      for (int64_t k = 0; k < n; ++k) std::swap(order[size_t(k)], order[size_t(pivots[size_t(k)])]);
      for (int64_t k = 0; k < n; ++k) {
        if (p.dtype == DType::kInt32) p.as<int32_t>()[i * n + k] = int32_t(order[size_t(k)]);
        else p.as<int64_t>()[i * n + k] = order[size_t(k)];
      }
    });
  });
}

// By the normal equations: (aᵀa + l2) x = aᵀ b, or x = aᵀ (aaᵀ + l2)^-1 b for a wide a.
template <class T>
void least_squares_fast(KernelContext& ctx, Workspace& w, const T* a, const T* b, T l2, int64_t m, int64_t n,
                        int64_t cols, T* x) {
  const bool tall = m >= n;
  const int64_t p = std::min(m, n);
  std::vector<T> gram(size_t(p * p));
  dense::product(w, a, n, tall, a, n, !tall, gram.data(), p, p, p, std::max(m, n));
  for (int64_t i = 0; i < p; ++i) gram[size_t(i * p + i)] += l2;
  const T pivot = dense::cholesky(w, gram.data(), p, p);
  if (std::isnan(pivot)) return (void)std::fill_n(x, n * cols, kNan<T>);
  if (pivot <= 0)
    ctx.fail(
        "matrix must have full rank: it is rank deficient or ill-conditioned; try fast = false or a larger "
        "l2_regularizer");
  std::vector<T> rhs(size_t(p * cols));
  if (tall) dense::product(w, a, n, true, b, cols, false, rhs.data(), cols, n, cols, m);
  else std::copy_n(b, m * cols, rhs.data());
  dense::solve_triangular(w, gram.data(), p, dense::Triangle::kLower, false, rhs.data(), cols, p, cols);
  dense::solve_triangular(w, gram.data(), p, dense::Triangle::kLower, true, rhs.data(), cols, p, cols);
  if (tall) std::copy_n(rhs.data(), n * cols, x);
  else dense::product(w, a, n, true, rhs.data(), cols, false, x, cols, n, cols, m);
}

// The solution of least norm, by the pseudo-inverse.
template <class T>
void least_squares_safe(Workspace& w, const T* a, const T* b, int64_t m, int64_t n, int64_t cols, T* x) {
  const int64_t p = std::min(m, n);
  std::vector<T> copy(a, a + m * n), s(static_cast<size_t>(p)), u(size_t(m * p)), v(size_t(n * p)),
      y(size_t(p * cols));
  if (!dense::svd(w, copy.data(), m, n, false, s.data(), u.data(), v.data()))
    return (void)std::fill_n(x, n * cols, kNan<T>);
  dense::product(w, u.data(), p, true, b, cols, false, y.data(), cols, p, cols, m);
  const T limit = s[0] * T(p) * std::numeric_limits<T>::epsilon();
  for (int64_t i = 0; i < p; ++i)
    for (int64_t c = 0; c < cols; ++c)
      y[size_t(i * cols + c)] = s[size_t(i)] > limit ? y[size_t(i * cols + c)] / s[size_t(i)] : T(0);
  dense::product(w, v.data(), p, false, y.data(), cols, false, x, cols, n, cols, p);
}

void least_squares(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const View& b = ctx.in(1);
  const View& out = ctx.out(0);
  const int64_t m = rows_of(a);
  const int64_t n = cols_of(a);
  const int64_t cols = cols_of(b);
  const bool fast = ctx.attr<bool>("fast");
  const double l2 = *ctx.in(2).as<double>();
  if (fast && !(l2 >= 0)) ctx.fail("l2_regularizer must not be negative: got " + number_text(l2));
  by_type(ctx, a.dtype, [&]<class T>() {
    if (out.size == 0) return;
    if (m == 0) return (void)std::fill_n(out.as<T>(), out.size, T(0));
    for_each_matrix(ctx, count_of(a), m * n * (std::min(m, n) + cols), [&](int64_t i, Workspace& w) {
      const T* ai = a.as<T>() + i * m * n;
      const T* bi = b.as<T>() + i * m * cols;
      T* x = out.as<T>() + i * n * cols;
      if (fast) least_squares_fast(ctx, w, ai, bi, T(l2), m, n, cols, x);
      else least_squares_safe(w, ai, bi, m, n, cols, x);
    });
  });
}

}  // namespace

void register_linalg_solve_cpu_kernels() {
  register_kernel("Cholesky", DeviceType::kCpu, cholesky);
  register_kernel("CholeskyGrad", DeviceType::kCpu, cholesky_grad);
  register_kernel("MatrixTriangularSolve", DeviceType::kCpu, triangular_solve);
  register_kernel("MatrixSolve", DeviceType::kCpu, solve);
  register_kernel("MatrixInverse", DeviceType::kCpu, inverse);
  register_kernel("MatrixDeterminant", DeviceType::kCpu, determinant);
  register_kernel("LogMatrixDeterminant", DeviceType::kCpu, determinant);
  register_kernel("Lu", DeviceType::kCpu, lu);
  register_kernel("MatrixSolveLs", DeviceType::kCpu, least_squares);
}

}  // namespace rw
