// The inverses of erf and of the normal distribution, in double for float too. Both are x g(w) with
// w = -log(1 - x^2), and g is smooth in w near zero and in sqrt(w) far out.
#pragma once

#include "rewind/base/math/exp_log.h"

namespace rw::scalar {

template <class D>
RW_SCALAR D inverse_erf_factor(D w) {
  const D s = sqrt(w);
  const D b = at_most(w, 5.0);
  const D near = polynomial(
      b, 0.88622692545275777, 0.23201366653469517, 0.011549342037174104, -0.0023351016299968787,
      -0.0001280433585877297, 4.661165544443395e-5, 2.0195172956104339e-6, -1.0118402757587177e-6,
      -3.8065439851977409e-8, 2.3393419561318931e-8, 4.1904652138343448e-10, -3.9539996438635116e-10,
      -4.492106387539347e-11, 1.2029250932957596e-11, 3.1942475714941753e-12, -1.4208954235987582e-12,
      2.3275637492531062e-13, -2.0920895986067569e-14, 1.0340399370314963e-15, -2.2234757368683326e-17);
  const D c = at_most(s, 4.0);
  const D far = polynomial(c, 61.163001975471037, -394.78941640163952, 1217.2233152823246,
                           -2346.0018112438314, 3169.3427093454743, -3187.0979267635895, 2473.4883240057624,
                           -1515.9563066850943, 744.61356947975536, -295.77060854318835, 95.435341708820268,
                           -25.026139687814338, 5.3142248686860028, -0.90628010186813339, 0.12237899173201827,
                           -0.012792951299229406, 0.00099874333599140823, -5.4828092808782129e-5,
                           1.8885495321081244e-6, -3.0716542006984479e-8);
  const D d = at_most(s, 8.0);
  const D farther = polynomial(
      d, 41.517388992726852, -123.5599314946077, 176.53049538659952, -157.51106106468226, 99.108459319315642,
      -46.700067865303525, 17.083766613672307, -4.9638642359520907, 1.1623051049993404, -0.22121907374125476,
      0.034359521380885483, -0.0043543537882183197, 0.00044832238946387101, -3.716727115422964e-5,
      2.4444403916032442e-6, -1.2460937688742331e-7, 4.7466815954029159e-9, -1.2713627655864159e-10,
      2.1351638032418374e-12, -1.6910411791519259e-14);
  const D u = lit<D>(1.0) / at_least(s, 8.0);
  const D last =
      s * polynomial(u, 1.0000083162391309, -0.0042290889744906515, -2.192298335974983, 36.496747771672722,
                     -922.97587229633894, 22822.207723586921, -482668.30972062001, 8457673.5469595713,
                     -121417441.49636931, 1418375134.5573083, -13383908318.346333, 100961471318.95701,
                     -599527487674.21565, 2737817718128.5623, -9271135795202.3997, 21913661220958.369,
                     -32254528508235.866, 22247101361683.202);
  return select(w < lit<D>(5.0), near, select(s < lit<D>(4.0), far, select(s < lit<D>(8.0), farther, last)));
}

template <class T>
RW_SCALAR T erfinv(T x) {
  using D = Wide<T>;
  const D y = widen(x), one = lit<D>(1.0);
  const D a = abs(y);
  const D w = -log((one - a) * (one + a));
  const D result = select(a == one, copysign(lit<D>(kInfinity), y), y * inverse_erf_factor(w));
  return narrow<T>(select(a > one, lit<D>(kNaN), result));
}

// x with the normal distribution function equal to p: sqrt(2) erfinv(2 p - 1).
template <class T>
RW_SCALAR T ndtri(T p) {
  using D = Wide<T>;
  const D y = widen(p), one = lit<D>(1.0), zero = lit<D>(0.0);
  const D rest = one - y;
  // log(4 p (1 - p)), which is log1p(-x^2) near the middle.
  const D x = y - rest;
  const D w = select(abs(x) < lit<D>(0.5), -log1p(-x * x), -(log(y) + log(lit<D>(4.0) * rest)));
  const D result = lit<D>(1.41421356237309504880) * x * inverse_erf_factor(w);
  const D ends = select(y == zero, lit<D>(-kInfinity), select(y == one, lit<D>(kInfinity), lit<D>(kNaN)));
  return narrow<T>(select(both(y > zero, y < one), result, ends));
}

}  // namespace rw::scalar
