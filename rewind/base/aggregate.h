// The fields of a plain struct, without reflection: as_fields(s) is a tuple of references to them.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace rw {
namespace detail {

struct AnyField {
  template <class T>
  operator T() const;  // NOLINT: only ever named in unevaluated expressions
};

template <class T, size_t... I>
constexpr bool constructible_from(std::index_sequence<I...>) {
  return requires { T{(void(I), AnyField{})...}; };
}

template <class T, size_t N = 12>
constexpr size_t count_fields() {
  if constexpr (N == 0) return 0;
  else if constexpr (constructible_from<T>(std::make_index_sequence<N>())) return N;
  else return count_fields<T, N - 1>();
}

// Whether the first thing in the braces of a T is a class that T is derived from.
template <class T>
struct AnyBase {
  template <class B>
    requires(std::is_base_of_v<B, T> && !std::is_same_v<B, T>)
  operator B() const;  // NOLINT: only ever named in unevaluated expressions
};
struct NoBase {};
template <class T>
constexpr bool is_derived() {
  return requires { T{AnyBase<T>{}}; } && !requires { T{NoBase{}}; };
}

}  // namespace detail

// Its fields are all its own: C++ does not take a derived struct apart.
template <class T>
concept PlainStruct = std::is_aggregate_v<T> && !std::is_array_v<T> && !detail::is_derived<T>() &&
                      (detail::count_fields<T>() > 0);

// Up to 12 fields.
template <class S>
auto as_fields(S& s) {
  constexpr size_t n = detail::count_fields<std::remove_const_t<S>>();
#define RW_FIELDS(count, ...)     \
  if constexpr (n == count) {     \
    auto& [__VA_ARGS__] = s;      \
    return std::tie(__VA_ARGS__); \
  } else
  RW_FIELDS(1, a)
  RW_FIELDS(2, a, b)
  RW_FIELDS(3, a, b, c)
  RW_FIELDS(4, a, b, c, d)
  RW_FIELDS(5, a, b, c, d, e)
  RW_FIELDS(6, a, b, c, d, e, f)
  RW_FIELDS(7, a, b, c, d, e, f, g)
  RW_FIELDS(8, a, b, c, d, e, f, g, h)
  RW_FIELDS(9, a, b, c, d, e, f, g, h, i)
  RW_FIELDS(10, a, b, c, d, e, f, g, h, i, j)
  RW_FIELDS(11, a, b, c, d, e, f, g, h, i, j, k)
  RW_FIELDS(12, a, b, c, d, e, f, g, h, i, j, k, l)
  static_assert(n <= 12, "structs of up to 12 fields are taken");
#undef RW_FIELDS
}

}  // namespace rw
