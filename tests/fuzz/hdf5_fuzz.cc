// Any bytes as an HDF5 file: everything in it is read. What is damaged is an Error, and nothing else happens.
// tests/fuzz/hdf5_sums.cc seeds: tests/golden/hdf5/*.h5
#include "rewind/base/error.h"
#include "rewind/format/hdf5.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/hdf5_sums.h"
#include "tests/support/read_hdf5.h"

namespace rw::fuzz {
namespace {

void read(std::string_view bytes) {
  using namespace format;  // NOLINT
  try {
    test::read_everything(
        Hdf5File(bytes_in_memory(std::string(bytes), "fuzz", "fuzz"), {.always = 1 << 20, .ratio = 20})
            .root());
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

std::string mutate(std::string_view bytes, Random& random) {
  std::string out = mutate_bytes(bytes, random);
  if (below(random, 2) == 0) fix_hdf5_sums(&out);
  return out;
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(hdf5, rw::fuzz::read, rw::fuzz::mutate)
