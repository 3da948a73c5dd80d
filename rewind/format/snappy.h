// Snappy, for reading: blocks of tables that other programs wrote may be compressed by it.
//
//   varint        length of the uncompressed bytes
//   elements      tag byte; its low two bits say what follows
//     00          literal: length - 1 in the upper six bits, or 60 to 63 there: in the next 1 to 4 bytes;
//     then the
//                 bytes
//     01          copy: 4 to 11 bytes (three bits), offset of 11 bits (three in the tag, a byte behind it)
//     10, 11      copy: 1 to 64 bytes (six bits), offset in two or four bytes
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rw::format {

// Throws DataLossError for bytes that break the rules, and where they say to become longer than `most`.
std::string snappy_uncompress(std::string_view bytes, size_t most);

}  // namespace rw::format
