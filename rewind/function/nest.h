// Arguments and results of functions: tensors in any structure of vectors, arrays, tuples, maps, optionals
// and plain structs, beside values and objects. A walk writes what a trace depends on into a key (types and
// shapes of tensors, values of numbers, identity of objects) and the tensors into a list; a second walk puts
// other tensors in their places.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "rewind/autodiff/gradient.h"
#include "rewind/base/aggregate.h"
#include "rewind/base/small_vector.h"
#include "rewind/tensor/ops/random.h"
#include "rewind/tensor/tensor_array.h"
#include "rewind/tensor/variable.h"

namespace rw {

// What a trace depends on, as words that compare by memcmp.
class TraceKey {
 public:
  enum Tag : uint64_t { kTensor = 1, kVariable, kValue, kText, kObject, kNothing, kList };
  void add(uint64_t word) { words_.push_back(word); }
  void add(Tag tag, uint64_t detail) { words_.push_back(uint64_t(tag) << 56 | detail); }
  void add_tensor(const Tensor& t);
  void add_text(std::string_view text);
  // Which C++ types the arguments have: of a generic callable they choose what is called.
  template <class... A>
  void add_types() {
    add(reinterpret_cast<uint64_t>(&type_mark<A...>));
  }
  void begin_argument() { starts_.push_back(uint32_t(words_.size())); }

  std::span<const uint64_t> words() const { return {words_.data(), words_.size()}; }
  size_t num_arguments() const { return starts_.size(); }
  // What stands before the first argument.
  std::span<const uint64_t> types() const {
    return words().first(starts_.empty() ? words_.size() : starts_[0]);
  }
  std::span<const uint64_t> argument(size_t i) const {
    const size_t end = i + 1 < starts_.size() ? starts_[i + 1] : words_.size();
    return words().subspan(starts_[i], end - starts_[i]);
  }
  friend bool operator==(const TraceKey& a, const TraceKey& b) {
    return a.words_.size() == b.words_.size() &&
           std::memcmp(a.words_.data(), b.words_.data(), a.words_.size() * sizeof(uint64_t)) == 0;
  }
  uint64_t hash() const;

 private:
  template <class... A>
  inline static char type_mark = 0;
  SmallVector<uint64_t, 24> words_;
  SmallVector<uint32_t, 8> starts_;
};

using TensorList = SmallVector<Tensor, 4>;

// Of the arguments of a function: what travels beside their tensors.
struct ArgumentObjects {
  SmallVector<Variable, 2> variables;                      // each once, in the order of its first place
  SmallVector<std::shared_ptr<const void>, 2> key_owners;  // objects whose addresses are in the key
};

struct NestWriter {
  TraceKey& key;
  TensorList& tensors;
  ArgumentObjects* objects =
      nullptr;  // set for arguments: variables are then known by kind, else by identity
};
struct NestReader {
  const Tensor* next;
  // For arguments: the variables that were written, and what stands in their places.
  const SmallVector<Variable, 2>* written = nullptr;
  const SmallVector<Variable, 2>* variables = nullptr;
};

template <class T>
struct Nest;

template <class T>
concept NestValue = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T>
  requires NestValue<T>
struct Nest<T> {
  static void write(const T& v, NestWriter& w) {
    uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof(v) < 8 ? sizeof(v) : 8);
    w.key.add(TraceKey::kValue, sizeof(v) | uint64_t(std::is_floating_point_v<T>) << 8 |
                                    uint64_t(std::is_same_v<T, bool>) << 9);
    w.key.add(bits);
  }
  static T read(const T& like, NestReader&) { return like; }
};

template <>
struct Nest<Tensor> {
  static void write(const Tensor& t, NestWriter& w) {
    w.key.add_tensor(t);
    if (t.defined()) w.tensors.push_back(t);
  }
  static Tensor read(const Tensor& like, NestReader& r) { return like.defined() ? *r.next++ : Tensor(); }
};
// As TensorFlow knows them: by dtype, shape, whether they are trained, and which of them are one.
template <>
struct Nest<Variable> {
  static void write(const Variable& v, NestWriter& w);
  static Variable read(const Variable& like, NestReader& r);
};
// By its stream: another generator, another trace.
template <>
struct Nest<random::Generator> {
  static void write(const random::Generator& g, NestWriter& w);
  static random::Generator read(const random::Generator& like, NestReader&) { return like; }
};
template <>
struct Nest<Gradient> {
  static void write(const Gradient& g, NestWriter& w) {
    w.key.add(TraceKey::kList, g.none() ? 0 : g.slices() ? 3 : 1);
    if (g.none()) return;
    if (const IndexedSlices* s = g.slices()) {
      for (const Tensor* t : {&s->values, &s->indices, &s->dense_shape}) Nest<Tensor>::write(*t, w);
    } else {
      Nest<Tensor>::write(g.tensor(), w);
    }
  }
  static Gradient read(const Gradient& like, NestReader& r) {
    if (like.none()) return {};
    if (!like.slices()) return *r.next++;
    IndexedSlices s;
    for (Tensor* t : {&s.values, &s.indices, &s.dense_shape}) *t = *r.next++;
    return s;
  }
};
// An array travels as its list; settings that writes have found out travel with the C++ object.
template <>
struct Nest<TensorArray> {
  static void write(const TensorArray& a, NestWriter& w) {
    w.key.add(TraceKey::kList, 1);
    w.key.add_text(std::string(name_of(a.dtype())));
    Nest<Tensor>::write(a.flow(), w);
  }
  static TensorArray read(const TensorArray& like, NestReader& r) { return like.with_flow(*r.next++); }
};
template <>
struct Nest<std::string> {
  static void write(const std::string& s, NestWriter& w) { w.key.add_text(s); }
  static std::string read(const std::string& like, NestReader&) { return like; }
};
template <>
struct Nest<std::string_view> {
  static void write(std::string_view s, NestWriter& w) { w.key.add_text(s); }
  static std::string_view read(std::string_view like, NestReader&) { return like; }
};
template <>
struct Nest<const char*> {
  static void write(const char* s, NestWriter& w) { w.key.add_text(s); }
  static const char* read(const char* like, NestReader&) { return like; }
};
template <size_t N>
struct Nest<char[N]> {
  static void write(const char (&s)[N], NestWriter& w) { w.key.add_text(s); }
  static const char* read(const char (&like)[N], NestReader&) { return like; }
};
template <>
struct Nest<Shape> {
  static void write(const Shape& s, NestWriter& w) { w.key.add_text(s.to_string()); }
  static Shape read(const Shape& like, NestReader&) { return like; }
};
template <>
struct Nest<std::monostate> {
  static void write(std::monostate, NestWriter& w) { w.key.add(TraceKey::kNothing, 0); }
  static std::monostate read(std::monostate, NestReader&) { return {}; }
};

template <class List, class E>
struct NestList {
  static void write(const List& s, NestWriter& w) {
    w.key.add(TraceKey::kList, s.size());
    for (const E& e : s) Nest<E>::write(e, w);
  }
};
template <class E>
struct Nest<std::vector<E>> : NestList<std::vector<E>, E> {
  static std::vector<E> read(const std::vector<E>& like, NestReader& r) {
    std::vector<E> out;
    out.reserve(like.size());
    for (const E& e : like) out.push_back(Nest<E>::read(e, r));
    return out;
  }
};
template <class E, size_t N>
struct Nest<std::array<E, N>> : NestList<std::array<E, N>, E> {
  static std::array<E, N> read(const std::array<E, N>& like, NestReader& r) {
    std::array<E, N> out;
    for (size_t i = 0; i < N; ++i) out[i] = Nest<E>::read(like[i], r);
    return out;
  }
};
template <class Map>
struct NestMap {
  using K = typename Map::key_type;
  using E = typename Map::mapped_type;
  static void write(const Map& s, NestWriter& w) {
    w.key.add(TraceKey::kList, s.size());
    for (const auto& [key, e] : s) {
      Nest<K>::write(key, w);
      Nest<E>::write(e, w);
    }
  }
  static Map read(const Map& like, NestReader& r) {
    Map out;
    for (const auto& [key, e] : like) out.emplace(key, Nest<E>::read(e, r));
    return out;
  }
};
template <class K, class E>
struct Nest<std::map<K, E>> : NestMap<std::map<K, E>> {};
template <class K, class E>
struct Nest<std::unordered_map<K, E>> : NestMap<std::unordered_map<K, E>> {};
template <class E>
struct Nest<std::optional<E>> {
  static void write(const std::optional<E>& s, NestWriter& w) {
    w.key.add(TraceKey::kList, s.has_value());
    if (s) Nest<E>::write(*s, w);
  }
  static std::optional<E> read(const std::optional<E>& like, NestReader& r) {
    return like ? std::optional<E>(Nest<E>::read(*like, r)) : std::nullopt;
  }
};
template <class... E>
struct Nest<std::tuple<E...>> {
  static void write(const std::tuple<E...>& s, NestWriter& w) {
    w.key.add(TraceKey::kList, sizeof...(E));
    std::apply([&](const E&... e) { (Nest<E>::write(e, w), ...); }, s);
  }
  static std::tuple<E...> read(const std::tuple<E...>& like, NestReader& r) {
    // Braces fix the order of evaluation.
    return std::apply([&](const E&... e) { return std::tuple<E...>{Nest<E>::read(e, r)...}; }, like);
  }
};
template <class A, class B>
struct Nest<std::pair<A, B>> {
  static void write(const std::pair<A, B>& s, NestWriter& w) {
    Nest<A>::write(s.first, w);
    Nest<B>::write(s.second, w);
  }
  static std::pair<A, B> read(const std::pair<A, B>& like, NestReader& r) {
    return std::pair<A, B>{Nest<A>::read(like.first, r), Nest<B>::read(like.second, r)};
  }
};

// Objects: the same object, the same trace. Modules have a number; others are known by their address, so they
// must live as long as they are passed.
template <class T>
struct Nest<T*> {
  static void write(T* object, NestWriter& w) {
    w.key.add(TraceKey::kObject, 0);
    if constexpr (requires { object->identity(); }) w.key.add(object ? object->identity() : 0);
    else w.key.add(reinterpret_cast<uint64_t>(object));
  }
  static T* read(T* like, NestReader&) { return like; }
};
template <class T>
struct Nest<std::shared_ptr<T>> {
  static void write(const std::shared_ptr<T>& s, NestWriter& w) {
    Nest<const T*>::write(s.get(), w);
    if (w.objects) w.objects->key_owners.push_back(s);
  }
  static std::shared_ptr<T> read(const std::shared_ptr<T>& like, NestReader&) { return like; }
};

namespace detail {
template <class T>
inline constexpr bool kNests = requires(const T& t, NestWriter& w) { Nest<T>::write(t, w); };
template <class E>
inline constexpr bool kNests<std::vector<E>> = kNests<E>;
template <class E, size_t N>
inline constexpr bool kNests<std::array<E, N>> = kNests<E>;
template <class K, class E>
inline constexpr bool kNests<std::map<K, E>> = kNests<K> && kNests<E>;
template <class K, class E>
inline constexpr bool kNests<std::unordered_map<K, E>> = kNests<K> && kNests<E>;
template <class E>
inline constexpr bool kNests<std::optional<E>> = kNests<E>;
template <class... E>
inline constexpr bool kNests<std::tuple<E...>> = (kNests<E> && ...);
template <class A, class B>
inline constexpr bool kNests<std::pair<A, B>> = kNests<A> && kNests<B>;
}  // namespace detail
template <class T>
concept HasNest = detail::kNests<T>;

namespace detail {
template <class Fields>
inline constexpr bool kAllNests = false;
template <class... F>
inline constexpr bool kAllNests<std::tuple<F&...>> = (HasNest<std::remove_cv_t<F>> && ...);
}  // namespace detail

// Structs and classes that list the members that hold tensors: RW_STATE(position, velocity) in the class. The
// other members travel with the C++ object.
#define RW_STATE(...)                                                      \
  auto rw_state_of() const -> const std::remove_cvref_t<decltype(*this)>&; \
  auto rw_state() { return std::tie(__VA_ARGS__); }                        \
  auto rw_state() const { return std::tie(__VA_ARGS__); }

// By a list of its own: that of a class that it is derived from does not know of members that it adds.
template <class S>
concept ListsState = requires(const S& s) {
  s.rw_state();
  requires sizeof(s.rw_state_of()) == sizeof(S);
};
template <ListsState S>
struct Nest<S> {
  static_assert(detail::kAllNests<decltype(std::declval<const S&>().rw_state())>,
                "RW_STATE lists tensors, and structures of tensors");
  static void write(const S& s, NestWriter& w) {
    if (w.objects) Nest<const S*>::write(&s, w);  // an argument's other members are known by its address
    std::apply([&](const auto&... f) { (Nest<std::remove_cvref_t<decltype(f)>>::write(f, w), ...); },
               s.rw_state());
  }
  static S read(const S& like, NestReader& r) {
    S out = like;
    std::apply([&](auto&... f) { ((f = Nest<std::remove_cvref_t<decltype(f)>>::read(f, r)), ...); },
               out.rw_state());
    return out;
  }
};

// Plain structs of all these. A struct with a field of another kind is an object.
template <PlainStruct S>
  requires(!ListsState<S> && detail::kAllNests<decltype(as_fields(std::declval<const S&>()))>)
struct Nest<S> {
  static void write(const S& s, NestWriter& w) {
    std::apply([&](const auto&... f) { (Nest<std::remove_cvref_t<decltype(f)>>::write(f, w), ...); },
               as_fields(s));
  }
  static S read(const S& like, NestReader& r) {
    return std::apply(
        [&](const auto&... f) { return S{Nest<std::remove_cvref_t<decltype(f)>>::read(f, r)...}; },
        as_fields(like));
  }
};

}  // namespace rw
