// The tensors in a structure of vectors, arrays, tuples, maps, optionals and plain structs, beside values of
// other kinds: for_each_tensor(s, f) calls f(Tensor&) on each defined one, which it may replace.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "rewind/autodiff/custom_gradient.h"
#include "rewind/autodiff/gradient.h"
#include "rewind/base/aggregate.h"
#include "rewind/tensor/tensor_array.h"
#include "rewind/tensor/variable.h"

namespace rw::detail {

template <class T>
struct TensorsIn;

template <class T, class F>
void for_each_tensor(T& s, F& f) {
  TensorsIn<std::remove_cv_t<T>>::visit(s, f);
}

struct NoTensors {
  template <class T, class F>
  static void visit(T&, F&) {}
};

template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>)
struct TensorsIn<T> : NoTensors {};
template <>
struct TensorsIn<std::monostate> : NoTensors {};
template <>
struct TensorsIn<std::string> : NoTensors {};
template <>
struct TensorsIn<std::string_view> : NoTensors {};
template <>
struct TensorsIn<Shape> : NoTensors {};
template <>
struct TensorsIn<Variable> : NoTensors {};

template <>
struct TensorsIn<Tensor> {
  template <class F>
  static void visit(Tensor& t, F& f) {
    if (t.defined()) f(t);
  }
};
template <>
struct TensorsIn<Gradient> {
  template <class F>
  static void visit(Gradient& g, F& f) {
    if (g.none()) return;
    if (const IndexedSlices* s = g.slices()) {
      IndexedSlices slices = *s;
      for (Tensor* t : {&slices.values, &slices.indices, &slices.dense_shape}) f(*t);
      g = slices;
    } else {
      Tensor t = g.tensor();
      f(t);
      g = t;
    }
  }
};
template <>
struct TensorsIn<TensorArray> {
  template <class F>
  static void visit(TensorArray& a, F& f) {
    Tensor flow = a.flow();
    f(flow);
    a = a.with_flow(flow);
  }
};
template <>
struct TensorsIn<CustomOutputs> {
  template <class F>
  static void visit(CustomOutputs& s, F& f) {
    std::vector<Tensor> list(s.begin(), s.end());
    for (Tensor& t : list) f(t);
    s = CustomOutputs(std::move(list));
  }
};

struct TensorsInList {
  template <class T, class F>
  static void visit(T& s, F& f) {
    for (auto& e : s) for_each_tensor(e, f);
  }
};
template <class E>
struct TensorsIn<std::vector<E>> : TensorsInList {};
template <>
struct TensorsIn<std::vector<bool>> : NoTensors {};
template <class E, size_t N>
struct TensorsIn<std::array<E, N>> : TensorsInList {};
struct TensorsInMap {
  template <class T, class F>
  static void visit(T& s, F& f) {
    for (auto& [key, e] : s) for_each_tensor(e, f);
  }
};
template <class K, class E>
struct TensorsIn<std::map<K, E>> : TensorsInMap {};
template <class K, class E>
struct TensorsIn<std::unordered_map<K, E>> : TensorsInMap {};
template <class E>
struct TensorsIn<std::optional<E>> {
  template <class F>
  static void visit(std::optional<E>& s, F& f) {
    if (s) for_each_tensor(*s, f);
  }
};
template <class... E>
struct TensorsIn<std::tuple<E...>> {
  template <class F>
  static void visit(std::tuple<E...>& s, F& f) {
    std::apply([&](auto&... e) { (for_each_tensor(e, f), ...); }, s);
  }
};
template <class A, class B>
struct TensorsIn<std::pair<A, B>> {
  template <class F>
  static void visit(std::pair<A, B>& s, F& f) {
    for_each_tensor(s.first, f);
    for_each_tensor(s.second, f);
  }
};
template <PlainStruct S>
struct TensorsIn<S> {
  template <class F>
  static void visit(S& s, F& f) {
    std::apply([&](auto&... e) { (for_each_tensor(e, f), ...); }, as_fields(s));
  }
};

template <class T>
concept HasTensors = requires { sizeof(TensorsIn<T>); };

}  // namespace rw::detail
