// Any bytes as a zip archive: every file in it is unpacked, and read as an array of numpy's.
#include <cstdlib>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/format/npy.h"
#include "rewind/format/zip.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/zip_sums.h"

namespace rw::fuzz {
namespace {

template <class F>
void attempt(F f) {
  try {
    f();
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

void read(std::string_view bytes) {
  using namespace format;  // NOLINT
  static const Scratch folder("zip");
  attempt([&] {
    const ZipFile zip(folder.put("x.npz", bytes), "fuzz", {.always = 1 << 20, .ratio = 20});
    for (const auto& entry : zip.entries()) {
      attempt([&] {
        const std::string whole = zip.read(entry);
        if (whole != zip.open(entry)->read(0, entry.size)) abort();
      });
      attempt([&] {
        const SharedBytes member = zip.open(entry);
        const NpyHeader header = read_npy_header(*member);
        if (header.dtype == DType::kString) {
          (void)read_npy_strings(*member, header);
        } else {
          std::vector<char> out(size_t(header.shape.num_elements()) * header.item);
          read_npy(*member, header, out.data());
        }
      });
    }
  });
}

std::string mutate(std::string_view bytes, Random& random) {
  std::string out = mutate_bytes(bytes, random);
  if (below(random, 2) == 0) fix_zip_sums(&out);
  return out;
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(zip, rw::fuzz::read, rw::fuzz::mutate)
