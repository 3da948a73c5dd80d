#include "rewind/format/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

#include "rewind/base/errno_text.h"
#include "rewind/base/error.h"

namespace rw::format {
namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

constexpr const char* kTemporary = ".rewind-tmp-";

std::string name_in_folder(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether `name` is that of a temporary file for the file `of` in the same folder.
bool is_temporary(std::string_view name, const std::string& of) {
  const std::string start = of + kTemporary;
  if (!name.starts_with(start)) return false;
  name.remove_prefix(start.size());
  const size_t line = name.find('-');
  return line != std::string_view::npos && is_digits(name.substr(0, line)) &&
         is_digits(name.substr(line + 1));
}

// Deletes a temporary file that no process has locked.
void delete_if_stale(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info = {}, named = {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
      lstat(path.c_str(), &named) == 0 && named.st_ino == info.st_ino && named.st_dev == info.st_dev)
    unlink(path.c_str());
  close(fd);
}

void delete_stale_temporaries(const std::string& target) {
  const std::string folder = folder_of(target), name = name_in_folder(target);
  DIR* entries = opendir(folder.c_str());
  if (!entries) return;
  while (const dirent* entry = readdir(entries))
    if (is_temporary(entry->d_name, name)) delete_if_stale(folder + "/" + entry->d_name);
  closedir(entries);
}

// The kind of a file that is not written to.
const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "no regular file";
}

}  // namespace

AtomicFile::AtomicFile(std::string path, const char* tag) : path_(std::move(path)), tag_(tag) {
  find_target();
  delete_stale_temporaries(target_);
  open_temporary();
}

// Follows symbolic links, also to a file that is not there yet.
void AtomicFile::find_target() {
  constexpr int kMostLinks = 40;  // as the system itself follows
  target_ = path_;
  for (int links = 0;; ++links) {
    struct stat info = {};
    if (lstat(target_.c_str(), &info) != 0) {
      if (errno == ENOENT && !target_.empty() && target_.back() != '/') return;
      fail("the path cannot be followed");
    }
    if (S_ISREG(info.st_mode)) return;
    if (!S_ISLNK(info.st_mode))
      throw FailedPreconditionError(std::string("[") + tag_ + "] " + path_ + " is " + kind_of(info.st_mode) +
                                    (links > 0 ? " (" + target_ + ")" : "") +
                                    ": only a regular file is written or replaced");
    errno = ELOOP;
    if (links == kMostLinks) fail("the path cannot be followed");
    std::string to(size_t(PATH_MAX), '\0');
    const ssize_t length = readlink(target_.c_str(), to.data(), to.size());
    if (length < 0) fail("the link " + target_ + " cannot be read");
    to.resize(size_t(length));
    target_ = to.starts_with('/') ? to : folder_of(target_) + "/" + to;
  }
}

// A file beside the target that nobody else has, with the rights that new files get (mkstemp's own are
// narrower).
void AtomicFile::open_temporary() {
  static std::atomic<unsigned> count{0};
  for (;;) {
    temporary_ = target_ + kTemporary + std::to_string(getpid()) + "-" + std::to_string(count++);
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno == EEXIST) continue;
    if (fd_ < 0) {
      const int reason = errno;
      temporary_.clear();
      errno = reason;
      fail("a file cannot be made in folder " + folder_of(target_));
    }
    // Another writer may have found the file before it was locked, and deleted it. Where the file system has
    // no locks nothing is ever deleted.
    struct stat info = {};
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) info.st_nlink = 0;
    else if (fstat(fd_, &info) != 0) info.st_nlink = 1;
    if (info.st_nlink > 0) return;
    close(fd_);
    fd_ = -1;
  }
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::fail(const std::string& what) {
  const int reason = errno;
  const std::string message =
      std::string("[") + tag_ + "] " + path_ + ": " + what + ": " + errno_text(reason);
  if (reason == ENOENT) throw NotFoundError(message);
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) throw ResourceExhaustedError(message);
  throw FailedPreconditionError(message);
}

void AtomicFile::write(const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  constexpr size_t kMost = size_t{1} << 30;
  while (size > 0) {
    const ssize_t n = ::write(fd_, at, std::min(size, kMost));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("writing failed");
    at += n;
    size -= size_t(n);
  }
}

void AtomicFile::commit() {
  if (fsync(fd_) != 0) fail("the data cannot be brought to the disk");
  // Renamed before it is closed, which ends the lock that says that it is no stale one.
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail("the finished file cannot be given its name");
  renamed_ = true;
  temporary_.clear();
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0) fail("the file cannot be closed");
  const int folder = open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail("its folder cannot be opened");
  const int synced = fsync(folder);
  const int reason = errno;
  close(folder);
  errno = reason;
  // Some file systems cannot sync a folder; then there is no more to do.
  if (synced != 0 && reason != EINVAL) fail("its folder cannot be brought to the disk");
}

}  // namespace rw::format
