// Zip archives: named files in one, as .keras and .npz files are.
//
//   for each   "PK\3\4" u16 version needed, flags, method, time, date  u32 crc, stored, size
//              u16 length of the name, of the extra fields  - name, extra - the stored bytes
//   directory  "PK\1\2" u16 version, needed, flags, method, time, date  u32 crc, stored, size
//              u16 lengths of name, extra, comment, disk, attributes  u32 attributes, offset of the above
//   end        ["PK\6\6" ... "PK\6\7" where numbers need 64 bits] "PK\5\6" u16 disks, entries
//              u32 size and offset of the directory  u16 length of the comment
//
// Method 0 is stored, 8 is deflate. A number of all ones stands as 64 bits in extra field 1.
//
// Archives are read by their directory, which must agree with what stands in front of each file. Names that
// lead out of the archive's folder, two of one name, encrypted files and archives of several disks are
// refused; the checksum of what is read is compared.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/format/atomic_file.h"
#include "rewind/format/byte_source.h"

namespace rw::format {

// An open archive. Any number of threads may read.
class ZipFile {
 public:
  struct Entry {
    std::string name;     // "assets/vocabulary.txt"; a folder's ends with '/'
    uint64_t size = 0;    // unpacked
    uint64_t stored = 0;  // bytes in the archive
    uint64_t header = 0;  // offset of what stands in front of it
    uint32_t crc = 0;
    bool deflated = false;
  };

  // Throws NotFoundError, and DataLossError with the file's name and the byte for what breaks the rules.
  explicit ZipFile(std::string path, const char* tag = "zip", const ExpansionLimit& limit = {});
  const std::string& path() const { return path_; }
  const std::vector<Entry>& entries() const { return entries_; }  // in the order of the directory
  const Entry* find(std::string_view name) const;                 // nullptr: there is none
  const Entry& at(std::string_view name) const;                   // throws NotFoundError
  // The unpacked bytes, their checksum compared.
  std::string read(const Entry& entry) const;
  // The same to be read in pieces: what is stored as it is stays in the file. Its checksum is compared first
  // unless `trusted`: the format inside has checks of its own, or damage shows.
  SharedBytes open(const Entry& entry, bool trusted = false) const;

 private:
  void read_directory();
  void read_entry(std::string_view directory, uint64_t address, size_t* at);
  void check_places(uint64_t byte) const;
  void check_name(const Entry& entry, uint64_t byte) const;
  uint64_t data_of(const Entry& entry) const;
  [[noreturn]] void fail(uint64_t byte, const std::string& what) const { file_->fail(byte, what); }

  std::string path_;
  const char* tag_;
  ExpansionLimit limit_;
  std::shared_ptr<const ReadFile> file_;
  std::vector<Entry> entries_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

// Writes an archive whole or not at all. Files are stored as they are unless asked to be deflated.
class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path, const char* tag = "zip");
  // Throws InvalidArgumentError for names that ZipFile refuses.
  void add(const std::string& name, std::string_view bytes) { add(name, std::span(&bytes, 1)); }
  // A file in parts, which are written one after another, without a copy if they are stored.
  void add(const std::string& name, std::span<const std::string_view> parts, bool deflated = false);
  void commit();

 private:
  struct Entry {
    std::string name;
    uint64_t size = 0, stored = 0, header = 0;
    uint32_t crc = 0;
    bool deflated = false;
    bool wide() const { return size >= 0xffffffff || stored >= 0xffffffff; }
  };
  static void put_common(std::string& out, const Entry& entry, bool wide);
  void put(std::string_view bytes);
  std::string directory_entry(const Entry& entry) const;

  const char* tag_;
  AtomicFile file_;
  uint64_t at_ = 0;
  std::vector<Entry> entries_;
  std::set<std::string> names_;
};

// Whether a name stays in the archive's folder: relative, '/' between parts, none of them empty, "." or "..".
bool is_safe_archive_name(std::string_view name);

}  // namespace rw::format
