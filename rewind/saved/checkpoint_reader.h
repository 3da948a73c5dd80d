// What is in a checkpoint, by the keys of its values: tf.train.load_checkpoint and list_variables.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rewind/tensor/tensor.h"

namespace rw::format {
class BundleReader;
}

namespace rw::train {

class CheckpointReader {
 public:
  // A checkpoint, or the latest one of a folder. Throws NotFoundError and DataLossError.
  explicit CheckpointReader(const std::string& path);

  const std::map<std::string, Shape>& get_variable_to_shape_map() const { return shapes_; }
  const std::map<std::string, DType>& get_variable_to_dtype_map() const { return dtypes_; }
  bool has_tensor(const std::string& key) const { return shapes_.contains(key); }
  // Throws NotFoundError.
  Tensor get_tensor(const std::string& key) const;
  const std::string& path() const;

 private:
  std::shared_ptr<const format::BundleReader> bundle_;
  std::map<std::string, Shape> shapes_;
  std::map<std::string, DType> dtypes_;
};

CheckpointReader load_checkpoint(const std::string& path);
Tensor load_variable(const std::string& path, const std::string& key);
// Keys and shapes, sorted.
std::vector<std::pair<std::string, Shape>> list_variables(const std::string& path);

}  // namespace rw::train
