// The types that go through staged control flow: a C++ number becomes a tensor, and so inside tuples, pairs,
// vectors, arrays, maps and optionals. fit() converts, and gives numbers the dtype of the tensor whose place
// they take.
#pragma once

#include "rewind/function/nest.h"

namespace rw::staged {

template <class T>
struct As {
  using type = T;
};
template <class T>
using Type = typename As<std::remove_cvref_t<T>>::type;

template <class T>
  requires std::is_arithmetic_v<T>
struct As<T> {
  using type = Tensor;
};
template <>
struct As<Variable> {
  using type = Tensor;
};
template <class E>
struct As<std::vector<E>> {
  using type = std::vector<Type<E>>;
};
template <class E, size_t N>
struct As<std::array<E, N>> {
  using type = std::array<Type<E>, N>;
};
template <class... E>
struct As<std::tuple<E...>> {
  using type = std::tuple<Type<E>...>;
};
template <class A, class B>
struct As<std::pair<A, B>> {
  using type = std::pair<Type<A>, Type<B>>;
};
template <class K, class E>
struct As<std::map<K, E>> {
  using type = std::map<K, Type<E>>;
};
template <class E>
struct As<std::optional<E>> {
  using type = std::optional<Type<E>>;
};

// Structures of one type, or two things that are tensors both.
template <class A, class B>
struct Common {
  static constexpr bool kSame = std::is_same_v<Type<A>, Type<B>>;
  static_assert(kSame || (std::is_convertible_v<A, Tensor> && std::is_convertible_v<B, Tensor>),
                "both branches must return the same structure");
  using type = std::conditional_t<kSame, Type<A>, Tensor>;
};

template <class S>
struct Fit;
// `like` is what stood in the place before; nullptr when nothing did.
template <class S, class R>
S fit(const R& value, const S* like = nullptr) {
  return Fit<S>::from(value, like);
}

template <class S>
struct Fit {
  template <class R>
  static S from(const R& value, const S*) {
    return S(value);
  }
};
template <>
struct Fit<Tensor> {
  template <class R>
  static Tensor from(const R& value, const Tensor* like) {
    if constexpr (std::is_arithmetic_v<R>)
      return constant(value, like && like->defined() ? like->dtype() : DType::kInvalid);
    else if constexpr (std::is_same_v<R, Variable>) return value.value();
    else return Tensor(value);
  }
  // A loop over one tensor may also speak of tuples of one.
  template <class R>
  static Tensor from(const std::tuple<R>& value, const Tensor* like) {
    return from(std::get<0>(value), like);
  }
};
template <class... S>
struct Fit<std::tuple<S...>> {
  using To = std::tuple<S...>;
  template <class R>
  static To from(const R& value, const To* like) {
    if constexpr (requires { std::tuple_size<R>::value; }) {
      static_assert(std::tuple_size_v<R> == sizeof...(S), "there must be as many results as loop variables");
      return [&]<size_t... I>(std::index_sequence<I...>) {
        return To{fit<S>(std::get<I>(value), like ? &std::get<I>(*like) : nullptr)...};
      }(std::index_sequence_for<S...>());
    } else {
      static_assert(sizeof...(S) == 1, "there must be as many results as loop variables");
      return To{fit<S...>(value, like ? &std::get<0>(*like) : nullptr)};
    }
  }
};
template <class A, class B>
struct Fit<std::pair<A, B>> {
  using To = std::pair<A, B>;
  template <class R>
  static To from(const R& value, const To* like) {
    return To{fit<A>(std::get<0>(value), like ? &like->first : nullptr),
              fit<B>(std::get<1>(value), like ? &like->second : nullptr)};
  }
};
template <class E>
struct Fit<std::vector<E>> {
  template <class R>
  static std::vector<E> from(const std::vector<R>& value, const std::vector<E>* like) {
    std::vector<E> out;
    for (size_t i = 0; i < value.size(); ++i)
      out.push_back(fit<E>(value[i], like && i < like->size() ? &(*like)[i] : nullptr));
    return out;
  }
};
template <class E, size_t N>
struct Fit<std::array<E, N>> {
  template <class R>
  static std::array<E, N> from(const std::array<R, N>& value, const std::array<E, N>* like) {
    std::array<E, N> out;
    for (size_t i = 0; i < N; ++i) out[i] = fit<E>(value[i], like ? &(*like)[i] : nullptr);
    return out;
  }
};
template <class K, class E>
struct Fit<std::map<K, E>> {
  template <class R>
  static std::map<K, E> from(const std::map<K, R>& value, const std::map<K, E>* like) {
    std::map<K, E> out;
    for (const auto& [key, e] : value) {
      const auto it = like ? like->find(key) : typename std::map<K, E>::const_iterator();
      out.emplace(key, fit<E>(e, like && it != like->end() ? &it->second : nullptr));
    }
    return out;
  }
};

// Calls f with the elements of a tuple (pair, array) where it takes them, else with the whole.
template <class F, class S>
decltype(auto) call(F& f, const S& state) {
  if constexpr (std::is_invocable_v<F&, const S&>) return f(state);
  else return std::apply(f, state);
}
template <class F, class S>
using CallResult = decltype(call(std::declval<F&>(), std::declval<const S&>()));

}  // namespace rw::staged
