#include "tests/fuzz/zip_sums.h"

#include <cstdint>
#include <cstring>

#include "rewind/format/inflate.h"
#include "rewind/format/zip_records.h"

namespace rw::fuzz {

void fix_zip_sums(std::string* archive) {
  using namespace format::zip;  // NOLINT
  std::string& a = *archive;
  const auto number = [&](size_t at, size_t size) {
    uint64_t n = 0;
    std::memcpy(&n, a.data() + at, size);
    return n;
  };
  const std::string signature("PK\1\2", 4);
  for (size_t at = a.find(signature); at != std::string::npos; at = a.find(signature, at + 1)) {
    if (at + kDirectorySize > a.size()) return;
    const uint64_t method = number(at + 10, 2), stored = number(at + 20, 4), size = number(at + 24, 4),
                   header = number(at + 42, 4);
    if (header + kLocalSize > a.size()) continue;
    const uint64_t begin = header + kLocalSize + number(header + 26, 2) + number(header + 28, 2);
    if (begin > a.size() || stored > a.size() - begin || size > 1 << 20) continue;
    std::string bytes = a.substr(begin, stored);
    if (method == 8) {
      const auto plain = format::inflate_exactly(bytes, size, format::InflateFrame::kNone);
      if (!plain) continue;
      bytes = *plain;
    }
    const uint32_t sum = format::crc32_of(0, bytes);
    std::memcpy(a.data() + at + 16, &sum, sizeof sum);
    std::memcpy(a.data() + header + 14, &sum, sizeof sum);
  }
}

}  // namespace rw::fuzz
