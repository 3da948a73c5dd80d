#include "rewind/base/readable.h"

#include <cstdio>

namespace rw {

std::string readable_bytes(int64_t bytes, int digits) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = double(bytes);
  int u = 0;
  for (; value >= 1024 && u < 6; ++u) value /= 1024;
  char text[48];
  snprintf(text, sizeof text, "%.*f %s", u ? digits : 0, value, kUnits[u]);
  return text;
}

}  // namespace rw
