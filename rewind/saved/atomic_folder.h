// A folder that appears whole or not at all: written under a temporary name beside it, every file and folder
// synced, then exchanged with the old one in one step. Without commit() nothing of it stays.
//
// Of an old folder the entries that `replaces` names go; others stay where they are. The temporary folder,
// "<name>.rewind-tmp-<process>-<number>", is locked (flock) as long as its writer lives: one that nobody
// locks was left by a writer that was killed, and the next writer of the same folder deletes it.
#pragma once

#include <string>
#include <vector>

namespace rw::saved {

class AtomicFolder {
 public:
  // Every failure is an Error whose message names the folder and the system's reason; `tag` is the function
  // that the user called.
  AtomicFolder(const std::string& path, std::vector<std::string> replaces, const char* tag);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  // Where the files are written.
  const std::string& path() const { return temporary_; }
  void make_folder(const std::string& name) const;
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void delete_stale() const;
  bool is_replaced(const std::string& name) const;
  // Moves what is not replaced to the target. False, with errno: something could not be moved, or is there.
  bool keep_others(const std::string& old_folder) const;

  std::string target_, temporary_;
  std::vector<std::string> replaces_;
  const char* tag_;
  int lock_ = -1;
};

}  // namespace rw::saved
