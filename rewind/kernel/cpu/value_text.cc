#include "rewind/kernel/cpu/value_text.h"

#include <complex>

#include "rewind/base/dispatch.h"
#include "rewind/base/intrusive.h"
#include "rewind/base/number_text.h"
#include "rewind/format/text_lexer.h"
#include "rewind/op/object.h"

namespace rw {
namespace {

template <class T>
std::string complex_element(const View& view, int64_t i) {
  const auto& v = view.as<std::complex<T>>()[i];
  return complex_text(round_trip_text(v.real()), round_trip_text(v.imag()));
}

void append_axis(const View& view, int axis, int64_t offset, int64_t stride, int64_t summarize,
                 std::string* out) {
  if (axis == view.rank()) {
    *out += element_text(view, offset, true);
    return;
  }
  const int64_t size = view.dim(axis);
  const int64_t inner = size == 0 ? 0 : stride / size;
  const bool last = axis + 1 == view.rank();
  const int64_t ends = summarize < 0 ? size : summarize;
  const bool all = 2 * ends >= size;
  // Rows of matrices go on lines of their own; blocks of matrices have empty lines between them.
  const std::string gap =
      last ? " " : std::string(size_t(view.rank() - axis - 1), '\n') + std::string(size_t(axis + 1), ' ');
  *out += "[";
  for (int64_t i = 0; i < size; ++i) {
    if (!all && i == ends) {
      *out += (last ? " ..." : "\n" + std::string(size_t(axis + 1), ' ') + "...");
      i = size - ends - 1;
      continue;
    }
    if (i > 0) *out += !all && i == size - ends && !last ? "\n" + std::string(size_t(axis + 1), ' ') : gap;
    append_axis(view, axis + 1, offset + i * inner, inner, summarize, out);
  }
  *out += "]";
}

}  // namespace

std::string element_text(const View& view, int64_t i, bool quote) {
  if (view.dtype == DType::kComplex64) return complex_element<float>(view, i);
  if (view.dtype == DType::kComplex128) return complex_element<double>(view, i);
  std::string text;
  const bool known =
      dispatch < kRealTypes | set_of(DType::kBool, DType::kString) > (view.dtype, [&]<class T>() {
                                const T& v = view.as<T>()[i];
                                if constexpr (std::is_same_v<T, std::string>)
                                  text = quote ? format::string_text(v, false) : v;
                                else if constexpr (std::is_floating_point_v<Compute<T>>)
                                  text = round_trip_text(static_cast<Compute<T>>(v));
                                else if constexpr (std::is_same_v<T, bool>) text = v ? "1" : "0";
                                else text = std::to_string(v);
                              });
  if (!known && !is_host_only(view.dtype)) return "?";
  if (!known) {
    const Object* object = view.as<Ref<Object>>()[i].get();
    text = object ? object->describe() : "<empty>";
  }
  return text;
}

std::string value_text(const View& view, int64_t summarize) {
  if (view.rank() > 0 && view.size == 0) return "[]";
  std::string out;
  append_axis(view, 0, 0, view.size, summarize, &out);
  return out;
}

std::string flat_text(const View& view, int64_t count) {
  std::string out;
  const int64_t shown = count < 0 ? view.size : std::min(count, view.size);
  for (int64_t i = 0; i < shown; ++i) out += (i ? ", " : "") + element_text(view, i, false);
  if (shown < view.size) out += shown > 0 ? ", ..." : "...";
  return out;
}

}  // namespace rw
