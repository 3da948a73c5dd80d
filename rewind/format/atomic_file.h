// A file that appears whole or not at all: written under a temporary name in the same folder, synced, renamed
// over the old one, and the folder synced. Without commit() nothing of it stays.
#pragma once

#include <cstddef>
#include <string>

namespace rw::format {

class AtomicFile {
 public:
  // Every failure is an Error whose message names the file and the system's reason; `tag` is the function
  // that the user called.
  AtomicFile(std::string path, const char* tag);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t size);
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what);
  std::string path_, temporary_;
  const char* tag_;
  int fd_ = -1;
};

}  // namespace rw::format
