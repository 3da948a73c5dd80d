// Activations and the small guarded arithmetic of TensorFlow's ops.
#pragma once

#include "rewind/base/math/exp_log.h"

namespace rw::scalar {

template <class T>
RW_SCALAR T rsqrt(T x) {
  return lit<T>(1.0) / sqrt(x);
}

template <class T>
RW_SCALAR T reciprocal(T x) {
  return lit<T>(1.0) / x;
}

// With e^-x = (1 + q) / p, p = 2^k: 1 / (1 + e^-x) = p / (p + 1 + q). The smaller terms of the sum come
// first.
template <class T>
RW_SCALAR T sigmoid(T x) {
  const ExpParts<T> e = exp_reduce(at_least(at_most(-x, kExpBound<T>), kIsDouble<T> ? -60.0 : -30.0));
  const T q = fma(e.r * e.r, exp_tail(e.r), e.r);
  const T one = lit<T>(1.0);
  const TwoPowers<T> p = two_powers<T>(lit_bits<T>(0) - e.k);
  const auto negative = x < lit<T>(0.0);
  const T sum = (p.first * p.second + select(negative, q, one)) + select(negative, one, q);
  return one / sum * p.first * p.second;
}

// log(1 + e^x), and x itself from TensorFlow's threshold on. (Below minus the threshold TensorFlow takes e^x,
// which log1p gives too, a little closer.)
template <class T>
RW_SCALAR T softplus(T x) {
  const T threshold = lit<T>(13.9423847, 34.04365338911715);
  return select(x > threshold, x, log1p(exp(select(x > threshold, threshold, x))));
}

template <class T>
RW_SCALAR T softsign(T x) {
  return x / (lit<T>(1.0) + abs(x));
}

template <class T>
RW_SCALAR T relu(T x) {
  return flushed(select(x < lit<T>(0.0), lit<T>(0.0), x));
}

template <class T>
RW_SCALAR T relu6(T x) {
  return at_most(relu(x), 6.0);
}

template <class T>
RW_SCALAR T leaky_relu(T x, T slope) {
  return select(x > lit<T>(0.0), x, x * slope);
}

template <class T>
RW_SCALAR T elu(T x) {
  return select(x < lit<T>(0.0), expm1(x), x);
}

template <class T>
RW_SCALAR T selu(T x) {
  const T scale = lit<T>(1.0507009873554804934193349852946);
  const T scale_alpha = lit<T>(1.7580993408473768599402175208123);
  return select(x < lit<T>(0.0), scale_alpha * expm1(x), scale * x);
}

template <class T>
RW_SCALAR T squared_difference(T x, T y) {
  const T d = x - y;
  return d * d;
}

// The functions below are 0 where their first (mul_no_nan: second, div_no_nan: second) argument is 0,
// whatever the other is.
template <class T>
RW_SCALAR T div_no_nan(T x, T y) {
  return select(y == lit<T>(0.0), lit<T>(0.0), x / y);
}
template <class T>
RW_SCALAR T mul_no_nan(T x, T y) {
  return select(y == lit<T>(0.0), lit<T>(0.0), x * y);
}
template <class T>
RW_SCALAR T xdivy(T x, T y) {
  return select(x == lit<T>(0.0), lit<T>(0.0), x / y);
}
template <class T>
RW_SCALAR T xlogy(T x, T y) {
  return select(x == lit<T>(0.0), lit<T>(0.0), x * log(y));
}
template <class T>
RW_SCALAR T xlog1py(T x, T y) {
  return select(x == lit<T>(0.0), lit<T>(0.0), x * log1p(y));
}

}  // namespace rw::scalar
