// Types and shapes of HDF5's arrays and attributes, from their messages.
#pragma once

#include "rewind/format/hdf5.h"
#include "rewind/format/hdf5_bytes.h"

namespace rw::format::hdf5 {

Hdf5Type read_type(Cursor& c);
struct Space {
  Shape shape;                    // (0,) of a null dataspace
  std::vector<uint64_t> largest;  // sizes that it may take; all ones: any
};
Space read_space(Cursor& c);

// Elements x size, which is refused beyond int64.
uint64_t bytes_of(const Image& image, uint64_t address, const Shape& shape, uint64_t element);

// Elements from the file's order to this machine's.
void to_native_order(void* data, uint64_t bytes, const Hdf5Type& type);
// Strings of fixed length without what pads them.
std::vector<std::string> fixed_strings(std::string_view bytes, const Hdf5Type& type);

}  // namespace rw::format::hdf5
