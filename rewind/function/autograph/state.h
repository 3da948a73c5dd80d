// The variables of the user that a construct may change: where they are, and what staging must know of their
// types. Eagerly this is a list of addresses that nobody looks at.
#pragma once

#include <concepts>
#include <memory>
#include <ranges>
#include <string_view>

#include "rewind/function/nest.h"

namespace rw {
class GradientTape;
}

namespace rw::autograph {

template <class T>
class Local;
template <class T>
class Return;

namespace detail {

struct Access {
  enum Kind : uint8_t {
    kTensors,  // tensors in a structure
    kNumber,   // a Local: becomes a tensor where staging needs one
    kResult,   // a return value: holds nothing until it is set
    kOpaque,   // a return value whose tensors cannot be listed
    kValue,    // of the host: must not change
    kUnknown,  // of the host, and cannot be copied and compared
  };
  Kind kind;
  std::string_view type;
  void (*write)(const void*, NestWriter&);
  void (*read)(void*, NestReader&);  // other tensors in the places of its own
  void* (*copy)(const void*);
  void (*destroy)(void*);
  void (*assign)(void* to, const void* from);
  bool (*equal)(const void*, const void*);
  void (*promote)(void*);  // to a tensor, if it is a number; nullptr where it cannot be one
};

// The compiler's text of a type.
template <class T>
constexpr std::string_view type_text() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, std::min(text.find(';'), text.rfind(']')));
}

// As the user knows it.
template <class T>
constexpr std::string_view users_type_text() {
  if constexpr (requires { typename T::users_type; }) return users_type_text<typename T::users_type>();
  else if constexpr (std::is_same_v<T, std::string>) return "std::string";
  const std::string_view text = type_text<T>();
  constexpr size_t kLongest = 80;
  return text.size() > kLongest ? text.substr(0, text.find('<')) : text;
}

template <class T>
inline constexpr bool is_local = false;
template <class T>
inline constexpr bool is_local<Local<T>> = true;
template <class T>
inline constexpr bool is_return = false;
template <class T>
inline constexpr bool is_return<Return<T>> = true;

}  // namespace detail

// Objects with an identity, whose state is in variables and resources: a body that works on one does so in
// the graph, and there is nothing to carry. Models, layers and optimizers are.
template <class T>
inline constexpr bool is_object = std::is_polymorphic_v<T>;
template <>
inline constexpr bool is_object<GradientTape> = true;

namespace detail {

template <class T>
constexpr bool comparable() {
  if constexpr (std::ranges::range<T>) {
    using E = std::ranges::range_value_t<T>;
    if constexpr (std::is_same_v<E, T>) return false;
    else return comparable<E>() && std::equality_comparable<T>;
  } else {
    return std::equality_comparable<T> && !HasNest<T>;
  }
}
template <>
constexpr bool comparable<std::string>() {
  return true;
}

// Into the same elements where there are as many: references to them stay valid.
template <class T>
void put(T& to, const T& from) {
  if constexpr (requires(typename T::key_type k) { to.at(k); }) {
    bool same_keys = to.size() == from.size();
    for (const auto& [key, value] : from) same_keys = same_keys && to.contains(key);
    if (same_keys) {
      for (const auto& [key, value] : from) put(to.at(key), value);
      return;
    }
  }
  to = from;
}

template <class T>
struct AccessOf {
  static T& at(void* p) { return *static_cast<T*>(p); }
  static const T& at(const void* p) { return *static_cast<const T*>(p); }
  static void write(const void* p, NestWriter& w) {
    if constexpr (requires(const T& v) { v.write_state(w); }) at(p).write_state(w);
    else if constexpr (HasNest<T>) Nest<T>::write(at(p), w);
  }
  static void read(void* p, NestReader& r) {
    if constexpr (requires(T& v) { v.read_state(r); }) at(p).read_state(r);
    else if constexpr (HasNest<T> && std::is_copy_assignable_v<T>) put<T>(at(p), Nest<T>::read(at(p), r));
  }
  static void* copy(const void* p) {
    if constexpr (std::is_copy_constructible_v<T>) return new T(at(p));
    else return nullptr;
  }
  static void destroy(void* p) { delete static_cast<T*>(p); }
  static void assign(void* to, const void* from) {
    if constexpr (std::is_copy_assignable_v<T>) put(at(to), at(from));
  }
  static bool equal(const void* a, const void* b) {
    if constexpr (kind() == Access::kValue) return at(a) == at(b);
    else return true;
  }
  static constexpr bool kPromotes = requires(T& v) { v.promote(); };
  static void promote(void* p) {
    if constexpr (kPromotes) at(p).promote();
  }
  static constexpr Access::Kind kind() {
    if constexpr (is_local<T>) return Access::kNumber;
    else if constexpr (requires(const T& v, NestWriter& w) { v.write_state(w); })
      return T::kListsTensors ? Access::kResult : Access::kOpaque;
    else if constexpr (HasNest<T> && std::is_copy_assignable_v<T>) return Access::kTensors;
    else if constexpr (std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T> && comparable<T>())
      return Access::kValue;
    else return Access::kUnknown;
  }
};
// Arrays, element by element.
template <class E, size_t N>
struct AccessOf<E[N]> {
  using T = std::array<E, N>;
  static E* at(void* p) { return static_cast<E*>(p); }
  static const E* at(const void* p) { return static_cast<const E*>(p); }
  static void write(const void* p, NestWriter& w) {
    for (size_t i = 0; i < N; ++i) AccessOf<E>::write(at(p) + i, w);
  }
  static void read(void* p, NestReader& r) {
    for (size_t i = 0; i < N; ++i) AccessOf<E>::read(at(p) + i, r);
  }
  static void* copy(const void* p) {
    T* all = new T;
    assign(all->data(), p);
    return all;
  }
  static void destroy(void* p) { delete static_cast<T*>(p); }
  static void assign(void* to, const void* from) { std::copy(at(from), at(from) + N, at(to)); }
  static bool equal(const void* a, const void* b) {
    for (size_t i = 0; i < N; ++i)
      if (!AccessOf<E>::equal(at(a) + i, at(b) + i)) return false;
    return true;
  }
  static constexpr bool kPromotes = AccessOf<E>::kPromotes;
  static void promote(void* p) {
    for (size_t i = 0; i < N; ++i) AccessOf<E>::promote(at(p) + i);
  }
  static constexpr Access::Kind kind() { return AccessOf<E>::kind(); }
};

template <class T>
inline constexpr Access access{
    AccessOf<T>::kind(), users_type_text<T>(), AccessOf<T>::write,
    AccessOf<T>::read,   AccessOf<T>::copy,    AccessOf<T>::destroy,
    AccessOf<T>::assign, AccessOf<T>::equal,   AccessOf<T>::kPromotes ? AccessOf<T>::promote : nullptr};

struct Entry {
  const Access* access = nullptr;
  uint16_t variable = 0;  // its place among the names
};

// What a variable is made of: nothing where it cannot change, two parts for a return slot.
template <class T>
constexpr size_t parts_of() {
  if constexpr (std::is_const_v<T> || is_object<T>) return 0;
  else if constexpr (is_return<T>) return T::kParts;
  else return 1;
}

// A view of a StateOf.
struct State {
  const Entry* entries;
  void* const* addresses;
  size_t size;
  std::string_view names;
};

}  // namespace detail

template <class... T>
class StateOf {
 public:
  explicit StateOf(T&... variables) {
    size_t at = 0;
    (place(variables, at), ...);
  }
  detail::State view(std::string_view names) const { return {kEntries.data(), addresses_, kSize, names}; }

 private:
  static constexpr size_t kSize = (detail::parts_of<T>() + ... + 0);
  static constexpr auto entries() {
    std::array<detail::Entry, kSize> all{};
    [[maybe_unused]] size_t at = 0;
    [[maybe_unused]] uint16_t variable = 0;
    [[maybe_unused]] const auto add = [&]<class V>(std::type_identity<V>) {
      if constexpr (detail::parts_of<V>() == 0) {
      } else if constexpr (detail::is_return<V>) {
        V::entries(all, at, variable);
      } else {
        all[at++] = {&detail::access<V>, variable};
      }
      ++variable;
    };
    (add(std::type_identity<T>{}), ...);
    return all;
  }
  static constexpr std::array<detail::Entry, kSize> kEntries = entries();

  template <class V>
  void place(V& variable, size_t& at) {
    if constexpr (detail::parts_of<V>() == 0) {
    } else if constexpr (detail::is_return<V>) {
      variable.place(addresses_, at);
    } else {
      addresses_[at++] = const_cast<std::remove_cv_t<V>*>(&variable);
    }
  }
  void* addresses_[kSize == 0 ? 1 : kSize];
};

// The variables that the bodies of a construct may change and that are read behind them.
template <class... T>
StateOf<T...> state(T&... variables) {
  return StateOf<T...>(variables...);
}

}  // namespace rw::autograph
