// How elements of a C++ type become flat lists of tensors and come back. A type whose number of tensors the
// compiler knows (Tensor, tuple, pair, array, plain struct, a dataset) has one form; others (vector, map,
// optional) keep the form of the first element that was seen.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "rewind/data/node.h"
#include "rewind/function/staged.h"

namespace rw::data {

template <class T>
struct FixedForm {
  static constexpr bool kFixed = false;
};
template <>
struct FixedForm<Tensor> {
  static constexpr bool kFixed = true;
  static Tensor make() { return Tensor(0); }
};
template <class... E>
struct FixedForm<std::tuple<E...>> {
  static constexpr bool kFixed = (FixedForm<E>::kFixed && ...);
  static std::tuple<E...> make() { return std::tuple<E...>{FixedForm<E>::make()...}; }
};
template <class A, class B>
struct FixedForm<std::pair<A, B>> {
  static constexpr bool kFixed = FixedForm<A>::kFixed && FixedForm<B>::kFixed;
  static std::pair<A, B> make() { return {FixedForm<A>::make(), FixedForm<B>::make()}; }
};
template <class E, size_t N>
struct FixedForm<std::array<E, N>> {
  static constexpr bool kFixed = FixedForm<E>::kFixed;
  static std::array<E, N> make() {
    std::array<E, N> all;
    for (E& e : all) e = FixedForm<E>::make();
    return all;
  }
};
namespace detail {
template <class Fields>
inline constexpr bool kAllFixed = false;
template <class... F>
inline constexpr bool kAllFixed<std::tuple<F&...>> = (FixedForm<std::remove_cv_t<F>>::kFixed && ...);
}  // namespace detail
template <PlainStruct S>
  requires(detail::kAllFixed<decltype(as_fields(std::declval<const S&>()))>)
struct FixedForm<S> {
  static constexpr bool kFixed = true;
  static S make() {
    S s{};
    std::apply([](auto&... f) { ((f = FixedForm<std::remove_cvref_t<decltype(f)>>::make()), ...); },
               as_fields(s));
    return s;
  }
};

[[noreturn]] void fail_no_form();

// The form of a dataset's elements; shared by the datasets that have it.
template <class T>
class Form {
 public:
  Form() {
    if constexpr (FixedForm<T>::kFixed) form_.emplace(FixedForm<T>::make());
  }
  explicit Form(T like) : form_(std::move(like)) {}

  static void write(const T& value, Element* out) {
    TraceKey unused;
    TensorList list;
    NestWriter writer{unused, list};
    Nest<T>::write(value, writer);
    out->clear();
    for (Tensor& t : list) out->push_back(std::move(t));
  }
  // The same, keeping the form.
  void see(const T& value, Element* out) {
    write(value, out);
    if constexpr (!FixedForm<T>::kFixed) {
      const std::lock_guard lock(mutex_);
      if (!form_) form_.emplace(value);
    }
  }
  // `node` says the form where nobody has seen an element yet.
  T read(const Element& element, const Node& node) const {
    NestReader reader{element.data()};
    if constexpr (FixedForm<T>::kFixed) return Nest<T>::read(*form_, reader);
    else return Nest<T>::read(example(node), reader);
  }
  T example(const Node& node) const {
    if constexpr (!FixedForm<T>::kFixed) {
      {
        const std::lock_guard lock(mutex_);
        if (form_) return *form_;
      }
      node.specs();
    }
    const std::lock_guard lock(mutex_);
    if (!form_) fail_no_form();
    return *form_;
  }
  void copy(const Form& other, const Node& node) {
    if constexpr (!FixedForm<T>::kFixed) {
      T like = other.example(node);
      const std::lock_guard lock(mutex_);
      if (!form_) form_.emplace(std::move(like));
    }
  }

 private:
  mutable std::mutex mutex_;
  std::optional<T> form_;
};

}  // namespace rw::data
