// What the parts of the HDF5 reader share: the file's widths of addresses and lengths, blocks read from it,
// and a cursor in them that never leaves its block.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "rewind/format/byte_source.h"

namespace rw::format::hdf5 {

inline constexpr uint64_t kNoAddress = ~uint64_t{0};

// Jenkins' lookup3 of the bytes, the checksum of HDF5's newer structures.
uint32_t lookup3(std::string_view bytes);

class Cursor;

// The file as its addresses see it.
struct Image {
  SharedBytes bytes;
  uint64_t base = 0;  // of addresses: what stands in front of it belongs to the user
  uint64_t size = 0;  // bytes from there on
  int address_size = 8;
  int length_size = 8;
  ExpansionLimit limit = {};

  std::string read(uint64_t address, uint64_t size, const char* what) const;
  void read(uint64_t address, void* to, uint64_t size, const char* what) const;
  // Throws DataLossError unless `size` bytes are there.
  void check(uint64_t address, uint64_t size, const char* what) const;
  [[noreturn]] void fail(uint64_t address, const std::string& what) const;
  [[noreturn]] void refuse(const std::string& what) const { bytes->refuse(what); }
};

class Cursor {
 public:
  // `block` outlives the cursor and lies at `address`; `what` it is, for messages.
  Cursor(const Image& image, std::string_view block, uint64_t address, const char* what)
      : image_(&image), block_(block), address_(address), what_(what) {}

  uint64_t number(int bytes);  // little-endian, up to 8 bytes
  uint8_t u8() { return uint8_t(number(1)); }
  uint16_t u16() { return uint16_t(number(2)); }
  uint32_t u32() { return uint32_t(number(4)); }
  uint64_t address();  // kNoAddress: undefined
  uint64_t length() { return number(image_->length_size); }
  std::string_view take(uint64_t bytes);
  void skip(uint64_t bytes) { take(bytes); }
  std::string text();                                 // up to a zero byte, which is skipped
  void pad_to(uint64_t multiple, uint64_t from = 0);  // skips to a multiple behind the offset `from`
  // A cursor of its own in the next bytes, which this one skips.
  Cursor part(uint64_t bytes, const char* what);
  void expect(std::string_view signature);
  void expect_version(uint8_t low, uint8_t high);

  uint64_t at() const { return at_; }
  uint64_t left() const { return block_.size() - at_; }
  uint64_t file_address() const { return address_ + at_; }
  const Image& image() const { return *image_; }
  const char* what() const { return what_; }
  [[noreturn]] void fail(const std::string& message) const;

 private:
  const Image* image_;
  std::string_view block_;
  uint64_t address_, at_ = 0;
  const char* what_;
};

// Reads a block whose last four bytes are the checksum of the others, and checks it.
std::string read_summed(const Image& image, uint64_t address, uint64_t size, const char* what);
// Says that the checksum at address `at` is not that of the block at `address`.
[[noreturn]] void fail_checksum(const Image& image, uint64_t address, const char* what, uint64_t at,
                                uint32_t stored, uint32_t computed);

// Addresses that a walk went through: one that comes again is a cycle.
class Visited {
 public:
  void add(const Image& image, uint64_t address, const char* what) {
    if (!seen_.insert(address).second)
      image.fail(address, std::string("the ") + what + " is reached twice: the structure has a cycle");
  }

 private:
  std::set<uint64_t> seen_;
};

}  // namespace rw::format::hdf5
