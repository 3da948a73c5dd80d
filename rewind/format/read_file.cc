#include "rewind/format/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rewind/base/errno_text.h"
#include "rewind/base/error.h"

namespace rw::format {

ReadFile::ReadFile(std::string path, const char* tag) : path_(std::move(path)), tag_(tag) {
  const auto refuse = [&](const char* what) {
    const int reason = errno;
    if (fd_ >= 0) close(fd_);
    const std::string message = std::string("[") + tag_ + "] " + path_ + ": " + what;
    if (reason == ENOENT || reason == ENOTDIR) throw NotFoundError(message + ": " + errno_text(reason));
    throw FailedPreconditionError(message + (reason ? std::string(": ") + errno_text(reason) : ""));
  };
  // A pipe without a writer would keep open() waiting.
  fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) refuse("the file cannot be opened");
  struct stat info{};
  if (fstat(fd_, &info) != 0) refuse("the file cannot be read");
  errno = 0;
  if (!S_ISREG(info.st_mode)) refuse("expected a file, got a folder or a device");
  size_ = uint64_t(info.st_size);
}

ReadFile::~ReadFile() { close(fd_); }

void ReadFile::read(uint64_t offset, void* to, size_t size) const {
  if (offset > size_ || size > size_ - offset)
    fail(std::min(offset, size_),
         "expected " + std::to_string(size) + " bytes, the file has " + std::to_string(size_) + " in all");
  char* at = static_cast<char*>(to);
  constexpr size_t kMost = size_t{1} << 30;
  while (size > 0) {
    const ssize_t n = pread(fd_, at, std::min(size, kMost), off_t(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw FailedPreconditionError(std::string("[") + tag_ + "] " + path_ +
                                    ": reading failed: " + errno_text(errno));
    if (n == 0) fail(offset, "the file became shorter while it was read");
    at += n;
    offset += uint64_t(n);
    size -= size_t(n);
  }
}

std::string ReadFile::read(uint64_t offset, size_t size) const {
  if (offset > size_ || size > size_ - offset) read(offset, nullptr, size);  // before memory is taken for it
  std::string bytes(size, '\0');
  read(offset, bytes.data(), size);
  return bytes;
}

void ReadFile::fail(uint64_t byte, const std::string& what) const {
  throw DataLossError(std::string("[") + tag_ + "] " + path_ + ": damaged at byte " + std::to_string(byte) +
                      ": " + what);
}

}  // namespace rw::format
