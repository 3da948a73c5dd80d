#include "rewind/tensor/numpy_format.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "rewind/base/dispatch.h"
#include "rewind/base/error.h"
#include "rewind/op/object.h"
#include "rewind/tensor/float_text.h"

namespace rw {
namespace {

constexpr int64_t kThreshold = 1000, kEdge = 3;
constexpr int kLineWidth = 75, kPrecision = 8;

using Word = std::function<std::string(int64_t)>;  // element by flat index

// Flat indices of the elements that are shown.
void visible(const View& a, int axis, int64_t at, bool summarised, std::vector<int64_t>* list) {
  if (axis == a.rank()) {
    list->push_back(at);
    return;
  }
  const int64_t n = a.dim(axis);
  for (int64_t i = 0; i < n; ++i) {
    if (summarised && n > 2 * kEdge && i == kEdge) i = n - kEdge;
    visible(a, axis + 1, at * n + i, summarised, list);
  }
}

// A complex array is two arrays of floating-point numbers.
enum class Part { kReal, kImaginary };

double number_at(const View& a, int64_t i, Part part = Part::kReal) {
  switch (a.dtype) {
    case DType::kComplex64: return double(a.as<float>()[2 * i + int64_t(part)]);
    case DType::kComplex128: return a.as<double>()[2 * i + int64_t(part)];
    case DType::kFloat64: return a.as<double>()[i];
    case DType::kFloat32: return double(a.as<float>()[i]);
    case DType::kFloat16: return double(float(a.as<Half>()[i]));
    default: return double(float(a.as<Bfloat16>()[i]));
  }
}

// numpy's choice between notations, in the array's own arithmetic.
bool needs_exponent(DType dtype, double largest, double smallest) {
  const double high = dtype == DType::kFloat64 ? 1e8 : dtype == DType::kFloat32 ? 1e6 : 1e3;
  double low = 1e-4, ratio = largest / smallest;
  if (dtype == DType::kFloat32) {
    low = double(1e-4f);
    ratio = double(float(largest) / float(smallest));
  } else if (dtype == DType::kFloat16) {
    low = double(float(Half(1e-4f)));
    ratio = double(float(Half(float(largest) / float(smallest))));
  }
  return largest >= high || smallest < low || ratio > 1000;
}

DType part_type(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}

// Columns of one floating-point array: how many characters stand on each side of the point.
struct FloatColumns {
  DType dtype;
  bool plus;  // a sign in front of every number
  bool exponent = false;
  int left = 0, right = 0, digits = 0, exponent_digits = 0;

  FloatColumns(const View& a, const std::vector<int64_t>& shown, Part part = Part::kReal)
      : dtype(part_type(a.dtype)), plus(part == Part::kImaginary) {
    double largest = 0, smallest = INFINITY;
    bool any_finite = false, any_other = false, negative_infinity = false;
    for (const int64_t i : shown) {
      const double x = number_at(a, i, part);
      if (!std::isfinite(x)) {
        any_other = true;
        negative_infinity |= std::isinf(x) && x < 0;
        continue;
      }
      any_finite = true;
      if (x == 0) continue;
      largest = std::max(largest, std::fabs(x));
      smallest = std::min(smallest, std::fabs(x));
    }
    exponent = largest > 0 && needs_exponent(dtype, largest, smallest);
    for (const int64_t i : shown)
      if (const double x = number_at(a, i, part); std::isfinite(x)) measure(x);
    if (any_finite && exponent) right = exponent_digits + 2 + digits;
    if (any_other) left = std::max({left, 3 - (right + 1), 3 + (plus || negative_infinity) - (right + 1)});
  }

  void measure(double x) {
    const std::string text =
        exponent ? scientific_text(x, dtype, kPrecision) : positional_text(x, dtype, kPrecision);
    const int point = int(text.find('.'));
    left = std::max(left, point + (plus || std::signbit(x) ? 1 : 0));
    if (exponent) {
      const int e = int(text.find('e'));
      digits = std::max(digits, e - point - 1);
      exponent_digits = std::max(exponent_digits, int(text.size()) - e - 2);
    } else {
      right = std::max(right, int(text.size()) - point - 1);
    }
  }

  std::string word(double x) const {
    std::string text;
    if (!std::isfinite(x)) {
      text = std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
      if (plus && text[0] != '-') text.insert(0, "+");
      return std::string(size_t(std::max(0, left + right + 1 - int(text.size()))), ' ') + text;
    }
    if (exponent) {
      text = exact_scientific_text(x, digits);
      const size_t power = text.find('e') + 2;
      text.insert(power, size_t(std::max(0, exponent_digits - int(text.size() - power))), '0');
    } else {
      text = positional_text(x, dtype, kPrecision);
      text.append(size_t(right) - (text.size() - text.find('.') - 1), ' ');
    }
    if (plus || std::signbit(x)) text.insert(0, std::signbit(x) ? "-" : "+");
    const int point = int(text.find('.'));
    return std::string(size_t(std::max(0, left - point)), ' ') + text;
  }
};

std::string integer_at(const View& a, int64_t i) {
  std::string text;
  dispatch<kIntTypes>(a.dtype, [&]<class T>() { text = std::to_string(a.as<T>()[i]); });
  return text;
}

Word word_of(const View& a, bool summarised) {
  std::vector<int64_t> shown;
  visible(a, 0, 0, summarised, &shown);
  if (a.dtype == DType::kBfloat16) return [&a](int64_t i) { return scalar_text(number_at(a, i), a.dtype); };
  if (is_floating(a.dtype)) {
    return [&a, columns = FloatColumns(a, shown)](int64_t i) { return columns.word(number_at(a, i)); };
  }
  if (contains(kComplexTypes, a.dtype)) {
    return
        [&a, real = FloatColumns(a, shown), imaginary = FloatColumns(a, shown, Part::kImaginary)](int64_t i) {
          std::string text = imaginary.word(number_at(a, i, Part::kImaginary));
          text.insert(text.find_last_not_of(' ') + 1, "j");
          return real.word(number_at(a, i)) + text;
        };
  }
  if (is_integer(a.dtype)) {
    size_t width = 0;
    for (const int64_t i : shown) width = std::max(width, integer_at(a, i).size());
    return [&a, width](int64_t i) {
      std::string text = integer_at(a, i);
      return text.insert(0, width - text.size(), ' ');
    };
  }
  if (a.dtype == DType::kBool)
    return [&a](int64_t i) -> std::string { return a.as<bool>()[i] ? " True" : "False"; };
  if (a.dtype == DType::kString) return [&a](int64_t i) { return bytes_text(a.as<std::string>()[i]); };
  if (is_host_only(a.dtype)) {
    return [&a](int64_t i) {
      const Object* object = a.as<Ref<Object>>()[i].get();
      return object ? object->describe() : std::string("None");
    };
  }
  return [](int64_t) -> std::string { return "<unprintable>"; };
}

struct Printer {
  const View& array;
  const Word& word;
  std::string separator;
  bool summarised;

  // Adds a word to the line, on a new one if it does not fit.
  static void extend(std::string* text, std::string* line, const std::string& word, int width,
                     const std::string& indent) {
    if (int(line->size() + word.size()) > width && line->size() > indent.size()) {
      while (!line->empty() && line->back() == ' ') line->pop_back();
      *text += *line + "\n";
      *line = indent;
    }
    *line += word;
  }

  std::string print(int axis, int64_t at, const std::string& indent, int width) const {
    const int axes_left = array.rank() - axis;
    if (axes_left == 0) return word(at);
    const int64_t n = array.dim(axis);
    const bool cut = summarised && n > 2 * kEdge;
    const std::string inner = indent + " ";
    std::string text, line = indent;
    std::string gap = separator;  // between rows: without the trailing space, with one newline per axis left
    while (!gap.empty() && gap.back() == ' ') gap.pop_back();
    const int room = width - std::max(int(gap.size()), 1);
    gap += std::string(size_t(axes_left - 1), '\n');
    for (int64_t i = 0; i < n; ++i) {
      if (cut && i == kEdge) {
        if (axes_left == 1) {
          extend(&text, &line, "...", room, indent);
          line += separator;
        } else {
          text += indent + "..." + gap;
        }
        i = n - kEdge;
      }
      const std::string part = print(axis + 1, at * n + i, inner, width - 1);
      if (axes_left == 1) {
        extend(&text, &line, part, room, indent);
        if (i + 1 < n) line += separator;
      } else {
        text += indent + part + (i + 1 < n ? gap : "");
      }
    }
    if (axes_left == 1) text += line;
    return "[" + text.substr(indent.size()) + "]";
  }
};

std::string array_text(const View& a, const std::string& separator, size_t prefix, int width) {
  if (a.size == 0) return "[]";
  const bool summarised = a.size > kThreshold;
  const Word word = word_of(a, summarised);
  return Printer{a, word, separator, summarised}.print(0, 0, std::string(prefix + 1, ' '), width);
}

bool has_own_text(DType dtype) {
  return dtype == DType::kInt64 || dtype == DType::kFloat64 || dtype == DType::kBool ||
         dtype == DType::kComplex128;
}

}  // namespace

std::string numpy_str(const View& array) {
  if (array.rank() > 0) return array_text(array, " ", 0, kLineWidth);
  if (is_floating(array.dtype)) return scalar_text(number_at(array, 0), array.dtype);
  if (contains(kComplexTypes, array.dtype))
    return complex_scalar_text(number_at(array, 0), number_at(array, 0, Part::kImaginary),
                               part_type(array.dtype));
  if (array.dtype == DType::kBool) return *array.as<bool>() ? "True" : "False";
  return word_of(array, false)(0);
}

std::string numpy_repr(const View& array) {
  const std::string prefix = "array(";
  std::string text = prefix + array_text(array, ", ", prefix.size(), kLineWidth - 1);
  std::string extras;
  if ((array.size == 0 && array.rank() != 1) || array.size > kThreshold)
    extras = "shape=" + array.shape->to_string();
  if (!has_own_text(array.dtype) || array.size == 0) {
    const bool object = is_host_only(array.dtype);
    extras +=
        (extras.empty() ? "dtype=" : ", dtype=") + std::string(object ? "object" : name_of(array.dtype));
  }
  if (extras.empty()) return text + ")";
  text += ",";
  extras += ")";
  const size_t last = text.size() - (text.rfind('\n') + 1);
  const bool wrap = last + extras.size() + 1 > size_t(kLineWidth);
  return text + (wrap ? "\n" + std::string(prefix.size(), ' ') : " ") + extras;
}

}  // namespace rw
