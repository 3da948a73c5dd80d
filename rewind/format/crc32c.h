// CRC-32C (Castagnoli's polynomial), the checksum of TensorFlow's files. Files hold it masked, so that a
// checksum of bytes that contain checksums is a good one too.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rw::format {

// The checksum of a message with checksum `before` (0: none) followed by these bytes.
uint32_t crc32c(const void* data, size_t size, uint32_t before = 0);
inline uint32_t crc32c(std::string_view bytes, uint32_t before = 0) {
  return crc32c(bytes.data(), bytes.size(), before);
}
// The checksum of a message of two parts, from the checksums of both and the length of the second: parts can
// be summed up on several threads.
uint32_t crc32c_combine(uint32_t first, uint32_t second, uint64_t second_size);

constexpr uint32_t kCrcMask = 0xa282ead8U;
constexpr uint32_t mask_crc(uint32_t crc) { return std::rotr(crc, 15) + kCrcMask; }
constexpr uint32_t unmask_crc(uint32_t masked) { return std::rotl(masked - kCrcMask, 15); }

}  // namespace rw::format
