#include "rewind/base/readable.h"

#include "rewind/base/number_text.h"

namespace rw {

std::string readable_bytes(int64_t bytes, int digits) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = double(bytes);
  int u = 0;
  for (; value >= 1024 && u < 6; ++u) value /= 1024;
  return fixed_text(value, u ? digits : 0) + " " + kUnits[u];
}

}  // namespace rw
