#include "rewind/format/hdf5_layout.h"

namespace rw::format::hdf5 {
namespace {

// Versions 1 and 2.
Layout read_old(Cursor& c) {
  Layout layout;
  const uint8_t rank = c.u8(), kind = c.u8();
  c.skip(5);
  if (kind > 2) c.fail("unknown layout " + std::to_string(kind));
  layout.kind = Layout::Kind(kind);
  if (kind != 0) layout.address = c.address();
  std::vector<uint64_t> dims;
  for (int i = 0; i < rank; ++i) dims.push_back(c.u32());
  if (layout.kind == Layout::Kind::kChunked) {
    layout.element = c.u32();
    if (dims.empty()) c.fail("chunks without axes");
    dims.pop_back();  // the element's size again
    layout.chunk = dims;
  } else if (layout.kind == Layout::Kind::kCompact) {
    layout.compact = c.take(c.u32());
  } else {
    layout.size = kNoAddress;  // as many as the shape asks for
  }
  return layout;
}

void read_chunked3(Cursor& c, Layout* layout) {
  const uint8_t rank = c.u8();
  layout->address = c.address();
  if (rank == 0) c.fail("chunks without axes");
  for (int i = 0; i + 1 < rank; ++i) layout->chunk.push_back(c.u32());
  layout->element = c.u32();
}

void read_chunked4(Cursor& c, Layout* layout) {
  const uint8_t flags = c.u8(), rank = c.u8(), width = c.u8();
  if (rank == 0 || width == 0 || width > 8) c.fail("chunks without axes");
  for (int i = 0; i + 1 < rank; ++i) layout->chunk.push_back(c.number(width));
  layout->element = c.number(width);
  layout->partial_unfiltered = (flags & 1) != 0;
  const uint8_t index = c.u8();
  if (index < 1 || index > 5) c.fail("unknown index of chunks " + std::to_string(index));
  layout->index = Layout::Index(index);
  switch (layout->index) {
    case Layout::Index::kSingle:
      if (flags & 2) {
        layout->filtered_size = c.length();
        layout->filter_mask = c.u32();
      }
      break;
    case Layout::Index::kFixedArray: c.skip(1); break;
    case Layout::Index::kExtensibleArray: c.skip(5); break;
    case Layout::Index::kTree2: c.skip(6); break;
    default: break;
  }
  layout->address = c.address();
}

}  // namespace

uint64_t Layout::chunk_bytes() const {
  uint64_t bytes = element;
  for (const uint64_t n : chunk)
    if (__builtin_mul_overflow(bytes, n, &bytes)) return ~uint64_t{0};
  return bytes;
}

Layout read_layout(Cursor c) {
  const uint8_t version = c.u8();
  if (version < 1 || version > 5) c.fail("unknown version " + std::to_string(version));
  if (version < 3) return read_old(c);
  Layout layout;
  const uint8_t kind = c.u8();
  switch (kind) {
    case 0: layout.kind = Layout::Kind::kCompact, layout.compact = c.take(c.u16()); break;
    case 1:
      layout.kind = Layout::Kind::kContiguous;
      layout.address = c.address();
      layout.size = c.length();
      break;
    case 2:
      layout.kind = Layout::Kind::kChunked;
      if (version == 3) read_chunked3(c, &layout);
      else read_chunked4(c, &layout);
      break;
    case 3: c.image().refuse("virtual datasets, whose elements lie in other files, are not read");
    default: c.fail("unknown layout " + std::to_string(kind));
  }
  return layout;
}

}  // namespace rw::format::hdf5
