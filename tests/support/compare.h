// Compares arrays and results under a case's tolerance. The same formula stands in tests/interop/compare.py:
// allowed error = (ulp * eps + rtol) * |want| + abs_ulp * eps * scale + atol, where eps is the dtype's and
// scale is max |want|, not above 1 unless the tolerance is scaled.
#pragma once

#include "tests/support/case_io.h"

namespace rw::test {

// 2^-23 for float32, 2^-52 for float64, a quarter of the real one for 16-bit types (they are computed in
// float and rounded once); 0 for types that must agree exactly.
double epsilon_of(DType dtype);

// Empty when equal, else what differs, with the worst element.
std::string difference(const std::optional<Array>& want, const std::optional<Array>& got,
                       const Tolerance& tolerance, double factor = 1, bool absolute = false);

// All that differs between the results of a case, one a line.
std::string difference(const Case& c, const Result& want, const Result& got);

}  // namespace rw::test
