// Writes tensor bundles (tensor_bundle.h) as TensorFlow lays them out: tensors one behind the other, in the
// order in which they are given.
//
// A bundle appears whole or not at all. The data files are there before the index, which is renamed into
// place last. Where an index of that name is there already, the new data files get names that it does not
// mention (of another number of files), so that at every moment the index and its data belong together; the
// old data files go behind that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rewind/base/shape.h"
#include "rewind/format/tensor_bundle.h"

namespace rw::format {

struct BundleTensor {
  std::string name;
  DataType dtype = DataType::kInvalid;
  Shape shape;
  const void* data = nullptr;        // numbers, row-major; must stay until the bundle is written
  std::vector<std::string> strings;  // of a tensor of strings
  // The tensor is this slice of a larger one, of shape `whole`; all its slices have the same name.
  std::optional<TensorSliceProto> slice = {};
  Shape whole = {};
};

struct BundleWriteOptions {
  uint64_t max_shard_bytes = 0;  // a data file ends behind the tensor that reaches this; 0: one file
};

// Throws InvalidArgumentError for names that come twice, and AtomicFile's errors; `tag` is the function that
// the user called.
void write_bundle(const std::string& prefix, std::vector<BundleTensor> tensors, const char* tag,
                  const BundleWriteOptions& options = {});

// Removes the files of a bundle, the index first; those that are not there are no error. False: some stay.
bool delete_bundle(const std::string& prefix);

}  // namespace rw::format
