// Floating-point numbers as text, as Python and numpy write them: the fewest digits that read back as the
// same number of the same type.
#pragma once

#include <cstdint>
#include <string>

#include "rewind/base/dtype.h"

namespace rw {

// |x| of this type in positional ("12.5", "3.", "0.") or scientific ("1.25e+10", "1.e-05") notation, at most
// `precision` digits behind the point (-1: as many as it takes), rounded from the exact value. No sign, no
// trailing zeros. x must be finite.
std::string positional_text(double x, DType dtype, int precision);
std::string scientific_text(double x, DType dtype, int precision);
// The same with exactly this many digits behind the point.
std::string exact_scientific_text(double x, int digits);

// One number on its own, as str() writes a numpy scalar of this type: "0.1", "1.0", "1e-05", "-inf", "nan".
std::string scalar_text(double x, DType dtype);
// str() of a complex scalar whose parts have this type: "(1+2.5j)", "1j".
std::string complex_scalar_text(double real, double imaginary, DType part);

// As repr() writes bytes: b'...' with escapes.
std::string bytes_text(const std::string& bytes);

}  // namespace rw
