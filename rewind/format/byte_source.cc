#include "rewind/format/byte_source.h"

#include <algorithm>
#include <cstring>

#include "rewind/base/error.h"

namespace rw::format {
namespace {

class FileBytes : public ByteSource {
 public:
  FileBytes(std::shared_ptr<const ReadFile> file, uint64_t begin, uint64_t size, std::string name,
            const char* tag)
      : ByteSource(std::move(name), tag), file_(std::move(file)), begin_(begin), size_(size) {}
  uint64_t size() const override { return size_; }

 protected:
  void read_checked(uint64_t offset, void* to, size_t size) const override {
    file_->read(begin_ + offset, to, size);
  }

 private:
  std::shared_ptr<const ReadFile> file_;
  uint64_t begin_, size_;
};

class MemoryBytes : public ByteSource {
 public:
  MemoryBytes(std::string bytes, std::string name, const char* tag)
      : ByteSource(std::move(name), tag), bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }

 protected:
  void read_checked(uint64_t offset, void* to, size_t size) const override {
    std::memcpy(to, bytes_.data() + offset, size);
  }

 private:
  std::string bytes_;
};

}  // namespace

void ByteSource::read(uint64_t offset, void* to, size_t size) const {
  if (offset > this->size() || size > this->size() - offset)
    fail(std::min(offset, this->size()), "expected " + std::to_string(size) + " bytes, there are " +
                                             std::to_string(this->size()) + " in all");
  if (size > 0) read_checked(offset, to, size);
}

std::string ByteSource::read(uint64_t offset, size_t size) const {
  if (offset > this->size() || size > this->size() - offset) read(offset, nullptr, size);  // before memory
  std::string bytes(size, '\0');
  read(offset, bytes.data(), size);
  return bytes;
}

void ByteSource::fail(uint64_t byte, const std::string& what) const {
  throw DataLossError(std::string("[") + tag_ + "] " + name_ + ": damaged at byte " + std::to_string(byte) +
                      ": " + what);
}

void ByteSource::refuse(const std::string& what) const { fail_unimplemented(tag_, name_ + ": " + what); }

SharedBytes open_bytes(const std::string& path, const char* tag) {
  auto file = std::make_shared<const ReadFile>(path, tag);
  const uint64_t size = file->size();
  return bytes_of_file(std::move(file), 0, size, path, tag);
}

SharedBytes bytes_of_file(std::shared_ptr<const ReadFile> file, uint64_t begin, uint64_t size,
                          std::string name, const char* tag) {
  return std::make_shared<const FileBytes>(std::move(file), begin, size, std::move(name), tag);
}

SharedBytes bytes_in_memory(std::string bytes, std::string name, const char* tag) {
  return std::make_shared<const MemoryBytes>(std::move(bytes), std::move(name), tag);
}

}  // namespace rw::format
