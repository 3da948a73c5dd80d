// Named arrays in any of the formats: tensor bundles (checkpoints, SavedModels), safetensors, .npz, HDF5,
// .keras.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "rewind/rewind.h"

namespace rw::cli {

class Arrays {
 public:
  virtual ~Arrays() = default;
  const std::map<std::string, TensorSpec>& specs() const { return specs_; }  // by name
  virtual Tensor read(const std::string& name) const = 0;

 protected:
  std::map<std::string, TensorSpec> specs_;
};

// Throws rw::Error for what cannot be opened. The file decides by its first bytes, not by its name.
std::unique_ptr<Arrays> open_arrays(const std::string& path);
// By the ending of the path: .safetensors, .npz, .h5; otherwise a checkpoint's prefix.
void write_arrays(const std::string& path, const std::map<std::string, Tensor>& arrays);

}  // namespace rw::cli
