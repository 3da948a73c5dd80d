#include "rewind/format/hdf5_filters.h"

#include "rewind/format/inflate.h"
#include "rewind/format/little_endian.h"

namespace rw::format::hdf5 {
namespace {

enum FilterId : uint16_t { kDeflate = 1, kShuffle = 2, kFletcher32 = 3 };

// Fletcher's sums over big-endian words of 16 bits.
uint32_t fletcher32(std::string_view bytes) {
  uint64_t a = 0, b = 0;
  const auto byte = [&](size_t i) { return uint64_t(static_cast<unsigned char>(bytes[i])); };
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    a = (a + (byte(i) << 8 | byte(i + 1))) % 65535;
    b = (b + a) % 65535;
  }
  if (bytes.size() % 2) {
    a = (a + (byte(bytes.size() - 1) << 8)) % 65535;
    b = (b + a) % 65535;
  }
  return uint32_t(b << 16 | a);
}

// Sums are stored as they come out of 65535's two zeros.
bool same_sum(uint32_t a, uint32_t b) {
  return (a & 0xffff) % 65535 == (b & 0xffff) % 65535 && (a >> 16) % 65535 == (b >> 16) % 65535;
}

// First bytes of all elements, then their second bytes, ...; what is left over stands behind.
std::string unshuffled(const std::string& bytes, uint64_t element) {
  if (element < 2) return bytes;
  const uint64_t count = bytes.size() / element;
  std::string out(bytes.size(), '\0');
  for (uint64_t part = 0; part < element; ++part)
    for (uint64_t i = 0; i < count; ++i) out[i * element + part] = bytes[part * count + i];
  std::copy(bytes.begin() + long(count * element), bytes.end(), out.begin() + long(count * element));
  return out;
}

}  // namespace

Filters::Filters(Cursor c) {
  const uint8_t version = c.u8();
  if (version < 1 || version > 2) c.fail("unknown version " + std::to_string(version));
  const int count = c.u8();
  if (version == 1) c.skip(6);
  for (int i = 0; i < count; ++i) {
    Filter filter;
    filter.id = c.u16();
    const uint16_t name = version == 1 || filter.id >= 256 ? c.u16() : uint16_t(0);
    c.skip(2);  // flags
    const uint16_t parameters = c.u16();
    const std::string called(c.take(version == 1 ? (name + 7u) / 8 * 8 : name));
    for (int p = 0; p < parameters; ++p) {
      const uint32_t value = c.u32();
      if (p == 0) filter.parameter = value;
    }
    if (version == 1 && parameters % 2) c.skip(4);
    if (filter.id < kDeflate || filter.id > kFletcher32) {
      const size_t end = called.find('\0');
      c.image().refuse("filter " + std::to_string(filter.id) + " (" +
                       (called.empty() ? "without a name" : called.substr(0, end)) +
                       ") is not supported; deflate (gzip), shuffle and fletcher32 are");
    }
    list_.push_back(filter);
  }
}

std::string Filters::undo(const Image& image, uint64_t address, std::string bytes, uint32_t mask,
                          uint64_t size) const {
  // A filter that only adds a checksum stands behind those whose results it covers.
  uint64_t sums = 0;
  for (size_t i = list_.size(); i-- > 0;) {
    if (mask >> i & 1) continue;
    switch (list_[i].id) {
      case kDeflate: {
        sums = 0;
        for (size_t j = 0; j < i; ++j) sums += list_[j].id == kFletcher32 && !(mask >> j & 1) ? 4 : 0;
        auto plain = inflate_exactly(bytes, size + sums, InflateFrame::kZlib);
        if (!plain) image.fail(address, "a compressed chunk is damaged");
        bytes = std::move(*plain);
        break;
      }
      case kShuffle: bytes = unshuffled(bytes, list_[i].parameter); break;
      default: {
        if (bytes.size() < 4) image.fail(address, "a chunk is too small for its checksum");
        const auto stored = get_fixed<uint32_t>(bytes.data() + bytes.size() - 4);
        bytes.resize(bytes.size() - 4);
        if (!same_sum(stored, fletcher32(bytes)))
          image.fail(address, "the checksum of a chunk does not match");
      }
    }
  }
  if (bytes.size() != size)
    image.fail(address,
               "a chunk has " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(size));
  return bytes;
}

}  // namespace rw::format::hdf5
