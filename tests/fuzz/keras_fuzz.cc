// Any bytes as the parts of a .keras archive, config.json and model.weights.h5, or as an older whole model if
// the first part begins as HDF5 does. The model that comes of it runs on zeros. library
#include <cstdio>

#include "rewind/format/zip.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/hdf5_sums.h"
#include "tests/fuzz/mutate_json.h"
#include "tests/fuzz/parts.h"
#include "tests/fuzz/scratch.h"

namespace rw::fuzz {
namespace {

constexpr std::string_view kHdf5 = "\x89HDF";

void read(std::string_view bytes) {
  static const Scratch folder("keras");
  const auto parts = split_parts(bytes, 2);
  const bool legacy = parts[0].starts_with(kHdf5);
  const std::string path = folder / (legacy ? "m.h5" : "m.keras");
  try {
    if (legacy) {
      folder.put("m.h5", parts[0]);
    } else {
      format::ZipWriter zip(path, "fuzz");
      zip.add("metadata.json", "{}");
      zip.add("config.json", parts[0]);
      zip.add("model.weights.h5", parts[1]);
      zip.commit();
    }
    memory::set_budget("CPU:0", int64_t{64} << 20);
    const auto model = keras::models::load_model(path, {.limit = {.always = 1 << 20, .ratio = 20}});
    (void)model.to_json();
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

std::string mutate(std::string_view bytes, Random& random) {
  auto parts = split_parts(bytes, 2);
  if (parts[0].starts_with(kHdf5)) {
    parts[0] = mutate_bytes(parts[0], random);
    fix_hdf5_sums(&parts[0]);
  } else if (below(random, 4) == 0) {
    parts[1] = mutate_bytes(parts[1], random);
  } else {
    parts[0] = mutate_json(parts[0], random);
  }
  return join_parts(parts);
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(keras, rw::fuzz::read, rw::fuzz::mutate)
