// Filters of HDF5's chunks, for reading: deflate, shuffle, fletcher32.
#pragma once

#include <string>
#include <vector>

#include "rewind/format/hdf5_bytes.h"

namespace rw::format::hdf5 {

class Filters {
 public:
  Filters() = default;
  explicit Filters(Cursor message);
  bool empty() const { return list_.empty(); }
  // Undoes the filters that `mask` does not skip. The result has `size` bytes.
  std::string undo(const Image& image, uint64_t address, std::string bytes, uint32_t mask,
                   uint64_t size) const;

 private:
  struct Filter {
    uint16_t id = 0;
    uint32_t parameter = 0;  // of shuffle: bytes of an element
  };
  std::vector<Filter> list_;
};

}  // namespace rw::format::hdf5
