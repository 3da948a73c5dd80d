// Definitions: special functions of one argument.
#pragma once

#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_special(Visitor&& v) {
  v.template op<kFloatTypes>("Erf", [](auto x) { return scalar::erf(x); });
  v.template op<kFloatTypes>("Erfc", [](auto x) { return scalar::erfc(x); });
  v.template op<kFloatTypes>("Erfinv", [](auto x) { return scalar::erfinv(x); });
  v.template op<kFloatTypes>("Ndtri", [](auto x) { return scalar::ndtri(x); });
  v.template op<kFloatTypes>("Lgamma", [](auto x) { return scalar::lgamma(x); });
  v.template op<kFloatTypes>("Digamma", [](auto x) { return scalar::digamma(x); });
}

template <class Visitor>
void visit_bessel(Visitor&& v) {
  v.template op<kFloatTypes>("BesselI0", [](auto x) { return scalar::bessel_i0(x); });
  v.template op<kFloatTypes>("BesselI0e", [](auto x) { return scalar::bessel_i0e(x); });
  v.template op<kFloatTypes>("BesselI1", [](auto x) { return scalar::bessel_i1(x); });
  v.template op<kFloatTypes>("BesselI1e", [](auto x) { return scalar::bessel_i1e(x); });
  v.template op<kFloatTypes>("BesselK0", [](auto x) { return scalar::bessel_k0(x); });
  v.template op<kFloatTypes>("BesselK0e", [](auto x) { return scalar::bessel_k0e(x); });
  v.template op<kFloatTypes>("BesselK1", [](auto x) { return scalar::bessel_k1(x); });
  v.template op<kFloatTypes>("BesselK1e", [](auto x) { return scalar::bessel_k1e(x); });
}

template <class Visitor>
void visit_integrals(Visitor&& v) {
  v.template op<kFloatTypes>("BesselJ0", [](auto x) { return scalar::bessel_j0(x); });
  v.template op<kFloatTypes>("BesselJ1", [](auto x) { return scalar::bessel_j1(x); });
  v.template op<kFloatTypes>("BesselY0", [](auto x) { return scalar::bessel_y0(x); });
  v.template op<kFloatTypes>("BesselY1", [](auto x) { return scalar::bessel_y1(x); });
  v.template op<kFloatTypes>("Dawsn", [](auto x) { return scalar::dawsn(x); });
  v.template op<kFloatTypes>("Expint", [](auto x) { return scalar::expint(x); });
  v.template op<kFloatTypes>("FresnelSin", [](auto x) { return scalar::fresnel_sin(x); });
  v.template op<kFloatTypes>("FresnelCos", [](auto x) { return scalar::fresnel_cos(x); });
  v.template op<kFloatTypes>("Spence", [](auto x) { return scalar::spence(x); });
}

}  // namespace rw
