// HDF5's heaps: names of old groups (local), strings of any length (global), links and attributes of large
// new groups (fractal).
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "rewind/format/hdf5_bytes.h"

namespace rw::format::hdf5 {

// The data of a local heap: texts by their offsets.
std::string read_local_heap(const Image& image, uint64_t address, uint64_t* data_address);

// Strings of variable length. Collections are read once; any number of threads may read.
class GlobalHeaps {
 public:
  // `reference`: {u32 length, address, u32 index} as elements and attributes have it.
  std::string read(const Image& image, Cursor& reference) const;

 private:
  struct Collection {
    std::string bytes;
    std::map<uint32_t, std::pair<uint64_t, uint64_t>> objects;  // offset and size by index
  };
  static Collection read_collection(const Image& image, uint64_t address);
  mutable std::mutex mutex_;
  mutable std::map<uint64_t, Collection> collections_;
};

// A fractal heap: objects by IDs, which B-trees of version 2 hold.
class FractalHeap {
 public:
  FractalHeap(const Image& image, uint64_t address);
  uint64_t id_size() const { return id_size_; }
  struct Object {
    uint64_t address = 0;  // in the file
    std::string bytes;
  };
  Object read(Cursor& id);

 private:
  Object read_managed(uint64_t offset, uint64_t length);
  Object read_huge(Cursor& id) const;
  uint64_t row_size(uint64_t row) const;
  uint64_t direct_rows(uint64_t rows) const;
  // Address and size of the direct block that holds this offset of the heap's space, and where it begins.
  struct Block {
    uint64_t address = 0, size = 0, begin = 0;
  };
  Block find_block(uint64_t offset) const;
  void read_block(const Block& block);

  const Image& image_;
  uint64_t address_;
  uint64_t id_size_ = 0, huge_tree_ = 0, width_ = 0, start_size_ = 0, max_direct_ = 0, max_managed_ = 0;
  uint64_t root_ = 0, root_rows_ = 0;
  int offset_bytes_ = 0, length_bytes_ = 0;
  bool summed_ = false;
  Block block_;  // the last one
  std::string block_bytes_;
};

}  // namespace rw::format::hdf5
