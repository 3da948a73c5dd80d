// Writes HDF5 files (hdf5.h draws them) that every version of h5py and HDF5 reads: superblock 0, groups by
// symbol tables, contiguous arrays.
//
//   Hdf5Group root;
//   Hdf5Group& dense = root.group("layers/dense/vars");
//   dense.attributes["name"] = "dense";
//   dense.arrays["0"] = {DType::kFloat32, {784, 100}, kernel};
//   write_hdf5("w.h5", root);
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/shape.h"

namespace rw::format {

// Strings of UTF-8 of any length, or a list of them; bytes of one length each, padded by zeros; a number.
struct Hdf5FixedStrings {
  std::vector<std::string> strings;
};
using Hdf5Value = std::variant<std::string, std::vector<std::string>, Hdf5FixedStrings, int64_t, double>;
using Hdf5Attributes = std::map<std::string, Hdf5Value>;

struct Hdf5Array {
  DType dtype =
      DType::kInvalid;  // booleans and complex numbers as h5py has them; bfloat16 as two opaque bytes
  Shape shape;
  const void* data = nullptr;  // stays the caller's
  Hdf5Attributes attributes = {};
};

struct Hdf5Group {
  std::map<std::string, Hdf5Group> groups;
  std::map<std::string, Hdf5Array> arrays;
  Hdf5Attributes attributes;

  // The group at this path from here, "layers/dense"; made where it is missing. `arrays` of the last part:
  // array("layers/dense/vars/0").
  Hdf5Group& group(std::string_view path);
  Hdf5Array& array(std::string_view path);
};

// A file as pieces one behind the other: what it writes beside the elements, and the elements where they lie.
class Hdf5Image {
 public:
  // Throws InvalidArgumentError for what HDF5 does not take: names with '/', empty or twice, attributes
  // beyond 64 KiB, types without numbers.
  explicit Hdf5Image(const Hdf5Group& root, const char* tag = "hdf5");
  const std::vector<std::string_view>& parts() const { return parts_; }
  Hdf5Image(const Hdf5Image&) = delete;
  Hdf5Image& operator=(const Hdf5Image&) = delete;

 private:
  std::string metadata_;
  std::vector<std::string_view> parts_;
};

// Writes the file whole or not at all (AtomicFile).
void write_hdf5(const std::string& path, const Hdf5Group& root, const char* tag = "hdf5");

}  // namespace rw::format
