// A file that appears whole or not at all: written under a temporary name in the same folder, synced, renamed
// over the old one, and the folder synced. Without commit() nothing of it stays.
//
// Only a regular file is replaced. A symbolic link stays, and the file that it leads to is replaced. The
// temporary file, "<name>.rewind-tmp-<process>-<number>", is locked (flock) as long as its writer lives: one
// that nobody locks was left by a writer that was killed, and the next writer of the same file deletes it.
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
  // Whether the file has its name: also when commit() failed behind that, because the folder could not be
  // synced. The file is whole then, but may be gone after a crash of the machine.
  bool has_its_name() const { return renamed_; }

 private:
  [[noreturn]] void fail(const std::string& what);
  void find_target();
  void open_temporary();
  std::string path_;  // as the user gave it
  std::string target_, temporary_;
  const char* tag_;
  int fd_ = -1;
  bool renamed_ = false;
};

}  // namespace rw::format
