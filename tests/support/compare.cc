#include "tests/support/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rw::test {
namespace {

std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

std::string at(const Array& a, int64_t component) {
  int64_t i = contains(kComplexTypes, a.dtype) ? component / 2 : component;
  std::string s;
  for (size_t k = a.dims.size(); k-- > 0; i /= std::max<int64_t>(a.dims[k], 1))
    s = std::to_string(i % a.dims[k]) + (s.empty() ? "" : ", ") + s;
  return "at (" + s + "): ";
}

std::string exact_difference(const Array& want, const Array& got) {
  if (want.dtype == DType::kString) {
    for (size_t i = 0; i < want.strings.size(); ++i)
      if (want.strings[i] != got.strings[i])
        return at(want, int64_t(i)) + '"' + got.strings[i] + "\", want \"" + want.strings[i] + '"';
    return "";
  }
  size_t width = want.size() ? want.bytes.size() / size_t(want.size()) : 1;
  for (int64_t i = 0; i < want.size(); ++i)
    if (std::memcmp(want.bytes.data() + size_t(i) * width, got.bytes.data() + size_t(i) * width, width) != 0)
      return at(want, i) + number(got.component(i)) + ", want " + number(want.component(i));
  return "";
}

}  // namespace

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 0x1p-12;
    case DType::kBfloat16: return 0x1p-9;
    case DType::kFloat32:
    case DType::kComplex64: return 0x1p-23;
    case DType::kFloat64:
    case DType::kComplex128: return 0x1p-52;
    default: return 0;
  }
}

std::string difference(const std::optional<Array>& want, const std::optional<Array>& got,
                       const Tolerance& tolerance, double factor, bool absolute) {
  if (want.has_value() != got.has_value())
    return std::string("want ") + (want ? want->describe() : "none") + ", got " +
           (got ? got->describe() : "none");
  if (!want) return "";
  if (want->dtype != got->dtype || want->dims != got->dims)
    return got->describe() + ", want " + want->describe();
  double eps = epsilon_of(want->dtype);
  if (eps == 0) return exact_difference(*want, *got);

  // A complex array's real and imaginary parts have a scale each.
  int parts = contains(kComplexTypes, want->dtype) ? 2 : 1;
  double scale[2] = {0, 0};
  for (int64_t i = 0; i < want->num_components(); ++i) {
    double w = std::fabs(want->component(i));
    if (std::isfinite(w) && std::isfinite(got->component(i)))
      scale[i % parts] = std::max(scale[i % parts], w);
  }
  double worst = 1;
  std::string text;
  for (int64_t i = 0; i < want->num_components(); ++i) {
    double w = want->component(i), g = got->component(i);
    if (absolute) {
      w = std::fabs(w);
      g = std::fabs(g);
    }
    double error = 0, allowed = 1;
    if (std::isfinite(w) && std::isfinite(g)) {
      double s = tolerance.scaled ? scale[i % parts] : std::min(1.0, scale[i % parts]);
      error = std::fabs(w - g);
      allowed = factor * ((tolerance.ulp * eps + tolerance.rtol) * std::fabs(w) +
                          tolerance.abs_ulp * eps * s + tolerance.atol);
      allowed = std::max(allowed, 1e-300);
    } else if (!(std::isnan(w) && std::isnan(g)) && w != g) {
      error = INFINITY;
    }
    if (error / allowed <= worst) continue;
    worst = error / allowed;
    text = at(*want, i) + number(g) + ", want " + number(w) + ", error " + number(error) + ", allowed " +
           number(allowed);
  }
  return text;
}

std::string difference(const Case& c, const Result& want, const Result& got) {
  if (want.failed)
    return got.failed ? "" : "TensorFlow raises " + want.error + " (" + want.message + "), Rewind does not";
  if (got.failed) return "raises " + got.error + ": " + got.message;
  if (want.outputs.size() != got.outputs.size())
    return std::to_string(got.outputs.size()) + " outputs, want " + std::to_string(want.outputs.size());
  std::string text;
  auto add = [&](const std::string& what, size_t k, const std::string& d) {
    if (!d.empty()) text += (text.empty() ? "" : "\n") + what + " " + std::to_string(k) + ": " + d;
  };
  for (size_t k = 0; k < want.outputs.size(); ++k) {
    auto check = c.checks.size() == 1 ? c.checks[0] : k < c.checks.size() ? c.checks[k] : Check::kValues;
    auto& w = want.outputs[k];
    auto& g = got.outputs[k];
    if (check != Check::kShape) {
      add("output", k, difference(w, g, c.tolerance, 1, check == Check::kAbs));
    } else if (w && (!g || w->dtype != g->dtype || w->dims != g->dims)) {
      add("output", k, "another shape or dtype");
    }
  }
  if (want.gradients.size() != got.gradients.size())
    add("gradients", got.gradients.size(), "want " + std::to_string(want.gradients.size()));
  else
    for (size_t k = 0; k < want.gradients.size(); ++k)
      add("gradient", k, difference(want.gradients[k], got.gradients[k], c.tolerance, c.tolerance.gradient));
  return text;
}

}  // namespace rw::test
