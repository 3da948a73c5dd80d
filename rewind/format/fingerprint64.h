// Fingerprint64 of FarmHash: the hash in TensorFlow's files.
#pragma once

#include <cstdint>
#include <string_view>

namespace rw::format {

uint64_t fingerprint64(std::string_view bytes);

}  // namespace rw::format
