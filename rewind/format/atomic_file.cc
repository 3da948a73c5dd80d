#include "rewind/format/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "rewind/base/error.h"

namespace rw::format {
namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Makes a file beside `path` that nobody else has, with the rights that new files get (mkstemp's own are
// narrower).
int open_beside(const std::string& path, std::string* temporary) {
  static std::atomic<unsigned> count{0};
  for (;;) {
    *temporary = path + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    const int fd = open(temporary->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

}  // namespace

AtomicFile::AtomicFile(std::string path, const char* tag) : path_(std::move(path)), tag_(tag) {
  fd_ = open_beside(path_, &temporary_);
  if (fd_ < 0) {
    const int reason = errno;
    temporary_.clear();
    errno = reason;
    fail("a file cannot be made in folder " + folder_of(path_));
  }
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::fail(const std::string& what) {
  const int reason = errno;
  const std::string message =
      std::string("[") + tag_ + "] " + path_ + ": " + what + ": " + std::strerror(reason);
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
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0) fail("the file cannot be closed");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("the finished file cannot be given its name");
  temporary_.clear();
  const int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail("its folder cannot be opened");
  const int synced = fsync(folder);
  const int reason = errno;
  close(folder);
  errno = reason;
  // Some file systems cannot sync a folder; then there is no more to do.
  if (synced != 0 && reason != EINVAL) fail("its folder cannot be brought to the disk");
}

}  // namespace rw::format
