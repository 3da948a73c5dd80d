// erf and erfc. Near zero erf(x) = x + x p(x^2); farther out the float erf is 1 - e^p(x), and everything else
// comes from erfc(x) = e^(-x^2) p(t) / (1 + 2x), t = (x - 4) / (x + 4), which holds from 1/2 to the last x
// where erfc is not zero.
#pragma once

#include "rewind/base/math/exp_log.h"

namespace rw::scalar {

template <class T>
RW_SCALAR T erf_near(T x) {  // |x| <= 1
  const T z = x * x;
  if constexpr (kIsDouble<T>) {
    return fma(
        x,
        polynomial(z, 0.12837916709551257, -0.37612638903183748, 0.11283791670954884, -0.026866170645077876,
                   0.0052239776248284776, -0.0008548326981430094, 0.00012055331133173728,
                   -1.4925595778393905e-5, 1.6461008589908158e-6, -1.6350397516978578e-7,
                   1.4660337999121024e-8, -1.1374993375876911e-9, 5.9607514414383543e-11),
        x);
  } else {
    return fma(x,
               polynomial(z, 0.128379166, -0.376126271, 0.112836002, -0.0268544444, 0.00518953523,
                          -0.000802084218, 7.88912793e-5),
               x);
  }
}

template <class T>
RW_SCALAR T erfc_far(T x) {  // x >= 1/2
  const T a = at_most(x, kIsDouble<T> ? 28.0 : 11.0);
  const T t = (a - lit<T>(4.0)) / (a + lit<T>(4.0));
  T p;
  if constexpr (kIsDouble<T>) {
    p = polynomial(t, 1.2329951186255525, -0.13962111684056249, 0.015379652102619861, 0.068097054254688752,
                   -0.10103906603631157, 0.093732834998522464, -0.066330365812042218, 0.037167515534006174,
                   -0.016197734060021179, 0.0050319700164970807, -0.00075777327196848591,
                   -0.00019925695340433815, 0.0001506215990437463, -2.4398101939396461e-5,
                   -1.1221810176629245e-5, 5.7065981566377553e-6, 2.9342914280626811e-7,
                   -8.1965544890837339e-7, 7.5015791288878302e-8, 1.0337340904777123e-7,
                   -1.8118945417272243e-8, -9.6919350952626363e-9, 1.8797618113195224e-9);
  } else {
    p = polynomial(t, 1.23299511, -0.139621278, 0.0153804234, 0.068102614, -0.101052237, 0.0936794401,
                   -0.0662481325, 0.0373756278, -0.016428868, 0.00468225912, -0.000458866501);
  }
  const T square = a * a;
  const T e = exp_corrected(-square, -fma(a, a, -square), 0);
  return e * (p / fma(lit<T>(2.0), a, lit<T>(1.0)));
}

template <class T>
RW_SCALAR T erf(T x) {
  const T a = abs(x);
  if constexpr (kIsDouble<T>) {
    return select(a < lit<T>(1.0), erf_near(x), copysign(lit<T>(1.0) - erfc_far(a), x));
  } else {
    const T b = at_most(a, 4.0);
    const ExpParts<T> e = exp_reduce(polynomial(b, -0.00017760481, -1.12774908, -0.637060629, -0.104036531,
                                                0.0222766543, -0.00305548959, 0.000197168628));
    const T power = pow2<T>(e.k);
    const T far = lit<T>(1.0) - fma(power, fma(e.r * e.r, exp_tail(e.r), e.r), power);
    return select(a < lit<T>(0.95), erf_near(x), copysign(far, x));
  }
}

template <class T>
RW_SCALAR T erfc(T x) {
  const T a = abs(x), one = lit<T>(1.0);
  const T far = erfc_far(a);
  return select(a < lit<T>(0.5), one - erf_near(x), select(x < lit<T>(0.0), lit<T>(2.0) - far, far));
}

}  // namespace rw::scalar
