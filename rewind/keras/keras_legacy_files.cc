// The older layout of Keras' HDF5 files (keras_files.h): groups of layers, weights in order.
#include <algorithm>
#include <map>

#include "rewind/base/error.h"
#include "rewind/keras/keras_files.h"

namespace rw::keras {
namespace {

constexpr size_t kLongestList = 64512;  // bytes of an attribute, as Keras cuts them

std::vector<Variable> ordered_weights(const Layer& layer) {
  std::vector<Variable> list = layer.trainable_weights();
  for (Variable& v : layer.non_trainable_weights()) list.push_back(std::move(v));
  return list;
}

// Weights of the model itself, beside those of its layers.
std::vector<Variable> own_weights(const Model& model) {
  const std::vector<SavedObject> objects = saved_objects(model);
  return objects.front().variables;
}

void put_group(const std::string& path, const std::vector<Variable>& variables, WeightsTree* tree) {
  std::vector<std::string> names;
  tree->root.group(path);
  for (const Variable& v : variables) {
    names.push_back(weight_path(v));
    tree->add(path + "/" + names.back(), v);
  }
  put_string_list(names, "weight_names", &tree->root.group(path).attributes);
}

std::string counted(const char* what, size_t n) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

class LegacyLoader {
 public:
  LegacyLoader(const Model& model, const format::Hdf5Object& group, const std::string& path,
               const LoadWeightsOptions& options)
      : model_(model), group_(group), path_(path), options_(options) {}

  // Layers with weights, in order.
  void by_order() {
    std::vector<LayerRef> layers;
    for (const LayerRef& l : model_.layers())
      if (!l->weights().empty()) layers.push_back(l);
    std::vector<std::string> names;
    for (const std::string& name : read_string_list(group_, "layer_names"))
      if (!read_string_list(group_.at(name), "weight_names").empty()) names.push_back(name);
    if (layers.size() != names.size())
      fail_invalid("load_weights", path_ + ": layer count mismatch: model \"" + model_.name() + "\" has " +
                                       counted("layer", layers.size()) + " with weights, the file has " +
                                       std::to_string(names.size()));
    for (size_t k = 0; k < layers.size(); ++k)
      take(ordered_weights(*layers[k]), group_.at(names[k]),
           "layer #" + std::to_string(k) + " (named " + layers[k]->name() + " in the model, " + names[k] +
               " in the file)",
           false);
  }

  void by_name() {
    std::multimap<std::string, LayerRef> layers;
    for (const LayerRef& l : model_.layers()) layers.emplace(l->name(), l);
    const std::vector<std::string> names = read_string_list(group_, "layer_names");
    for (size_t k = 0; k < names.size(); ++k) {
      const auto [begin, end] = layers.equal_range(names[k]);
      if (begin == end) report_.unexpected.push_back(names[k]);
      for (auto at = begin; at != end; ++at)
        take(ordered_weights(*at->second), group_.at(names[k]),
             "layer #" + std::to_string(k) + " (named " + names[k] + ")", true);
    }
  }

  LoadReport finish() {
    if (const auto top = group_.find("top_level_model_weights"))
      take(own_weights(model_), *top, "the model itself", true);
    if (!options_.skip_mismatch && !report_.fits() && !(options_.by_name && report_.mismatched.empty()))
      fail_unfit(model_, path_, report_);
    assign_all(fitting_);
    return std::move(report_);
  }

 private:
  // `skippable`: another count of weights may be skipped, too.
  void take(const std::vector<Variable>& variables, const format::Hdf5Object& layer, const std::string& what,
            bool skippable) {
    const std::vector<std::string> names = read_string_list(layer, "weight_names");
    if (names.size() != variables.size()) {
      const std::string text = "weight count mismatch for " + what + ": expected " +
                               counted("weight", variables.size()) + ", the file has " +
                               std::to_string(names.size());
      if (!skippable) fail_invalid("load_weights", path_ + ": " + text);
      report_.mismatched.push_back(text);
      return;
    }
    for (size_t i = 0; i < names.size(); ++i) {
      const format::Hdf5Object array = layer.at(names[i]);
      if (!variables[i].shape().compatible_with(array.shape()))
        report_.mismatched.push_back(
            "shape mismatch in " + what + " for weight " + weight_path(variables[i]) + ": expected " +
            variables[i].shape().to_string() + ", the file has " + array.shape().to_string());
      else fitting_.emplace_back(variables[i], array);
    }
  }

  const Model& model_;
  const format::Hdf5Object& group_;
  const std::string& path_;
  const LoadWeightsOptions& options_;
  LoadReport report_;
  std::vector<std::pair<Variable, format::Hdf5Object>> fitting_;
};

}  // namespace

std::vector<std::string> read_string_list(const format::Hdf5Object& object, const std::string& name) {
  if (const auto whole = object.attribute(name)) return whole->strings();
  std::vector<std::string> list;
  for (size_t i = 0;; ++i) {
    const auto part = object.attribute(name + std::to_string(i));
    if (!part) return list;
    for (std::string& text : part->strings()) list.push_back(std::move(text));
  }
}

void put_string_list(const std::vector<std::string>& list, const std::string& name,
                     format::Hdf5Attributes* attributes) {
  size_t longest = 1;
  for (const std::string& text : list) longest = std::max(longest, text.size());
  if (longest > kLongestList)
    fail_invalid("save_weights",
                 name + ": a name of " + std::to_string(longest) + " bytes does not fit a file");
  // Strings of any length take 16 bytes each, those of one length as many as the longest.
  constexpr size_t kReference = 16;
  if (list.size() * std::max(longest, kReference) <= kLongestList) {
    (*attributes)[name] = list;
    return;
  }
  // numpy's array_split: the first parts have one more.
  size_t parts = 1;
  while ((list.size() + parts - 1) / parts * longest > kLongestList) ++parts;
  auto begin = list.begin();
  for (size_t i = 0; i < parts; ++i) {
    const auto size = long(list.size() / parts + (i < list.size() % parts ? 1 : 0));
    (*attributes)[name + (parts > 1 ? std::to_string(i) : "")] =
        format::Hdf5FixedStrings{{begin, begin + size}};
    begin += size;
  }
}

void put_legacy_weights(const Model& model, const std::string& group, WeightsTree* tree) {
  const std::string front = group.empty() ? "" : group + "/";
  std::vector<std::string> names;
  for (const LayerRef& layer : model.layers()) {
    names.push_back(layer->name());
    put_group(front + layer->name(), ordered_weights(*layer), tree);
  }
  put_group(front + "top_level_model_weights", own_weights(model), tree);
  format::Hdf5Attributes& attributes = tree->root.group(group).attributes;
  put_string_list(names, "layer_names", &attributes);
  attributes["backend"] = "tensorflow";
  attributes["keras_version"] = kKerasVersion;
}

void put_legacy_optimizer(const Optimizer& optimizer, WeightsTree* tree) {
  const std::vector<Variable> variables = optimizer.variables();
  if (!variables.empty()) put_group("optimizer_weights", variables, tree);
}

LoadReport load_legacy_weights(const Model& model, const format::Hdf5Object& group, const std::string& path,
                               const LoadWeightsOptions& options) {
  LegacyLoader loader(model, group, path, options);
  if (options.by_name) loader.by_name();
  else loader.by_order();
  return loader.finish();
}

bool load_legacy_optimizer(const Optimizer& optimizer, const format::Hdf5Object& root) {
  const auto group = root.find("optimizer_weights");
  if (!group) return false;
  const std::vector<std::string> names = read_string_list(*group, "weight_names");
  std::vector<Variable> variables = optimizer.variables();
  if (names.size() + 1 == variables.size())  // Keras 2 has the rate in the config alone
    std::erase_if(variables, [](const Variable& v) { return weight_name(v) == "learning_rate"; });
  if (names.size() != variables.size()) return false;
  std::vector<std::pair<Variable, format::Hdf5Object>> pairs;
  for (size_t i = 0; i < names.size(); ++i) {
    format::Hdf5Object array = group->at(names[i]);
    if (!variables[i].shape().compatible_with(array.shape())) return false;
    pairs.emplace_back(variables[i], std::move(array));
  }
  assign_all(pairs);
  return true;
}

}  // namespace rw::keras
