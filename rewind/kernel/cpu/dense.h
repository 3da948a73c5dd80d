// Factorisations of one dense row-major matrix, for float and double. They recurse: halves are joined by
// matrix products, in which nearly all the work is. `ld` is the distance between rows.
#pragma once

#include "rewind/kernel/cpu/gemm.h"

namespace rw::dense {

// c (m, n) -= op(a) op(b).
template <class T>
void subtract_product(Workspace& w, const T* a, int64_t lda, bool transpose_a, const T* b, int64_t ldb,
                      bool transpose_b, T* c, int64_t ldc, int64_t m, int64_t n, int64_t k);
// c (m, n) = op(a) op(b).
template <class T>
void product(Workspace& w, const T* a, int64_t lda, bool transpose_a, const T* b, int64_t ldb,
             bool transpose_b, T* c, int64_t ldc, int64_t m, int64_t n, int64_t k);

enum class Triangle {
  kLower,
  kUpper,
  kUnitLower
};  // a unit triangle has ones on its diagonal, whatever lies there

// b (n, cols) becomes op(a)^-1 b for a triangular matrix a (n, n).
template <class T>
void solve_triangular(Workspace& w, const T* a, int64_t lda, Triangle triangle, bool transposed, T* b,
                      int64_t ldb, int64_t n, int64_t cols);

// The lower triangle of a becomes its Cholesky factor; the upper one is neither read nor kept. Returns 1, or
// the first pivot that is not positive: the matrix was not positive definite.
template <class T>
T cholesky(Workspace& w, T* a, int64_t lda, int64_t n);

// a (n, n) becomes L and U with rows exchanged: row i was exchanged with pivots[i] >= i, in this order. False
// if a pivot is zero; the factors are complete all the same.
template <class T>
bool lu(Workspace& w, T* a, int64_t lda, int64_t n, int64_t* pivots);

// q (m, q_cols) and r (q_cols, n) of a (m, n), which is destroyed; q_cols is m or min(m, n). The diagonal of
// r may have any sign.
template <class T>
void qr(Workspace& w, T* a, int64_t m, int64_t n, T* q, int64_t q_cols, T* r);

// Eigenvalues in rising order of the symmetric matrix whose lower triangle lies in a, which is destroyed;
// column i of v belongs to the i-th. v may be null. False if the iteration did not converge.
template <class T>
bool eigh(T* a, int64_t n, T* values, T* v);

// a (m, n) = u diag(s) vᵀ with falling s; a is destroyed. u is (m, full ? m : p), v is (n, full ? n : p), p =
// min(m, n); both may be null. False if the iteration did not converge.
template <class T>
bool svd(Workspace& w, T* a, int64_t m, int64_t n, bool full, T* s, T* u, T* v);

}  // namespace rw::dense
