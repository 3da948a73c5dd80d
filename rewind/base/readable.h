// Numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace rw {

// "12.5 MiB"; whole bytes below a KiB.
std::string readable_bytes(int64_t bytes, int digits = 2);

}  // namespace rw
