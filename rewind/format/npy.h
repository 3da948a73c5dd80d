// numpy's .npy: one array.
//
//   "\x93NUMPY", u8 major, u8 minor   1.0, 2.0, 3.0
//   u16 (of 1.0) or u32               length of the header; with it the elements begin at a multiple of 64
//   header                            a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (3,
//   4), }
//                                     with spaces and a line feed behind it
//   elements                          row-major, or column-major in Fortran's order
//
// Types: '?', 'i', 'u', 'f', 'c' with '<', '>' or '|' in front and bytes behind; 'S5' bytes and 'U5'
// characters of UCS-4, both padded by zeros. bfloat16 is 'V2', as ml_dtypes has it. Pickled objects ('O') run
// code when they are read: they are refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/shape.h"
#include "rewind/format/byte_source.h"

namespace rw::format {

struct NpyHeader {
  DType dtype = DType::kInvalid;  // kString: of bytes or characters
  Shape shape;
  char kind = 0;         // 'f', 'S', ...
  uint64_t item = 0;     // bytes of an element in the file
  uint64_t swapped = 0;  // bytes that stand in the other order, each so many; 0: none
  bool fortran = false;
  uint64_t begin = 0;  // of the elements
};

// Checks that the elements are there, too.
NpyHeader read_npy_header(const ByteSource& bytes);
// Numbers, row-major in this machine's order, straight to `to`.
void read_npy(const ByteSource& bytes, const NpyHeader& header, void* to);
// Elements of 'S' and 'U', the latter as UTF-8.
std::vector<std::string> read_npy_strings(const ByteSource& bytes, const NpyHeader& header);

// What stands in front of the elements of an array of numbers.
std::string npy_header(DType dtype, const Shape& shape);
// A whole file of strings, as bytes ('S'). Zeros at the end of a string would be lost: they are refused.
std::string npy_strings(const std::vector<std::string>& strings, const Shape& shape, const char* tag);

}  // namespace rw::format
