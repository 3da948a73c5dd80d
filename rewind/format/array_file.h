// Files of named arrays, whatever their format: safetensors, .npz, or HDF5 with the names as paths.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/format/expansion_limit.h"
#include "rewind/format/safetensors.h"

namespace rw::format {

// An open file. Elements are read when they are asked for, straight to where they belong. Any number of
// threads may read.
class ArrayFile {
 public:
  struct Entry {
    std::string name;
    DType dtype = DType::kInvalid;
    Shape shape;
    size_t number = 0;  // of the format's own list
  };
  virtual ~ArrayFile() = default;

  const std::string& path() const { return path_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(std::string_view name) const;  // nullptr: there is none
  const Metadata& metadata() const { return metadata_; }
  virtual void read(const Entry& entry, void* to) const = 0;

 protected:
  explicit ArrayFile(std::string path) : path_(std::move(path)) {}
  void add(Entry entry);
  Metadata metadata_;

 private:
  std::string path_;
  std::vector<Entry> entries_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

enum class ArrayFormat { kSafetensors, kNpz, kHdf5 };
// By the extension: .npz; .h5 and .hdf5; safetensors otherwise.
ArrayFormat array_format(std::string_view path);

// Throws NotFoundError, and DataLossError with the file's name and the byte for damage. `tag` is the function
// that the user called.
std::unique_ptr<ArrayFile> open_array_file(const std::string& path, const char* tag,
                                           const ExpansionLimit& limit = {});
// Writes the file whole or not at all.
void write_array_file(const std::string& path, std::span<const SafetensorsArray> arrays,
                      const Metadata& metadata, const char* tag);

}  // namespace rw::format
