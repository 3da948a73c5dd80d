#include "rewind/runtime/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>

#include "rewind/base/errno_text.h"
#include "rewind/base/error.h"
#include "rewind/base/number_text.h"

namespace rw {
namespace {

constexpr int64_t kPage = 4096;
int64_t in_pages(size_t bytes) { return (int64_t(bytes) + kPage - 1) / kPage * kPage; }

}  // namespace

SpillFile::~SpillFile() {
  if (fd_ >= 0) ::close(fd_);
}

void SpillFile::open(const std::string& folder, int64_t most, double bytes_per_second) {
  if (most < 0) fail_invalid("set_spill", "bytes must not be negative: got " + std::to_string(most));
  if (!(bytes_per_second > 0))
    fail_invalid("set_spill", "the speed must be positive: got " + number_text(bytes_per_second));
  if (used_ > 0 && folder != folder_)
    fail_precondition("set_spill", "the file in " + folder_ + " still holds " + std::to_string(used_) +
                                       " bytes of tensors; it cannot move to " + folder);
  if (fd_ < 0 || folder != folder_) {
    std::string name = folder + "/rewind-XXXXXX";
    const int fd = ::mkstemp(name.data());
    if (fd < 0) {
      const int why = errno;
      const std::string words = "no file can be made in '" + folder + "': " + errno_text(why);
      if (why == EACCES || why == EPERM || why == EROFS) fail_precondition("set_spill", words);
      if (why == ENOSPC || why == EDQUOT || why == EMFILE) fail_exhausted("set_spill", words);
      fail_not_found("set_spill", words);
    }
    ::unlink(name.c_str());
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
    end_ = 0;
    free_.clear();
  }
  folder_ = folder;
  most_ = most > 0 ? most : std::numeric_limits<int64_t>::max();
  ns_per_byte_ = 1e9 / bytes_per_second;
  full_ = false;
  on_ = true;
}

void SpillFile::close() {
  on_ = false;
  close_if_idle();
}

void SpillFile::close_if_idle() {
  if (on_ || used_ > 0 || fd_ < 0) return;
  ::close(fd_);
  fd_ = -1;
  end_ = 0;
  free_.clear();
}

bool SpillFile::fits(size_t bytes) const { return on_ && !full_ && used_ + in_pages(bytes) <= most_; }

int64_t SpillFile::take(int64_t bytes) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < bytes) continue;
    const auto [at, size] = *it;
    free_.erase(it);
    if (size > bytes) free_.emplace(at + bytes, size - bytes);
    return at;
  }
  const int64_t at = end_;
  end_ += bytes;
  return at;
}

void SpillFile::give(int64_t at, int64_t bytes) {
  auto next = free_.lower_bound(at);
  if (next != free_.end() && at + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == at) {
      at = before->first;
      bytes += before->second;
      free_.erase(before);
    }
  }
  if (at + bytes == end_) end_ = at;
  else free_.emplace(at, bytes);
}

int64_t SpillFile::write(const void* data, size_t bytes) {
  const int64_t room = in_pages(bytes);
  const int64_t at = take(room);
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n =
        ::pwrite(fd_, static_cast<const char*>(data) + done, bytes - done, off_t(at + int64_t(done)));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      give(at, room);
      full_ = true;
      return -1;
    }
    done += size_t(n);
  }
  used_ += room;
  return at;
}

bool SpillFile::read(int64_t at, void* data, size_t bytes) const {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pread(fd_, static_cast<char*>(data) + done, bytes - done, off_t(at + int64_t(done)));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += size_t(n);
  }
  return true;
}

void SpillFile::erase(int64_t at, size_t bytes) {
  used_ -= in_pages(bytes);
  give(at, in_pages(bytes));
  full_ = false;
  close_if_idle();
}

}  // namespace rw
