// Any bytes as JSON; what was read is written and read again.
#include "rewind/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_json.h"

namespace rw::fuzz {
namespace {

void read(std::string_view bytes) {
  try {
    const format::Json value = format::parse_json(bytes, "fuzz");
    const std::string text = format::to_text(value);
    if (format::to_text(format::parse_json(text, "fuzz")) != text) abort();
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

std::string mutate(std::string_view bytes, Random& random) {
  return below(random, 2) == 0 ? mutate_bytes(bytes, random) : mutate_json(bytes, random);
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(json, rw::fuzz::read, rw::fuzz::mutate)
