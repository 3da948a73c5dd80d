// Any bytes as a table, with its checksums made right, and as data compressed by Snappy.
#include "rewind/base/error.h"
#include "rewind/format/snappy.h"
#include "rewind/format/table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/table_sums.h"

namespace rw::fuzz {
namespace {

void read(std::string_view bytes) {
  using namespace format;  // NOLINT
  static const Scratch folder("table");
  std::string table(bytes);
  fix_table_sums(&table);
  try {
    const ReadFile file(folder.put("t", table), "fuzz");
    uint64_t size = 0;
    read_table(file, [&](std::string_view key, std::string_view value) { size += key.size() + value.size(); },
               {.block_bytes = 1 << 20, .bytes = {.always = 8 << 20, .ratio = 2}, .key_bytes = 1 << 16});
    if (size > 8 << 20) abort();
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
  try {
    if (snappy_uncompress(bytes, 1 << 20).size() > 1 << 20) abort();
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch)
}

std::string mutate(std::string_view bytes, Random& random) {
  std::string table = mutate_bytes(bytes, random);
  fix_table_sums(&table);
  return table;
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(table, rw::fuzz::read, rw::fuzz::mutate)
