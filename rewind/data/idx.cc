// An IDX file: two zero bytes, the element type, the rank, then each size as a big-endian uint32, then the
// elements, big-endian, in row-major order.
#include "rewind/data/idx.h"

#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/data/file.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::data {
namespace {

DType dtype_of_code(int code) {
  switch (code) {
    case 0x08: return DType::kUint8;
    case 0x09: return DType::kInt8;
    case 0x0b: return DType::kInt16;
    case 0x0c: return DType::kInt32;
    case 0x0d: return DType::kFloat32;
    case 0x0e: return DType::kFloat64;
    default: return DType::kInvalid;
  }
}

}  // namespace

Tensor read_idx(const std::string& path, const std::string& hint, const format::ExpansionLimit& limit) {
  File file(path, "read_idx", hint, limit);
  unsigned char head[4];
  file.read(head, 4);
  const DType dtype = dtype_of_code(head[2]);
  if (head[0] != 0 || head[1] != 0 || dtype == DType::kInvalid)
    file.fail_damaged("this is no IDX file: wrong magic number", 0);
  std::vector<int64_t> dims;
  for (int i = 0; i < head[3]; ++i) {
    unsigned char size[4];
    file.read(size, 4);
    dims.push_back(int64_t(size[0]) << 24 | int64_t(size[1]) << 16 | int64_t(size[2]) << 8 | size[3]);
  }
  const Shape shape(dims);
  int64_t count = 0;
  // A bound for what a wrong header can ask for.
  constexpr int64_t kMost = int64_t{1} << 40;
  if (!shape.checked_num_elements(&count) || count > kMost / int64_t(size_of(dtype)))
    file.fail_damaged("the sizes " + shape.to_string() + " are impossible");
  file.check_size(size_t(count) * size_of(dtype));
  // Read in pieces, so that a file that promises more than it holds costs no more than it holds.
  const size_t width = size_of(dtype);
  std::string bytes;
  size_t left = size_t(count) * width;
  while (left > 0) {
    const size_t n = std::min<size_t>(left, 16 << 20);
    bytes.resize(bytes.size() + n);
    file.read(bytes.data() + bytes.size() - n, n);
    left -= n;
  }
  if (file.get() >= 0) file.fail_damaged("there is more than the header says");
  if (width > 1)
    for (size_t i = 0; i < bytes.size(); i += width)
      std::reverse(bytes.begin() + int64_t(i), bytes.begin() + int64_t(i + width));
  return tensor_from_bytes(bytes.data(), dtype, shape);
}

}  // namespace rw::data
