#include "rewind/saved/tensor_values.h"

#include "rewind/base/error.h"
#include "rewind/device/device.h"
#include "rewind/runtime/storage.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::saved {
namespace {

bool has_bytes(DType dtype) {
  return dtype != DType::kInvalid && dtype != DType::kString && dtype != DType::kResource &&
         dtype != DType::kVariant;
}

}  // namespace

format::BundleTensor to_bundle(const std::string& key, const Tensor& value, const char* tag) {
  format::BundleTensor out{
      .name = key, .dtype = format::DataType(int(value.dtype())), .shape = value.shape()};
  if (value.dtype() == DType::kString) out.strings = value.to_vector<std::string>();
  else if (has_bytes(value.dtype())) out.data = value.host_data();
  else
    fail_invalid(
        tag, "\"" + key + "\" is " + std::string(name_of(value.dtype())) + ", which checkpoints cannot hold");
  return out;
}

Tensor from_bundle(const format::BundleReader& bundle, std::string_view key, const char* tag) {
  const auto* entry = bundle.find(key);
  if (!entry) fail_not_found(tag, bundle.prefix() + " has no value named \"" + std::string(key) + "\"");
  if (int(entry->dtype) == int(DType::kString))
    return tensor_from_strings(bundle.read_strings(key), entry->shape);
  const auto dtype =
      int(entry->dtype) > 0 && int(entry->dtype) < 24 ? DType(int(entry->dtype)) : DType::kInvalid;
  if (!has_bytes(dtype))
    fail_invalid(tag, bundle.prefix() + ": \"" + std::string(key) + "\" is of type number " +
                          std::to_string(int(entry->dtype)) + ", which tensors here do not have");
  Value value = Value::allocate(cpu_device(), dtype, entry->shape);
  bundle.read(key, value.data);
  return make_tensor(std::move(value));
}

}  // namespace rw::saved
