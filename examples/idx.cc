// An IDX file: two zero bytes, the element type (8: uint8), the rank, then each size as a big-endian uint32,
// then the elements.
#include "examples/idx.h"

#include <zlib.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace {

struct Idx {
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what +
                           "; Fashion-MNIST comes with Debian's package dataset-fashion-mnist");
}

Idx read(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail(path, "cannot be opened");
  auto take = [&](void* to, unsigned count) {
    if (gzread(file.get(), to, count) != int(count)) fail(path, "ends too early");
  };
  uint8_t head[4];
  take(head, 4);
  if (head[0] != 0 || head[1] != 0 || head[2] != 8 || head[3] < 1 || head[3] > 4)
    fail(path, "is no IDX file of bytes");
  Idx idx;
  int64_t count = 1;
  for (int i = 0; i < head[3]; ++i) {
    uint8_t size[4];
    take(size, 4);
    idx.dims.push_back(int64_t(size[0]) << 24 | int64_t(size[1]) << 16 | int64_t(size[2]) << 8 | size[3]);
    count *= idx.dims.back();
  }
  if (count > (int64_t{1} << 30)) fail(path, "says it holds more than 1 GiB");
  idx.bytes.resize(size_t(count));
  take(idx.bytes.data(), unsigned(count));
  return idx;
}

}  // namespace

rw::Tensor read_idx_images(const std::string& path) {
  const Idx idx = read(path);
  if (idx.dims.size() != 3) fail(path, "does not hold images");
  const rw::Tensor bytes = rw::constant(idx.bytes.data(), rw::Shape{idx.dims[0], idx.dims[1] * idx.dims[2]});
  return rw::cast(bytes, rw::float32) / 255.0;
}

rw::Tensor read_idx_labels(const std::string& path) {
  const Idx idx = read(path);
  if (idx.dims.size() != 1) fail(path, "does not hold labels");
  return rw::cast(rw::constant(idx.bytes), rw::int64);
}
