// Tensor bundles: named tensors in the files of TensorFlow's checkpoints.
//
//   PREFIX.index                     a table (table.h)
//     ""                             BundleHeaderProto   1 num_shards   2 endianness (0: little)   3 version
//     name                           BundleEntryProto    1 dtype   2 shape   3 shard_id   4 offset   5 size
//                                                        6 crc32c (fixed32, masked)   7 slices
//     0x00-coded name and slice      BundleEntryProto of a slice; the entry of the name lists the slices
//   PREFIX.data-00000-of-00002       the elements, tensor after tensor: row-major, little-endian
//
// A tensor of n strings: n varints with the lengths; fixed32, the masked checksum of the lengths as fixed32
// each (as fixed64 if above 2^32); the strings. Its own checksum runs over the lengths as fixed32, that
// checksum and the strings.
//   TensorSliceProto   1 extent: {1 start, 2 length}; an axis without a length is whole
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/shape.h"
#include "rewind/format/field_types.h"
#include "rewind/format/graph_def.h"
#include "rewind/format/read_file.h"

namespace rw::format {

struct TensorSliceProto {
  struct Extent {
    int64_t start = 0;
    std::optional<int64_t> length;
  };
  std::vector<Extent> extent;
};

struct BundleHeaderProto {
  int32_t num_shards = 0;
  int32_t endianness = 0;
  std::optional<VersionDef> version;
};

struct BundleEntryProto {
  DataType dtype = DataType::kInvalid;
  std::optional<TensorShapeProto> shape;
  int32_t shard_id = 0;
  int64_t offset = 0;
  int64_t size = 0;
  Fixed32 crc32c;
  std::vector<TensorSliceProto> slices;
};

// Where the elements of shard `shard` of `shards` are.
std::string bundle_data_path(const std::string& prefix, int shard, int shards);
std::string bundle_index_path(const std::string& prefix);
// How many data files a bundle has, as its index says. Throws as BundleReader does.
int bundle_shards(const std::string& prefix, const char* tag);
// The key of a slice's entry.
std::string slice_key(std::string_view name, const TensorSliceProto& slice);

// An open bundle. The index was read and checked; elements are read when they are asked for, straight to
// where they belong, and their checksums are verified. Any number of threads may read.
class BundleReader {
 public:
  struct Entry {
    DataType dtype = DataType::kInvalid;
    Shape shape;
    int32_t shard = 0;
    uint64_t offset = 0, size = 0;  // bytes, in the shard's file
    uint32_t crc = 0;               // as it is stored
    std::vector<TensorSliceProto> slices;
  };

  // Throws NotFoundError, and DataLossError with the file's name and the byte for what breaks the rules
  // above. `tag` is the function that the user called.
  explicit BundleReader(std::string prefix, const char* tag = "checkpoint");

  const std::string& prefix() const { return prefix_; }
  int shards() const { return shards_; }
  const std::map<std::string, Entry, std::less<>>& entries() const {
    return entries_;
  }  // without slices' own
  const Entry* find(std::string_view name) const;  // nullptr: there is none

  // The elements of a tensor of numbers: element size x elements bytes, put together from its slices where it
  // is stored in slices.
  void read(std::string_view name, void* to) const;
  std::vector<std::string> read_strings(std::string_view name) const;

  // In pieces, for several threads: bytes of a tensor that is not stored in slices, without a look at their
  // checksum; and whether the checksum of all of them is the stored one.
  void read_piece(const Entry& entry, uint64_t offset, void* to, size_t size) const;
  void check_sum(std::string_view name, const Entry& entry, uint32_t crc) const;

 private:
  void take_entry(std::string_view key, std::string_view value);
  const Entry& entry_of(std::string_view name) const;
  const ReadFile& shard_file(int shard) const;
  void read_whole(std::string_view name, const Entry& entry, void* to) const;
  void read_slices(std::string_view name, const Entry& entry, char* to) const;
  void check_slices(std::string_view name, const Entry& entry) const;
  [[noreturn]] void fail(std::string_view name, const std::string& what) const;

  std::string prefix_;
  const char* tag_;
  int shards_ = 0;
  std::map<std::string, Entry, std::less<>> entries_, slices_;
  std::vector<std::unique_ptr<ReadFile>> files_;
};

}  // namespace rw::format
