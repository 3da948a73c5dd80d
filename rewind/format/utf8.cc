#include "rewind/format/utf8.h"

namespace rw::format {

void append_utf8(std::string* to, uint32_t code) {
  auto byte = [&](uint32_t bits) { to->push_back(char(bits)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

bool is_utf8(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size();) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const int more = first < 0x80       ? 0
                     : first >> 5 == 6  ? 1
                     : first >> 4 == 14 ? 2
                     : first >> 3 == 30 ? 3
                                        : -1;
    if (more < 0 || i + size_t(more) >= bytes.size()) return false;
    uint32_t code = more == 0 ? first : first & (0x3fu >> more);
    for (int k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(bytes[i + size_t(k)]);
      if (next >> 6 != 2) return false;
      code = code << 6 | (next & 0x3f);
    }
    constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
    if (code < kSmallest[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    i += size_t(more) + 1;
  }
  return true;
}

}  // namespace rw::format
