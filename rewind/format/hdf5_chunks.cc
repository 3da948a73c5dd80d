// The indexes of chunks: which chunk of an array lies where.
#include <algorithm>
#include <bit>

#include "rewind/format/hdf5_layout.h"
#include "rewind/format/hdf5_tree.h"

namespace rw::format::hdf5 {
namespace {

class Walk {
 public:
  Walk(const Image& image, const Layout& layout, const ChunkGrid& grid, bool filtered,
       const std::function<void(const Chunk&)>& f)
      : image_(image), layout_(layout), grid_(grid.now), largest_(grid.largest), filtered_(filtered), f_(f) {
    for (const uint64_t n : grid_)
      if (__builtin_mul_overflow(total_, n, &total_)) image_.fail(layout.address, "too many chunks");
    // Arrays of chunks number them row-major in the largest shape. An axis without a limit comes first.
    for (size_t i = 0; i < grid_.size(); ++i) {
      if (largest_[i] == kUnlimited) largest_[i] = grid_[i], order_.insert(order_.begin(), i);
      else order_.push_back(i);
      if (__builtin_mul_overflow(numbered_, largest_[i], &numbered_))
        image_.fail(layout.address, "too many chunks");
    }
  }

  void run() {
    switch (layout_.index) {
      case Layout::Index::kTree1: return node1(layout_.address, -1);
      case Layout::Index::kSingle: return single();
      case Layout::Index::kImplicit: return implicit();
      case Layout::Index::kFixedArray: return fixed_array();
      case Layout::Index::kExtensibleArray: return extensible_array();
      case Layout::Index::kTree2: return tree2();
    }
  }

 private:
  void found(uint64_t number, Chunk chunk) {
    if (number >= numbered_) return;
    chunk.at.resize(grid_.size());
    for (size_t i = order_.size(); i-- > 0; number /= largest_[order_[i]])
      chunk.at[order_[i]] = number % largest_[order_[i]];
    if (inside(chunk)) found(chunk);
  }
  void found(const Chunk& chunk) {
    if (chunk.address == kNoAddress) return;
    // As many as the shape has, so that hostile bytes cannot have the same ones unpacked for ever.
    if (++count_ > total_) image_.fail(chunk.address, "there are more chunks than the array's shape has");
    f_(chunk);
  }

  // ---- B-tree of version 1: keys {u32 bytes, u32 mask, u64 offsets of all axes and one more}
  void node1(uint64_t address, int level) {
    visited_.add(image_, address, "node of a tree of chunks");
    const auto far = uint64_t(image_.address_size);
    const uint64_t front = 8 + 2 * far, key = 8 + 8 * (grid_.size() + 1);
    const std::string head = image_.read(address, front, "node of a tree of chunks");
    Cursor c(image_, head, address, "node of a tree of chunks");
    c.expect("TREE");
    if (c.u8() != 1) c.fail("expected a tree of chunks");
    const int height = c.u8();
    if (level >= 0 && height != level) c.fail("expected level " + std::to_string(level));
    const uint64_t children = c.u16();
    const std::string body = image_.read(address + front, children * (key + far), "node of a tree of chunks");
    Cursor pairs(image_, body, address + front, "node of a tree of chunks");
    for (uint64_t i = 0; i < children; ++i) {
      Chunk chunk;
      chunk.stored = pairs.u32();
      chunk.filter_mask = pairs.u32();
      for (size_t axis = 0; axis < grid_.size(); ++axis) {
        const uint64_t offset = pairs.number(8);
        if (offset % layout_.chunk[axis]) pairs.fail("a chunk that begins between chunks");
        chunk.at.push_back(offset / layout_.chunk[axis]);
      }
      pairs.skip(8);
      chunk.address = pairs.address();
      if (height > 0) node1(chunk.address, height - 1);
      else if (inside(chunk)) found(chunk);
    }
  }
  // Chunks beyond the shape stay where an array was made smaller.
  bool inside(const Chunk& chunk) const {
    for (size_t i = 0; i < grid_.size(); ++i)
      if (chunk.at[i] >= grid_[i]) return false;
    return true;
  }

  void single() {
    Chunk chunk;
    chunk.address = layout_.address;
    chunk.stored = filtered_ ? layout_.filtered_size : layout_.chunk_bytes();
    chunk.filter_mask = layout_.filter_mask;
    found(0, chunk);
  }

  void implicit() {
    Chunk chunk;
    chunk.stored = layout_.chunk_bytes();
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(chunk.stored, numbered_, &bytes)) bytes = kNoAddress;
    image_.check(layout_.address, bytes, "array in chunks");
    for (uint64_t i = 0; i < numbered_; ++i) {
      chunk.address = layout_.address + i * chunk.stored;
      found(i, chunk);
    }
  }

  // ---- arrays of {address} or {address, size, u32 mask}
  void element(Cursor& c, uint64_t number, uint64_t bytes) {
    Chunk chunk;
    chunk.stored = layout_.chunk_bytes();
    const auto far = uint64_t(image_.address_size);
    if (filtered_ ? bytes < far + 5 || bytes > far + 12 : bytes != far)
      c.fail("elements of " + std::to_string(bytes) + " bytes");
    chunk.address = c.address();
    if (filtered_) {
      chunk.stored = c.number(int(bytes - far - 4));
      chunk.filter_mask = c.u32();
    }
    found(number, chunk);
  }
  void elements(Cursor& c, uint64_t first, uint64_t count, uint64_t bytes) {
    for (uint64_t i = 0; i < count; ++i) element(c, first + i, bytes);
  }
  Cursor open(const std::string& block, uint64_t address, const char* signature, const char* what) const {
    Cursor c(image_, block, address, what);
    c.expect(signature);
    c.expect_version(0, 0);
    if ((c.u8() == 1) != filtered_) c.fail("its kind is not that of the array");
    return c;
  }
  // Pages of elements, each with a checksum; those whose bit is not set were never written.
  void pages(uint64_t address, std::string_view bits, uint64_t bit, uint64_t first, uint64_t count,
             uint64_t page, uint64_t bytes) {
    for (uint64_t done = 0, i = bit; done < count; done += page, ++i) {
      const uint64_t here = std::min(page, count - done), size = here * bytes + 4;
      if (i / 8 >= bits.size()) image_.fail(address, "there are more pages of chunks than were announced");
      if (static_cast<unsigned char>(bits[i / 8]) >> (7 - i % 8) & 1) {
        const std::string block = read_summed(image_, address, size, "page of chunks");
        Cursor c(image_, block, address, "page of chunks");
        elements(c, first + done, here, bytes);
      }
      address += size;
    }
  }
  // A size that the file's own bytes bound.
  uint64_t product(uint64_t count, uint64_t bytes, uint64_t address) const {
    uint64_t size = 0;
    if (__builtin_mul_overflow(count, bytes, &size) || size > image_.size)
      image_.fail(address, "an index of chunks is larger than the file");
    return size;
  }

  void fixed_array() {
    const auto far = uint64_t(image_.address_size), wide = uint64_t(image_.length_size);
    const std::string head =
        read_summed(image_, layout_.address, 8 + wide + far + 4, "fixed array of chunks");
    Cursor c = open(head, layout_.address, "FAHD", "fixed array of chunks");
    const uint64_t bytes = c.u8(), page_bits = c.u8(), count = c.length(), data = c.address();
    if (data == kNoAddress) return;
    if (page_bits > 62) c.fail("pages of 2^" + std::to_string(page_bits) + " elements");
    const uint64_t page = uint64_t{1} << page_bits, front = 6 + far;
    const uint64_t all = product(count, bytes, layout_.address);
    const char* what = "block of a fixed array of chunks";
    if (count <= page) {
      const std::string block = read_summed(image_, data, front + all + 4, what);
      Cursor d = open(block, data, "FADB", what);
      d.skip(far);
      elements(d, 0, count, bytes);
      return;
    }
    const uint64_t bits = ((count + page - 1) / page + 7) / 8;
    const std::string block = read_summed(image_, data, front + bits + 4, what);
    Cursor d = open(block, data, "FADB", what);
    d.skip(far);
    pages(data + front + bits + 4, d.take(bits), 0, 0, count, page, bytes);
  }

  // An extensible array: the first elements in the index block, further ones in data blocks that grow, the
  // first of which the index block points to, the others secondary blocks.
  struct Extensible {
    uint64_t bytes = 0, first = 0, least = 0, pointers = 0, page = 0;
    int offset_bytes = 0;
    // Of "super block" s: how many data blocks it has, and their elements.
    uint64_t blocks(uint64_t s) const { return uint64_t{1} << (s / 2); }
    uint64_t block_elements(uint64_t s) const { return least << ((s + 1) / 2); }
  };

  void data_block(const Extensible& e, uint64_t address, uint64_t first, uint64_t count,
                  std::string_view bits, uint64_t bit) {
    if (address == kNoAddress) return;
    visited_.add(image_, address, "block of an extensible array of chunks");
    const uint64_t front = 6 + uint64_t(image_.address_size) + uint64_t(e.offset_bytes);
    const char* what = "block of an extensible array of chunks";
    const bool paged = count > e.page;
    const uint64_t size = front + (paged ? 0 : product(count, e.bytes, address)) + 4;
    const std::string block = read_summed(image_, address, size, what);
    Cursor c = open(block, address, "EADB", what);
    c.skip(front - 6);
    if (paged) pages(address + size, bits, bit, first, count, e.page, e.bytes);
    else elements(c, first, count, e.bytes);
  }

  void secondary_block(const Extensible& e, uint64_t address, uint64_t s, uint64_t first) {
    if (address == kNoAddress) return;
    visited_.add(image_, address, "block of an extensible array of chunks");
    const auto far = uint64_t(image_.address_size);
    const char* what = "block of an extensible array of chunks";
    const uint64_t blocks = e.blocks(s), count = e.block_elements(s);
    const uint64_t bits = count > e.page ? (count / e.page + 7) / 8 : 0;
    const uint64_t front = 6 + far + uint64_t(e.offset_bytes);
    const uint64_t size = front + product(blocks, bits + far, address) + 4;
    const std::string block = read_summed(image_, address, size, what);
    Cursor c = open(block, address, "EASB", what);
    c.skip(front - 6);
    const std::string_view all_bits = c.take(blocks * bits);
    for (uint64_t b = 0; b < blocks; ++b)
      data_block(e, c.address(), first + b * count, count, all_bits, b * (count / e.page));
  }

  void extensible_array() {
    const auto far = uint64_t(image_.address_size), wide = uint64_t(image_.length_size);
    const char* what = "extensible array of chunks";
    const std::string head = read_summed(image_, layout_.address, 12 + 6 * wide + far + 4, what);
    Cursor c = open(head, layout_.address, "EAHD", what);
    Extensible e;
    e.bytes = c.u8();
    const int max_bits = c.u8();
    e.first = c.u8();
    e.least = c.u8();
    e.pointers = c.u8();
    const int page_bits = c.u8();
    c.skip(6 * wide);
    const uint64_t index = c.address();
    if (index == kNoAddress) return;
    if (max_bits > 62 || page_bits > 62 || !std::has_single_bit(e.least) || !std::has_single_bit(e.pointers))
      c.fail("sizes that no extensible array has");
    e.page = uint64_t{1} << page_bits;
    e.offset_bytes = (max_bits + 7) / 8;
    const int least_bits = std::bit_width(e.least) - 1;
    if (max_bits < least_bits) c.fail("sizes that no extensible array has");
    const auto supers = uint64_t(1 + max_bits - least_bits);
    const auto direct = std::min<uint64_t>(supers, 2 * uint64_t(std::bit_width(e.pointers) - 1));
    uint64_t direct_blocks = 0;
    for (uint64_t s = 0; s < direct; ++s) direct_blocks += e.blocks(s);
    const uint64_t front = 6 + far;
    const uint64_t size = front + e.first * e.bytes + (direct_blocks + supers - direct) * far + 4;
    const std::string block = read_summed(image_, index, size, what);
    Cursor d = open(block, index, "EAIB", what);
    d.skip(far);
    elements(d, 0, e.first, e.bytes);
    uint64_t at = e.first;
    for (uint64_t s = 0; s < supers && at < numbered_; ++s) {
      const uint64_t blocks = e.blocks(s), count = e.block_elements(s);
      if (s < direct)
        for (uint64_t b = 0; b < blocks; ++b) data_block(e, d.address(), at + b * count, count, {}, 0);
      else secondary_block(e, d.address(), s, at);
      at += blocks * count;
    }
  }

  void tree2() {
    walk_tree2(image_, layout_.address, [&](Cursor& record) {
      Chunk chunk;
      chunk.stored = layout_.chunk_bytes();
      chunk.address = record.address();
      const uint64_t offsets = 8 * grid_.size();
      if (filtered_) {
        if (record.left() < offsets + 5 || record.left() > offsets + 12)
          record.fail("its size is not a chunk's");
        chunk.stored = record.number(int(record.left() - offsets - 4));
        chunk.filter_mask = record.u32();
      }
      for (size_t i = 0; i < grid_.size(); ++i) chunk.at.push_back(record.number(8));
      if (inside(chunk)) found(chunk);
    });
  }

  const Image& image_;
  const Layout& layout_;
  std::vector<uint64_t> grid_, largest_;
  std::vector<size_t> order_;  // axes, the slowest first
  bool filtered_;
  const std::function<void(const Chunk&)>& f_;
  uint64_t total_ = 1, numbered_ = 1, count_ = 0;
  Visited visited_;
};

}  // namespace

void walk_chunks(const Image& image, const Layout& layout, const ChunkGrid& grid, bool filtered,
                 const std::function<void(const Chunk&)>& f) {
  if (layout.address == kNoAddress) return;  // nothing was written
  Walk(image, layout, grid, filtered, f).run();
}

}  // namespace rw::format::hdf5
