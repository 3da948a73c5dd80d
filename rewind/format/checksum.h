// A 64-bit checksum of bytes, for damage, not against forgery: every flipped bit changes it. The value
// depends on how the bytes are cut into calls of add().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rw::format {

class Checksum {
 public:
  void add(const void* data, size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  uint64_t value() const { return state_; }

 private:
  void mix(uint64_t word);
  uint64_t state_ = 0x9E3779B97F4A7C15u;
};

}  // namespace rw::format
