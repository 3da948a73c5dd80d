// Any bytes as a zip archive: every file in it is unpacked.
// sources: rewind/format/zip.cc rewind/format/inflate.cc rewind/format/byte_source.cc
// seeds: tests/fuzz/seeds/*.zip
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "rewind/base/error.h"
#include "rewind/format/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rw::format;  // NOLINT
  static const int file = [] {
    char name[] = "/dev/shm/rewind-zip-fuzz-XXXXXX";
    const int fd = mkstemp(name);
    unlink(name);
    return fd;
  }();
  static const std::string path = "/dev/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != ssize_t(size)) abort();
  try {
    const ZipFile zip(path, "fuzz", {.always = 1 << 20, .ratio = 20});
    for (const auto& entry : zip.entries()) {
      try {
        const std::string bytes = zip.read(entry);
        if (bytes != zip.open(entry)->read(0, entry.size)) abort();
      } catch (const rw::Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
    }
  } catch (const rw::Error&) {}  // NOLINT(bugprone-empty-catch)
  return 0;
}
