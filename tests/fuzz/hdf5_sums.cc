#include "tests/fuzz/hdf5_sums.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "rewind/base/error.h"
#include "rewind/format/hdf5.h"
#include "tests/support/read_hdf5.h"

namespace rw::fuzz {
namespace {

// The number behind `label`.
bool number_behind(std::string_view text, std::string_view label, uint64_t* number) {
  size_t at = text.find(label);
  if (at == std::string_view::npos) return false;
  *number = 0;
  for (at += label.size(); at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    *number = *number * 10 + uint64_t(text[at] - '0');
  return true;
}

}  // namespace

void fix_hdf5_sums(std::string* file) {
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    bool fixed = false;
    std::string next = *file;
    // A message says what the checksum is and where another one stands.
    const auto fix = [&](const Error& e) {
      uint64_t computed = 0, at = 0;
      if (!number_behind(e.what(), "has the checksum ", &computed) ||
          !number_behind(e.what(), ", at byte ", &at))
        return;
      const auto sum = uint32_t(computed);
      if (next.size() < sizeof sum || at > next.size() - sizeof sum) return;
      std::memcpy(next.data() + at, &sum, sizeof sum);
      fixed = true;
    };
    try {
      test::read_everything(
          format::Hdf5File(format::bytes_in_memory(*file, "fuzz", "fuzz"), {.always = 1 << 20, .ratio = 20})
              .root(),
          fix);
    } catch (const Error& e) { fix(e); }
    if (!fixed) return;
    *file = std::move(next);
  }
}

}  // namespace rw::fuzz
