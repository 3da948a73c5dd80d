// safetensors: named arrays in one file, as Hugging Face's library reads and writes it.
//
//   bytes 0..7   N, little-endian uint64: length of the header, at most 100,000,000
//   N bytes      JSON, first byte '{', padded by spaces so that the data begins at a multiple of 8:
//                {"__metadata__": {"key": "text", ...},
//                 "dense/kernel": {"dtype": "F32", "shape": [784, 100], "data_offsets": [0, 313600]}, ...}
//   the rest     the elements, row-major, little-endian; offsets count from here. The arrays cover the rest
//                without holes and without overlap.
//
// Types: BOOL U8 I8 U16 I16 F16 BF16 U32 I32 F32 C64 U64 I64 F64.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/shape.h"

namespace rw::format {

using Metadata = std::map<std::string, std::string>;

// The format's name of a type; empty if it has none. kInvalid for names that are not ours.
std::string_view safetensors_name(DType dtype);
DType parse_safetensors_dtype(std::string_view name);

// An open file. The header was checked; elements are read when they are asked for, straight to where they
// belong. Any number of threads may read.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    DType dtype = DType::kInvalid;
    Shape shape;
    uint64_t offset = 0, size = 0;  // bytes, from the beginning of the file
  };

  // Throws NotFoundError, and DataLossError with the file's name and the byte for what breaks the rules
  // above. `tag` is the function that the user called.
  explicit SafetensorsFile(std::string path, const char* tag = "safetensors");
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<Entry>& entries() const { return entries_; }  // in the order of their bytes
  const Entry* find(std::string_view name) const;                 // nullptr: there is none
  const Metadata& metadata() const { return metadata_; }
  // Writes entry.size bytes to `to`.
  void read(const Entry& entry, void* to) const;

 private:
  void read_header();
  void parse_header(std::string_view text, uint64_t data_size);
  void check_layout(uint64_t data_size);
  void read_at(void* to, uint64_t size, uint64_t offset) const;
  [[noreturn]] void fail(uint64_t byte, const std::string& what) const;

  std::string path_;
  const char* tag_;
  int fd_ = -1;
  uint64_t file_size_ = 0, data_begin_ = 0;
  std::vector<Entry> entries_;
  std::map<std::string, size_t, std::less<>> by_name_;
  Metadata metadata_;
};

struct SafetensorsArray {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;
  const void* data = nullptr;
};
// Writes the file whole or not at all (AtomicFile). Arrays are laid out by falling size of their elements, so
// that all are aligned, otherwise in the order given. Throws InvalidArgumentError for names that are twice
// there or no UTF-8, and for types that the format does not have.
void write_safetensors(const std::string& path, std::span<const SafetensorsArray> arrays,
                       const Metadata& metadata = {}, const char* tag = "safetensors");

}  // namespace rw::format
