// Fresnel's integrals S(x) and C(x) of sin and cos(pi/2 t^2) from 0 to x, in double for float too. Near zero
// polynomials of x^4, far out S = 1/2 - f cos c - g sin c, C = 1/2 + f sin c - g cos c with c = pi/2 x^2.
#pragma once

#include "rewind/base/math/trig.h"

namespace rw::scalar {

template <class D>
struct FresnelPair {
  D s, c;
};
template <class D>
RW_SCALAR FresnelPair<D> fresnel_near(D a) {  // a <= 1.59
  const D square = a * a;
  const D t = fma(square, square, lit<D>(-3.25));
  return {a * square *
              polynomial(t, 0.29038328284518859, -0.054003060472515095, 0.0046864554743850412,
                         -0.00021750210438637503, 6.2110144831833658e-6, -1.1982877649119797e-7,
                         1.6655617730378034e-9, -1.7470516853654178e-11, 1.4320970582711005e-13,
                         -9.4340156562434703e-16, 5.0966619894997307e-18),
          a * polynomial(t, 0.44633046539043248, -0.1075942492464468, 0.015582788992955533,
                         -0.0010165633572502357, 3.730837542048612e-5, -8.7786706173576334e-7,
                         1.438240513680796e-8, -1.7360597820225253e-10, 1.608773871678086e-12,
                         -1.1819072327469954e-14, 7.0422707548430981e-17)};
}

template <class D>
RW_SCALAR FresnelPair<D> fresnel_far(D a) {  // a >= 1.59
  const D half = lit<D>(0.5), four = lit<D>(4.0);
  const D u = lit<D>(1.0) / a, v = u * u, t = v - lit<D>(0.2);
  const D f = u * lit<D>(0.31830988618379067154) *
              polynomial(t, 0.98914196699112133, -0.098367755688446791, -0.16322196259916179,
                         0.27233365099936021, -0.191833749480608, -0.24147132207468384, 1.2503032355231626,
                         -2.8641665739259026, 4.0450553171241554, -0.31534470864108437, -21.562905815524365,
                         92.267087982412557, -252.66414268349144, 492.71977348832338, -1274.2514289409633,
                         3000.1316950169695, 36075.892366240785, -205627.6384514035, -662694.71733199925,
                         4242976.9772345373, 16821218.815652135, -88615522.230904805, -177897325.02640496,
                         987449998.57638396, 614755281.80446978, -4072006357.0007887);
  const D g = u * v * lit<D>(0.10132118364233777144) *
              polynomial(t, 0.94979486471575843, -0.42568083714364896, -0.4893094319202328,
                         1.5994015547326142, -2.2094462304486081, 0.34454594265346754, 8.2341959922441823,
                         -30.019413533392982, 67.651218642280905, -92.000740691204612, -49.951232415876086,
                         876.41342474824996, -3457.6274551413112, 9067.7453341995738, -37568.721095893187,
                         153470.6177071108, 568803.78958828488, -5226052.7354388548, -13613102.046540072,
                         122741300.62050645, 316302253.53310659, -2405966356.9486717, -2618122618.6827532,
                         23642139570.324492, 5491466517.0051079, -86318756978.421144);
  // x^2 counts quarter turns.
  const Sum<D> square = two_product(a, a);
  const D turns = fma(-four, rint(square.hi * lit<D>(0.25)), square.hi);
  const D k = nearest(turns);
  const D r = (turns - k) + square.lo;
  const Sum<D> angle = two_product(r, lit<D>(kHalfPi));
  const Angle<D> reduced{angle.hi, fma(r, lit<D>(kHalfPiLow), angle.lo), bits(k + lit<D>(0x1.8p52))};
  const D sine = sin_of(reduced), cosine = sin_of(quarter_turn_on(reduced));
  return {half - fma(f, cosine, g * sine), half + fma(f, sine, -(g * cosine))};
}

template <class T>
RW_SCALAR T fresnel_sin(T x) {
  using D = Wide<T>;
  const D y = widen(x), a = abs(y);
  const D near = fresnel_near(at_most(a, 1.59)).s;
  const D far = fresnel_far(at_least(at_most(a, 0x1p60), 1.59)).s;
  return narrow<T>(copysign(blend(a < lit<D>(1.59), near, far), y));
}

template <class T>
RW_SCALAR T fresnel_cos(T x) {
  using D = Wide<T>;
  const D y = widen(x), a = abs(y);
  const D near = fresnel_near(at_most(a, 1.59)).c;
  const D far = fresnel_far(at_least(at_most(a, 0x1p60), 1.59)).c;
  return narrow<T>(copysign(blend(a < lit<D>(1.59), near, far), y));
}

}  // namespace rw::scalar
