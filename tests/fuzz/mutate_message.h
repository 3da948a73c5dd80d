// Mutations of protobuf messages as messages: numbers, texts, lists, maps and the cases of oneofs change, and
// what comes out is well-formed again. The fields of every message are known (see format/message.h), so this
// holds for all of them.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "rewind/format/field_types.h"
#include "tests/fuzz/fuzz.h"

namespace rw::fuzz {

// Two walks over a message: the first counts what can be changed and collects texts and numbers, the second
// changes one of them.
class MessageMutator {
 public:
  explicit MessageMutator(Random& random) : random_(random) {}

  template <class M>
  void mutate(M* message) {
    counting_ = true;
    sites_ = 0;
    texts_.clear();
    numbers_.clear();
    walk(*message);
    if (sites_ == 0) return;
    counting_ = false;
    chosen_ = below(random_, sites_);
    sites_ = 0;
    walk(*message);
  }

  template <class T>
  void field(unsigned, const char*, T& member) {
    value(member);
  }
  template <class T>
  void bytes(unsigned, const char*, T& member) {
    value(member);
  }
  template <class T, class... Cases>
  void choice(unsigned, const char*, std::variant<Cases...>& member) {
    if (T* held = std::get_if<T>(&member)) {
      value(*held);
    } else if (site()) {
      member.template emplace<T>();
    }
  }
  template <class... Cases>
  void bytes_choice(unsigned number, const char* name, std::variant<Cases...>& member) {
    choice<std::string>(number, name, member);
  }
  void skipped(unsigned, const char*) {}

 private:
  // Whether this is the place that changes.
  bool site(size_t weight = 1) {
    const bool here = !counting_ && chosen_ >= sites_ && chosen_ < sites_ + weight;
    sites_ += weight;
    return here;
  }

  template <class M>
  void walk(M& message) {
    fields(*this, message);
  }

  template <class T>
  void value(T& member) {
    if constexpr (format::is_vector<T>) {
      if (site(2)) change_list(member);
      for (size_t i = 0; i < member.size(); ++i) {
        typename T::value_type element = member[i];
        value(element);
        if (!counting_) member[i] = std::move(element);
      }
    } else if constexpr (format::is_map<T>) {
      if (site(2)) change_map(member);
      for (auto& [key, inner] : member) {
        if constexpr (format::is_string<typename T::key_type>)
          if (counting_ && texts_.size() < kMostKept) texts_.push_back(key);
        value(inner);
      }
    } else if constexpr (format::is_optional<T>) {
      if (site()) {
        if (member) member.reset();
        else member = typename T::value_type{};
      } else if (member) {
        value(*member);
      }
    } else if constexpr (format::is_box<T>) {
      value(*member);
    } else if constexpr (format::is_string<T>) {
      if (counting_ && texts_.size() < kMostKept) texts_.push_back(member);
      if (site(3)) change_text(member);
    } else if constexpr (std::is_same_v<T, format::Fixed32> || std::is_same_v<T, format::SInt64>) {
      value(member.value);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (site()) member = !member;
    } else if constexpr (format::is_number<T>) {
      if constexpr (!std::is_floating_point_v<T>)
        if (counting_ && numbers_.size() < kMostKept) numbers_.push_back(int64_t(member));
      if (site(3)) change_number(member);
    } else {
      walk(member);
    }
  }

  template <class T>
  void change_number(T& member) {
    if constexpr (std::is_floating_point_v<T>) {
      const T of[] = {T(0), T(-1), T(1e30), std::numeric_limits<T>::quiet_NaN(),
                      std::numeric_limits<T>::infinity()};
      member = of[below(random_, std::size(of))];
    } else {
      const int64_t of[] = {0,
                            1,
                            -1,
                            2,
                            3,
                            8,
                            255,
                            65536,
                            std::numeric_limits<int32_t>::max(),
                            std::numeric_limits<int32_t>::min(),
                            int64_t{1} << 40,
                            std::numeric_limits<int64_t>::max(),
                            std::numeric_limits<int64_t>::min(),
                            int64_t(uint64_t(member) + 1),
                            int64_t(uint64_t(member) - 1)};
      const bool known = !numbers_.empty() && below(random_, 3) == 0;
      const int64_t to =
          known ? numbers_[below(random_, numbers_.size())] : of[below(random_, std::size(of))];
      if constexpr (std::is_enum_v<T>) member = T(std::underlying_type_t<T>(to));
      else member = T(to);
    }
  }
  void change_text(std::string& text) {
    switch (below(random_, 4)) {
      case 0: text.clear(); break;
      case 1: text = mutate_bytes(text, random_); break;
      default:
        if (!texts_.empty()) text = texts_[below(random_, texts_.size())];
    }
  }
  template <class T>
  void change_list(std::vector<T>& list) {
    const size_t at = below(random_, list.size());
    switch (below(random_, 5)) {
      case 0: list.emplace_back(); break;
      case 1:
        if (!list.empty()) list.erase(list.begin() + long(at));
        break;
      case 2:
        if (!list.empty()) {
          const T copy = list[at];
          list.insert(list.begin() + long(below(random_, list.size())), copy);
        }
        break;
      case 3:
        if (!list.empty()) {
          const T copy = list[at];
          list[below(random_, list.size())] = copy;
        }
        break;
      case 4: list.resize(at); break;
    }
  }
  template <class K, class V>
  void change_map(std::map<K, V>& map) {
    const auto any = [&] {
      auto it = map.begin();
      std::advance(it, below(random_, map.size()));
      return it;
    };
    if (map.empty()) return;
    if (below(random_, 3) == 0) {
      map.erase(any());
    } else if (below(random_, 2) == 0) {
      const V copy = any()->second;
      any()->second = copy;
    } else {
      const V copy = any()->second;
      if constexpr (format::is_string<K>) {
        std::string key = any()->first;
        change_text(key);
        map[key] = copy;
      } else {
        map[K(random_())] = copy;
      }
    }
  }

  static constexpr size_t kMostKept = 500;
  Random& random_;
  bool counting_ = true;
  size_t sites_ = 0, chosen_ = 0;
  std::vector<std::string> texts_;
  std::vector<int64_t> numbers_;
};

// Bytes of a message of type M with some changes; those of bytes that are none change as bytes do.
template <class M>
std::string mutate_message(std::string_view bytes, Random& random) {
  M message;
  try {
    message = format::decode<M>(bytes);
  } catch (const std::exception&) { return mutate_bytes(bytes, random); }
  MessageMutator mutator(random);
  for (size_t changes = 1 + below(random, 4); changes > 0; --changes) mutator.mutate(&message);
  return format::encode(message);
}

}  // namespace rw::fuzz
