// Any bytes as an HDF5 file: everything in it is read. What is damaged is an Error, and nothing else happens.
// sources: rewind/format/hdf5*.cc rewind/format/inflate.cc rewind/format/byte_source.cc
// seeds: tests/golden/hdf5/*.h5
#include "rewind/base/error.h"
#include "rewind/format/hdf5.h"
#include "tests/support/read_hdf5.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rw::format;  // NOLINT
  try {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    rw::test::read_everything(
        Hdf5File(bytes_in_memory(bytes, "fuzz", "fuzz"), {.always = 1 << 20, .ratio = 20}).root());
  } catch (const rw::Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
  return 0;
}
