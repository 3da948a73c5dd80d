// Bytes that are read in pieces, at any offset: a file, a part of one (what an archive stores as it is), or
// bytes in memory (what an archive has compressed). Any number of threads may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "rewind/format/expansion_limit.h"
#include "rewind/format/read_file.h"

namespace rw::format {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  const std::string& name() const { return name_; }  // as messages name it: "model.keras: config.json"
  const char* tag() const { return tag_; }           // the function that the user called
  virtual uint64_t size() const = 0;
  // Throws DataLossError for what ends too early, before anything is read.
  void read(uint64_t offset, void* to, size_t size) const;
  std::string read(uint64_t offset, size_t size) const;
  // "[tag] name: damaged at byte N: what"
  [[noreturn]] void fail(uint64_t byte, const std::string& what) const;
  // "[tag] name: what": the bytes follow the rules, but are nothing that is read here.
  [[noreturn]] void refuse(const std::string& what) const;

 protected:
  ByteSource(std::string name, const char* tag) : name_(std::move(name)), tag_(tag) {}
  virtual void read_checked(uint64_t offset, void* to, size_t size) const = 0;

 private:
  std::string name_;
  const char* tag_;
};

using SharedBytes = std::shared_ptr<const ByteSource>;

SharedBytes open_bytes(const std::string& path, const char* tag);
// `size` bytes of a file from `begin` on, which the caller has checked.
SharedBytes bytes_of_file(std::shared_ptr<const ReadFile> file, uint64_t begin, uint64_t size,
                          std::string name, const char* tag);
SharedBytes bytes_in_memory(std::string bytes, std::string name, const char* tag);

}  // namespace rw::format
