// The tensors of a dataset's source: a vector of numbers or strings, of any depth, is one tensor, alone and
// inside of tuples, pairs, arrays, vectors and maps. Everything else stays as it is.
#pragma once

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rewind/function/staged.h"

namespace rw::data {

template <class S>
struct Columns {
  using type = S;
  static const S& of(const S& source) { return source; }
};
template <>
struct Columns<std::string> {
  using type = Tensor;
  static Tensor of(const std::string& source) { return constant(source); }
};
template <class E>
struct Columns<std::vector<E>> {
  static constexpr bool kOne = rw::Element<E> || rw::detail::Rows<E>;
  using type = std::conditional_t<kOne, Tensor, std::vector<typename Columns<E>::type>>;
  static type of(const std::vector<E>& source) {
    if constexpr (kOne) {
      return constant(source);
    } else {
      type columns;
      for (const E& e : source) columns.push_back(Columns<E>::of(e));
      return columns;
    }
  }
};
template <>
struct Columns<std::vector<const char*>> {
  using type = Tensor;
  static Tensor of(const std::vector<const char*>& source) {
    return constant(std::vector<std::string>(source.begin(), source.end()));
  }
};
template <class E, size_t N>
struct Columns<std::array<E, N>> {
  using type = std::array<typename Columns<E>::type, N>;
  static type of(const std::array<E, N>& source) {
    return std::apply([](const auto&... e) { return type{Columns<E>::of(e)...}; }, source);
  }
};
template <class... E>
struct Columns<std::tuple<E...>> {
  using type = std::tuple<typename Columns<E>::type...>;
  static type of(const std::tuple<E...>& source) {
    return std::apply([](const E&... e) { return type{Columns<E>::of(e)...}; }, source);
  }
};
template <class A, class B>
struct Columns<std::pair<A, B>> {
  using type = std::pair<typename Columns<A>::type, typename Columns<B>::type>;
  static type of(const std::pair<A, B>& source) {
    return {Columns<A>::of(source.first), Columns<B>::of(source.second)};
  }
};
template <class K, class E>
struct Columns<std::map<K, E>> {
  using type = std::map<K, typename Columns<E>::type>;
  static type of(const std::map<K, E>& source) {
    type columns;
    for (const auto& [key, e] : source) columns.emplace(key, Columns<E>::of(e));
    return columns;
  }
};

// What the elements of such a source are.
template <class S>
using ElementOf = staged::Type<typename Columns<std::remove_cvref_t<S>>::type>;
template <class S>
ElementOf<S> element_of(const S& source) {
  return staged::fit<ElementOf<S>>(Columns<S>::of(source));
}

}  // namespace rw::data
