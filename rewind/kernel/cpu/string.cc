// Kernels of the string ops.
#include <algorithm>
#include <cmath>
#include <complex>
#include <string_view>

#include "rewind/base/ascii.h"
#include "rewind/base/dispatch.h"
#include "rewind/base/number_text.h"
#include "rewind/kernel/cpu/unicode_tables.h"
#include "rewind/kernel/cpu/value_text.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

// The attributes of AsString: TensorFlow makes a printf format of them, with `fill` for its flag.
struct NumberFormat {
  int precision, width;
  bool scientific, shortest;
  std::string fill;

  explicit NumberFormat(const KernelContext& ctx)
      : precision(ctx.attr<int>("precision")),
        width(ctx.attr<int>("width")),
        scientific(ctx.attr<bool>("scientific")),
        shortest(ctx.attr<bool>("shortest")),
        fill(ctx.attr<std::string>("fill")) {
    const DType dtype = ctx.in(0).dtype;
    const std::string name(name_of(dtype));
    const bool has_fraction = contains(kFloatTypes | kComplexTypes | set_of(DType::kString), dtype);
    if (scientific && shortest) ctx.fail("scientific and shortest exclude each other");
    if (fill.size() > 1) ctx.fail("fill must be one character at most: got '" + fill + "'");
    if (!has_fraction && precision > -1)
      ctx.fail("precision is for floating-point numbers: the input is " + name);
    if (!has_fraction && (scientific || shortest))
      ctx.fail("scientific and shortest are for floating-point numbers: the input is " + name);
    if (fill.size() == 1 && std::string("+- 0#").find(fill[0]) == std::string::npos)
      ctx.fail("fill must be one of '+', '-', '0', '#' and ' ': got '" + fill + "'");
    if (width > 4096 || precision > 4096) ctx.fail("width and precision must be at most 4096");
  }

  // `zeros`: whether they may fill, behind the sign; infinities, NaNs and strings take spaces.
  std::string padded(std::string text, bool zeros) const {
    if (width < 0 || text.size() >= size_t(width)) return text;
    const size_t missing = size_t(width) - text.size();
    if (fill == "-") return text.append(missing, ' ');
    if (fill != "0" || !zeros) return text.insert(0, missing, ' ');
    const bool sign = text[0] == '-' || text[0] == '+' || text[0] == ' ';
    return text.insert(size_t(sign), missing, '0');
  }
  std::string with_sign(const std::string& text) const {
    return (fill == "+" || fill == " ") && text[0] != '-' ? fill + text : text;
  }

  std::string number(double x) const {
    if (!std::isfinite(x))  // the sign of a NaN is that of the instruction that made it, not of the result
      return padded(with_sign(std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf"), false);
    const int digits = precision > -1 ? precision : 6;
    std::string text = scientific ? exponential_text(x, digits)
                       : shortest ? general_text(x, digits)
                                  : fixed_text(x, digits);
    if (fill == "#") keep_point(&text, shortest ? std::max(digits, 1) : 0);
    return padded(with_sign(text), true);
  }
  template <class T>
    requires std::is_integral_v<T>
  std::string number(T x) const {
    const std::string text = std::to_string(x);
    return padded(std::is_signed_v<T> ? with_sign(text) : text, true);
  }
  // C's printf ends at a zero byte.
  std::string string(const std::string& s) const {
    if (width <= 0) return s;
    const std::string text(s.c_str());
    return padded(precision > -1 ? text.substr(0, size_t(precision)) : text, false);
  }

 private:
  // printf's flag #: a point in every number, and all of `significant` digits behind "%g".
  static void keep_point(std::string* text, int significant) {
    const size_t end = std::min(text->find('e'), text->size());
    std::string mantissa = text->substr(0, end);
    if (mantissa.find('.') == std::string::npos) mantissa += '.';
    int digits = 0;
    for (const char c : mantissa) digits += ascii::is_digit(c) && (digits > 0 || c != '0');
    if (digits == 0) digits = 1;  // of zero, the first counts
    if (digits < significant) mantissa.append(size_t(significant - digits), '0');
    *text = mantissa + text->substr(end);
  }
};

void as_string(KernelContext& ctx) {
  const View& in = ctx.in(0);
  const NumberFormat format(ctx);
  auto* out = ctx.out(0).as<std::string>();
  const auto complex = [&]<class T>(const std::complex<T>* x) {
    for (int64_t i = 0; i < in.size; ++i)
      out[i] = "(" + format.number(double(x[i].real())) + "," + format.number(double(x[i].imag())) + ")";
  };
  if (in.dtype == DType::kComplex64) return complex(in.as<std::complex<float>>());
  if (in.dtype == DType::kComplex128) return complex(in.as<std::complex<double>>());
  const bool ok = dispatch < kRealTypes | set_of(DType::kBool, DType::kString) > (in.dtype, [&]<class T>() {
                                            const T* x = in.as<T>();
                                            for (int64_t i = 0; i < in.size; ++i) {
                                              if constexpr (std::is_same_v<T, bool>)
                                                out[i] = x[i] ? "true" : "false";
                                              else if constexpr (std::is_same_v<T, std::string>)
                                                out[i] = format.string(x[i]);
                                              else if constexpr (is_float_element<T>)
                                                out[i] = format.number(double(static_cast<Compute<T>>(x[i])));
                                              else out[i] = format.number(x[i]);
                                            }
                                          });
  if (!ok) ctx.fail_dtype(in.dtype);
}

void join(KernelContext& ctx) {
  const View& out = ctx.out(0);
  const std::string separator = ctx.attr<std::string>("separator");
  for (int64_t i = 0; i < out.size; ++i) {
    std::string& text = out.as<std::string>()[i];
    for (int k = 0; k < ctx.num_inputs(); ++k) {
      if (k > 0) text += separator;
      text += ctx.in(k).as<std::string>()[ctx.in(k).rank() == 0 ? 0 : i];
    }
  }
}

void format(KernelContext& ctx) {
  const std::string pattern = ctx.attr<std::string>("template");
  const std::string placeholder = ctx.attr<std::string>("placeholder");
  const int64_t summarize = ctx.attr<int64_t>("summarize");
  if (placeholder.empty()) ctx.fail("the placeholder must not be empty");
  std::string text;
  size_t at = 0;
  int next = 0;
  for (size_t found; (found = pattern.find(placeholder, at)) != std::string::npos;
       at = found + placeholder.size()) {
    text.append(pattern, at, found - at);
    if (next < ctx.num_inputs()) text += value_text(ctx.in(next), summarize);
    ++next;
  }
  if (next != ctx.num_inputs()) {
    ctx.fail("the template must have one placeholder per input: it has " + std::to_string(next) + " for " +
             std::to_string(ctx.num_inputs()) + " inputs");
  }
  *ctx.out(0).as<std::string>() = text.append(pattern, at);
}

void length(KernelContext& ctx) {
  const bool characters = ctx.attr<std::string>("unit") == "UTF8_CHAR";
  for (int64_t i = 0; i < ctx.in(0).size; ++i) {
    const std::string& s = ctx.in(0).as<std::string>()[i];
    // Bytes 10xxxxxx continue a character.
    const auto count = characters
                           ? std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; })
                           : std::ptrdiff_t(s.size());
    ctx.out(0).as<int32_t>()[i] = int32_t(count);
  }
}

// Without an encoding, of ASCII's letters alone.
template <char (*kChange)(char), std::string (*kChangeUnicode)(const std::string&)>
void change_case(KernelContext& ctx) {
  const std::string encoding = ctx.attr<std::string>("encoding");
  if (!encoding.empty() && encoding != "utf-8")
    ctx.fail("encoding must be '' or 'utf-8': got '" + encoding + "'");
  for (int64_t i = 0; i < ctx.in(0).size; ++i) {
    if (!encoding.empty()) {
      ctx.out(0).as<std::string>()[i] = kChangeUnicode(ctx.in(0).as<std::string>()[i]);
      continue;
    }
    std::string s = ctx.in(0).as<std::string>()[i];
    for (char& c : s) c = kChange(c);
    ctx.out(0).as<std::string>()[i] = std::move(s);
  }
}

void strip(KernelContext& ctx) {
  for (int64_t i = 0; i < ctx.in(0).size; ++i) {
    const std::string& s = ctx.in(0).as<std::string>()[i];
    const size_t first = s.find_first_not_of(" \t\n\v\f\r");
    const size_t last = s.find_last_not_of(" \t\n\v\f\r");
    ctx.out(0).as<std::string>()[i] = first == std::string::npos ? "" : s.substr(first, last - first + 1);
  }
}

std::string_view stripped(std::string_view s) {
  while (!s.empty() && ascii::is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && ascii::is_space(s.back())) s.remove_suffix(1);
  return s;
}

void to_number(KernelContext& ctx) {
  const View& out = ctx.out(0);
  dispatch<set_of(DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUint32,
                  DType::kUint64)>(out.dtype, [&]<class T>() {
    for (int64_t i = 0; i < out.size; ++i) {
      const std::string& s = ctx.in(0).as<std::string>()[i];
      if (!parse_number(stripped(s), &out.as<T>()[i]))
        ctx.fail("'" + s + "' is not a " + std::string(name_of(out.dtype)));
    }
  });
}

}  // namespace

void register_regex_cpu_kernels();
void register_string_hash_cpu_kernels();
void register_string_part_cpu_kernels();
void register_unicode_cpu_kernels();

void register_string_cpu_kernels() {
  register_regex_cpu_kernels();
  register_string_hash_cpu_kernels();
  register_string_part_cpu_kernels();
  register_unicode_cpu_kernels();
  register_kernel("AsString", DeviceType::kCpu, as_string);
  register_kernel("StringJoin", DeviceType::kCpu, join);
  register_kernel("StringFormat", DeviceType::kCpu, format);
  register_kernel("StringLength", DeviceType::kCpu, length);
  register_kernel("StringLower", DeviceType::kCpu, (change_case<ascii::to_lower, unicode::to_lower>));
  register_kernel("StringUpper", DeviceType::kCpu, (change_case<ascii::to_upper, unicode::to_upper>));
  register_kernel("StringStrip", DeviceType::kCpu, strip);
  register_kernel("StringToNumber", DeviceType::kCpu, to_number);
}

}  // namespace rw
