#include "rewind/format/hdf5_heap.h"

#include <algorithm>
#include <bit>

#include "rewind/format/hdf5_tree.h"

namespace rw::format::hdf5 {

std::string read_local_heap(const Image& image, uint64_t address, uint64_t* data_address) {
  const uint64_t size = 8 + 2 * uint64_t(image.length_size) + uint64_t(image.address_size);
  const std::string prefix = image.read(address, size, "local heap");
  Cursor c(image, prefix, address, "local heap");
  c.expect("HEAP");
  c.expect_version(0, 0);
  c.skip(3);
  const uint64_t data_size = c.length();
  c.skip(uint64_t(image.length_size));  // free space
  *data_address = c.address();
  return image.read(*data_address, data_size, "local heap");
}

// ---- global -----------------------------------------------------------------------------------------------

GlobalHeaps::Collection GlobalHeaps::read_collection(const Image& image, uint64_t address) {
  const uint64_t front = 8 + uint64_t(image.length_size);
  const std::string prefix = image.read(address, front, "global heap");
  Cursor head(image, prefix, address, "global heap");
  head.expect("GCOL");
  head.expect_version(1, 1);
  head.skip(3);
  const uint64_t size = head.length();
  if (size < front) head.fail("it has " + std::to_string(size) + " bytes");
  Collection collection;
  collection.bytes = image.read(address, size, "global heap");
  Cursor c(image, collection.bytes, address, "global heap");
  c.skip(front);
  while (c.left() >= 8 + uint64_t(image.length_size)) {
    const auto index = uint32_t(c.u16());
    c.skip(6);  // references
    const uint64_t bytes = c.length();
    if (index == 0) break;  // free space
    collection.objects[index] = {c.at(), bytes};
    c.skip(bytes);
    c.skip(std::min(c.left(), (8 - bytes % 8) % 8));
  }
  return collection;
}

std::string GlobalHeaps::read(const Image& image, Cursor& reference) const {
  const uint32_t length = reference.u32();
  const uint64_t address = reference.address();
  const uint32_t index = reference.u32();
  if (length == 0 || address == 0 || address == kNoAddress) return {};
  const std::lock_guard lock(mutex_);
  auto at = collections_.find(address);
  if (at == collections_.end()) {
    // Collections lie beside each other: more bytes than the file has are collections inside others.
    uint64_t held = 0;
    for (const auto& [where, collection] : collections_) held += collection.bytes.size();
    if (held > image.size) image.fail(address, "global heaps overlap");
    at = collections_.emplace(address, read_collection(image, address)).first;
  }
  const auto object = at->second.objects.find(index);
  if (object == at->second.objects.end())
    reference.fail("the global heap at address " + std::to_string(address) + " has no object " +
                   std::to_string(index));
  const auto [offset, size] = object->second;
  if (length > size)
    reference.fail("a string of " + std::to_string(length) + " bytes, its heap has " + std::to_string(size));
  return at->second.bytes.substr(offset, length);
}

// ---- fractal ----------------------------------------------------------------------------------------------
//
// The heap's space is made of blocks in rows of `width`: the first two rows have blocks of the starting size,
// each further row blocks of twice the size of the row before. Rows up to the largest direct block hold
// direct blocks, the others indirect blocks, which are tables of the same kind. An object's offset counts in
// this space.

FractalHeap::FractalHeap(const Image& image, uint64_t address) : image_(image), address_(address) {
  const auto wide = uint64_t(image.length_size), far = uint64_t(image.address_size);
  const uint64_t size =
      5 + 2 + 2 + 1 + 4 + wide + far + wide + far + 8 * wide + 2 + 2 * wide + 2 + 2 + far + 2 + 4;
  // Only what filters a heap would be longer, and is refused.
  const std::string block = image.read(address, size, "fractal heap");
  Cursor c(image, block, address, "fractal heap");
  c.expect("FRHP");
  c.expect_version(0, 0);
  id_size_ = c.u16();
  if (c.u16() != 0) image.refuse("fractal heaps with filters are not supported");
  read_summed(image, address, size, "fractal heap");
  summed_ = (c.u8() & 2) != 0;
  max_managed_ = c.u32();
  c.skip(wide);
  huge_tree_ = c.address();
  c.skip(wide + far + 8 * wide);
  width_ = c.u16();
  start_size_ = c.length();
  max_direct_ = c.length();
  const uint64_t max_bits = c.u16();
  c.skip(2);
  root_ = c.address();
  root_rows_ = c.u16();
  if (width_ == 0 || !std::has_single_bit(width_) || !std::has_single_bit(start_size_) ||
      !std::has_single_bit(max_direct_) || max_direct_ < start_size_ || max_bits == 0 || max_bits > 64)
    c.fail("sizes that no fractal heap has");
  offset_bytes_ = int((max_bits + 7) / 8);
  length_bytes_ = std::min((std::bit_width(max_direct_) - 1 + 7) / 8,
                           (std::bit_width(std::max<uint64_t>(max_managed_, 1)) - 1) / 8 + 1);
}

FractalHeap::Object FractalHeap::read(Cursor& id) {
  const uint8_t first = id.u8();
  if (first >> 6 != 0) id.fail("unknown version of a heap ID");
  switch ((first >> 4) & 3) {
    case 0: {
      const uint64_t offset = id.number(offset_bytes_), length = id.number(length_bytes_);
      return read_managed(offset, length);
    }
    case 1: return read_huge(id);
    case 2: {
      uint64_t length = first & 15u;
      if (id_size_ > 18) length = length << 8 | id.u8();
      const uint64_t address = id.file_address();
      return {address, std::string(id.take(length + 1))};
    }
    default: id.fail("unknown kind of heap ID");
  }
}

FractalHeap::Object FractalHeap::read_managed(uint64_t offset, uint64_t length) {
  if (block_.size == 0 || offset < block_.begin || offset - block_.begin >= block_.size)
    read_block(find_block(offset));
  const uint64_t within = offset - block_.begin;
  if (within > block_.size || length > block_.size - within)
    image_.fail(block_.address, "an object of a fractal heap reaches beyond its block");
  return {block_.address + within, block_bytes_.substr(within, length)};
}

FractalHeap::Object FractalHeap::read_huge(Cursor& id) const {
  // With room for address and length in the ID they are there.
  const auto direct = uint64_t(image_.address_size + image_.length_size);
  uint64_t address = kNoAddress, length = 0;
  if (id_size_ - 1 >= direct) {
    address = id.address();
    length = id.length();
  } else {
    const uint64_t wanted = id.number(int(std::min<uint64_t>(id_size_ - 1, 8)));
    walk_tree2(image_, huge_tree_, [&](Cursor& record) {
      const uint64_t at = record.address(), size = record.length();
      if (record.length() != wanted) return;
      address = at;
      length = size;
    });
  }
  return {address, image_.read(address, length, "object of a fractal heap")};
}

uint64_t FractalHeap::row_size(uint64_t row) const {
  if (row > 62) image_.fail(address_, "a fractal heap has too many rows");
  const uint64_t shift = row > 1 ? row - 1 : 0;
  if (shift + uint64_t(std::bit_width(start_size_)) + uint64_t(std::bit_width(width_)) > 63)
    image_.fail(address_, "a fractal heap has too many rows");
  return start_size_ << shift;
}

uint64_t FractalHeap::direct_rows(uint64_t rows) const {
  return std::min<uint64_t>(rows, uint64_t(std::bit_width(max_direct_ / start_size_)) + 1);
}

FractalHeap::Block FractalHeap::find_block(uint64_t offset) const {
  if (root_rows_ == 0) return {root_, start_size_, 0};
  uint64_t table = root_, rows = root_rows_, begin = 0;
  for (int depth = 0; depth < 64; ++depth) {
    const auto head = uint64_t(5 + image_.address_size + offset_bytes_);
    const uint64_t size = head + rows * width_ * uint64_t(image_.address_size) + 4;
    const std::string block = read_summed(image_, table, size, "indirect block of a fractal heap");
    Cursor c(image_, block, table, "indirect block of a fractal heap");
    c.expect("FHIB");
    c.expect_version(0, 0);
    if (c.address() != address_) c.fail("it belongs to another heap");
    if (c.number(offset_bytes_) != begin) c.fail("it has another offset in the heap");
    uint64_t row = 0, row_begin = begin;
    while (row < rows && offset - row_begin >= row_size(row) * width_) row_begin += row_size(row++) * width_;
    if (row == rows) c.fail("the heap has no offset " + std::to_string(offset));
    const uint64_t column = (offset - row_begin) / row_size(row);
    const uint64_t direct = direct_rows(rows);
    c.skip((row * width_ + column) * uint64_t(image_.address_size));
    const uint64_t child = c.address();
    const uint64_t child_begin = row_begin + column * row_size(row);
    if (child == kNoAddress) c.fail("the heap has no block at offset " + std::to_string(offset));
    if (row < direct) return {child, row_size(row), child_begin};
    // An indirect block of this size has as many rows as fill it.
    uint64_t inner = 0;
    for (uint64_t covered = 0; covered < row_size(row);) covered += row_size(inner++) * width_;
    table = child, rows = inner, begin = child_begin;
  }
  image_.fail(address_, "a fractal heap is nested too deeply");
}

void FractalHeap::read_block(const Block& block) {
  std::string bytes = image_.read(block.address, block.size, "direct block of a fractal heap");
  Cursor c(image_, bytes, block.address, "direct block of a fractal heap");
  c.expect("FHDB");
  c.expect_version(0, 0);
  if (c.address() != address_) c.fail("it belongs to another heap");
  if (c.number(offset_bytes_) != block.begin) c.fail("it has another offset in the heap");
  if (summed_) {
    const uint64_t at = c.file_address();
    const auto stored = c.u32();
    std::string blank = bytes;
    std::fill_n(blank.begin() + long(c.at()) - 4, 4, '\0');
    if (const uint32_t computed = lookup3(blank); computed != stored)
      fail_checksum(image_, block.address, c.what(), at, stored, computed);
  }
  block_ = block;
  block_bytes_ = std::move(bytes);
}

}  // namespace rw::format::hdf5
