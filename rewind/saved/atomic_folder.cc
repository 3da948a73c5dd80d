#include "rewind/saved/atomic_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "rewind/base/errno_text.h"
#include "rewind/base/error.h"

namespace rw::saved {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTemporary = ".rewind-tmp-";

// 0, or errno. RENAME_EXCHANGE: there is no moment without the folder.
int swap_folders(const std::string& a, const std::string& b) {
#ifdef SYS_renameat2
  constexpr unsigned kExchange = 2;
  if (syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), kExchange) == 0) return 0;
  if (errno != ENOSYS && errno != EINVAL) return errno;
#endif
  const std::string aside = a + ".old";  // file systems that cannot
  if (std::rename(b.c_str(), aside.c_str()) != 0) return errno;
  if (std::rename(a.c_str(), b.c_str()) != 0) {
    const int reason = errno;
    (void)std::rename(aside.c_str(), b.c_str());
    return reason;
  }
  return std::rename(aside.c_str(), a.c_str()) == 0 ? 0 : errno;
}

// Whether the name behind `start` is that of a temporary folder: "<process>-<number>".
bool is_temporary(std::string_view name, const std::string& start) {
  if (!name.starts_with(start)) return false;
  name.remove_prefix(start.size());
  const size_t line = name.find('-');
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return line != std::string_view::npos && digits(name.substr(0, line)) && digits(name.substr(line + 1));
}

int open_folder(const std::string& path) { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

bool sync_folder(const std::string& path) {
  const int fd = open_folder(path);
  if (fd < 0) return false;
  const bool done = fsync(fd) == 0 || errno == EINVAL;  // some file systems sync no folders
  const int reason = errno;
  close(fd);
  errno = reason;
  return done;
}

bool sync_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = fsync(fd) == 0;
  const int reason = errno;
  close(fd);
  errno = reason;
  return done;
}

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

AtomicFolder::AtomicFolder(const std::string& path, std::vector<std::string> replaces, const char* tag)
    : target_(path), replaces_(std::move(replaces)), tag_(tag) {
  while (target_.size() > 1 && target_.back() == '/') target_.pop_back();
  if (target_.empty()) throw InvalidArgumentError(std::string("[") + tag_ + "] the path is empty");
  std::error_code error;
  if (fs::exists(target_, error)) target_ = fs::canonical(target_, error).string();  // behind links
  if (error) {
    errno = error.value();
    fail("the path cannot be followed");
  }
  if (fs::exists(target_, error) && !fs::is_directory(target_, error))
    throw FailedPreconditionError(std::string("[") + tag_ + "] " + path + " is no folder");
  fs::create_directories(parent_of(target_), error);
  if (error) {
    errno = error.value();
    fail("the folder around it cannot be made");
  }
  delete_stale();
  static std::atomic<unsigned> count{0};
  std::string path_beside;
  int made = 0;
  do {
    path_beside = target_ + kTemporary + std::to_string(getpid()) + "-" + std::to_string(count++);
    made = mkdir(path_beside.c_str(), 0777);
  } while (made != 0 && errno == EEXIST);
  if (made != 0) fail("a folder cannot be made beside it");
  lock_ = open_folder(path_beside);
  if (lock_ < 0) {
    const int reason = errno;
    rmdir(path_beside.c_str());
    errno = reason;
    fail("the folder made beside it cannot be opened");
  }
  temporary_ = path_beside;
  (void)flock(lock_, LOCK_EX | LOCK_NB);
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  if (lock_ >= 0) close(lock_);
}

void AtomicFolder::fail(const std::string& what) const {
  const int reason = errno;
  const std::string message =
      std::string("[") + tag_ + "] " + target_ + ": " + what + ": " + errno_text(reason);
  if (reason == ENOSPC || reason == EDQUOT) throw ResourceExhaustedError(message);
  throw FailedPreconditionError(message);
}

// Of a writer that was killed behind the exchange such a folder is the old one: what is not ours in it goes
// where it belongs first.
void AtomicFolder::delete_stale() const {
  const std::string start = fs::path(target_).filename().string() + kTemporary;
  std::error_code error;
  std::vector<fs::path> stale;
  for (fs::directory_iterator it(parent_of(target_), error), end; !error && it != end; it.increment(error))
    if (is_temporary(it->path().filename().string(), start)) stale.push_back(it->path());
  for (const fs::path& path : stale) {
    const int fd = open_folder(path.string());
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && keep_others(path.string())) fs::remove_all(path, error);
    close(fd);
  }
}

void AtomicFolder::make_folder(const std::string& name) const {
  if (mkdir((temporary_ + "/" + name).c_str(), 0777) != 0) fail("a folder cannot be made in it");
}

// With the temporary files of a writer that was killed.
bool AtomicFolder::is_replaced(const std::string& name) const {
  return std::any_of(replaces_.begin(), replaces_.end(), [&](const std::string& own) {
    return name == own || is_temporary(name, own + kTemporary);
  });
}

bool AtomicFolder::keep_others(const std::string& old_folder) const {
  std::error_code error;
  std::vector<fs::path> others;
  for (fs::directory_iterator it(old_folder, error), end; !error && it != end; it.increment(error))
    if (!is_replaced(it->path().filename().string())) others.push_back(it->path());
  for (const fs::path& path : others) {
    if (error) break;
    const fs::path to = fs::path(target_) / path.filename();
    if (fs::exists(fs::symlink_status(to))) error = std::make_error_code(std::errc::file_exists);
    else fs::rename(path, to, error);
  }
  errno = error.value();
  return !error;
}

void AtomicFolder::commit() {
  std::error_code error;
  for (fs::recursive_directory_iterator it(temporary_, error), end; !error && it != end;
       it.increment(error)) {
    const std::string path = it->path().string();
    if (!(it->is_directory() ? sync_folder(path) : sync_file(path))) fail("it cannot be synced");
  }
  if (error) {
    errno = error.value();
    fail("it cannot be listed");
  }
  if (!sync_folder(temporary_)) fail("it cannot be synced");
  if (std::rename(temporary_.c_str(), target_.c_str()) == 0) {  // there is none, or an empty one
    temporary_.clear();
  } else if (errno == ENOTEMPTY || errno == EEXIST) {
    errno = swap_folders(temporary_, target_);
    if (errno != 0) fail("the new folder cannot take its place");
    if (!keep_others(temporary_)) {
      const int reason = errno;
      const std::string old = temporary_;
      temporary_.clear();  // what it has is not lost
      errno = reason;
      fail("the new folder is there, but what else the old one held cannot be moved to it; it stays in " +
           old);
    }
  } else {
    fail("the new folder cannot take its place");
  }
  if (!sync_folder(parent_of(target_))) fail("the folder around it cannot be synced");
}

}  // namespace rw::saved
