#include "rewind/keras/keras_files.h"

#include <algorithm>
#include <set>

#include "rewind/base/error.h"
#include "rewind/device/device.h"
#include "rewind/keras/layer_assets.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::keras {
namespace {

constexpr const char* kLoadTag = "load_weights";

std::string name_list(const std::vector<Variable>& variables) {
  std::string text;
  for (const Variable& v : variables) text += (text.empty() ? "" : ", ") + weight_name(v);
  return text;
}

// Where Keras 3 and Keras 2.13 have an object's variables.
std::optional<format::Hdf5Object> find_variables(const format::Hdf5Object& root, const std::string& path) {
  const std::string vars = path.empty() ? "vars" : path + "/vars";
  if (auto found = root.find(vars)) return found;
  // The parts of MultiHeadAttention were private then.
  const size_t part = path.rfind('/') + 1;
  if (path.ends_with("_dense") && part > 0)
    if (auto found = root.find(path.substr(0, part) + "_" + path.substr(part) + "/vars")) return found;
  if (!root.find("_layer_checkpoint_dependencies")) return {};
  std::string old = vars;
  constexpr std::string_view kNew = "layers", kOld = "_layer_checkpoint_dependencies";
  for (size_t at = 0; (at = old.find(kNew, at)) != std::string::npos; at += kOld.size())
    old.replace(at, kNew.size(), kOld);
  return root.find(old);
}

class Loader {
 public:
  Loader(const format::Hdf5Object& root, const LoadWeightsOptions& options)
      : root_(root), options_(options) {}

  void take(const SavedObject& object) {
    const auto group = find_variables(root_, object.path);
    if (group) known_.insert(group->address());
    if (LayerAssets* assets = assets_of(object)) {
      for (const std::string& place : asset_places(object))
        if (const auto same = find_variables(root_, place)) known_.insert(same->address());
      own_arrays_.emplace_back(assets, group);
      return;
    }
    const std::vector<std::string> names = group ? group->names() : std::vector<std::string>();
    if (object.optimizer && names.size() + 1 == object.variables.size())
      if (const SavedObject older = without_rate(object); older.variables.size() == names.size())
        return take(older);
    const size_t wanted = object.variables.size();
    if (names.size() != wanted) {
      if (object.optimizer && !options_.training_state) return;
      if (names.empty()) return missing(object, 0);
      mismatched(
          (object.optimizer ? "optimizer \"" : "layer \"") + object.name + "\" (" + path_of(object) + ") " +
          (wanted == 0 && !object.built
               ? "was never built and thus has no variables, "
               : "expected " + std::to_string(wanted) + (wanted == 1 ? " variable, " : " variables, ")) +
          "the file has " + std::to_string(names.size()) +
          (wanted == 0 ? std::string() : ". Expected: " + name_list(object.variables)));
      return;
    }
    for (size_t i = 0; i < wanted; ++i) {
      const auto array = group->find(std::to_string(i));
      if (!array || !array->is_array()) return missing(object, i);
      const Variable& v = object.variables[i];
      if (!v.shape().compatible_with(array->shape()))
        return mismatched(weight_path(v) + " is " + v.shape().to_string() + ", in the file " +
                          array->shape().to_string() + " (" + array->path() + ")");
      fitting_.emplace_back(v, *array);
    }
  }

  // Keras 2 has an optimizer's rate in the config alone.
  static SavedObject without_rate(SavedObject object) {
    std::erase_if(object.variables, [](const Variable& v) { return weight_name(v) == "learning_rate"; });
    return object;
  }

  // Groups with variables of which the model knows nothing.
  void find_unexpected(const format::Hdf5Object& group, std::set<uint64_t>* visited) {
    if (!visited->insert(group.address()).second) return;
    for (const std::string& name : group.names()) {
      const auto inner = group.find(name);
      if (!inner->is_group()) continue;
      if (name != "vars") find_unexpected(*inner, visited);
      else if (!known_.contains(inner->address()) && !inner->names().empty())
        report_.unexpected.push_back(inner->path());
    }
  }

  LoadReport finish(const Model& model, const std::string& path) {
    if (!options_.skip_mismatch && !report_.fits()) fail_unfit(model, path, report_);
    std::set<uint64_t> visited;
    find_unexpected(root_, &visited);
    assign_all(fitting_);
    for (const auto& [assets, group] : own_arrays_)
      assets->load_own_arrays([&path, group = group](const std::string& name) {
        const auto array = group ? group->find(name) : std::nullopt;
        if (!array || !array->is_array())
          fail_not_found(kLoadTag, path + " has no array " + name + " of the layer");
        return read_tensor(*array);
      });
    return std::move(report_);
  }

 private:
  static std::string path_of(const SavedObject& object) {
    return object.path.empty() ? "vars" : object.path + "/vars";
  }
  void missing(const SavedObject& object, size_t from) {
    for (size_t i = from; i < object.variables.size(); ++i)
      report_.missing.push_back(weight_path(object.variables[i]) + " (" + path_of(object) + "/" +
                                std::to_string(i) + ")");
  }
  void mismatched(const std::string& what) { report_.mismatched.push_back(what); }

  const format::Hdf5Object& root_;
  const LoadWeightsOptions& options_;
  LoadReport report_;
  std::vector<std::pair<Variable, format::Hdf5Object>> fitting_;
  std::set<uint64_t> known_;
  std::vector<std::pair<LayerAssets*, std::optional<format::Hdf5Object>>> own_arrays_;
};

}  // namespace

WeightsFormat weights_format(const std::string& path) {
  if (path.ends_with(".weights.h5")) return WeightsFormat::kKeras;
  if (path.ends_with(".h5") || path.ends_with(".hdf5")) return WeightsFormat::kLegacy;
  return path.ends_with(".keras") ? WeightsFormat::kArchive : WeightsFormat::kArrays;
}

void WeightsTree::add(const std::string& path, const Tensor& added) {
  values_.push_back(added);
  const Tensor& value = values_.back();
  format::Hdf5Array& array = root.array(path);
  if (array.dtype != DType::kInvalid)
    fail_invalid("save_weights", "two weights have the path \"" + path + "\"");
  array = {value.dtype(), value.shape(), value.host_data()};
  if (value.dtype() == DType::kBfloat16) array.attributes["dtype"] = "bfloat16";
}

Tensor read_tensor(const format::Hdf5Object& array) {
  const format::Hdf5Type& type = array.type();
  DType dtype = type.dtype;
  if (type.kind == format::Hdf5Type::Class::kOpaque && type.size == 2) dtype = DType::kBfloat16;
  if (dtype == DType::kInvalid)
    fail_unimplemented(kLoadTag, "\"" + array.path() + "\" in the file is an array of " + type.text +
                                     ": weights are numbers");
  Value value = Value::allocate(cpu_device(), dtype, array.shape());
  if (value.size > 0) array.read(value.data);
  return make_tensor(std::move(value));
}

void assign_all(const std::vector<std::pair<Variable, format::Hdf5Object>>& pairs) {
  const auto value_for = [](const Variable& v, const format::Hdf5Object& array) {
    const Tensor value = read_tensor(array);
    return value.dtype() == v.dtype() ? value : cast(value, v.dtype());
  };
  std::vector<Tensor> early(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i)
    if (!pairs[i].second.is_plain()) early[i] = value_for(pairs[i].first, pairs[i].second);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto& [variable, array] = pairs[i];
    variable.assign(early[i].defined() ? std::exchange(early[i], {}) : value_for(variable, array));
  }
}

void fail_unfit(const Model& model, const std::string& path, const LoadReport& report) {
  std::vector<std::string> all;
  for (const std::string& name : report.missing) all.push_back("the file has no " + name);
  all.insert(all.end(), report.mismatched.begin(), report.mismatched.end());
  constexpr size_t kListed = 8;
  std::string text = path + " does not fit model \"" + model.name() + "\": " + std::to_string(all.size()) +
                     (all.size() == 1 ? " object" : " objects") + " could not be loaded: ";
  for (size_t i = 0; i < all.size() && i < kListed; ++i) text += (i ? "; " : "") + all[i];
  if (all.size() > kListed) text += "; and " + std::to_string(all.size() - kListed) + " more";
  fail_invalid(kLoadTag, text + ". skip_mismatch loads the rest");
}

void put_weights(const Model& model, WeightsTree* tree) {
  for (const SavedObject& object : saved_objects(model)) {
    const std::string path = object.path.empty() ? "vars" : object.path + "/vars";
    tree->root.group(path).attributes["name"] = object.name;
    for (size_t i = 0; i < object.variables.size(); ++i)
      tree->add(path + "/" + std::to_string(i), object.variables[i]);
    if (const LayerAssets* assets = assets_of(object))
      for (const std::string& place : asset_places(object))
        for (const auto& [name, value] : assets->own_arrays())
          tree->add((place.empty() ? "" : place + "/") + "vars/" + name, value);
  }
}

LoadReport load_weights(const Model& model, const format::Hdf5Object& root, const std::string& path,
                        const LoadWeightsOptions& options) {
  Loader loader(root, options);
  for (const SavedObject& object : saved_objects(model)) loader.take(object);
  return loader.finish(model, path);
}

}  // namespace rw::keras
