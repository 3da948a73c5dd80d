// Kinds of members that a message may have, for the readers and writers of wire.h and text_format.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <vector>

#include "rewind/format/message.h"

namespace rw::format {

// The deepest nesting of messages that is read, as in protobuf.
inline constexpr int kMaxDepth = 100;

// A number of four bytes, where others are varints.
struct Fixed32 {
  uint32_t value = 0;
  bool operator==(const Fixed32&) const = default;
};

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class K, class V>
inline constexpr bool is_map<std::map<K, V>> = true;
template <class T>
inline constexpr bool is_box = false;
template <class T>
inline constexpr bool is_box<Box<T>> = true;
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
inline constexpr bool is_string = std::is_same_v<T, std::string>;

// A signed number in zigzag coding (protobuf's sint64).
struct SInt64 {
  int64_t value = 0;
  bool operator==(const SInt64&) const = default;
};

// Whether protobuf leaves the value out. Minus zero is no default.
template <class T>
bool is_default(const T& value) {
  if constexpr (is_string<T>) {
    return value.empty();
  } else if constexpr (std::is_floating_point_v<T>) {
    return value == 0 && !__builtin_signbit(value);
  } else {
    return value == T{};
  }
}

}  // namespace rw::format
