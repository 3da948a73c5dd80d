// Messages of the HDF5 writer: types, shapes, attributes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "rewind/format/hdf5_writer.h"

namespace rw::format::hdf5 {

// The strings of variable length of a file, in global heaps of their own.
class StringHeap {
 public:
  void add(const std::string& text) { strings_.insert(text); }
  // Writes the heaps to `out`, whose bytes begin at address 0.
  void write(std::string* out);
  // {u32 length, address, u32 index}
  std::string reference(const std::string& text) const;

 private:
  struct Place {
    uint64_t heap = 0;
    uint32_t index = 0;
  };
  std::set<std::string> strings_;
  std::map<std::string, Place> places_;
};

void collect_strings(const Hdf5Attributes& attributes, StringHeap* heap);

std::string encode_shape(const Shape& shape);
// Empty: HDF5 has no such type here.
std::string encode_type(DType dtype);
std::string encode_attribute(const std::string& name, const Hdf5Value& value, const StringHeap& heap);
// A message of an object header of version 1.
std::string encode_message(uint16_t type, std::string body, const char* tag, const std::string& what);

inline void pad8(std::string* out) { out->resize((out->size() + 7) / 8 * 8, '\0'); }

}  // namespace rw::format::hdf5
