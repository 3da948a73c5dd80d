#include "rewind/format/zip.h"

#include <algorithm>
#include <cstring>

#include "rewind/base/error.h"
#include "rewind/format/inflate.h"
#include "rewind/format/little_endian.h"
#include "rewind/format/zip_records.h"

namespace rw::format {
namespace {

using namespace zip;  // NOLINT: the sizes and signatures of records

template <class T>
T field(std::string_view record, size_t offset) {
  return get_fixed<T>(record.data() + offset);
}

}  // namespace

bool is_safe_archive_name(std::string_view name) {
  if (name.ends_with('/')) name.remove_suffix(1);
  if (name.empty() || name.size() > 0xffff) return false;
  if (name.find('\\') != std::string_view::npos || name.find('\0') != std::string_view::npos ||
      name.find(':') != std::string_view::npos)
    return false;
  while (true) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

ZipFile::ZipFile(std::string path, const char* tag, const ExpansionLimit& limit)
    : path_(std::move(path)), tag_(tag), limit_(limit), file_(std::make_shared<const ReadFile>(path_, tag)) {
  read_directory();
}

void ZipFile::read_directory() {
  const uint64_t size = file_->size();
  if (size < kEndSize) fail(size, "it is no zip archive: the file has " + std::to_string(size) + " bytes");
  // Behind the end stands a comment of up to 65535 bytes.
  const uint64_t from = size - std::min<uint64_t>(size, kEndSize + 0xffff);
  const std::string tail = file_->read(from, size - from);
  size_t at = tail.size() - kEndSize + 1;
  bool found = false;
  while (!found && at-- > 0)
    found =
        field<uint32_t>(tail, at) == kEnd && at + kEndSize + field<uint16_t>(tail, at + 20) == tail.size();
  if (!found) fail(size, "it is no zip archive, or it is truncated: the end of the directory is missing");
  const std::string_view end = std::string_view(tail).substr(at, kEndSize);
  uint64_t count = field<uint16_t>(end, 10), length = field<uint32_t>(end, 12),
           begin = field<uint32_t>(end, 16);
  const uint64_t end_at = from + at;
  bool one_disk = field<uint16_t>(end, 4) == 0 && field<uint16_t>(end, 6) == 0 &&
                  field<uint16_t>(end, 8) == field<uint16_t>(end, 10);
  uint64_t directory_end = end_at;
  if (count == 0xffff || length == kMax32 || begin == kMax32) {
    if (end_at >= kLocatorSize) {
      const std::string locator = file_->read(end_at - kLocatorSize, kLocatorSize);
      if (field<uint32_t>(locator, 0) == kLocator64) {
        const auto end64 = field<uint64_t>(locator, 8);
        const std::string record = file_->read(end64, kEnd64Size);
        if (field<uint32_t>(record, 0) != kEnd64) fail(end64, "expected the end of a directory of 64 bits");
        one_disk = field<uint32_t>(locator, 4) == 0 && field<uint32_t>(locator, 16) <= 1 &&
                   field<uint32_t>(record, 16) == 0 && field<uint32_t>(record, 20) == 0;
        count = field<uint64_t>(record, 32);
        length = field<uint64_t>(record, 40);
        begin = field<uint64_t>(record, 48);
        directory_end = end64;
      }
    }
  }
  if (!one_disk) fail(end_at, "archives of several disks are not read");
  if (begin > directory_end || length > directory_end - begin)
    fail(end_at, "the directory of " + std::to_string(length) + " bytes at " + std::to_string(begin) +
                     " does not lie in front of its end");
  if (count > length / kDirectorySize)
    fail(end_at, "a directory of " + std::to_string(length) + " bytes cannot have " + std::to_string(count) +
                     " entries");
  const std::string directory = file_->read(begin, length);
  size_t next = 0;
  for (uint64_t i = 0; i < count; ++i) read_entry(directory, begin, &next);
  check_places(end_at);
}

// No file is also a folder of others, and none lies over another: many small entries over one large one
// unpack to more than the archive can hold.
void ZipFile::check_places(uint64_t byte) const {
  std::vector<const Entry*> order;
  constexpr long kMostFolders = 100;
  uint64_t unpacked = 0, stored = 0;
  for (const Entry& e : entries_) {
    order.push_back(&e);
    if (std::count(e.name.begin(), e.name.end(), '/') > kMostFolders)
      fail(byte, "a name has more than " + std::to_string(kMostFolders) + " folders: \"" +
                     e.name.substr(0, 100) + "...\"");
    if (!e.deflated) continue;
    unpacked += std::min(e.size, UINT64_MAX - unpacked);
    stored += e.stored;
  }
  for (const Entry& e : entries_)
    for (size_t slash = e.name.find('/'); slash != std::string::npos; slash = e.name.find('/', slash + 1))
      if (by_name_.contains(std::string_view(e.name).substr(0, slash)))
        fail(byte, "\"" + e.name.substr(0, slash) + "\" is a file, and the folder of \"" + e.name + "\"");
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) { return a->header < b->header; });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->header - order[i - 1]->header <
        kLocalSize + order[i - 1]->name.size() + order[i - 1]->stored)
      fail(order[i]->header, "\"" + order[i]->name + "\" lies over \"" + order[i - 1]->name + "\"");
  // Many small bombs are one large one.
  if (!limit_.allows(unpacked, stored))
    fail(byte, "its files would become " + std::to_string(unpacked) + " bytes, " + std::to_string(stored) +
                   " are stored: more than is allowed");
}

namespace {

// The numbers of 64 bits that the extra field 1 has for those that are all ones.
class Wide {
 public:
  explicit Wide(std::string_view extra) {
    while (extra.size() >= 4) {
      const auto id = field<uint16_t>(extra, 0), size = field<uint16_t>(extra, 2);
      if (size > extra.size() - 4) break;
      if (id == 1) numbers_ = extra.substr(4, size);
      extra.remove_prefix(4u + size);
    }
  }
  // False: the number is not there.
  bool widen(uint64_t* number) {
    if (*number != kMax32) return true;
    if (numbers_.size() < 8) return false;
    *number = field<uint64_t>(numbers_, 0);
    numbers_.remove_prefix(8);
    return true;
  }

 private:
  std::string_view numbers_;
};

}  // namespace

void ZipFile::read_entry(std::string_view directory, uint64_t address, size_t* at) {
  const uint64_t byte = address + *at;
  const std::string_view record = directory.substr(*at);
  if (record.size() < kDirectorySize || field<uint32_t>(record, 0) != kDirectory)
    fail(byte, "expected an entry of the directory");
  const auto flags = field<uint16_t>(record, 8), method = field<uint16_t>(record, 10);
  const size_t name = field<uint16_t>(record, 28), extra = field<uint16_t>(record, 30),
               comment = field<uint16_t>(record, 32);
  if (record.size() - kDirectorySize < name + extra + comment)
    fail(byte, "an entry reaches beyond the directory");
  Entry entry;
  entry.name = record.substr(kDirectorySize, name);
  entry.crc = field<uint32_t>(record, 16);
  entry.stored = field<uint32_t>(record, 20);
  entry.size = field<uint32_t>(record, 24);
  entry.header = field<uint32_t>(record, 42);
  Wide wide(record.substr(kDirectorySize + name, extra));
  if (!wide.widen(&entry.size) || !wide.widen(&entry.stored) || !wide.widen(&entry.header))
    fail(byte, "a number of 64 bits is missing");
  *at += kDirectorySize + name + extra + comment;
  check_name(entry, byte);
  if (flags & 1) fail_unimplemented(tag_, path_ + ": \"" + entry.name + "\" is encrypted");
  if (method != 0 && method != 8)
    fail_unimplemented(tag_, path_ + ": \"" + entry.name + "\" is compressed by method " +
                                 std::to_string(method) + "; stored (0) and deflate (8) are read");
  entry.deflated = method == 8;
  if (!entry.deflated && entry.size != entry.stored) fail(byte, "a stored file has two sizes");
  if (entry.header > file_->size() || entry.stored > file_->size() - entry.header)
    fail(byte, "\"" + entry.name + "\" reaches beyond the file's end");
  by_name_[entry.name] = entries_.size();
  entries_.push_back(std::move(entry));
}

void ZipFile::check_name(const Entry& entry, uint64_t byte) const {
  if (!is_safe_archive_name(entry.name))
    fail(byte, "the name \"" + entry.name + "\" leads out of the archive's folder, or is none");
  std::string folder = entry.name;
  if (folder.ends_with('/')) folder.pop_back();
  if (by_name_.contains(folder) || by_name_.contains(folder + "/"))
    fail(byte, "the name \"" + entry.name + "\" comes twice");
}

const ZipFile::Entry* ZipFile::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : &entries_[at->second];
}

const ZipFile::Entry& ZipFile::at(std::string_view name) const {
  const Entry* entry = find(name);
  if (!entry) fail_not_found(tag_, path_ + ": the archive has no \"" + std::string(name) + "\"");
  return *entry;
}

// Where the bytes begin. What stands in front of them must agree with the directory.
uint64_t ZipFile::data_of(const Entry& entry) const {
  const std::string local = file_->read(entry.header, kLocalSize);
  if (field<uint32_t>(local, 0) != kLocal) fail(entry.header, "expected the header of a file");
  const auto name = field<uint16_t>(local, 26), extra = field<uint16_t>(local, 28);
  if (file_->read(entry.header + kLocalSize, name) != entry.name)
    fail(entry.header, "the file has another name than in the directory: \"" + entry.name + "\"");
  if ((field<uint16_t>(local, 8) == 8) != entry.deflated)
    fail(entry.header, "\"" + entry.name + "\" has another method than in the directory");
  const uint64_t begin = entry.header + kLocalSize + name + extra;
  if (begin > file_->size() || entry.stored > file_->size() - begin)
    fail(entry.header, "\"" + entry.name + "\" reaches beyond the file's end");
  return begin;
}

std::string ZipFile::read(const Entry& entry) const {
  const uint64_t begin = data_of(entry);
  if (entry.deflated && !limit_.allows(entry.size, entry.stored))
    fail(entry.header, "\"" + entry.name + "\" would become " + std::to_string(entry.size) + " bytes, " +
                           std::to_string(entry.stored) + " are stored: more than is allowed");
  std::string bytes = file_->read(begin, entry.stored);
  if (entry.deflated) {
    auto plain = inflate_exactly(bytes, entry.size, InflateFrame::kNone);
    if (!plain) fail(begin, "the compressed bytes of \"" + entry.name + "\" are damaged");
    bytes = std::move(*plain);
  }
  if (crc32_of(0, bytes) != entry.crc) fail(begin, "the checksum of \"" + entry.name + "\" does not match");
  return bytes;
}

SharedBytes ZipFile::open(const Entry& entry, bool trusted) const {
  const std::string name = path_ + ": " + entry.name;
  if (entry.deflated) return bytes_in_memory(read(entry), name, tag_);
  const uint64_t begin = data_of(entry);
  if (!trusted) {
    constexpr uint64_t kPiece = uint64_t{1} << 20;
    std::string piece;
    uint32_t crc = 0;
    for (uint64_t done = 0; done < entry.size; done += piece.size()) {
      piece.resize(std::min(kPiece, entry.size - done));
      file_->read(begin + done, piece.data(), piece.size());
      crc = crc32_of(crc, piece);
    }
    if (crc != entry.crc) fail(begin, "the checksum of \"" + entry.name + "\" does not match");
  }
  return bytes_of_file(file_, begin, entry.size, name, tag_);
}

}  // namespace rw::format
