// Several files in one fuzz input: for each its length (4 bytes, little-endian) and its bytes. Whatever the
// lengths say, any bytes are some files.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace rw::fuzz {

inline std::vector<std::string> split_parts(std::string_view bytes, size_t count) {
  std::vector<std::string> parts(count);
  for (std::string& part : parts) {
    uint32_t size = 0;
    if (bytes.size() < sizeof size) return parts;
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    part = bytes.substr(0, size);
    bytes.remove_prefix(part.size());
  }
  return parts;
}

inline std::string join_parts(const std::vector<std::string>& parts) {
  std::string bytes;
  for (const std::string& part : parts) {
    const auto size = uint32_t(part.size());
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes += part;
  }
  return bytes;
}

}  // namespace rw::fuzz
