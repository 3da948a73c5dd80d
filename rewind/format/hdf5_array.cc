// Arrays of HDF5 files: what their messages say, and their elements.
#include <algorithm>
#include <cstring>

#include "rewind/format/hdf5_file.h"

namespace rw::format::hdf5 {
namespace {

Message message_of(const Image& image, const Header& header, uint16_t type, const char* what) {
  const Message* m = header.find(type);
  if (!m) image.fail(header.address, std::string("an array without a ") + what);
  return m->shared ? resolve_shared(image, m->cursor(image, what), type) : *m;
}

std::string read_fill(const Image& image, const Header& header) {
  if (const Message* m = header.find(kFill)) {
    Cursor c = m->cursor(image, "fill value");
    const uint8_t version = c.u8();
    bool defined = true;
    if (version < 3) {
      c.skip(2);
      defined = c.u8() != 0;
    } else {
      defined = (c.u8() & 0x20) != 0;
    }
    if (!defined || c.left() < 4) return {};
    const uint32_t size = c.u32();
    return std::string(c.take(size > uint32_t(INT32_MAX) ? 0 : size));
  }
  if (const Message* m = header.find(kOldFill)) {
    Cursor c = m->cursor(image, "fill value");
    return std::string(c.take(c.u32()));
  }
  return {};
}

// A chunk's part of the array: rows along the last axis.
class ChunkCopy {
 public:
  ChunkCopy(const Array& array, char* to) : array_(array), to_(to) {}

  void copy(const Chunk& chunk, const std::string& bytes) {
    const auto& sizes = array_.layout.chunk;
    const size_t rank = sizes.size();
    begin_.resize(rank), count_.resize(rank);
    for (size_t i = 0; i < rank; ++i) {
      begin_[i] = chunk.at[i] * sizes[i];
      count_[i] = std::min(sizes[i], uint64_t(array_.space.shape[int(i)]) - begin_[i]);
    }
    axis(0, 0, 0, bytes);
  }

 private:
  void axis(size_t i, uint64_t from, uint64_t into, const std::string& bytes) {
    const uint64_t element = array_.type.size;
    const auto& sizes = array_.layout.chunk;
    const auto size = uint64_t(array_.space.shape[int(i)]);
    into = into * size + begin_[i];
    from = from * sizes[i];
    if (i + 1 == sizes.size()) {
      std::memcpy(to_ + into * element, bytes.data() + from * element, count_[i] * element);
      return;
    }
    for (uint64_t k = 0; k < count_[i]; ++k) axis(i + 1, from + k, into + k, bytes);
  }

  const Array& array_;
  char* to_;
  std::vector<uint64_t> begin_, count_;
};

ChunkGrid grid_of(const Image& image, const Header& header, const Array& array) {
  const Layout& layout = array.layout;
  const size_t rank = layout.chunk.size();
  if (rank != size_t(array.space.shape.rank()) || rank == 0)
    image.fail(header.address, "chunks of " + std::to_string(rank) + " axes of an array of shape " +
                                   array.space.shape.to_string());
  if (layout.element != array.type.size) image.fail(header.address, "elements of two sizes");
  ChunkGrid grid;
  for (size_t i = 0; i < rank; ++i) {
    const uint64_t size = layout.chunk[i], most = array.space.largest[i];
    if (size == 0) image.fail(header.address, "chunks of no elements");
    const auto along = [&](uint64_t n) { return n / size + (n % size ? 1 : 0); };
    grid.now.push_back(along(uint64_t(array.space.shape[int(i)])));
    grid.largest.push_back(most == kUnlimited ? kUnlimited : along(most));
  }
  return grid;
}

// Whether some axis of the chunk reaches over the array's edge.
bool over_edge(const Array& array, const Chunk& chunk) {
  for (size_t i = 0; i < chunk.at.size(); ++i)
    if ((chunk.at[i] + 1) * array.layout.chunk[i] > uint64_t(array.space.shape[int(i)])) return true;
  return false;
}

void fill_with(const Array& array, char* to) {
  const uint64_t element = array.type.size;
  if (array.fill.size() != element || array.fill.find_first_not_of('\0') == std::string::npos)
    std::memset(to, 0, array.bytes);
  else
    for (uint64_t i = 0; i < array.bytes; i += element) std::memcpy(to + i, array.fill.data(), element);
}

}  // namespace

Array read_array(const Image& image, const Header& header) {
  if (header.find(kExternalFiles)) image.refuse("arrays whose elements lie in other files are not read");
  Array array;
  const Message type = message_of(image, header, kDatatype, "type");
  Cursor type_cursor = type.cursor(image, "type");
  array.type = read_type(type_cursor);
  const Message space = message_of(image, header, kDataspace, "dataspace");
  Cursor space_cursor = space.cursor(image, "dataspace");
  array.space = read_space(space_cursor);
  const Message layout = message_of(image, header, kLayout, "layout");
  array.layout = read_layout(layout.cursor(image, "layout"));
  if (const Message* m = header.find(kFilters)) array.filters = Filters(m->cursor(image, "filters"));
  array.fill = read_fill(image, header);
  array.bytes = bytes_of(image, header.address, array.space.shape, array.type.size);
  const Layout& l = array.layout;
  const auto wrong = [&](uint64_t size) {
    image.fail(header.address, "an array of shape " + array.space.shape.to_string() + " of " +
                                   array.type.text + " takes " + std::to_string(array.bytes) +
                                   " bytes, the file says " + std::to_string(size));
  };
  if (l.kind == Layout::Kind::kCompact && l.compact.size() < array.bytes) wrong(l.compact.size());
  if (l.kind == Layout::Kind::kContiguous && l.address != kNoAddress) {
    if (l.size < array.bytes) wrong(l.size);
    image.check(l.address, array.bytes, "array");
  }
  // What is not stored is filled in: no more than compressed bytes may become.
  const bool sparse = l.kind == Layout::Kind::kChunked || l.address == kNoAddress;
  if (sparse && l.kind != Layout::Kind::kCompact && !image.limit.allows(array.bytes, image.size))
    image.fail(header.address, "an array of shape " + array.space.shape.to_string() + " takes " +
                                   std::to_string(array.bytes) + " bytes, which a file of " +
                                   std::to_string(image.size) + " bytes is not allowed to become");
  if (l.kind == Layout::Kind::kChunked && array.bytes > 0) {
    const ChunkGrid grid = grid_of(image, header, array);
    uint64_t whole = l.chunk_bytes();
    for (const uint64_t n : grid.now)
      if (__builtin_mul_overflow(whole, n, &whole)) whole = ~uint64_t{0};
    if (!image.limit.allows(whole, image.size))
      image.fail(header.address, "chunks of " + std::to_string(l.chunk_bytes()) +
                                     " bytes are larger than the file is allowed to become");
  }
  return array;
}

void read_elements(const Image& image, const Array& array, char* to) {
  const Layout& l = array.layout;
  if (array.bytes == 0) return;
  if (l.kind == Layout::Kind::kCompact) {
    std::memcpy(to, l.compact.data(), array.bytes);
  } else if (l.kind == Layout::Kind::kContiguous && l.address != kNoAddress) {
    image.read(l.address, to, array.bytes, "array");
  } else {
    fill_with(array, to);
    if (l.kind != Layout::Kind::kChunked) return;
    ChunkCopy copy(array, to);
    const Header here{l.address == kNoAddress ? 0 : l.address, {}};
    walk_chunks(image, l, grid_of(image, here, array), !array.filters.empty(), [&](const Chunk& chunk) {
      std::string bytes = image.read(chunk.address, chunk.stored, "chunk");
      if (!array.filters.empty() && !(l.partial_unfiltered && over_edge(array, chunk)))
        bytes =
            array.filters.undo(image, chunk.address, std::move(bytes), chunk.filter_mask, l.chunk_bytes());
      if (bytes.size() != l.chunk_bytes())
        image.fail(chunk.address, "a chunk has " + std::to_string(bytes.size()) + " bytes, expected " +
                                      std::to_string(l.chunk_bytes()));
      copy.copy(chunk, bytes);
    });
  }
}

std::vector<std::string> strings_of(const File& file, const Hdf5Type& type, std::string_view bytes,
                                    uint64_t address) {
  if (type.kind == Hdf5Type::Class::kString) return fixed_strings(bytes, type);
  if (type.kind != Hdf5Type::Class::kVariableString)
    file.image.refuse("expected strings, the file has " + type.text);
  std::vector<std::string> list;
  Cursor c(file.image, bytes, address, "string");
  while (c.left() >= type.size) {
    Cursor one = c.part(type.size, "string");
    list.push_back(file.heaps.read(file.image, one));
  }
  return list;
}

}  // namespace rw::format::hdf5
