#include "rewind/format/tensor_bundle.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "rewind/base/dtype.h"
#include "rewind/base/error.h"
#include "rewind/format/crc32c.h"
#include "rewind/format/little_endian.h"
#include "rewind/format/table.h"
#include "rewind/format/tensor_bundle_fields.h"
#include "rewind/format/wire.h"

namespace rw::format {

template std::string encode(const BundleHeaderProto&);
template BundleHeaderProto decode(std::string_view);
template std::string encode(const BundleEntryProto&);
template BundleEntryProto decode(std::string_view);

namespace {

constexpr int kMostShards = 99999;
constexpr DataType kString = DataType(int(DType::kString));

// 0: a type whose elements have no fixed size, or one that only TensorFlow knows.
uint64_t element_size(DataType type) {
  const auto number = DType(int(type));
  const bool is_fixed =
      int(type) > 0 && int(type) < 24 && number != DType::kResource && number != DType::kVariant;
  return is_fixed ? size_of(number) : 0;
}

std::string five_digits(int n) {
  std::string digits = std::to_string(n);
  return std::string(5 - std::min<size_t>(5, digits.size()), '0') + digits;
}

// Numbers and strings coded so that the order of the codes' bytes is theirs.
void put_ordered(std::string& out, uint64_t value) {
  std::string bytes;
  for (; value > 0; value >>= 8) bytes.insert(bytes.begin(), char(value));
  out.push_back(char(bytes.size()));
  out += bytes;
}
void put_ordered(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\0') out += std::string("\0\xff", 2);
    else if (c == '\xff') out += std::string("\xff\0", 2);
    else out.push_back(c);
  }
  out += std::string("\0\x01", 2);
}
// The first bits say how many bytes there are: as many ones (zeros for a negative number) as bytes.
void put_ordered_signed(std::string& out, int64_t value) {
  const uint64_t magnitude = value < 0 ? ~uint64_t(value) : uint64_t(value);
  if (magnitude < 64) {
    out.push_back(char(0x80 ^ value));
    return;
  }
  int bytes = 1;
  while (bytes < 10 && (bytes * 7 - 1 >= 63 ? false : magnitude >> (bytes * 7 - 1) != 0)) ++bytes;
  char buffer[10];
  for (int i = 0; i < 10; ++i) {
    const int shift = 8 * (9 - i);
    buffer[i] = shift >= 64 ? char(value < 0 ? 0xff : 0) : char(value >> shift);
  }
  static constexpr uint8_t kHeader[11][2] = {{0, 0},    {0x80, 0},    {0xc0, 0},   {0xe0, 0},
                                             {0xf0, 0}, {0xf8, 0},    {0xfc, 0},   {0xfe, 0},
                                             {0xff, 0}, {0xff, 0x80}, {0xff, 0xc0}};
  char* const begin = buffer + 10 - bytes;
  begin[0] = char(begin[0] ^ kHeader[bytes][0]);
  if (bytes > 1) begin[1] = char(begin[1] ^ kHeader[bytes][1]);
  out.append(begin, size_t(bytes));
}

struct Range {
  int64_t start, length;
};
std::vector<Range> ranges_of(const TensorSliceProto& slice, const Shape& shape) {
  std::vector<Range> ranges;
  for (int i = 0; i < shape.rank(); ++i) {
    const auto& e = slice.extent[size_t(i)];
    ranges.push_back({e.length ? e.start : 0, e.length ? *e.length : shape[i]});
  }
  return ranges;
}

// Copies a dense block into its place in a dense tensor.
void place(const std::vector<Range>& ranges, const Shape& shape, size_t element, const char* from, char* to) {
  int inner = shape.rank();
  size_t run = element;  // of bytes that lie together in both
  while (inner > 0) {
    --inner;
    run *= size_t(ranges[size_t(inner)].length);
    if (ranges[size_t(inner)].length != shape[inner]) break;
  }
  std::vector<int64_t> at(size_t(inner), 0);
  for (;;) {
    int64_t offset = 0;
    for (int i = 0; i < shape.rank(); ++i)
      offset = offset * shape[i] + ranges[size_t(i)].start + (i < inner ? at[size_t(i)] : 0);
    std::memcpy(to + size_t(offset) * element, from, run);
    from += run;
    int axis = inner - 1;
    for (; axis >= 0; --axis) {
      if (++at[size_t(axis)] < ranges[size_t(axis)].length) break;
      at[size_t(axis)] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace

std::string bundle_index_path(const std::string& prefix) { return prefix + ".index"; }
std::string bundle_data_path(const std::string& prefix, int shard, int shards) {
  return prefix + ".data-" + five_digits(shard) + "-of-" + five_digits(shards);
}

std::string slice_key(std::string_view name, const TensorSliceProto& slice) {
  std::string key;
  put_ordered(key, uint64_t{0});
  put_ordered(key, name);
  put_ordered(key, uint64_t(slice.extent.size()));
  for (const auto& e : slice.extent) {
    put_ordered_signed(key, e.length ? e.start : 0);
    put_ordered_signed(key, e.length ? *e.length : -1);
  }
  return key;
}

int bundle_shards(const std::string& prefix, const char* tag) {
  int shards = 0;
  const ReadFile index(bundle_index_path(prefix), tag);
  read_table(index, [&](std::string_view key, std::string_view value) {
    if (key.empty()) shards = decode<BundleHeaderProto>(value).num_shards;
  });
  return shards;
}

BundleReader::BundleReader(std::string prefix, const char* tag) : prefix_(std::move(prefix)), tag_(tag) {
  const ReadFile index(bundle_index_path(prefix_), tag);
  read_table(index, [&](std::string_view key, std::string_view value) {
    try {
      take_entry(key, value);
    } catch (const DataLossError& e) {
      const std::string what = e.what();
      if (what.find(prefix_) != std::string::npos) throw;
      fail(key, what);
    }
  });
  if (shards_ == 0) fail("", "the index has no header");
  files_.resize(size_t(shards_));
  std::vector<bool> needed(files_.size());
  const auto check = [&](const auto& entries) {
    for (const auto& [name, e] : entries)
      if (e.slices.empty() && e.size > 0) needed[size_t(e.shard)] = true;
  };
  check(entries_);
  check(slices_);
  for (size_t i = 0; i < files_.size(); ++i)
    if (needed[i]) files_[i] = std::make_unique<ReadFile>(bundle_data_path(prefix_, int(i), shards_), tag);
  std::vector<uint64_t> left;  // of the files: tensors do not lie over each other
  for (const auto& file : files_) left.push_back(file ? file->size() : 0);
  for (const auto* entries : {&entries_, &slices_})
    for (const auto& [name, e] : *entries) {
      if (!e.slices.empty() || e.size == 0) continue;
      const ReadFile& file = *files_[size_t(e.shard)];
      if (e.offset > file.size() || e.size > file.size() - e.offset)
        fail(name, "it takes bytes " + std::to_string(e.offset) + " to " + std::to_string(e.offset + e.size) +
                       " of " + file.path() + ", which has " + std::to_string(file.size()));
      if (e.size > left[size_t(e.shard)])
        fail(name, "the tensors up to it take more bytes of " + file.path() + " than its " +
                       std::to_string(file.size()));
      left[size_t(e.shard)] -= e.size;
    }
  for (const auto& [name, e] : entries_)
    if (!e.slices.empty()) check_slices(name, e);
}

// The slices are there and have as many elements as the tensor, which is not larger than the files then.
void BundleReader::check_slices(std::string_view name, const Entry& entry) const {
  const size_t element = element_size(entry.dtype);
  if (element == 0 || entry.dtype == kString) fail(name, "slices of a type that is no number");
  uint64_t covered = 0;
  std::set<std::string> keys;
  for (const TensorSliceProto& slice : entry.slices) {
    const auto it = slices_.find(slice_key(name, slice));
    if (it == slices_.end()) fail(name, "a slice of it is missing");
    if (!keys.insert(it->first).second) fail(name, "a slice of it is named twice");
    uint64_t count = 1;  // no more than the tensor has
    for (const Range& r : ranges_of(slice, entry.shape)) count *= uint64_t(r.length);
    const BundleReader::Entry& own = it->second;
    if (own.dtype != entry.dtype || !own.slices.empty() || count != own.size / element ||
        own.size % element != 0)
      fail(name, "a slice of it has another type or size");
    covered += count;
  }
  if (covered != uint64_t(entry.shape.num_elements()))
    fail(name, "its slices cover " + std::to_string(covered) + " of " +
                   std::to_string(entry.shape.num_elements()) + " elements");
}

void BundleReader::fail(std::string_view name, const std::string& what) const {
  throw DataLossError(std::string("[") + tag_ + "] " + bundle_index_path(prefix_) + ": damaged" +
                      (name.empty() ? "" : " at \"" + std::string(name) + "\"") + ": " + what);
}

void BundleReader::take_entry(std::string_view key, std::string_view value) {
  if (key.empty()) {
    const auto header = decode<BundleHeaderProto>(value);
    if (header.endianness != 0) fail("", "its elements are big-endian, which is not supported");
    if (header.num_shards < 1 || header.num_shards > kMostShards)
      fail("", "it says " + std::to_string(header.num_shards) + " files of data");
    shards_ = header.num_shards;
    return;
  }
  if (shards_ == 0) fail("", "the index has no header");
  const auto proto = decode<BundleEntryProto>(value);
  const std::string name(key);
  Entry entry;
  entry.dtype = proto.dtype;
  entry.shard = proto.shard_id;
  entry.crc = proto.crc32c.value;
  entry.slices = proto.slices;
  if (proto.shard_id < 0 || proto.shard_id >= shards_)
    fail(name, "it is in file " + std::to_string(proto.shard_id) + " of " + std::to_string(shards_));
  if (proto.offset < 0 || proto.size < 0 || proto.offset > INT64_MAX - proto.size)
    fail(name, "offset " + std::to_string(proto.offset) + ", size " + std::to_string(proto.size));
  entry.offset = uint64_t(proto.offset);
  entry.size = uint64_t(proto.size);
  std::vector<int64_t> dims;
  if (proto.shape) {
    if (proto.shape->unknown_rank || proto.shape->dim.size() > Shape::kMaxRank) fail(name, "it has no shape");
    for (const auto& d : proto.shape->dim) {
      if (d.size < 0) fail(name, "an axis has size " + std::to_string(d.size));
      dims.push_back(d.size);
    }
  }
  entry.shape = Shape(dims);
  int64_t count = 0;
  if (!entry.shape.checked_num_elements(&count)) fail(name, "its shape has more elements than 2^63");
  for (const TensorSliceProto& s : entry.slices) {
    if (s.extent.size() != dims.size()) fail(name, "a slice of another rank");
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto& e = s.extent[i];
      if (e.length && (e.start < 0 || *e.length < 0 || e.start > dims[i] || *e.length > dims[i] - e.start))
        fail(name, "a slice goes beyond its shape " + entry.shape.to_string());
    }
  }
  const uint64_t element = element_size(entry.dtype);
  if (entry.slices.empty() && entry.dtype != kString && element > 0 &&
      (uint64_t(count) > UINT64_MAX / element || uint64_t(count) * element != entry.size))
    fail(name, "shape " + entry.shape.to_string() + " and " + std::to_string(entry.size) +
                   " bytes do not go together");
  // A string takes a byte at least.
  if (entry.slices.empty() && entry.dtype == kString && count > 0 && uint64_t(count) > entry.size)
    fail(name, std::to_string(count) + " strings cannot lie in " + std::to_string(entry.size) + " bytes");
  (key[0] == '\0' ? slices_ : entries_).emplace(name, std::move(entry));
}

const BundleReader::Entry* BundleReader::find(std::string_view name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : &it->second;
}

const BundleReader::Entry& BundleReader::entry_of(std::string_view name) const {
  const Entry* entry = find(name);
  if (!entry)
    throw NotFoundError(std::string("[") + tag_ + "] " + prefix_ + ": no tensor is named \"" +
                        std::string(name) + "\"");
  return *entry;
}

const ReadFile& BundleReader::shard_file(int shard) const { return *files_[size_t(shard)]; }

void BundleReader::read_whole(std::string_view name, const Entry& entry, void* to) const {
  if (entry.size == 0) return;
  // Piece by piece, so that the checksum is taken of what is still in the cache.
  constexpr uint64_t kPiece = 1 << 20;
  uint32_t crc = 0;
  char* out = static_cast<char*>(to);
  for (uint64_t done = 0; done < entry.size; done += kPiece) {
    const size_t size = std::min(kPiece, entry.size - done);
    read_piece(entry, done, out + done, size);
    crc = crc32c(out + done, size, crc);
  }
  check_sum(name, entry, crc);
}

void BundleReader::read_piece(const Entry& entry, uint64_t offset, void* to, size_t size) const {
  shard_file(entry.shard).read(entry.offset + offset, to, size);
}

void BundleReader::check_sum(std::string_view name, const Entry& entry, uint32_t crc) const {
  if (mask_crc(crc) != entry.crc)
    throw DataLossError(std::string("[") + tag_ + "] " + shard_file(entry.shard).path() +
                        ": the checksum of \"" + std::string(name) + "\", " + std::to_string(entry.size) +
                        " bytes from byte " + std::to_string(entry.offset) + ", is wrong");
}

void BundleReader::read(std::string_view name, void* to) const {
  const Entry& entry = entry_of(name);
  if (element_size(entry.dtype) == 0 || entry.dtype == kString)
    throw InvalidArgumentError(std::string("[") + tag_ + "] " + prefix_ + ": \"" + std::string(name) +
                               "\" is no tensor of numbers: its type has number " +
                               std::to_string(int(entry.dtype)));
  if (entry.slices.empty()) read_whole(name, entry, to);
  else read_slices(name, entry, static_cast<char*>(to));
}

void BundleReader::read_slices(std::string_view name, const Entry& entry, char* to) const {
  const size_t element = element_size(entry.dtype);
  // Slices of a damaged file may lie over each other and leave elements out.
  std::memset(to, 0, size_t(entry.shape.num_elements()) * element);
  std::string bytes;
  for (const TensorSliceProto& slice : entry.slices) {
    const Entry& own = slices_.find(slice_key(name, slice))->second;
    if (own.size == 0) continue;
    bytes.resize(own.size);
    read_whole(name, own, bytes.data());
    place(ranges_of(slice, entry.shape), entry.shape, element, bytes.data(), to);
  }
}

std::vector<std::string> BundleReader::read_strings(std::string_view name) const {
  const Entry& entry = entry_of(name);
  if (entry.dtype != kString || !entry.slices.empty())
    throw InvalidArgumentError(std::string("[") + tag_ + "] " + prefix_ + ": \"" + std::string(name) +
                               "\" is no tensor of strings");
  const auto count = size_t(entry.shape.num_elements());
  std::vector<std::string> strings(count);
  if (count == 0) return strings;
  const std::string bytes = shard_file(entry.shard).read(entry.offset, entry.size);
  const auto damaged = [&](const std::string& what) {
    shard_file(entry.shard).fail(entry.offset, "\"" + std::string(name) + "\": " + what);
  };
  std::string_view rest = bytes;
  std::vector<uint64_t> lengths(count);
  std::string fixed;  // the lengths as they are summed up
  for (uint64_t& length : lengths) {
    if (!take_varint(rest, &length)) damaged("the lengths of its strings are cut off");
    if (length > bytes.size()) damaged("a string of " + std::to_string(length) + " bytes");
    if (length <= UINT32_MAX) put_fixed(fixed, uint32_t(length));
    else put_fixed(fixed, length);
  }
  if (rest.size() < 4) damaged("it ends behind the lengths of its strings");
  uint32_t crc = crc32c(fixed);
  if (get_fixed<uint32_t>(rest.data()) != mask_crc(crc))
    damaged("the checksum of the strings' lengths is wrong");
  crc = crc32c(rest.substr(0, 4), crc);
  rest.remove_prefix(4);
  for (size_t i = 0; i < count; ++i) {
    if (lengths[i] > rest.size()) damaged("its strings go beyond its bytes");
    strings[i] = rest.substr(0, lengths[i]);
    rest.remove_prefix(lengths[i]);
    crc = crc32c(strings[i], crc);
  }
  if (!rest.empty()) damaged(std::to_string(rest.size()) + " bytes behind its strings");
  if (mask_crc(crc) != entry.crc) damaged("the checksum of its strings is wrong");
  return strings;
}

}  // namespace rw::format
