#include "cli/arrays.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "cli/command.h"
#include "rewind/base/error.h"
#include "rewind/device/device.h"
#include "rewind/format/array_file.h"
#include "rewind/format/bundle_writer.h"
#include "rewind/format/hdf5.h"
#include "rewind/format/zip.h"
#include "rewind/runtime/storage.h"
#include "rewind/saved/tensor_values.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::cli {
namespace {

constexpr const char* kTag = "rewind";

class BundleArrays final : public Arrays {
 public:
  explicit BundleArrays(const std::string& prefix) : bundle_(prefix, kTag) {
    for (const auto& [name, entry] : bundle_.entries())
      specs_[name] = {entry.shape, DType(int(entry.dtype)), name};
  }
  Tensor read(const std::string& name) const override { return saved::from_bundle(bundle_, name, kTag); }

 private:
  format::BundleReader bundle_;
};

class FileArrays final : public Arrays {
 public:
  explicit FileArrays(const std::string& path) : file_(format::open_array_file(path, kTag)) {
    for (const auto& entry : file_->entries()) specs_[entry.name] = {entry.shape, entry.dtype, entry.name};
  }
  Tensor read(const std::string& name) const override {
    const auto* entry = file_->find(name);
    Value value = Value::allocate(cpu_device(), entry->dtype, entry->shape);
    file_->read(*entry, value.data);
    return make_tensor(std::move(value));
  }

 private:
  std::unique_ptr<format::ArrayFile> file_;
};

class NpzArrays final : public Arrays {
 public:
  explicit NpzArrays(const std::string& path) : arrays_(numpy::load_npz(path)) {
    for (const auto& [name, value] : arrays_) specs_[name] = {value.shape(), value.dtype(), name};
  }
  Tensor read(const std::string& name) const override { return arrays_.at(name); }

 private:
  std::map<std::string, Tensor> arrays_;
};

// One array, named as its file.
class NpyArrays final : public Arrays {
 public:
  explicit NpyArrays(const std::string& path) : array_(numpy::load(path)) {
    const std::string name = std::filesystem::path(path).stem().string();
    specs_[name] = {array_.shape(), array_.dtype(), name};
  }
  Tensor read(const std::string&) const override { return array_; }

 private:
  Tensor array_;
};

// Arrays by their paths. Texts and types that no tensor has are left out.
class Hdf5Arrays final : public Arrays {
 public:
  explicit Hdf5Arrays(format::Hdf5File file) : file_(std::move(file)) { walk(file_.root()); }
  Tensor read(const std::string& name) const override {
    const format::Hdf5Object array = file_.root().at(name);
    Value value = Value::allocate(cpu_device(), array.type().dtype, array.shape());
    array.read(value.data);
    return make_tensor(std::move(value));
  }

 private:
  void walk(const format::Hdf5Object& object) {
    if (object.is_array()) {
      if (object.type().dtype != DType::kInvalid)
        specs_[object.path()] = {object.shape(), object.type().dtype, object.path()};
      return;
    }
    if (!object.is_group() || !seen_.insert(object.address()).second) return;
    for (const std::string& name : object.names()) walk(object.at(name));
  }

  format::Hdf5File file_;
  std::set<uint64_t> seen_;
};

std::string first_bytes(const std::string& path) {
  const format::ReadFile file(path, kTag);
  return file.read(0, size_t(std::min<uint64_t>(file.size(), 8)));
}

}  // namespace

std::unique_ptr<Arrays> open_arrays(const std::string& path) {
  if (!std::filesystem::is_regular_file(path) || path.ends_with(".index"))
    return std::make_unique<BundleArrays>(checkpoint_prefix(path));
  const std::string first = first_bytes(path);
  if (first.starts_with("\x89HDF")) return std::make_unique<Hdf5Arrays>(format::Hdf5File(path, kTag));
  if (first.starts_with("\x93NUMPY")) return std::make_unique<NpyArrays>(path);
  if (!first.starts_with("PK")) {
    try {
      return std::make_unique<FileArrays>(path);
    } catch (const DataLossError& e) {
      if (path.ends_with(".safetensors")) throw;
      throw DataLossError(
          "[rewind] " + path +
          " is no file of arrays: neither HDF5 (.h5), nor an archive (.npz, .keras), nor .npy, nor "
          "safetensors: " +
          e.what());
    }
  }
  const format::ZipFile zip(path, kTag);
  if (const auto* weights = zip.find("model.weights.h5"))
    return std::make_unique<Hdf5Arrays>(format::Hdf5File(zip.open(*weights)));
  return std::make_unique<NpzArrays>(path);
}

void write_arrays(const std::string& path, const std::map<std::string, Tensor>& arrays) {
  if (path.ends_with(".npz")) return numpy::savez(path, arrays);
  if (path.ends_with(".npy")) {
    if (arrays.size() != 1)
      throw InvalidArgumentError("[rewind] an .npy file holds one array, and there are " +
                                 std::to_string(arrays.size()) + "; .npz holds any number");
    return numpy::save(path, arrays.begin()->second);
  }
  const bool file = path.ends_with(".safetensors") || path.ends_with(".h5") || path.ends_with(".hdf5");
  if (!file) {
    std::vector<format::BundleTensor> tensors;
    for (const auto& [name, value] : arrays) tensors.push_back(saved::to_bundle(name, value, kTag));
    return format::write_bundle(path, std::move(tensors), kTag);
  }
  std::vector<format::SafetensorsArray> list;
  for (const auto& [name, value] : arrays)
    list.push_back({name, value.dtype(), value.shape(), value.host_data()});
  format::write_array_file(path, list, {}, kTag);
}

}  // namespace rw::cli
