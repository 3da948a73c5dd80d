#include "rewind/data/file.h"

#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "rewind/base/errno_text.h"
#include "rewind/base/error.h"

namespace rw::data {

File::File(std::string path, const char* tag, const std::string& hint, const format::ExpansionLimit& limit)
    : path_(std::move(path)),
      tag_(tag),
      limit_(limit),
      file_(nullptr, gzclose),
      buffer_(new unsigned char[kBuffer]) {
  struct stat info;
  std::string why;
  if (stat(path_.c_str(), &info) != 0) why = errno_text(errno);
  else if (S_ISDIR(info.st_mode)) why = "it is a folder";
  if (why.empty()) {
    stored_ = uint64_t(info.st_size);
    file_.reset(gzopen(path_.c_str(), "rb"));
    if (!file_) why = errno_text(errno);
  }
  if (!why.empty())
    fail_not_found(tag_, path_ + " cannot be opened: " + why + (hint.empty() ? "" : "; " + hint));
}
File::~File() = default;

bool File::fill() {
  begin_ += int64_t(end_);
  next_ = end_ = 0;
  const int got = gzread(file_.get(), buffer_.get(), unsigned(kBuffer));
  int status = Z_OK;
  const char* text = gzerror(file_.get(), &status);
  const char* tail = std::strstr(text, ": ");  // behind the file's name
  if (got < 0 || (status != Z_OK && status != Z_STREAM_END))
    fail_damaged(std::string("the compressed data is damaged (") + (tail ? tail + 2 : text) + ")");
  end_ = size_t(got);
  return got > 0;
}

void File::fail_damaged(const std::string& what) const { fail_damaged(what, offset()); }
void File::fail_damaged(const std::string& what, int64_t at) const {
  throw DataLossError(std::string("[") + tag_ + "] " + path_ + ": " + what + " at byte " +
                      std::to_string(at));
}

void File::read(void* to, size_t size) {
  auto* out = static_cast<char*>(to);
  while (size > 0) {
    if (next_ == end_ && !fill()) fail_damaged("the file ends too early");
    const size_t n = std::min(size, end_ - next_);
    std::memcpy(out, buffer_.get() + next_, n);
    next_ += n;
    out += n;
    size -= n;
  }
}

bool File::line(std::string* out) {
  out->clear();
  int c = get();
  if (c < 0) return false;
  for (; c >= 0 && c != '\n'; c = get()) {
    if (next_ == end_) check_size(out->size());
    if (c != '\r') out->push_back(char(c));
  }
  return true;
}

std::string File::rest() {
  std::string all;
  do {
    all.append(reinterpret_cast<const char*>(buffer_.get()) + next_, end_ - next_);
    next_ = end_;
    check_size(all.size());
  } while (fill());
  return all;
}

// Compressed files become a thousand times as large.
void File::check_size(size_t bytes) const {
  if (!limit_.allows(bytes, stored_))
    fail_damaged("it unpacks to more than is allowed for a file of " + std::to_string(stored_) + " bytes");
}

void File::seek(int64_t offset) {
  if (gzseek(file_.get(), offset, SEEK_SET) != offset)
    fail_damaged("cannot go to byte " + std::to_string(offset));
  begin_ = offset;
  next_ = end_ = 0;
}

}  // namespace rw::data
