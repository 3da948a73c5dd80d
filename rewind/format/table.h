// Sorted tables: keys and values in one file, the format of LevelDB and of the index of TensorFlow's
// checkpoints.
//
//   block     entries, then restarts: n fixed32 (where in the block an entry has its whole key), n fixed32
//     entry   varint shared    how many bytes of the key are those of the key before
//             varint rest      how many follow
//             varint length    of the value
//             rest of the key, value
//   file      blocks of entries, a block of metadata (empty), the index, the footer; behind every block
//             1 byte           0: as it is, 1: compressed by Snappy
//             fixed32          masked CRC-32C of the block as it lies and of that byte
//     index   a block with an entry per block: a key that is not less than those of the block and less than
//     those of
//             the next; handle of the block
//     handle  varint offset, varint size (without the five bytes behind it)
//     footer  48 bytes: handle of the metadata, handle of the index, zeros up to byte 40, fixed64
//             0xdb4775248b80fb57
//
// fixed32 and fixed64 are little-endian. Keys are sorted by their bytes, each once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/function_ref.h"
#include "rewind/format/expansion_limit.h"
#include "rewind/format/read_file.h"

namespace rw::format {

// Blocks are compressed, and so are the beginnings of keys: a small file can stand for many bytes.
struct TableLimits {
  uint64_t block_bytes = uint64_t{256} << 20;  // of one block, uncompressed
  ExpansionLimit bytes = {};                   // all keys and values, by the size of the file
  uint64_t key_bytes = uint64_t{1} << 20;      // of one key
};

// Calls `entry` for each key and value, in order. Throws DataLossError with the file's name and the byte for
// what breaks the rules above; entries before it were handed out then.
void read_table(const ReadFile& file, FunctionRef<void(std::string_view key, std::string_view value)> entry,
                const TableLimits& limits = {});

// Builds the bytes of a table, laid out as TensorFlow does it: no compression, blocks of 256 KiB.
class TableBuilder {
 public:
  // Keys must rise; throws InvalidArgumentError where one does not.
  void add(std::string_view key, std::string_view value);
  // The whole table; the builder is used up.
  std::string finish();

 private:
  struct Block {
    int interval;  // of entries with a whole key
    std::string bytes, last_key;
    std::vector<uint32_t> restarts{0};
    int since_restart = 0;

    void add(std::string_view key, std::string_view value);
    std::string finish();  // and begins the next block
  };
  // Puts a block into the table and says where.
  std::string append(Block& block);

  Block data_{.interval = 16}, index_{.interval = 1};
  std::string table_, last_key_;
  bool empty_ = true;
};

}  // namespace rw::format
