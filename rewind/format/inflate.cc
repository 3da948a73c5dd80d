#include "rewind/format/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <climits>

#include "rewind/base/error.h"

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

std::string deflate(std::span<const std::string_view> parts) {
  z_stream stream{};
  RW_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) ==
           Z_OK);
  std::string out, buffer(size_t{1} << 16, '\0');
  const auto run = [&](std::string_view bytes, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
    stream.avail_in = uInt(bytes.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = uInt(buffer.size());
      ::deflate(&stream, flush);
      out.append(buffer.data(), buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  constexpr size_t kMost = size_t{1} << 30;
  for (std::string_view part : parts)
    for (; !part.empty(); part.remove_prefix(std::min(part.size(), kMost)))
      run(part.substr(0, kMost), Z_NO_FLUSH);
  run({}, Z_FINISH);
  deflateEnd(&stream);
  return out;
}

uint32_t crc32_of(uint32_t crc, std::string_view bytes) {
  if (bytes.data() == nullptr) return crc;  // which zlib takes for a new beginning
  return uint32_t(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace rw::format
