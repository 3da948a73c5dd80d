#include "rewind/format/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

AtomicFile::AtomicFile(std::string path, const char* tag) : path_(std::move(path)), tag_(tag) {
  temporary_ = path_ + ".tmp-XXXXXX";
  fd_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) {
    const int reason = errno;
    temporary_.clear();
    errno = reason;
    fail("a file cannot be made in folder " + folder_of(path_));
  }
  fchmod(fd_, usual_mode());
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
