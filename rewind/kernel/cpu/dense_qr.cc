// QR by Householder reflections in blocks: H_1 .. H_b = I - V T Vᵀ, so that all but the block's own columns
// change by matrix products.
#include <algorithm>
#include <cmath>
#include <vector>

#include "rewind/kernel/cpu/dense.h"

namespace rw::dense {
namespace {

constexpr int64_t kBlock = 32;

// The reflection that maps column x (m entries, `step` apart) to (beta, 0, ...): x becomes (beta, v_1, ...),
// v_0 = 1.
template <class T>
T reflect(T* x, int64_t step, int64_t m) {
  T scale = 0;
  for (int64_t i = 1; i < m; ++i) scale = std::max(scale, std::abs(x[i * step]));
  if (scale == 0) return 0;
  scale = std::max(scale, std::abs(x[0]));
  T sum = 0;
  for (int64_t i = 0; i < m; ++i) {
    const T v = x[i * step] / scale;
    sum += v * v;
  }
  const T norm = scale * std::sqrt(sum);
  const T alpha = x[0];
  const T beta = alpha > 0 ? -norm : norm;
  const T divisor = alpha - beta;
  for (int64_t i = 1; i < m; ++i) x[i * step] /= divisor;
  x[0] = beta;
  return (beta - alpha) / beta;
}

// Columns [0, b) of a (m, .) become R above the diagonal and the vectors V below it.
template <class T>
void factor_block(T* a, int64_t lda, int64_t m, int64_t b, T* tau, T* row) {
  for (int64_t j = 0; j < b; ++j) {
    tau[j] = j < m ? reflect(a + j * lda + j, lda, m - j) : T(0);
    if (tau[j] == 0) continue;
    const int64_t width = b - j - 1;
    T* top = a + j * lda + j + 1;
    std::copy_n(top, width, row);
    for (int64_t i = j + 1; i < m; ++i)
      for (int64_t c = 0; c < width; ++c) row[c] += a[i * lda + j] * a[i * lda + j + 1 + c];
    for (int64_t c = 0; c < width; ++c) row[c] *= tau[j];
    for (int64_t c = 0; c < width; ++c) top[c] -= row[c];
    for (int64_t i = j + 1; i < m; ++i)
      for (int64_t c = 0; c < width; ++c) a[i * lda + j + 1 + c] -= a[i * lda + j] * row[c];
  }
}

// V (m, b) with its ones and zeros, and the upper triangle T.
template <class T>
struct Block {
  std::vector<T> v, t;
  int64_t m, b;

  Block(Workspace& w, const T* a, int64_t lda, int64_t rows, int64_t cols, const T* tau)
      : v(size_t(rows * cols)), t(size_t(cols * cols)), m(rows), b(cols) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < std::min(b, i + 1); ++j) v[size_t(i * b + j)] = i == j ? T(1) : a[i * lda + j];
    std::vector<T> dots(size_t(b * b));
    product(w, v.data(), b, true, v.data(), b, false, dots.data(), b, b, b, m);
    for (int64_t j = 0; j < b; ++j) {
      t[size_t(j * b + j)] = tau[j];
      for (int64_t i = 0; i < j; ++i) {
        T sum = 0;
        for (int64_t k = i; k < j; ++k) sum += t[size_t(i * b + k)] * dots[size_t(k * b + j)];
        t[size_t(i * b + j)] = -tau[j] * sum;
      }
    }
  }

  // c (m, n) becomes (I - V op(T) Vᵀ) c.
  void apply(Workspace& w, bool transposed, T* c, int64_t ldc, int64_t n) const {
    if (n == 0) return;
    std::vector<T> x(size_t(b * n)), y(size_t(b * n));
    product(w, v.data(), b, true, c, ldc, false, x.data(), n, b, n, m);
    product(w, t.data(), b, transposed, x.data(), n, false, y.data(), n, b, n, b);
    subtract_product(w, v.data(), b, false, y.data(), n, false, c, ldc, m, n, b);
  }
};

}  // namespace

template <class T>
void qr(Workspace& w, T* a, int64_t m, int64_t n, T* q, int64_t q_cols, T* r) {
  const int64_t p = std::min(m, n);
  std::vector<T> tau(size_t(std::max<int64_t>(p, 1)));
  std::vector<T> row(kBlock);
  for (int64_t j = 0; j < p; j += kBlock) {
    const int64_t b = std::min(kBlock, p - j);
    T* block = a + j * n + j;
    factor_block(block, n, m - j, b, &tau[size_t(j)], row.data());
    if (j + b < n) Block<T>(w, block, n, m - j, b, &tau[size_t(j)]).apply(w, true, block + b, n, n - j - b);
  }
  for (int64_t i = 0; i < q_cols; ++i)
    for (int64_t j = 0; j < n; ++j) r[i * n + j] = j >= i ? a[i * n + j] : T(0);
  std::fill_n(q, m * q_cols, T(0));
  for (int64_t i = 0; i < q_cols; ++i) q[i * q_cols + i] = T(1);
  for (int64_t j = p == 0 ? -1 : (p - 1) / kBlock * kBlock; j >= 0; j -= kBlock) {
    const int64_t b = std::min(kBlock, p - j);
    Block<T>(w, a + j * n + j, n, m - j, b, &tau[size_t(j)])
        .apply(w, false, q + j * q_cols + j, q_cols, q_cols - j);
  }
}

template void qr(Workspace&, float*, int64_t, int64_t, float*, int64_t, float*);
template void qr(Workspace&, double*, int64_t, int64_t, double*, int64_t, double*);

}  // namespace rw::dense
