// Signatures and sizes of zip's records, without the names behind them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rw::format::zip {

inline constexpr uint32_t kLocal = 0x04034b50, kDirectory = 0x02014b50, kEnd = 0x06054b50,
                          kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
inline constexpr size_t kLocalSize = 30, kDirectorySize = 46, kEndSize = 22, kEnd64Size = 56,
                        kLocatorSize = 20;
inline constexpr uint64_t kMax32 = 0xffffffff;

}  // namespace rw::format::zip
