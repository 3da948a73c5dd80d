// Any bytes as an array of numpy's.
#include <vector>

#include "rewind/base/error.h"
#include "rewind/format/npy.h"
#include "tests/fuzz/fuzz.h"

namespace rw::fuzz {
namespace {

void read(std::string_view data) {
  using namespace format;  // NOLINT
  try {
    const SharedBytes bytes = bytes_in_memory(std::string(data), "fuzz", "fuzz");
    const NpyHeader header = read_npy_header(*bytes);
    if (header.dtype == DType::kString) {
      (void)read_npy_strings(*bytes, header);
    } else {
      std::vector<char> out(size_t(header.shape.num_elements()) * header.item);
      read_npy(*bytes, header, out.data());
    }
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(npy, rw::fuzz::read, rw::fuzz::mutate_bytes)
