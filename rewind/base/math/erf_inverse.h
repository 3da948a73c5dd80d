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
      b - lit<D>(2.5), 1.5014093511107915, 0.2466402767441677, -0.004177317724368956, -0.0012527079078171817,
      0.00021825026426563, -4.996079583748243e-6, -3.4166194335747936e-6, 4.7872520289632241e-7,
      1.3416631224878459e-8, -1.0861161566459301e-8, 9.0740903925053875e-10, 1.1960597680952699e-10,
      -3.1142272271885059e-11, 9.1107571610538041e-13, 5.4490750546025675e-13, -7.5874050444398697e-14,
      -4.2291379814136713e-15, 1.847504242569462e-15, -2.2111037980961624e-17, -2.2234757368683326e-17);
  const D c = at_most(s, 4.0);
  const D far = polynomial(
      c - lit<D>(3.125), 2.9583201502404616, 1.00371869179792, 0.0070478844179202087, -0.005301010608000781,
      0.0037944200101378459, -0.0025198827054706232, 0.0012606699706824137, -0.00032866199511717258,
      -8.9554040091343789e-5, 0.00013610363024400489, -5.8848772601164576e-5, 2.1897382966187103e-6,
      1.1389925377810924e-5, -6.2861640305891749e-6, 9.2070485930964965e-7, 7.7385307635022697e-7,
      -5.7575807237711923e-7, 1.0859295048008533e-7, 6.4754850443420962e-8, -3.0716542006984479e-8);
  const D d = at_most(s, 8.0);
  const D farther =
      polynomial(d - lit<D>(6.0), 5.8599131439462447, 1.0096051220992067, -0.00047283995791182464,
                 -4.2924974382980089e-5, 2.1578557856830927e-5, -5.3563969127937195e-6, 1.1055936102096448e-6,
                 -2.0884542296629841e-7, 3.7385810850928124e-8, -6.4838670352650177e-9, 1.0815334899013037e-9,
                 -1.4962481832079263e-10, 2.8800832527969709e-11, -1.9386188540293552e-11,
                 3.7968943681450851e-12, 2.2736336491697882e-12, -1.532149346326131e-13,
                 -6.3908079711570846e-13, 2.0737685900864185e-13, -1.6910411791519259e-14);
  const D u = lit<D>(1.0) / at_least(s, 8.0);
  const D last =
      s * polynomial(u - lit<D>(0.0625), 0.99481356126813342, -0.13484345274399736, -0.58169942828652474,
                     2.6382991265257876, -10.635531395412842, 67.957444324624134, -547.17562589363532,
                     5003.8332919030455, -50042.265501511021, 533784.8590897746, -5930294.5029886553,
                     67975232.576445536, -845593370.4252173, 11724096093.149793, -153022201791.30339,
                     1477905311116.7038, -8616983311447.4638, 22247101361683.202);
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
  const D x = lit<D>(2.0) * (y - lit<D>(0.5));
  const D w = select(abs(x) < lit<D>(0.5), -log1p(-x * x), -(log(y) + log(lit<D>(4.0) * rest)));
  const D result = lit<D>(1.41421356237309504880) * x * inverse_erf_factor(w);
  const D ends = select(y == zero, lit<D>(-kInfinity), select(y == one, lit<D>(kInfinity), lit<D>(kNaN)));
  return narrow<T>(select(both(y > zero, y < one), result, ends));
}

}  // namespace rw::scalar
