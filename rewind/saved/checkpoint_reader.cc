#include "rewind/saved/checkpoint_reader.h"

#include "rewind/base/error.h"
#include "rewind/format/tensor_bundle.h"
#include "rewind/saved/checkpoint_state.h"
#include "rewind/saved/tensor_values.h"

namespace rw::train {
namespace {

constexpr const char* kReaderTag = "load_checkpoint";

std::string checkpoint_at(const std::string& path) {
  if (saved::checkpoint_exists(path)) return path;
  const std::string latest = latest_checkpoint(path);
  return latest.empty() ? path : latest;
}

}  // namespace

CheckpointReader::CheckpointReader(const std::string& path)
    : bundle_(std::make_shared<format::BundleReader>(checkpoint_at(path), kReaderTag)) {
  for (const auto& [key, entry] : bundle_->entries()) {
    shapes_[key] = entry.shape;
    const int number = int(entry.dtype);
    dtypes_[key] = number > 0 && number < 24 ? DType(number) : DType::kInvalid;
  }
}

Tensor CheckpointReader::get_tensor(const std::string& key) const {
  return saved::from_bundle(*bundle_, key, kReaderTag);
}
const std::string& CheckpointReader::path() const { return bundle_->prefix(); }

CheckpointReader load_checkpoint(const std::string& path) { return CheckpointReader(path); }
Tensor load_variable(const std::string& path, const std::string& key) {
  return CheckpointReader(path).get_tensor(key);
}
std::vector<std::pair<std::string, Shape>> list_variables(const std::string& path) {
  const CheckpointReader reader(path);
  return {reader.get_variable_to_shape_map().begin(), reader.get_variable_to_shape_map().end()};
}

}  // namespace rw::train
