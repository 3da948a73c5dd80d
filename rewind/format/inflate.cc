#include "rewind/format/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <climits>

namespace rw::format {

std::optional<std::string> inflate_exactly(std::string_view bytes, uint64_t size, InflateFrame frame) {
  z_stream stream{};
  if (inflateInit2(&stream, frame == InflateFrame::kZlib ? MAX_WBITS : -MAX_WBITS) != Z_OK) return {};
  constexpr uint64_t kFirst = uint64_t{1} << 20, kMost = uint64_t{1} << 30;
  std::string out;
  uint64_t filled = 0;
  std::string_view rest = bytes;
  int result = Z_OK;
  while (result == Z_OK) {
    if (filled == out.size() && filled < size) out.resize(std::min(size, std::max(kFirst, 2 * filled)));
    if (stream.avail_in == 0) {
      const uint64_t part = std::min<uint64_t>(rest.size(), kMost);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));  // zlib only reads it
      stream.avail_in = uInt(part);
      rest.remove_prefix(part);
    }
    const uint64_t room = std::min(out.size() - filled, kMost);
    char beyond = 0;  // for the byte that must not come
    stream.next_out = reinterpret_cast<Bytef*>(room ? out.data() + filled : &beyond);
    stream.avail_out = uInt(room ? room : 1);
    const uInt before = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH);
    const uInt made = before - stream.avail_out;
    if (room == 0 && made > 0) result = Z_DATA_ERROR;
    else filled += made;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || filled != size) return {};
  return out;
}

uint32_t crc32_of(uint32_t crc, std::string_view bytes) {
  return uint32_t(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace rw::format
