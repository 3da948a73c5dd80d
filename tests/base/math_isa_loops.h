// One loop a function and type, compiled by math_isa_{base,v3,v4}_test.cc for three instruction sets.
#pragma once

#include <cstddef>
#include <vector>

namespace rw_math_isa {

template <class T>
using Loop = void (*)(const T* a, const T* b, T* out, std::size_t n);  // all of length n

struct Entry {
  const char* name;
  Loop<float> f32;
  Loop<double> f64;
};

std::vector<Entry> base_loops();
std::vector<Entry> v3_loops();
std::vector<Entry> v4_loops();

}  // namespace rw_math_isa

#ifdef RW_LOOPS
#include "rewind/base/math/math.h"

namespace rw_math_isa {
namespace {

// clang-format off
#define FOR_UNARY(F) \
  F(exp) F(exp2) F(expm1) F(log) F(log1p) F(log2) F(log10) F(tanh) F(sinh) F(cosh) F(asinh) F(acosh) \
  F(atanh) F(sigmoid) F(softplus) F(elu) F(selu) F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(erf) \
  F(erfc) F(erfinv) F(ndtri) F(sqrt) F(rsqrt) F(floor) F(ceil) F(rint) F(sign) F(relu) F(relu6) F(lgamma) F(digamma) \
  F(bessel_i0) F(bessel_i0e) F(bessel_i1) F(bessel_i1e) F(bessel_k0) F(bessel_k0e) F(bessel_k1) \
  F(bessel_k1e) F(bessel_j0) F(bessel_j1) F(bessel_y0) F(bessel_y1) F(dawsn) F(expint) F(spence) \
  F(fresnel_sin) F(fresnel_cos)
#define FOR_BINARY(F) \
  F(pow) F(atan2) F(floor_div) F(floor_mod) F(trunc_mod) F(nextafter) F(maximum) F(minimum) F(leaky_relu) F(xlogy) F(xlog1py) F(xdivy) \
  F(div_no_nan) F(igamma) F(igammac)
// clang-format on

#define UNARY_LOOP(f)                                                                           \
  template <class T>                                                                            \
  void loop_##f(const T* __restrict a, const T* __restrict, T* __restrict out, std::size_t n) { \
    for (std::size_t i = 0; i < n; ++i) out[i] = rw::scalar::f(a[i]);                           \
  }
#define BINARY_LOOP(f)                                                                            \
  template <class T>                                                                              \
  void loop_##f(const T* __restrict a, const T* __restrict b, T* __restrict out, std::size_t n) { \
    for (std::size_t i = 0; i < n; ++i) out[i] = rw::scalar::f(a[i], b[i]);                       \
  }
#define ENTRY(f) {#f, loop_##f<float>, loop_##f<double>},

FOR_UNARY(UNARY_LOOP)
FOR_BINARY(BINARY_LOOP)

}  // namespace

std::vector<Entry> RW_LOOPS() { return {FOR_UNARY(ENTRY) FOR_BINARY(ENTRY)}; }

}  // namespace rw_math_isa
#endif
