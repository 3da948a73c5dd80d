// Structures of sources: a tensor, a variable, or lists, maps, tuples and plain structs of them. Gradients
// come back in the same structure.
#pragma once

#include <array>
#include <initializer_list>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rewind/autodiff/gradient.h"
#include "rewind/base/aggregate.h"
#include "rewind/tensor/variable.h"

namespace rw::structure {

// Maps a structure to what gradients of it look like, visits its leaves in order, and builds the result from
// a cursor over flat gradients.
template <class S>
struct Traits;

inline void leaf(const Tensor& t, std::vector<Tensor>* out) { out->push_back(t); }
inline void leaf(const Variable& v, std::vector<Tensor>* out) { out->push_back(v.handle()); }

using Cursor = const Gradient*;

template <>
struct Traits<Tensor> {
  using Result = Gradient;
  static void flatten(const Tensor& s, std::vector<Tensor>* out) { leaf(s, out); }
  static Result pack(const Tensor&, Cursor& at) { return *at++; }
};
template <>
struct Traits<Variable> {
  using Result = Gradient;
  static void flatten(const Variable& s, std::vector<Tensor>* out) { leaf(s, out); }
  static Result pack(const Variable&, Cursor& at) { return *at++; }
};

template <class S>
using ResultOf = typename Traits<S>::Result;

template <class E>
struct Traits<std::vector<E>> {
  using Result = std::vector<ResultOf<E>>;
  static void flatten(const std::vector<E>& s, std::vector<Tensor>* out) {
    for (const E& e : s) Traits<E>::flatten(e, out);
  }
  static Result pack(const std::vector<E>& s, Cursor& at) {
    Result r;
    r.reserve(s.size());
    for (const E& e : s) r.push_back(Traits<E>::pack(e, at));
    return r;
  }
};
template <class E, size_t N>
struct Traits<std::array<E, N>> {
  using Result = std::array<ResultOf<E>, N>;
  static void flatten(const std::array<E, N>& s, std::vector<Tensor>* out) {
    for (const E& e : s) Traits<E>::flatten(e, out);
  }
  static Result pack(const std::array<E, N>& s, Cursor& at) {
    Result r;
    for (size_t i = 0; i < N; ++i) r[i] = Traits<E>::pack(s[i], at);
    return r;
  }
};
template <template <class...> class Map, class K, class E>
struct MapTraits {
  using Result = Map<K, ResultOf<E>>;
  template <class M>
  static void flatten(const M& s, std::vector<Tensor>* out) {
    for (const auto& [key, e] : s) Traits<E>::flatten(e, out);
  }
  template <class M>
  static Result pack(const M& s, Cursor& at) {
    Result r;
    for (const auto& [key, e] : s) r.emplace(key, Traits<E>::pack(e, at));
    return r;
  }
};
template <class K, class E>
struct Traits<std::map<K, E>> : MapTraits<std::map, K, E> {};
template <class K, class E>
struct Traits<std::unordered_map<K, E>> : MapTraits<std::unordered_map, K, E> {};

template <class... E>
struct Traits<std::tuple<E...>> {
  using Result = std::tuple<ResultOf<E>...>;
  static void flatten(const std::tuple<E...>& s, std::vector<Tensor>* out) {
    std::apply([&](const E&... e) { (Traits<E>::flatten(e, out), ...); }, s);
  }
  static Result pack(const std::tuple<E...>& s, Cursor& at) {
    // Braces fix the order of evaluation.
    return std::apply([&](const E&... e) { return Result{Traits<E>::pack(e, at)...}; }, s);
  }
};
template <class A, class B>
struct Traits<std::pair<A, B>> {
  using Result = std::pair<ResultOf<A>, ResultOf<B>>;
  static void flatten(const std::pair<A, B>& s, std::vector<Tensor>* out) {
    Traits<A>::flatten(s.first, out);
    Traits<B>::flatten(s.second, out);
  }
  static Result pack(const std::pair<A, B>& s, Cursor& at) {
    return Result{Traits<A>::pack(s.first, at), Traits<B>::pack(s.second, at)};
  }
};

// What a field of a plain struct becomes in place: tensors hold their gradient (undefined when none).
template <class F>
void assign_field(F& field, Cursor& at) {
  if constexpr (std::is_same_v<F, Tensor>) field = (at++)->tensor();
  else if constexpr (std::is_same_v<F, Gradient>) field = *at++;
  else field = Traits<F>::pack(field, at);
}

// template <class T> struct Params { T w, b; }: Params<Variable> gives Params<Gradient>.
template <template <class> class S, class E>
  requires PlainStruct<S<E>>
struct Traits<S<E>> {
  using Result = S<ResultOf<E>>;
  static void flatten(const S<E>& s, std::vector<Tensor>* out) {
    std::apply([&](const auto&... f) { (Traits<std::remove_cvref_t<decltype(f)>>::flatten(f, out), ...); },
               as_fields(s));
  }
  static Result pack(const S<E>& s, Cursor& at) {
    return std::apply(
        [&](const auto&... f) { return Result{Traits<std::remove_cvref_t<decltype(f)>>::pack(f, at)...}; },
        as_fields(s));
  }
};

// Any other plain struct of tensors: the same struct, with gradients in its fields.
template <PlainStruct S>
struct Traits<S> {
  using Result = S;
  static void flatten(const S& s, std::vector<Tensor>* out) {
    std::apply([&](const auto&... f) { (Traits<std::remove_cvref_t<decltype(f)>>::flatten(f, out), ...); },
               as_fields(s));
  }
  static Result pack(const S& s, Cursor& at) {
    S result = s;
    std::apply([&](auto&... f) { (assign_field(f, at), ...); }, as_fields(result));
    return result;
  }
};

// A source in braces: {w, x} with variables and tensors side by side. A variable is followed through its
// handle; as a list of tensors the braces would read it, and nothing depends on what was read just then.
class Source {
 public:
  template <class T>
    requires std::is_same_v<T, Tensor> || std::is_same_v<T, Variable>
  Source(const T& source) {  // NOLINT: sources are written as they are
    if constexpr (std::is_same_v<T, Variable>) variable_ = source;
    else tensor_ = source;
  }
  bool is_variable() const { return variable_.defined(); }
  const Variable& variable() const { return variable_; }
  const Tensor& tensor() const { return is_variable() ? variable_.handle() : tensor_; }

 private:
  Variable variable_;
  Tensor tensor_;
};
using Sources = std::initializer_list<Source>;
using SourceRows = std::initializer_list<Sources>;

template <>
struct Traits<Source> {
  using Result = Gradient;
  static void flatten(const Source& s, std::vector<Tensor>* out) { out->push_back(s.tensor()); }
  static Result pack(const Source&, Cursor& at) { return *at++; }
};
template <class E>
struct Traits<std::initializer_list<E>> {
  using Result = std::vector<ResultOf<E>>;
  static void flatten(std::initializer_list<E> s, std::vector<Tensor>* out) {
    for (const E& e : s) Traits<E>::flatten(e, out);
  }
  static Result pack(std::initializer_list<E> s, Cursor& at) {
    Result r;
    for (const E& e : s) r.push_back(Traits<E>::pack(e, at));
    return r;
  }
};

template <class S>
std::vector<Tensor> flatten(const S& s) {
  std::vector<Tensor> out;
  Traits<S>::flatten(s, &out);
  return out;
}

}  // namespace rw::structure
