// Kernels of the string ops.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>

#include <cmath>

#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/value_text.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

// A printf format built from the attributes of AsString.
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
    if (scientific && shortest) ctx.fail("scientific and shortest exclude each other");
    if (fill.size() > 1) ctx.fail("fill must be one character at most: got '" + fill + "'");
    if (!is_floating(dtype) && precision > -1)
      ctx.fail("precision is for floating-point numbers: the input is " + name);
    if (!is_floating(dtype) && (scientific || shortest))
      ctx.fail("scientific and shortest are for floating-point numbers: the input is " + name);
    if (fill.size() == 1 && std::string("+- 0").find(fill[0]) == std::string::npos)
      ctx.fail("fill must be one of '+', '-', '0' and ' ': got '" + fill + "'");
    if (width > 4096 || precision > 4096) ctx.fail("width and precision must be at most 4096");
  }
  std::string pattern(const char* conversion) const {
    std::string p = "%" + fill;
    if (width > -1) p += std::to_string(width);
    if (precision > -1) p += "." + std::to_string(precision);
    return p + conversion;
  }
};

template <class... A>
std::string formatted(const std::string& pattern, A... args) {
  char text[4200];
  const int n = snprintf(text, sizeof text, pattern.c_str(), args...);
  if (n < int(sizeof text)) return text;
  std::string longer(size_t(n), '\0');
  snprintf(longer.data(), longer.size() + 1, pattern.c_str(), args...);
  return longer;
}

// The sign of a NaN is not part of a result: it depends on the instruction that made it.
double without_nan_sign(double x) { return x != x ? std::copysign(x, 1.0) : x; }

void as_string(KernelContext& ctx) {
  const View& in = ctx.in(0);
  const NumberFormat format(ctx);
  auto* out = ctx.out(0).as<std::string>();
  const bool ok = dispatch < kRealTypes |
                  set_of(DType::kBool, DType::kString) > (in.dtype, [&]<class T>() {
                    const T* x = in.as<T>();
                    std::string pattern;
                    if constexpr (is_float_element<T>)
                      pattern = format.pattern(format.scientific ? "e" : format.shortest ? "g" : "f");
                    else if constexpr (std::is_same_v<T, std::string>) pattern = format.pattern("s");
                    else pattern = format.pattern(std::is_signed_v<T> ? "lld" : "llu");
                    for (int64_t i = 0; i < in.size; ++i) {
                      if constexpr (std::is_same_v<T, bool>) out[i] = x[i] ? "true" : "false";
                      else if constexpr (std::is_same_v<T, std::string>)
                        out[i] = format.width > -1 ? formatted(pattern, x[i].c_str()) : x[i];
                      else if constexpr (is_float_element<T>)
                        out[i] = formatted(pattern, without_nan_sign(double(static_cast<Compute<T>>(x[i]))));
                      else if constexpr (std::is_signed_v<T>)
                        out[i] = formatted(pattern, static_cast<long long>(x[i]));
                      else out[i] = formatted(pattern, static_cast<unsigned long long>(x[i]));
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

template <int (*kChange)(int)>
void change_case(KernelContext& ctx) {
  if (const std::string e = ctx.attr<std::string>("encoding"); !e.empty() && e != "utf-8")
    ctx.fail("encoding must be '' or 'utf-8': got '" + e + "'");
  for (int64_t i = 0; i < ctx.in(0).size; ++i) {
    std::string s = ctx.in(0).as<std::string>()[i];
    for (char& c : s)
      if (static_cast<unsigned char>(c) < 128) c = char(kChange(c));
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

template <class T>
bool parse(const std::string& s, T* value) {
  const char* begin = s.c_str();
  while (std::isspace(static_cast<unsigned char>(*begin))) ++begin;
  if (*begin == '\0') return false;
  char* end = nullptr;
  errno = 0;
  if constexpr (std::is_same_v<T, float>) *value = std::strtof(begin, &end);
  else if constexpr (std::is_same_v<T, double>) *value = std::strtod(begin, &end);
  else if constexpr (std::is_signed_v<T>) {
    const long long v = std::strtoll(begin, &end, 10);
    *value = T(v);
    if (errno == ERANGE || (long long)(*value) != v) return false;
  } else {
    if (*begin == '-') return false;
    const unsigned long long v = std::strtoull(begin, &end, 10);
    *value = T(v);
    if (errno == ERANGE || (unsigned long long)(*value) != v) return false;
  }
  while (std::isspace(static_cast<unsigned char>(*end))) ++end;
  return *end == '\0';
}

void to_number(KernelContext& ctx) {
  const View& out = ctx.out(0);
  dispatch<set_of(DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUint32,
                  DType::kUint64)>(out.dtype, [&]<class T>() {
    for (int64_t i = 0; i < out.size; ++i) {
      const std::string& s = ctx.in(0).as<std::string>()[i];
      if (!parse(s, &out.as<T>()[i])) ctx.fail("'" + s + "' is not a " + std::string(name_of(out.dtype)));
    }
  });
}

}  // namespace

void register_string_cpu_kernels() {
  register_kernel("AsString", DeviceType::kCpu, as_string);
  register_kernel("StringJoin", DeviceType::kCpu, join);
  register_kernel("StringFormat", DeviceType::kCpu, format);
  register_kernel("StringLength", DeviceType::kCpu, length);
  register_kernel("StringLower", DeviceType::kCpu, change_case<std::tolower>);
  register_kernel("StringUpper", DeviceType::kCpu, change_case<std::toupper>);
  register_kernel("StringStrip", DeviceType::kCpu, strip);
  register_kernel("StringToNumber", DeviceType::kCpu, to_number);
}

}  // namespace rw
