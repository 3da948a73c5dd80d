// Deflate, by zlib.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rw::format {

enum class InflateFrame { kZlib, kNone };  // kNone: as zip archives store it

// The bytes, of which there must be exactly `size`; nullopt: they are damaged, or there are more or fewer.
// Memory is taken as bytes come.
std::optional<std::string> inflate_exactly(std::string_view bytes, uint64_t size, InflateFrame frame);

// The parts, one after another, compressed without a frame.
std::string deflate(std::span<const std::string_view> parts);

uint32_t crc32_of(uint32_t crc, std::string_view bytes);  // zip's; begins with 0

}  // namespace rw::format
