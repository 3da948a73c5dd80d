// Where the elements of an HDF5 array lie: the layout message, and the indexes of chunks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rewind/format/hdf5_header.h"

namespace rw::format::hdf5 {

struct Layout {
  enum class Kind { kCompact, kContiguous, kChunked };
  // How chunks are found.
  enum class Index { kTree1, kSingle, kImplicit, kFixedArray, kExtensibleArray, kTree2 };
  Kind kind = Kind::kContiguous;
  uint64_t address = kNoAddress;  // of the elements, or of the index
  uint64_t size = 0;              // of contiguous elements
  std::string compact;
  Index index = Index::kTree1;
  std::vector<uint64_t> chunk;      // sizes of a chunk
  uint64_t element = 0;             // bytes
  bool partial_unfiltered = false;  // chunks over the edge have no filters
  uint64_t filtered_size = 0;       // of a single chunk
  uint32_t filter_mask = 0;
  uint64_t chunk_bytes() const;
};

Layout read_layout(Cursor c);

struct Chunk {
  uint64_t address = 0;
  uint64_t stored = 0;  // bytes in the file
  uint32_t filter_mask = 0;
  std::vector<uint64_t> at;  // which chunk, along each axis
};
// How many chunks there are along each axis, and in the largest shape that the array may take.
inline constexpr uint64_t kUnlimited = ~uint64_t{0};
struct ChunkGrid {
  std::vector<uint64_t> now, largest;
};
// Calls with each chunk that is there and within the shape.
void walk_chunks(const Image& image, const Layout& layout, const ChunkGrid& grid, bool filtered,
                 const std::function<void(const Chunk&)>& f);

}  // namespace rw::format::hdf5
