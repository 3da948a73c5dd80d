// Bessel functions J0, J1, Y0, Y1, in double for float too. Up to 8 polynomials of x^2 (Y with a logarithm of
// x), beyond it sqrt(2 / (pi x)) (P cos c -+ Q sin c), c = x - pi/4 or x - 3 pi/4, P and Q x polynomials of
// 1/x^2.
#pragma once

#include "rewind/base/math/exp_log.h"
#include "rewind/base/math/trig.h"

namespace rw::scalar {

template <class D>
RW_SCALAR D j0_near(D t) {  // t = x^2 - 32
  return polynomial(
      t, 0.045829664859813757, 0.029071913977995535, -0.00063327078426482625, -2.4660913319997782e-5,
      9.9027582277649711e-7, -1.5123726303788989e-8, 1.3596271031336427e-10, -8.2866517509354297e-13,
      3.6908013390610181e-15, -1.2606333326031576e-17, 3.4171066028271545e-20, -7.5432694524213081e-23,
      1.3839492802560004e-25, -2.1454497358565825e-28, 2.862516073393657e-31, -3.2917416732492446e-34);
}
template <class D>
RW_SCALAR D j1_near(D t) {  // divided by x
  return polynomial(
      t, -0.05814382795599107, 0.0025330831370593111, 0.00014796547991998669, -7.9222065822122275e-6,
      1.5123726303788985e-7, -1.6315525237574336e-9, 1.1601312451309874e-11, -5.9052821440003526e-14,
      2.2691399986772694e-16, -6.8342128143226808e-19, 1.6595192808553711e-21, -3.3215324694436324e-24,
      5.5781682907301781e-27, -7.9770466728166659e-30, 9.8755333799850079e-33, -1.060215313268903e-35);
}

// J or Y of order 0 or 1 for x >= 8. The quarter turns of c go into those of the angle of x.
template <bool order_one, bool second, class D>
RW_SCALAR D bessel_far(D x) {
  const D u = lit<D>(1.0) / x;
  const D t = fma(u, u, lit<D>(-1.0 / 128));
  D p, q;
  if constexpr (order_one) {
    p = polynomial(t, 1.0009070262780822, 0.11504703253397683, -0.1304116379742804, 0.51457323662580579,
                   -3.9482805688851593, 46.743965487454474, -753.79359635001592, 15162.486903777327,
                   -363790.2510517596, 12875259.942576967, -447306369.93811291);
    q = polynomial(t, 0.37421499221959154, -0.098523738338954472, 0.23870856932302886, -1.3911597980924687,
                   13.787084128776257, -196.60048656869269, 3660.1847944153763, -82254.750143823389,
                   2160196.9666155327, -86163360.792870108, 3235904262.6222097);
  } else {
    p = polynomial(t, 0.99945727578825192, -0.068655016859401046, 0.10055542508954715, -0.43049174551286292,
                   3.4369780558382764, -41.652017286757404, 682.06207709729253, -13865.133734854581,
                   335263.99827131297, -11969384.390465437, 418082930.09520536);
    q = polynomial(t, -0.12444091103610788, 0.069971446778332264, -0.19361154133591655, 1.1922246771363147,
                   -12.173432143352317, 176.85342691350413, -3334.686513397062, 75607.380147540681,
                   -1998906.2570267137, 80382439.067251868, -3033486762.1053711);
  }
  q = q * u;
  const Angle<D> angle = reduce_angle(x);
  const D sine = sin_of(angle), cosine = sin_of(quarter_turn_on(angle));
  // sqrt(2) cos c and sqrt(2) sin c.
  const D c = order_one ? sine - cosine : cosine + sine;
  const D s = order_one ? -(sine + cosine) : sine - cosine;
  const D value = second ? fma(p, s, q * c) : fma(p, c, -(q * s));
  return value * sqrt(u * lit<D>(0.31830988618379067154));
}

template <bool order_one, class T>
RW_SCALAR T bessel_first(T x) {
  using D = Wide<T>;
  const D y = widen(x), a = abs(y);
  const D b = at_most(a, 8.0);
  const D t = fma(b, b, lit<D>(-32.0));
  D near;
  if constexpr (order_one) {
    near = b * j1_near(t);
  } else {
    near = j0_near(t);
  }
  D result = blend(a < lit<D>(8.0), near, bessel_far<order_one, false>(at_least(a, 8.0)));
  if constexpr (order_one) result = flip_sign_if(bits(y) >> 63, result);
  return narrow<T>(result);
}

template <bool order_one, class T>
RW_SCALAR T bessel_second(T x) {
  using D = Wide<T>;
  const D y = widen(x), zero = lit<D>(0.0), two_over_pi = lit<D>(0.63661977236758134308);
  const D b = at_most(blend(y > zero, y, lit<D>(1.0)), 8.0);
  const D t = fma(b, b, lit<D>(-32.0));
  const D log_b = log(b);
  D near;
  if constexpr (order_one) {
    const D p = polynomial(
        t, 0.070759858821180054, -0.0076055447122478481, 2.2819894258782695e-5, 7.1738309346526352e-6,
        -1.8730010852747158e-7, 2.3409089214332475e-9, -1.8280704350319793e-11, 9.9607590234348677e-14,
        -4.0364952241545133e-16, 1.2697208298299015e-18, -3.1983305094004948e-21, 6.6071954917152413e-24,
        -1.1408536763140059e-26, 1.6722954303604766e-29, -2.1171854944624643e-32, 2.3192373229974021e-35);
    near = fma(b, p, two_over_pi * (log_b * (b * j1_near(t)) - lit<D>(1.0) / b));
  } else {
    const D p = polynomial(
        t, -0.38225065445942499, -0.025888621573764337, 0.0016084926551509211, 4.3983863431709277e-6,
        -1.0276295984473486e-6, 2.0032437990402148e-8, -2.0392003558789974e-10, 1.3494586944983562e-12,
        -6.3898742655437591e-15, 2.2912405652681433e-17, -6.4655324371227412e-20, 1.4769626761301425e-22,
        -2.79156071955549e-25, 4.4427490935738963e-28, -6.0696869844306194e-31, 7.1291882146941675e-34);
    near = fma(two_over_pi * log_b, j0_near(t), p);
  }
  const D result = blend(y < lit<D>(8.0), near, bessel_far<order_one, true>(at_least(y, 8.0)));
  return narrow<T>(blend(y <= zero, lit<D>(-kInfinity), result));
}

template <class T>
RW_SCALAR T bessel_j0(T x) {
  return bessel_first<false>(x);
}
template <class T>
RW_SCALAR T bessel_j1(T x) {
  return bessel_first<true>(x);
}
template <class T>
RW_SCALAR T bessel_y0(T x) {
  return bessel_second<false>(x);
}
template <class T>
RW_SCALAR T bessel_y1(T x) {
  return bessel_second<true>(x);
}

}  // namespace rw::scalar
