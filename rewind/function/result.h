// What a function gives back of what its C++ code returns: a variable gives the value it has then, as in
// TensorFlow, also in vectors, arrays, tuples, maps and optionals; everything else is itself.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rewind/tensor/variable.h"

namespace rw::detail {

template <class T>
struct FunctionResult {
  using type = T;
  static type take(T&& value) { return std::move(value); }
};
template <class T>
using ResultOf = typename FunctionResult<T>::type;
template <class... T>
inline constexpr bool kReturnsVariables = (!std::is_same_v<ResultOf<T>, T> || ...);
template <class T>
ResultOf<T> take_result(T value) {
  return FunctionResult<T>::take(std::move(value));
}

template <>
struct FunctionResult<Variable> {
  using type = Tensor;
  static Tensor take(Variable&& v) { return v.defined() ? v.value() : Tensor(); }
};
template <class E>
  requires kReturnsVariables<E>
struct FunctionResult<std::vector<E>> {
  using type = std::vector<ResultOf<E>>;
  static type take(std::vector<E>&& list) {
    type out;
    for (E& e : list) out.push_back(take_result<E>(std::move(e)));
    return out;
  }
};
template <class E, size_t N>
  requires kReturnsVariables<E>
struct FunctionResult<std::array<E, N>> {
  using type = std::array<ResultOf<E>, N>;
  static type take(std::array<E, N>&& list) {
    type out;
    for (size_t i = 0; i < N; ++i) out[i] = take_result<E>(std::move(list[i]));
    return out;
  }
};
template <class Out, class Map>
Out take_entries(Map&& map) {
  Out out;
  for (auto& [key, value] : map)
    out.emplace(key, take_result<std::remove_cvref_t<decltype(value)>>(std::move(value)));
  return out;
}
template <class K, class E>
  requires kReturnsVariables<E>
struct FunctionResult<std::map<K, E>> {
  using type = std::map<K, ResultOf<E>>;
  static type take(std::map<K, E>&& map) { return take_entries<type>(std::move(map)); }
};
template <class K, class E>
  requires kReturnsVariables<E>
struct FunctionResult<std::unordered_map<K, E>> {
  using type = std::unordered_map<K, ResultOf<E>>;
  static type take(std::unordered_map<K, E>&& map) { return take_entries<type>(std::move(map)); }
};
template <class E>
  requires kReturnsVariables<E>
struct FunctionResult<std::optional<E>> {
  using type = std::optional<ResultOf<E>>;
  static type take(std::optional<E>&& value) {
    return value ? type(take_result<E>(std::move(*value))) : std::nullopt;
  }
};
template <class... E>
  requires kReturnsVariables<E...>
struct FunctionResult<std::tuple<E...>> {
  using type = std::tuple<ResultOf<E>...>;
  static type take(std::tuple<E...>&& list) {
    // Braces fix the order of the reads.
    return std::apply([](E&... e) { return type{take_result<E>(std::move(e))...}; }, list);
  }
};
template <class A, class B>
  requires kReturnsVariables<A, B>
struct FunctionResult<std::pair<A, B>> {
  using type = std::pair<ResultOf<A>, ResultOf<B>>;
  static type take(std::pair<A, B>&& p) {
    return type{take_result<A>(std::move(p.first)), take_result<B>(std::move(p.second))};
  }
};

}  // namespace rw::detail
