// Inflating what deflate has compressed, by zlib.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rw::format {

enum class InflateFrame { kZlib, kNone };  // kNone: as zip archives store it

// The bytes, of which there must be exactly `size`; nullopt: they are damaged, or there are more or fewer.
// Memory is taken as bytes come.
std::optional<std::string> inflate_exactly(std::string_view bytes, uint64_t size, InflateFrame frame);

uint32_t crc32_of(uint32_t crc, std::string_view bytes);  // zip's; begins with 0

}  // namespace rw::format
