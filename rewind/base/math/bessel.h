// Modified Bessel functions I0, I1, K0, K1 and their exponentially scaled forms, in double for float too:
// a polynomial of (x/2)^2 near zero, sqrt(x) e^-+x times a polynomial of 1/x far out.
#pragma once

#include "rewind/base/math/exp_log.h"

namespace rw::scalar {

template <class D>
RW_SCALAR D i0_near(D z) {  // z = (x/2)^2 <= 16
  return polynomial(z, 1.0, 1.0, 0.24999999999999963, 0.027777777777778885, 0.0017361111111094509,
                    6.9444444445893609e-5, 1.9290123448748358e-6, 3.9367599191457542e-8,
                    6.1511865462831397e-10, 7.5940729015726159e-12, 7.5938649733260179e-14,
                    6.2779457507211106e-16, 4.3455876848037428e-18, 2.6397660211206863e-20,
                    1.1272071097173782e-22, 9.1988162013978632e-25);
}
template <class D>
RW_SCALAR D i1_near(D z) {  // divided by x/2
  return polynomial(z, 1.0, 0.50000000000000001, 0.083333333333333291, 0.0069444444444445593,
                    0.00034722222222206472, 1.1574074074201532e-5, 2.7557319217358848e-7,
                    4.9209498847944228e-9, 6.8346520067376422e-11, 7.5940687007013571e-13,
                    6.9035573603267036e-15, 5.2312982071892978e-17, 3.3444131364968978e-19,
                    1.8799844939698269e-21, 7.6253944670348835e-24, 5.6506252282372486e-26);
}
template <class D>
RW_SCALAR D i0_far(D u) {  // sqrt(x) e^-x I0(x), u = 1/x <= 1/8
  return polynomial(u, 0.39894228040143263, 0.049867785050525066, 0.028050628661395278, 0.029219616738140195,
                    0.044687171109594003, 0.09935137645305939, -0.6962704885124288, 69.385852612169556,
                    -3722.5592392376694, 151317.14351995792, -4686798.8522074442, 111992166.58966107,
                    -2077386528.2485766, 29962355546.93904, -335013735276.69491, 2880705465588.1582,
                    -18781912517434.348, 90768641169182.734, -313570445221385.54, 728382675108416.84,
                    -1012774944622009.0, 631277335485519.67);
}
template <class D>
RW_SCALAR D i1_far(D u) {
  return polynomial(u, 0.39894228040143273, -0.14960335515089612, -0.046751048039976284,
                    -0.040907385993696741, -0.057468901610445081, -0.11974892585835113, 0.68082863722041298,
                    -71.290854263480459, 3811.7329761445532, -154599.83983769375, 4776426.5536129015,
                    -113814692.8949809, 2104510983.6488857, -30243177611.563242, 336717555698.43881,
                    -2880762816151.0107, 18668030149159.127, -89543856418357.69, 306436803357701.06,
                    -703198125597443.0, 961926348796541.91, -585914240619803.09);
}

// e^-a or 1: the factors that the scaled and the plain forms need. e^a is taken in two halves, since
// I(a) is finite a little beyond the overflow of e^a.
template <bool order_one, bool scaled, class T>
RW_SCALAR T bessel_i(T x) {
  using D = Wide<T>;
  const D y = widen(x), a = abs(y), half = lit<D>(0.5);
  const auto is_near = a < lit<D>(8.0);
  const D b = at_most(a, 8.0) * half, z = b * b;
  const D u = lit<D>(1.0) / at_least(a, 8.0);
  D near, far;
  if constexpr (order_one) {
    near = i1_near(z) * b, far = i1_far(u);
  } else {
    near = i0_near(z), far = i0_far(u);
  }
  far = far * sqrt(u);
  D result;
  if constexpr (scaled) {
    result = select(is_near, near * exp(-select(is_near, a, lit<D>(0.0))), far);
  } else {
    const D root = exp(a * half);
    result = select(is_near, near, far * root * root);
    // TensorFlow has no limit at infinity.
    result = select(a < lit<D>(kInfinity), result, lit<D>(kNaN));
  }
  if constexpr (order_one) result = copysign(result, y);
  return narrow<T>(result);
}

template <class T>
RW_SCALAR T bessel_i0(T x) {
  return bessel_i<false, false>(x);
}
template <class T>
RW_SCALAR T bessel_i0e(T x) {
  return bessel_i<false, true>(x);
}
template <class T>
RW_SCALAR T bessel_i1(T x) {
  return bessel_i<true, false>(x);
}
template <class T>
RW_SCALAR T bessel_i1e(T x) {
  return bessel_i<true, true>(x);
}

// Near zero K0 = p(z) - log(x/2) I0, K1 = 1/x + log(x/2) I1 + p(z) x/2. Infinite for x <= 0.
template <bool order_one, bool scaled, class T>
RW_SCALAR T bessel_k(T x) {
  using D = Wide<T>;
  const D y = widen(x), half = lit<D>(0.5), one = lit<D>(1.0), zero = lit<D>(0.0);
  const auto is_near = y < lit<D>(2.0);
  const D a = select(both(is_near, y > zero), y, one);
  const D b = a * half, z = b * b;
  const D u = one / at_least(y, 2.0);
  const D log_half = log(b);
  D near, far;
  if constexpr (order_one) {
    near = fma(b,
               fma(log_half, i1_near(z),
                   polynomial(z, 0.077215664901532861, -0.33639216754923358, -0.0907875834804276,
                              -0.0095910949196680585, -0.00055767974596522919, -2.071123851360103e-5,
                              -5.3577280446939697e-7, -1.0226644117495849e-8, -1.4992115738215669e-10,
                              -1.832624047224884e-12)),
               one / a);
    far = polynomial(u, 1.2533141373155003, 0.46999280149326656, -0.14687275044904976, 0.12851365396979288,
                     -0.18072211067776847, 0.34787944380973908, -0.84760582550203971, 2.489228453815624,
                     -8.4548520610293458, 31.631190914216402, -122.61989045137638, 461.8849888584676,
                     -1599.5595259864776, 4884.3432328090082, -12755.948732347439, 27825.230996795137,
                     -49633.324641815353, 70777.611278342982, -78448.077766999541, 64954.908226340217,
                     -37734.379276658747, 13700.16724909467, -2336.7894225506906);
  } else {
    near = fma(
        -log_half, i0_near(z),
        polynomial(z, -0.57721566490153286, 0.42278433509846721, 0.23069608377461443, 0.034892157456468988,
                   0.002614787618609867, 0.00011848039436937106, 3.6126224510372833e-6, 7.9353283063395902e-8,
                   1.3147868330546771e-9, 1.801549332511456e-11));
    far = polynomial(u, 1.2533141373155002, -0.15666426716439522, 0.08812365026380386, -0.09179546656885615,
                     0.14056161047478176, -0.28462750683750406, 0.71717674669921087, -2.1568229185097141,
                     7.453308166481304, -28.230795005679649, 110.37191385634643, -418.10068158694187,
                     1453.2953722426293, -4448.6275121871655, 11637.507780136966, -25415.516331229122,
                     45374.070244342519, -64745.867261545782, 71798.722344213822, -59472.975980737146,
                     34560.933896290944, -12551.345203090292, 2141.3196579344096);
  }
  far = far * sqrt(u);
  D result;
  if constexpr (scaled) {
    result = select(is_near, near * exp(a), far);
  } else {
    result = select(is_near, near, far * exp(-y));
  }
  return narrow<T>(select(y <= zero, lit<D>(kInfinity), select(is_nan(y), y, result)));
}

template <class T>
RW_SCALAR T bessel_k0(T x) {
  return bessel_k<false, false>(x);
}
template <class T>
RW_SCALAR T bessel_k0e(T x) {
  return bessel_k<false, true>(x);
}
template <class T>
RW_SCALAR T bessel_k1(T x) {
  return bessel_k<true, false>(x);
}
template <class T>
RW_SCALAR T bessel_k1e(T x) {
  return bessel_k<true, true>(x);
}

}  // namespace rw::scalar
