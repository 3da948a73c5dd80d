// Files that readers take: plain or gzipped, read from the front. Missing files are NotFoundError, damaged
// ones DataLossError; both name the file, the second the byte.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rewind/format/expansion_limit.h"

struct gzFile_s;

namespace rw::data {

class File {
 public:
  // `hint` follows the message when the file is missing.
  File(std::string path, const char* tag, const std::string& hint = {},
       const format::ExpansionLimit& limit = {});
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // The next byte; -1 at the end.
  int get() {
    if (next_ == end_ && !fill()) return -1;
    return buffer_[next_++];
  }
  // Throws when the file ends before.
  void read(void* to, size_t size);
  // Without its end (\n; every \r goes, as in TensorFlow); false at the end of the file. Throws
  // DataLossError, as rest() does, for more bytes at once than the limit allows for the size of the file.
  bool line(std::string* out);
  std::string rest();
  // Bytes read so far, of the content.
  int64_t offset() const { return begin_ + int64_t(next_); }
  void seek(int64_t offset);
  // Throws DataLossError if the limit does not allow so many bytes for the size of the file.
  void check_size(size_t bytes) const;
  const std::string& path() const { return path_; }
  [[noreturn]] void fail_damaged(const std::string& what) const;  // where it stands
  [[noreturn]] void fail_damaged(const std::string& what, int64_t at) const;

 private:
  bool fill();
  static constexpr size_t kBuffer = 64 << 10;
  std::string path_;
  const char* tag_;
  uint64_t stored_ = 0;  // bytes, compressed or not
  format::ExpansionLimit limit_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
  std::unique_ptr<unsigned char[]> buffer_;
  size_t next_ = 0, end_ = 0;
  int64_t begin_ = 0;  // offset of the buffer
};

}  // namespace rw::data
