#include "rewind/format/hdf5_bytes.h"

#include <bit>
#include <cstring>

#include "rewind/format/little_endian.h"

namespace rw::format::hdf5 {

uint32_t lookup3(std::string_view bytes) {
  uint32_t a = 0xdeadbeefu + uint32_t(bytes.size()), b = a, c = a;
  const auto word = [](const char* at, size_t size) {
    uint32_t w = 0;
    std::memcpy(&w, at, size);
    return w;
  };
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left > 12; left -= 12, at += 12) {
    a += word(at, 4), b += word(at + 4, 4), c += word(at + 8, 4);
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }
  if (left == 0) return c;
  a += word(at, std::min<size_t>(left, 4));
  if (left > 4) b += word(at + 4, std::min<size_t>(left - 4, 4));
  if (left > 8) c += word(at + 8, left - 8);
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
  return c;
}

// ---- Image ------------------------------------------------------------------------------------------------

void Image::check(uint64_t address, uint64_t wanted, const char* what) const {
  if (address > size || wanted > size - address)
    fail(std::min(address, size), std::string("the ") + what + " of " + std::to_string(wanted) +
                                      " bytes at address " + std::to_string(address) +
                                      " reaches beyond the file's end");
}

std::string Image::read(uint64_t address, uint64_t wanted, const char* what) const {
  check(address, wanted, what);
  return bytes->read(base + address, wanted);
}

void Image::read(uint64_t address, void* to, uint64_t wanted, const char* what) const {
  check(address, wanted, what);
  bytes->read(base + address, to, wanted);
}

void Image::fail(uint64_t address, const std::string& what) const { bytes->fail(base + address, what); }

void fail_checksum(const Image& image, uint64_t address, const char* what, uint64_t at, uint32_t stored,
                   uint32_t computed) {
  image.fail(address, std::string("the ") + what + " has the checksum " + std::to_string(computed) +
                          ", at byte " + std::to_string(image.base + at) + " stands " +
                          std::to_string(stored));
}

std::string read_summed(const Image& image, uint64_t address, uint64_t size, const char* what) {
  if (size < 4) image.fail(address, std::string("the ") + what + " is too small for its checksum");
  std::string block = image.read(address, size, what);
  const auto stored = get_fixed<uint32_t>(block.data() + size - 4);
  const uint32_t computed = lookup3(std::string_view(block).substr(0, size - 4));
  if (stored != computed) fail_checksum(image, address, what, address + size - 4, stored, computed);
  return block;
}

// ---- Cursor -----------------------------------------------------------------------------------------------

void Cursor::fail(const std::string& message) const {
  image_->fail(file_address(), std::string(what_) + ": " + message);
}

std::string_view Cursor::take(uint64_t bytes) {
  if (bytes > left())
    fail("expected " + std::to_string(bytes) + " more bytes, got " + std::to_string(left()));
  const std::string_view taken = block_.substr(at_, bytes);
  at_ += bytes;
  return taken;
}

uint64_t Cursor::number(int bytes) {
  uint64_t n = 0;
  const std::string_view taken = take(uint64_t(bytes));
  std::memcpy(&n, taken.data(), taken.size());
  return n;
}

uint64_t Cursor::address() {
  const uint64_t n = number(image_->address_size);
  const uint64_t none =
      image_->address_size == 8 ? kNoAddress : (uint64_t{1} << (8 * image_->address_size)) - 1;
  return n == none ? kNoAddress : n;
}

std::string Cursor::text() {
  const size_t end = block_.find('\0', at_);
  if (end == std::string_view::npos) fail("the text has no end");
  std::string text(block_.substr(at_, end - at_));
  at_ = end + 1;
  return text;
}

void Cursor::pad_to(uint64_t multiple, uint64_t from) {
  const uint64_t over = (at_ - from) % multiple;
  if (over) skip(multiple - over);
}

Cursor Cursor::part(uint64_t bytes, const char* what) {
  const uint64_t begin = file_address();
  return {*image_, take(bytes), begin, what};
}

void Cursor::expect(std::string_view signature) {
  if (take(signature.size()) != signature) {
    at_ -= signature.size();
    fail("expected the signature " + std::string(signature));
  }
}

void Cursor::expect_version(uint8_t low, uint8_t high) {
  const uint8_t version = u8();
  if (version < low || version > high) {
    --at_;
    fail("unknown version " + std::to_string(version));
  }
}

}  // namespace rw::format::hdf5
