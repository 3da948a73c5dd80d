#include "rewind/format/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <set>
#include <tuple>

#include "rewind/base/errno_text.h"
#include "rewind/base/error.h"
#include "rewind/format/atomic_file.h"
#include "rewind/format/json_cursor.h"
#include "rewind/format/utf8.h"

namespace rw::format {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

constexpr uint64_t kMaxHeader = 100'000'000;
constexpr uint64_t kLength = 8;  // bytes of the header's length
constexpr uint64_t kAlignment = 8;

constexpr std::pair<DType, std::string_view> kTypeNames[] = {
    {DType::kBool, "BOOL"}, {DType::kUint8, "U8"},    {DType::kInt8, "I8"},       {DType::kUint16, "U16"},
    {DType::kInt16, "I16"}, {DType::kFloat16, "F16"}, {DType::kBfloat16, "BF16"}, {DType::kUint32, "U32"},
    {DType::kInt32, "I32"}, {DType::kFloat32, "F32"}, {DType::kComplex64, "C64"}, {DType::kUint64, "U64"},
    {DType::kInt64, "I64"}, {DType::kFloat64, "F64"}};

std::string number(uint64_t n) { return std::to_string(n); }

// Entries as a header has them: offsets from the beginning of the data.
SafetensorsFile::Entry parse_entry(JsonCursor& json, const std::string& name) {
  SafetensorsFile::Entry entry;
  entry.name = name;
  const size_t begin = json.at();
  std::vector<int64_t> dims;
  std::vector<uint64_t> offsets;
  bool has_dtype = false, has_shape = false, has_offsets = false;
  json.object([&](const std::string& field) {
    const size_t at = json.at();
    if (field == "dtype") {
      has_dtype = true;
      const std::string dtype = json.string();
      entry.dtype = parse_safetensors_dtype(dtype);
      if (entry.dtype == DType::kInvalid)
        json.fail(at, "\"" + name + "\" has dtype \"" + dtype + "\", which is not known");
    } else if (field == "shape") {
      has_shape = true;
      json.array([&] {
        const uint64_t size = json.whole_number();
        if (size > uint64_t(INT64_MAX)) json.fail(at, "\"" + name + "\" has a size beyond int64");
        if (dims.size() == size_t(Shape::kMaxRank)) json.fail(at, "\"" + name + "\" has too many axes");
        dims.push_back(int64_t(size));
      });
    } else if (field == "data_offsets") {
      has_offsets = true;
      json.array([&] { offsets.push_back(json.whole_number()); });
      if (offsets.size() != 2 || offsets[0] > offsets[1])
        json.fail(at, "data_offsets of \"" + name + "\" must be two numbers, the begin and the end");
    } else {
      json.skip_value();
    }
  });
  if (!has_dtype || !has_shape || !has_offsets)
    json.fail(begin, "\"" + name + "\" needs dtype, shape and data_offsets");
  entry.shape = Shape(dims);
  entry.offset = offsets[0];
  entry.size = offsets[1] - offsets[0];
  int64_t elements = 0;
  uint64_t bytes = 0;
  if (!entry.shape.checked_num_elements(&elements) ||
      __builtin_mul_overflow(uint64_t(elements), uint64_t(size_of(entry.dtype)), &bytes))
    json.fail(begin, "\"" + name + "\" of shape " + entry.shape.to_string() + " has too many elements");
  if (bytes != entry.size)
    json.fail(begin, "\"" + name + "\" of type " + std::string(name_of(entry.dtype)) + " and shape " +
                         entry.shape.to_string() + " takes " + number(bytes) +
                         " bytes, but its data_offsets span " + number(entry.size));
  return entry;
}

std::string header_of(std::span<const SafetensorsArray* const> arrays, const Metadata& metadata) {
  std::string header = "{";
  auto next = [&] {
    if (header.size() > 1) header += ',';
  };
  if (!metadata.empty()) {
    std::string inside;
    for (const auto& [key, text] : metadata)
      inside += (inside.empty() ? "" : ",") + json_string(key) + ":" + json_string(text);
    header += "\"__metadata__\":{" + inside + "}";
  }
  uint64_t at = 0;
  for (const SafetensorsArray* a : arrays) {
    next();
    header +=
        json_string(a->name) + ":{\"dtype\":\"" + std::string(safetensors_name(a->dtype)) + "\",\"shape\":[";
    for (int i = 0; i < a->shape.rank(); ++i) header += (i ? "," : "") + std::to_string(a->shape[i]);
    const uint64_t end = at + uint64_t(a->shape.num_elements()) * size_of(a->dtype);
    header += "],\"data_offsets\":[" + number(at) + "," + number(end) + "]}";
    at = end;
  }
  header += '}';
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return header;
}

}  // namespace

std::string_view safetensors_name(DType dtype) {
  for (const auto& [type, name] : kTypeNames)
    if (type == dtype) return name;
  return {};
}

DType parse_safetensors_dtype(std::string_view name) {
  for (const auto& [type, known] : kTypeNames)
    if (known == name) return type;
  return DType::kInvalid;
}

// ---- reading ----------------------------------------------------------------------------------------------

SafetensorsFile::SafetensorsFile(std::string path, const char* tag) : path_(std::move(path)), tag_(tag) {
  fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info = {};
  std::string why;
  if (fd_ < 0 || fstat(fd_, &info) != 0) why = errno_text(errno);
  else if (S_ISDIR(info.st_mode)) why = "it is a folder";
  else if (!S_ISREG(info.st_mode)) why = "it is no regular file";
  if (!why.empty()) {
    if (fd_ >= 0) close(fd_);
    fail_not_found(tag_, path_ + " cannot be opened: " + why);
  }
  file_size_ = uint64_t(info.st_size);
  try {
    read_header();
  } catch (...) {
    close(fd_);
    throw;
  }
}

SafetensorsFile::~SafetensorsFile() { close(fd_); }

void SafetensorsFile::fail(uint64_t byte, const std::string& what) const {
  throw DataLossError(std::string("[") + tag_ + "] " + path_ + ": " + what + ", at byte " + number(byte));
}

void SafetensorsFile::read_at(void* to, uint64_t size, uint64_t offset) const {
  char* out = static_cast<char*>(to);
  constexpr uint64_t kMost = uint64_t{1} << 30;
  while (size > 0) {
    const ssize_t n = pread(fd_, out, std::min(size, kMost), off_t(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(offset, std::string("reading failed: ") + errno_text(errno));
    if (n == 0) fail(offset, "the file became shorter while it was read");
    out += n;
    offset += uint64_t(n);
    size -= uint64_t(n);
  }
}

void SafetensorsFile::read_header() {
  if (file_size_ < kLength)
    fail(file_size_, "the file has " + number(file_size_) + " bytes, too few for the header's length");
  uint64_t length = 0;
  read_at(&length, kLength, 0);
  if (length > kMaxHeader)
    fail(0, "the header's length is " + number(length) + ", more than " + number(kMaxHeader) +
                "; is this a safetensors file?");
  if (length > file_size_ - kLength)
    fail(0, "the header's length is " + number(length) + ", but only " + number(file_size_ - kLength) +
                " bytes follow");
  std::string header(length, '\0');
  read_at(header.data(), length, kLength);
  data_begin_ = kLength + length;
  parse_header(header, file_size_ - data_begin_);
}

void SafetensorsFile::parse_header(std::string_view text, uint64_t data_size) {
  JsonCursor json(text, [this](size_t at, const std::string& what) { fail(kLength + at, what); });
  if (text.empty() || text[0] != '{') json.fail(0, "the header must begin with '{'");
  json.object([&](const std::string& name) {
    if (name == "__metadata__") json.object([&](const std::string& key) { metadata_[key] = json.string(); });
    else entries_.push_back(parse_entry(json, name));
  });
  if (!json.at_end()) json.fail(json.at(), "something follows the header's '}'");
  check_layout(data_size);
  for (size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].offset += data_begin_;
    by_name_[entries_[i].name] = i;
  }
}

void SafetensorsFile::check_layout(uint64_t data_size) {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(a.offset, a.size, std::string_view(a.name)) <
           std::tuple(b.offset, b.size, std::string_view(b.name));
  });
  uint64_t covered = 0;
  for (const Entry& e : entries_) {
    const uint64_t end = e.offset + e.size;  // no overflow: it was a number of the header
    if (end > data_size)
      fail(file_size_, "\"" + e.name + "\" ends at byte " + number(data_begin_ + end) +
                           " as the header says, beyond the end of the file");
    if (e.offset < covered) fail(data_begin_ + e.offset, "\"" + e.name + "\" overlaps the array before it");
    if (e.offset > covered)
      fail(data_begin_ + covered, "bytes in front of \"" + e.name + "\" belong to no array");
    covered = end;
  }
  if (covered < data_size) fail(data_begin_ + covered, "bytes at the end belong to no array");
}

const SafetensorsFile::Entry* SafetensorsFile::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : &entries_[at->second];
}

void SafetensorsFile::read(const Entry& entry, void* to) const {
  read_at(to, entry.size, entry.offset);
  if (entry.dtype != DType::kBool) return;
  const auto* bytes = static_cast<const unsigned char*>(to);
  for (uint64_t i = 0; i < entry.size; ++i)
    if (bytes[i] > 1)
      fail(entry.offset + i, "\"" + entry.name + "\" is bool, but a byte is " + number(bytes[i]));
}

// ---- writing ----------------------------------------------------------------------------------------------

void write_safetensors(const std::string& path, std::span<const SafetensorsArray> arrays,
                       const Metadata& metadata, const char* tag) {
  std::set<std::string_view> names;
  std::vector<const SafetensorsArray*> order;
  for (const SafetensorsArray& a : arrays) {
    if (safetensors_name(a.dtype).empty())
      fail_invalid(tag, "\"" + a.name + "\" is " + std::string(name_of(a.dtype)) +
                            ", which safetensors does not have");
    if (!is_utf8(a.name)) fail_invalid(tag, "names must be UTF-8: got \"" + a.name + "\"");
    if (a.name == "__metadata__" || !names.insert(a.name).second)
      fail_invalid(tag, "the name \"" + a.name + "\" is taken");
    order.push_back(&a);
  }
  for (const auto& [key, text] : metadata)
    if (!is_utf8(key) || !is_utf8(text)) fail_invalid(tag, "metadata must be UTF-8: got \"" + key + "\"");
  std::sort(order.begin(), order.end(), [](const SafetensorsArray* a, const SafetensorsArray* b) {
    const size_t x = size_of(a->dtype), y = size_of(b->dtype);
    return x != y ? x > y : a < b;  // elements of one array
  });
  const std::string header = header_of(order, metadata);
  const uint64_t length = header.size();
  if (length > kMaxHeader)
    fail_invalid(tag, "there are too many arrays: the header would take " + number(length) + " bytes");
  AtomicFile file(path, tag);
  file.write(&length, kLength);
  file.write(header.data(), header.size());
  for (const SafetensorsArray* a : order)
    file.write(a->data, size_t(a->shape.num_elements()) * size_of(a->dtype));
  file.commit();
}

}  // namespace rw::format
