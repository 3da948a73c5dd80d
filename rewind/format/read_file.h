// A file that is read in pieces, at any offset. Any number of threads may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace rw::format {

class ReadFile {
 public:
  // Every failure is an Error whose message names the file: NotFoundError, DataLossError for what ends too
  // early, FailedPreconditionError for what is no regular file. `tag` is the function that the user called.
  ReadFile(std::string path, const char* tag);
  ~ReadFile();
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // when it was opened
  void read(uint64_t offset, void* to, size_t size) const;
  std::string read(uint64_t offset, size_t size) const;
  // "[tag] path: damaged at byte N: what"
  [[noreturn]] void fail(uint64_t byte, const std::string& what) const;

 private:
  std::string path_;
  const char* tag_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace rw::format
