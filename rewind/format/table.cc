#include "rewind/format/table.h"

#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/format/crc32c.h"
#include "rewind/format/little_endian.h"
#include "rewind/format/snappy.h"

namespace rw::format {
namespace {

constexpr uint64_t kFooter = 48, kHandles = 40, kMagic = 0xdb4775248b80fb57U;
constexpr uint64_t kTrailer = 5;
constexpr char kPlain = 0, kSnappy = 1;
constexpr size_t kBlockBytes = 256 << 10;

struct Handle {
  uint64_t offset = 0, size = 0;
};

bool take_handle(std::string_view& bytes, Handle* handle) {
  return take_varint(bytes, &handle->offset) && take_varint(bytes, &handle->size);
}

class TableReader {
 public:
  TableReader(const ReadFile& file, const TableLimits& limits) : file_(file), limits_(limits) {}

  void read(FunctionRef<void(std::string_view, std::string_view)> entry) {
    if (file_.size() < kFooter) file_.fail(0, "a table has at least 48 bytes");
    const uint64_t footer_at = file_.size() - kFooter;
    const std::string footer = file_.read(footer_at, kFooter);
    if (get_fixed<uint64_t>(footer.data() + kHandles) != kMagic)
      file_.fail(footer_at + kHandles, "the last eight bytes are not a table's");
    std::string_view handles(footer.data(), kHandles);
    Handle metadata;
    Handle index;
    if (!take_handle(handles, &metadata) || !take_handle(handles, &index))
      file_.fail(footer_at, "the footer holds no two handles");
    std::string last;  // key of all blocks
    bool first = true;
    uint64_t bytes = 0;
    const auto in_index = [&](std::string_view, std::string_view value, uint64_t at) {
      Handle block;
      if (!take_handle(value, &block) || !value.empty()) file_.fail(at, "an entry of the index is no handle");
      in_block(block, [&](std::string_view key, std::string_view v, uint64_t entry_at) {
        if (!first && key <= last) file_.fail(entry_at, "keys do not rise");
        first = false;
        last.assign(key);
        bytes += key.size() + v.size();
        if (!limits_.bytes.allows(bytes, file_.size()))
          file_.fail(entry_at, "its entries have " + std::to_string(bytes) +
                                   " bytes up to here, the file has " + std::to_string(file_.size()) +
                                   ": more than is allowed");
        entry(key, v);
      });
    };
    in_block(index, in_index);
  }

 private:
  using Entry = FunctionRef<void(std::string_view, std::string_view, uint64_t)>;

  std::string block_at(const Handle& h) const {
    if (h.offset > file_.size() || h.size > file_.size() - h.offset ||
        kTrailer > file_.size() - h.offset - h.size)
      file_.fail(std::min(h.offset, file_.size()), "a block of " + std::to_string(h.size) +
                                                       " bytes goes beyond the end, byte " +
                                                       std::to_string(file_.size()));
    if (h.size > limits_.block_bytes)
      file_.fail(h.offset, "a block of " + std::to_string(h.size) + " bytes is above the limit of " +
                               std::to_string(limits_.block_bytes));
    std::string block = file_.read(h.offset, h.size + kTrailer);
    const char kind = block[h.size];
    const auto stored = get_fixed<uint32_t>(block.data() + h.size + 1);
    if (mask_crc(crc32c(block.data(), h.size + 1)) != stored)
      file_.fail(h.offset, "the checksum of a block of " + std::to_string(h.size) + " bytes is wrong");
    block.resize(h.size);
    if (kind == kPlain) return block;
    if (kind != kSnappy) file_.fail(h.offset + h.size, "unknown compression " + std::to_string(int(kind)));
    try {
      return snappy_uncompress(block, limits_.block_bytes);
    } catch (const DataLossError& e) { file_.fail(h.offset, e.what()); }
  }

  void in_block(const Handle& handle, Entry entry) const {
    const std::string block = block_at(handle);
    const auto fail = [&](const std::string& what) { file_.fail(handle.offset, "in a block: " + what); };
    if (block.size() < 4) fail("it has no restarts");
    const uint64_t restarts = get_fixed<uint32_t>(block.data() + block.size() - 4);
    if (restarts > (block.size() - 4) / 4) fail("it has fewer bytes than restarts");
    std::string_view rest(block.data(), block.size() - 4 - 4 * restarts);
    std::string key;
    while (!rest.empty()) {
      uint64_t shared;
      uint64_t own;
      uint64_t length;
      if (!take_varint(rest, &shared) || !take_varint(rest, &own) || !take_varint(rest, &length))
        fail("an entry's lengths are cut off");
      if (shared > key.size()) fail("a key shares more with the one before than that has");
      if (own > rest.size() || length > rest.size() - own) fail("an entry goes beyond the end");
      if (shared + own > limits_.key_bytes)
        fail("a key of " + std::to_string(shared + own) + " bytes is above the limit of " +
             std::to_string(limits_.key_bytes));
      key.resize(shared);
      key.append(rest.substr(0, own));
      const std::string_view value = rest.substr(own, length);
      rest.remove_prefix(own + length);
      entry(key, value, handle.offset);
    }
  }

  const ReadFile& file_;
  const TableLimits& limits_;
};

// A short key that is not less than `key` and less than `next`.
std::string separator(const std::string& key, std::string_view next) {
  const size_t most = std::min(key.size(), next.size());
  size_t same = 0;
  while (same < most && key[same] == next[same]) ++same;
  if (same < most) {
    const auto byte = static_cast<unsigned char>(key[same]);
    if (byte < 0xff && byte + 1 < static_cast<unsigned char>(next[same])) {
      std::string between = key.substr(0, same + 1);
      between[same] = char(byte + 1);
      return between;
    }
  }
  return key;
}

// A short key that is not less than `key`.
std::string successor(const std::string& key) {
  for (size_t i = 0; i < key.size(); ++i) {
    if (static_cast<unsigned char>(key[i]) == 0xff) continue;
    std::string next = key.substr(0, i + 1);
    next[i] = char(static_cast<unsigned char>(next[i]) + 1);
    return next;
  }
  return key;
}

}  // namespace

void read_table(const ReadFile& file, FunctionRef<void(std::string_view, std::string_view)> entry,
                const TableLimits& limits) {
  TableReader(file, limits).read(entry);
}

void TableBuilder::Block::add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (since_restart < interval) {
    const size_t most = std::min(key.size(), last_key.size());
    while (shared < most && key[shared] == last_key[shared]) ++shared;
  } else {
    restarts.push_back(uint32_t(bytes.size()));
    since_restart = 0;
  }
  put_varint(bytes, shared);
  put_varint(bytes, key.size() - shared);
  put_varint(bytes, value.size());
  bytes.append(key.substr(shared));
  bytes.append(value);
  last_key.assign(key);
  ++since_restart;
}

std::string TableBuilder::Block::finish() {
  for (const uint32_t at : restarts) put_fixed(bytes, at);
  put_fixed(bytes, uint32_t(restarts.size()));
  restarts = {0};
  since_restart = 0;
  last_key.clear();
  return std::exchange(bytes, {});
}

std::string TableBuilder::append(Block& block) {
  const std::string contents = block.finish();
  std::string handle;
  put_varint(handle, table_.size());
  put_varint(handle, contents.size());
  table_ += contents;
  table_.push_back(kPlain);
  put_fixed(table_, mask_crc(crc32c(std::string_view(&kPlain, 1), crc32c(contents))));
  return handle;
}

void TableBuilder::add(std::string_view key, std::string_view value) {
  if (!empty_ && key <= last_key_)
    throw InvalidArgumentError("[table] keys must rise: got " + std::string(key) + " behind " + last_key_);
  // As full as a block may get; what its restarts will take counts.
  if (!data_.bytes.empty() && data_.bytes.size() + 4 * data_.restarts.size() + 4 >= kBlockBytes)
    index_.add(separator(last_key_, key), append(data_));
  data_.add(key, value);
  last_key_.assign(key);
  empty_ = false;
}

std::string TableBuilder::finish() {
  std::string last;
  const bool has_data = !data_.bytes.empty();
  if (has_data) last = append(data_);
  Block none{.interval = 16};
  std::string handles = append(none);
  if (has_data) index_.add(successor(last_key_), last);
  handles += append(index_);
  handles.resize(kHandles);
  table_ += handles;
  put_fixed(table_, kMagic);
  return std::move(table_);
}

}  // namespace rw::format
