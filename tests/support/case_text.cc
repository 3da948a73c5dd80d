#include <cstdio>

#include "tests/support/bad_call.h"

namespace rw::test {
namespace {

constexpr int64_t kMostElements = 40;

std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

std::string quoted(const std::string& s) {
  std::string text = "\"";
  for (const char ch : s.substr(0, 40)) {
    char code[8];
    std::snprintf(code, sizeof code, ch >= 32 && ch < 127 && ch != '"' ? "%c" : "\\x%02x", uint8_t(ch));
    text += code;
  }
  return text + (s.size() > 40 ? "...\"" : "\"");
}

int64_t int_at(const Array& a, int64_t i) {
  const size_t width = a.bytes.size() / size_t(a.size());
  uint64_t bits = 0;
  for (size_t k = 0; k < width; ++k) bits |= uint64_t(uint8_t(a.bytes[size_t(i) * width + k])) << (8 * k);
  const int unused = 64 - 8 * int(width);
  const bool is_signed = contains(set_of(DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64), a.dtype);
  return is_signed ? int64_t(bits << unused) >> unused : int64_t(bits);
}

std::string text_of(const Array& a) {
  std::string text = a.describe() + " {";
  const int64_t n = a.dtype == DType::kString ? int64_t(a.strings.size()) : a.num_components();
  for (int64_t i = 0; i < n && i < kMostElements; ++i) {
    if (i) text += ", ";
    if (a.dtype == DType::kString) text += quoted(a.strings[size_t(i)]);
    else if (is_floating(a.dtype) || contains(kComplexTypes, a.dtype)) text += number(a.component(i));
    else text += std::to_string(int_at(a, i));
  }
  return text + (n > kMostElements ? ", ...}" : "}");
}

std::string text_of(const std::optional<std::vector<int64_t>>& dims) {
  if (!dims) return "<unknown>";
  std::string text = "(";
  for (const int64_t d : *dims) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + ")";
}

std::string text_of(const CaseAttr& a) {
  std::string text;
  const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  for (const int64_t v : a.ints)
    add(a.kind == AttrKind::kType   ? std::string(name_of(DType(v)))
        : a.kind == AttrKind::kBool ? v ? "true" : "false"
                                    : std::to_string(v));
  for (const double v : a.floats) add(number(v));
  for (const std::string& s : a.strings) add(quoted(s));
  for (const auto& s : a.shapes) add(text_of(s));
  for (const Array& t : a.tensors) add(text_of(t));
  return a.name + "=" + (a.list ? "[" + text + "]" : text);
}

std::string text_of(const Call& call) {
  std::string text = call.op + "(";
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Input& in = call.inputs[i];
    if (i) text += ", ";
    if (in.kind == Input::kCall) text += text_of(*in.call) + ":" + std::to_string(in.output);
    else text += (in.kind == Input::kVariable ? "variable " : "") + text_of(in.value);
  }
  std::string attrs;
  for (const CaseAttr& a : call.attrs)
    if (!a.inferred) attrs += (attrs.empty() ? "; " : ", ") + text_of(a);
  return text + attrs + ")";
}

}  // namespace

std::string describe(const Case& c) { return text_of(c.call); }

}  // namespace rw::test
