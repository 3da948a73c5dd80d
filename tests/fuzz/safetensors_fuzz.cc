// Any bytes as a safetensors file.
#include <vector>

#include "rewind/base/error.h"
#include "rewind/format/safetensors.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"

namespace rw::fuzz {
namespace {

void read(std::string_view bytes) {
  static const Scratch folder("safetensors");
  try {
    const format::SafetensorsFile file(folder.put("x.safetensors", bytes), "fuzz");
    for (const auto& entry : file.entries()) {
      std::vector<char> out(entry.size);
      file.read(entry, out.data());
      if (file.find(entry.name) == nullptr) abort();
    }
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

// The header's length is often that of the header again.
std::string mutate(std::string_view bytes, Random& random) {
  std::string out = mutate_bytes(bytes, random);
  const size_t end = out.rfind('}');
  if (below(random, 2) == 0 && out.size() > 8 && end != std::string::npos && end >= 8) {
    const uint64_t size = end + 1 - 8;
    out.replace(0, 8, reinterpret_cast<const char*>(&size), 8);
  }
  return out;
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(safetensors, rw::fuzz::read, rw::fuzz::mutate)
