#include "rewind/format/snappy.h"

#include <cstdint>

#include "rewind/base/error.h"

namespace rw::format {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::string read(size_t most) {
    const uint64_t length = varint();
    if (length > most)
      fail("it says " + std::to_string(length) + " uncompressed bytes, of at most " + std::to_string(most));
    // A byte stands for no more than 64/3 of them.
    if (length > 22 * bytes_.size())
      fail(std::to_string(length) + " uncompressed bytes cannot come of so few");
    out_.reserve(length);
    while (at_ < bytes_.size()) element(length);
    if (out_.size() != length)
      fail("it says " + std::to_string(length) + " uncompressed bytes and holds " +
           std::to_string(out_.size()));
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataLossError("[snappy] damaged at byte " + std::to_string(at_) + " of " +
                        std::to_string(bytes_.size()) + ": " + what);
  }
  uint64_t little_endian(size_t count) {
    if (bytes_.size() - at_ < count) fail("it ends inside an element");
    uint64_t v = 0;
    for (size_t i = 0; i < count; ++i) v |= uint64_t(static_cast<unsigned char>(bytes_[at_ + i])) << (8 * i);
    at_ += count;
    return v;
  }
  uint64_t varint() {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      const uint64_t byte = little_endian(1);
      v |= (byte & 0x7f) << shift;
      if (byte < 0x80) return v;
    }
    fail("its length is no number of 32 bits");
  }
  void element(uint64_t length) {
    const uint64_t tag = little_endian(1);
    const uint64_t upper = tag >> 2;
    uint64_t count = upper + 1;
    if ((tag & 3) == 0) {
      if (upper >= 60) count = little_endian(upper - 59) + 1;
      if (count > bytes_.size() - at_) fail("a literal ends behind the end");
      if (count > length - out_.size()) fail("there are more bytes than it says");
      out_.append(bytes_.substr(at_, count));
      at_ += count;
      return;
    }
    uint64_t offset;
    if ((tag & 3) == 1) {
      count = (upper & 7) + 4;
      offset = (tag >> 5) << 8 | little_endian(1);
    } else {
      offset = little_endian((tag & 3) == 2 ? 2 : 4);
    }
    if (offset == 0 || offset > out_.size()) fail("a copy begins before the first byte");
    if (count > length - out_.size()) fail("there are more bytes than it says");
    for (size_t from = out_.size() - offset; count > 0; --count) out_.push_back(out_[from++]);
  }

  std::string_view bytes_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string snappy_uncompress(std::string_view bytes, size_t most) { return Reader(bytes).read(most); }

}  // namespace rw::format
