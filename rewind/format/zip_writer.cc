#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/format/inflate.h"
#include "rewind/format/little_endian.h"
#include "rewind/format/utf8.h"
#include "rewind/format/zip.h"
#include "rewind/format/zip_records.h"

namespace rw::format {
namespace {

// 1980-01-01, the first day that there is: files of the same contents are the same bytes.
constexpr uint16_t kTime = 0, kDate = 1 << 5 | 1;
constexpr uint16_t kUtf8Flag = 1 << 11;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}

uint32_t narrow(uint64_t n) { return uint32_t(std::min(n, zip::kMax32)); }

}  // namespace

// What both records of a file have: version needed, flags, method, time, date, checksum, sizes.
void ZipWriter::put_common(std::string& out, const Entry& entry, bool wide) {
  put_fixed<uint16_t>(out, wide ? 45 : 20);
  put_fixed<uint16_t>(out, is_ascii(entry.name) ? 0 : kUtf8Flag);
  put_fixed<uint16_t>(out, entry.deflated ? 8 : 0);
  put_fixed<uint16_t>(out, kTime);
  put_fixed<uint16_t>(out, kDate);
  put_fixed<uint32_t>(out, entry.crc);
  const bool both = entry.wide();  // extra fields have both sizes or none
  put_fixed<uint32_t>(out, both ? uint32_t(zip::kMax32) : uint32_t(entry.stored));
  put_fixed<uint32_t>(out, both ? uint32_t(zip::kMax32) : uint32_t(entry.size));
  put_fixed<uint16_t>(out, uint16_t(entry.name.size()));
}

ZipWriter::ZipWriter(const std::string& path, const char* tag) : tag_(tag), file_(path, tag) {}

void ZipWriter::put(std::string_view bytes) {
  file_.write(bytes.data(), bytes.size());
  at_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::span<const std::string_view> parts, bool deflated) {
  if (!is_safe_archive_name(name) || !is_utf8(name))
    fail_invalid(tag_, "\"" + name + "\" is no name for a file in an archive");
  if (!names_.insert(name).second) fail_invalid(tag_, "the archive has \"" + name + "\" already");
  Entry entry{.name = name, .header = at_, .deflated = deflated};
  for (const std::string_view part : parts) {
    entry.size += part.size();
    entry.crc = crc32_of(entry.crc, part);
  }
  entry.stored = entry.size;
  std::string packed;
  if (deflated) {
    packed = deflate(parts);
    entry.stored = packed.size();
  }
  std::string head;
  put_fixed(head, zip::kLocal);
  put_common(head, entry, entry.wide());
  put_fixed<uint16_t>(head, entry.wide() ? 20 : 0);
  head += name;
  if (entry.wide()) {
    put_fixed<uint16_t>(head, 1);
    put_fixed<uint16_t>(head, 16);
    put_fixed<uint64_t>(head, entry.size);
    put_fixed<uint64_t>(head, entry.stored);
  }
  put(head);
  if (deflated) put(packed);
  else
    for (const std::string_view part : parts) put(part);
  entries_.push_back(std::move(entry));
}

std::string ZipWriter::directory_entry(const Entry& entry) const {
  std::string extra;
  if (entry.wide()) {
    put_fixed<uint64_t>(extra, entry.size);
    put_fixed<uint64_t>(extra, entry.stored);
  }
  if (entry.header >= zip::kMax32) put_fixed<uint64_t>(extra, entry.header);
  const bool wide = !extra.empty();
  std::string record;
  put_fixed(record, zip::kDirectory);
  put_fixed<uint16_t>(record, 3 << 8 | 45);  // made on Unix
  put_common(record, entry, wide);
  put_fixed<uint16_t>(record, uint16_t(wide ? extra.size() + 4 : 0));
  put_fixed<uint16_t>(record, 0);  // comment
  put_fixed<uint16_t>(record, 0);  // disk
  put_fixed<uint16_t>(record, 0);
  put_fixed<uint32_t>(record, 0100600u << 16);  // a file that its owner reads and writes
  put_fixed<uint32_t>(record, narrow(entry.header));
  record += entry.name;
  if (wide) {
    put_fixed<uint16_t>(record, 1);
    put_fixed<uint16_t>(record, uint16_t(extra.size()));
    record += extra;
  }
  return record;
}

void ZipWriter::commit() {
  const uint64_t begin = at_;
  for (const Entry& entry : entries_) put(directory_entry(entry));
  const uint64_t length = at_ - begin, count = entries_.size();
  std::string end;
  if (begin >= zip::kMax32 || length >= zip::kMax32 || count >= 0xffff) {
    const uint64_t end64 = at_;
    put_fixed(end, zip::kEnd64);
    put_fixed<uint64_t>(end, zip::kEnd64Size - 12);
    put_fixed<uint16_t>(end, 3 << 8 | 45);
    put_fixed<uint16_t>(end, 45);
    put_fixed<uint64_t>(end, 0);  // disks
    put_fixed<uint64_t>(end, count);
    put_fixed<uint64_t>(end, count);
    put_fixed<uint64_t>(end, length);
    put_fixed<uint64_t>(end, begin);
    put_fixed(end, zip::kLocator64);
    put_fixed<uint32_t>(end, 0);
    put_fixed<uint64_t>(end, end64);
    put_fixed<uint32_t>(end, 1);
  }
  put_fixed(end, zip::kEnd);
  put_fixed<uint32_t>(end, 0);  // disks
  for (int i = 0; i < 2; ++i) put_fixed<uint16_t>(end, uint16_t(std::min<uint64_t>(count, 0xffff)));
  put_fixed<uint32_t>(end, narrow(length));
  put_fixed<uint32_t>(end, narrow(begin));
  put_fixed<uint16_t>(end, 0);  // comment
  put(end);
  file_.commit();
}

}  // namespace rw::format
