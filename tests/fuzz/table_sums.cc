#include "tests/fuzz/table_sums.h"

#include <cstring>
#include <functional>
#include <string_view>

#include "rewind/base/error.h"
#include "rewind/format/crc32c.h"
#include "rewind/format/little_endian.h"
#include "rewind/format/snappy.h"

namespace rw::fuzz {
namespace {

using format::get_fixed;
using format::take_varint;

// The value of an entry, with its place in the block.
using Entry = std::function<void(char* value, size_t size, std::string_view key)>;

struct Handle {
  uint64_t offset = 0, size = 0;
};

void put_u32(char* at, uint32_t value) { std::memcpy(at, &value, sizeof value); }

void each_entry(char* block, size_t size, const Entry& entry) {
  if (size < 4) return;
  const uint64_t restarts = get_fixed<uint32_t>(block + size - 4);
  if (restarts > (size - 4) / 4) return;
  std::string_view rest(block, size - 4 - 4 * restarts);
  std::string key;
  while (!rest.empty()) {
    uint64_t shared = 0, own = 0, length = 0;
    if (!take_varint(rest, &shared) || !take_varint(rest, &own) || !take_varint(rest, &length)) return;
    if (shared > key.size() || own > rest.size() || length > rest.size() - own) return;
    key.resize(shared);
    key.append(rest.substr(0, own));
    entry(block + (rest.data() - block) + own, length, key);
    rest.remove_prefix(own + length);
  }
}

// The checksum of a tensor, which its BundleEntryProto holds as field 6 (fixed32).
void fix_entry(char* value, size_t size, const std::string& data) {
  uint64_t dtype = 0, offset = 0, length = 0;
  size_t sum_at = 0;
  std::string_view rest(value, size);
  while (!rest.empty()) {
    uint64_t tag = 0, number = 0;
    if (!take_varint(rest, &tag)) return;
    switch (tag & 7) {
      case 0:
        if (!take_varint(rest, &number)) return;
        if (tag >> 3 == 1) dtype = number;
        if (tag >> 3 == 4) offset = number;
        if (tag >> 3 == 5) length = number;
        break;
      case 2:
        if (!take_varint(rest, &number) || number > rest.size()) return;
        rest.remove_prefix(number);
        break;
      case 5:
        if (rest.size() < 4) return;
        if (tag >> 3 == 6) sum_at = size - rest.size();
        rest.remove_prefix(4);
        break;
      default: return;
    }
  }
  if (sum_at == 0 || offset > data.size() || length > data.size() - offset) return;
  std::string_view bytes = std::string_view(data).substr(offset, length);
  constexpr uint64_t kString = 7;
  if (dtype != kString) return put_u32(value + sum_at, format::mask_crc(format::crc32c(bytes)));
}

}  // namespace

void fix_table_sums(std::string* table, const std::string* data) {
  constexpr size_t kFooter = 48, kTrailer = 5;
  if (table->size() < kFooter) return;
  char* const begin = table->data();
  const size_t size = table->size();
  const auto fix_block = [&](const Handle& h, const Entry& entry) {
    if (h.offset > size || h.size > size - h.offset || kTrailer > size - h.offset - h.size) return;
    char* const block = begin + h.offset;
    if (block[h.size] == 0) {
      each_entry(block, h.size, entry);
    } else {
      try {
        std::string plain = format::snappy_uncompress({block, h.size}, 1 << 20);
        each_entry(plain.data(), plain.size(), entry);
      } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): it stays as it is
    }
    put_u32(block + h.size + 1, format::mask_crc(format::crc32c(block, h.size + 1)));
  };
  std::string_view handles(begin + size - kFooter, 40);
  Handle metadata, index;
  if (!take_varint(handles, &metadata.offset) || !take_varint(handles, &metadata.size) ||
      !take_varint(handles, &index.offset) || !take_varint(handles, &index.size))
    return;
  fix_block(index, [&](char* value, size_t length, std::string_view) {
    std::string_view bytes(value, length);
    Handle block;
    if (!take_varint(bytes, &block.offset) || !take_varint(bytes, &block.size)) return;
    fix_block(block, [&](char* inner, size_t inner_size, std::string_view key) {
      if (data && !key.empty()) fix_entry(inner, inner_size, *data);
    });
  });
}

}  // namespace rw::fuzz
