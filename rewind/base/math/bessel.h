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
  return polynomial(u - lit<D>(0.0625), 0.40217650944500812, 0.053768831738682974, 0.034871315041437779,
                    0.045641866467500376, 0.097245465500738943, 0.31180403335148798, 1.4883784126960664,
                    10.557556734986572, 92.839447612307635, 517.35096928469042, -7789.9565490669182,
                    -234090.68018298373, -1222299.2216626204, 32855372.884808992, 377845358.53221633,
                    -3552736301.3047057, -54928601941.46344, 313594526713.45148, 4695266759125.5078,
                    -19741316403629.077, -184223441797264.45, 631277335485519.67);
}
template <class D>
RW_SCALAR D i1_far(D u) {
  return polynomial(u - lit<D>(0.0625), 0.38939845902587228, -0.1559932350917692, -0.056124355538455409,
                    -0.061597889388511789, -0.12025270321537129, -0.36530840686854892, -1.6777990907669033,
                    -11.578414642411501, -100.69221496899625, -577.49914303274628, 7790.8058424038467,
                    245243.32055039455, 1370346.7884530902, -33358065.009206908, -404399465.5444476,
                    3502494650.3413411, 58033647992.874147, -301129310473.1367, -4931732430583.4707,
                    18577034889802.168, 192913907983050.35, -585914240619803.09);
}

// e^-a or 1: the factors that the scaled and the plain forms need. e^a is taken in two halves, since
// I(a) is finite a little beyond the overflow of e^a.
template <bool order_one, bool scaled, class T>
RW_SCALAR T bessel_i(T x) {
  using D = Wide<T>;
  const D y = widen(x), a = abs(y), half = lit<D>(0.5);
  const auto is_near = a < lit<D>(8.0);
  const D b = at_most(a, 8.0) * half, z = b * b;
  // 4u, which is a normal number for the largest a too.
  const D four_u = lit<D>(1.0) / (at_least(a, 8.0) * lit<D>(0.25));
  const D u = four_u * lit<D>(0.25);
  D near, far;
  if constexpr (order_one) {
    near = i1_near(z) * b, far = i1_far(u);
  } else {
    near = i0_near(z), far = i0_far(u);
  }
  far = far * (sqrt(four_u) * half);
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
  const D a = blend(both(is_near, y > zero), y, one);
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
    far = polynomial(u - lit<D>(0.25), 1.363151890371342, 0.41339895101546257, -0.089067678081218342,
                     0.047086345911794359, -0.035735096192098989, 0.033632119299526257, -0.036705109443698196,
                     0.044728813054185682, -0.059421555584855482, 0.08468739609367369, -0.1279977613271261,
                     0.20197316382008255, -0.33071126420420879, 0.61836053809220357, -1.2158310400049903,
                     0.85481514241706502, 0.65934651973895441, 23.398936892226336, -73.349089607127675,
                     -131.28849271196115, 454.10149301267729, 847.82542506587221, -2336.7894225506906);
  } else {
    near = fma(
        -log_half, i0_near(z),
        polynomial(z, -0.57721566490153286, 0.42278433509846721, 0.23069608377461443, 0.034892157456468988,
                   0.002614787618609867, 0.00011848039436937106, 3.6126224510372833e-6, 7.9353283063395902e-8,
                   1.3147868330546771e-9, 1.801549332511456e-11));
    far = polynomial(u - lit<D>(0.25), 1.2185953385133905, -0.12428584729955959, 0.048526268964428099,
                     -0.030705219630901598, 0.025487500124893595, -0.02532885035978337, 0.028681201834863114,
                     -0.035900086256167488, 0.048678368377037244, -0.070510454890858627, 0.1079905061749917,
                     -0.17220371419512105, 0.28437726078427468, -0.53858648380839901, 1.0711218656177379,
                     -0.71288012153724674, -0.73293071125174881, -21.252605920859735, 67.070271940191455,
                     120.79197920421856, -418.32585850505123, -774.08708445103917, 2141.3196579344096);
  }
  far = far * sqrt(u);
  D result;
  if constexpr (scaled) {
    result = blend(is_near, near * exp(a), far);
  } else {
    result = blend(is_near, near, far * exp(-y));
  }
  return narrow<T>(blend(y <= zero, lit<D>(kInfinity), blend(is_nan(y), y, result)));
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
