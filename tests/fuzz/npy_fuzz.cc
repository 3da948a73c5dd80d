// Any bytes as an array of numpy's.
// sources: rewind/format/npy.cc rewind/format/byte_source.cc
// seeds: tests/fuzz/seeds/*.npy
#include <vector>

#include "rewind/base/error.h"
#include "rewind/format/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rw::format;  // NOLINT
  try {
    const SharedBytes bytes =
        bytes_in_memory(std::string(reinterpret_cast<const char*>(data), size), "fuzz", "fuzz");
    const NpyHeader header = read_npy_header(*bytes);
    if (header.dtype == rw::DType::kString) {
      (void)read_npy_strings(*bytes, header);
    } else {
      std::vector<char> out(size_t(header.shape.num_elements()) * header.item);
      read_npy(*bytes, header, out.data());
    }
  } catch (const rw::Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
  return 0;
}
