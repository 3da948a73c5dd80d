// Numbers as files hold them: fixed32 and fixed64 with the lowest byte first, varints with seven bits a byte,
// the lowest first, and the top bit set in all bytes but the last.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace rw::format {

template <class T>
void put_fixed(std::string& out, T value) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}
// The caller has checked that the bytes are there.
template <class T>
T get_fixed(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

inline void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(char(value | 0x80));
  out.push_back(char(value));
}
// Takes a varint of at most 64 bits off the front of `bytes`; false if there is none.
inline bool take_varint(std::string_view& bytes, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i == 9 && byte > 1) return false;
    *value |= uint64_t(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace rw::format
