// A limit for readers of compressed files.
#pragma once

#include <cstdint>

namespace rw::format {

// How much compressed bytes may become: what says that it becomes more is refused before it is unpacked.
// Deflate reaches 1032 bytes for one, real weights hardly two.
struct ExpansionLimit {
  uint64_t always = uint64_t{256} << 20;  // bytes that are fine whatever is stored
  uint64_t ratio = 100;                   // above that: unpacked bytes for each stored one
  bool allows(uint64_t unpacked, uint64_t stored) const {
    return unpacked <= always || unpacked / ratio <= stored;
  }
};

}  // namespace rw::format
