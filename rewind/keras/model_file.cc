// Whole models in files.
//
//   m.keras              zip archive:
//     metadata.json        {"keras_version": "3.15.1", "date_saved": "2026-01-31@12:00:00"}
//     config.json          the model (layer_config.cc) with its build_config and compile_config
//     model.weights.h5     saved_objects.h
//     assets/layers/string_lookup/vocabulary.txt   files of layers (layer_assets.h)
//
//   m.h5                 attributes keras_version, backend
//     model_config         {"class_name": ..., "config": ...} as text
//     training_config      what it was compiled with, and optimizer_config
//     model_weights        groups (keras_files.h)
//     optimizer_weights
#include <ctime>
#include <filesystem>

#include "rewind/base/error.h"
#include "rewind/base/error_note.h"
#include "rewind/base/number_text.h"
#include "rewind/format/zip.h"
#include "rewind/keras/keras_files.h"
#include "rewind/keras/layer_assets.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/loading_scope.h"
#include "rewind/keras/model_config.h"
#include "rewind/keras/models.h"
#include "rewind/keras/trainer.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {

void Model::save(const std::string& path, const SaveModelOptions& options) const {
  models::save_model(*this, path, options);
}

namespace models {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSave = "save_model";
constexpr const char* kLoad = "load_model";
constexpr const char* kWeights = "model.weights.h5";

bool is_legacy(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".hdf5"); }

void warn(const std::string& text) { std::fputs(("rewind: " + text + "\n").c_str(), stderr); }

// What is wrong with a config is told with the place where it stands.
template <class F>
auto at_place(const std::string& place, F make) {
  try {
    return make();
  } catch (const Error& e) { throw_with_note(e, "; in " + place, {"; in " + place}); }
}

// ---- writing ----------------------------------------------------------------------------------------------

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm t{};
  localtime_r(&now, &t);
  const auto two = [](int n) { return natural_text(uint64_t(n), 10, 2); };
  return natural_text(uint64_t(t.tm_year + 1900), 10, 4) + "-" + two(t.tm_mon + 1) + "-" + two(t.tm_mday) +
         "@" + two(t.tm_hour) + ":" + two(t.tm_min) + ":" + two(t.tm_sec);
}

std::string asset_path(const std::string& place, const std::string& name) {
  return "assets/" + (place.empty() ? "" : place + "/") + name;
}

void save_archive(const Model& model, const std::string& path) {
  Config metadata;
  metadata["keras_version"] = kKerasVersion;
  metadata["date_saved"] = date_text();
  const Config config = serialized_layer(model);
  WeightsTree tree;
  put_weights(model, &tree);
  const format::Hdf5Image weights(tree.root, kSave);
  format::ZipWriter archive(path, kSave);
  archive.add("metadata.json", to_text(metadata));
  archive.add("config.json", to_text(config));
  archive.add(kWeights, weights.parts());
  for (const SavedObject& object : saved_objects(model))
    if (const LayerAssets* assets = assets_of(object))
      for (const std::string& place : asset_places(object))
        for (const auto& [name, content] : assets->assets()) archive.add(asset_path(place, name), content);
  archive.commit();
}

Config legacy_options(const Config& options);

// An object without the module that it is from, as older files have it.
Config legacy_object(const Config& c) {
  if (c.list()) {
    Config::Array out;
    for (const Config& x : *c.list()) out.push_back(legacy_object(x));
    return out;
  }
  const Config* kind = c.find("class_name");
  if (!kind) {
    if (!c.members()) return c;
    Config out = Config::object();
    for (const auto& [name, value] : *c.members()) out[name] = legacy_object(value);
    return out;
  }
  if (const Config* function = c.find("config"); *kind == Config("function") && function->text())
    return *function;
  const Config* registered = c.find("registered_name");
  const std::string* full = registered ? registered->text() : nullptr;
  Config out;
  out["class_name"] = full && full->find('>') != std::string::npos ? *registered : *kind;
  out["config"] = legacy_options(*c.find("config"));
  for (const char* name : {"name", "inbound_nodes"})
    if (const Config* more = c.find(name)) out[name] = *more;
  return out;
}

// The layers of a model; other objects stay as they are, among them the layer in a wrapper.
Config legacy_options(const Config& options) {
  if (!options.members()) return options;
  Config out = options;
  if (const Config* layers = options.find("layers")) out["layers"] = legacy_object(*layers);
  for (const char* name : {"layer", "backward_layer"})
    if (const Config* inside = options.find(name); inside && inside->find("config"))
      out[name]["config"] = legacy_options(*inside->find("config"));
  return out;
}

// Keras knows losses in these files by their full names alone.
Config legacy_loss(const Config& c) {
  if (c.text()) {
    for (const auto& [brief, full] :
         {std::pair("mse", "mean_squared_error"), std::pair("mae", "mean_absolute_error"),
          std::pair("mape", "mean_absolute_percentage_error"),
          std::pair("msle", "mean_squared_logarithmic_error")})
      if (*c.text() == brief) return full;
    return c;
  }
  if (c.list()) {
    Config::Array out;
    for (const Config& x : *c.list()) out.push_back(legacy_loss(x));
    return out;
  }
  if (!c.members() || c.find("class_name")) return legacy_object(c);
  Config out = Config::object();
  for (const auto& [name, value] : *c.members()) out[name] = legacy_loss(value);
  return out;
}

Config training_config(const Model& model) {
  const Config compiled = compile_config(model);
  Config out = Config::object();
  for (const auto& [name, value] : *compiled.members())
    out[name == "optimizer" ? "optimizer_config" : name] =
        name == "loss" ? legacy_loss(value) : legacy_object(value);
  return out;
}

void save_legacy(const Model& model, const std::string& path, bool include_optimizer) {
  Config config = serialized_layer(model);
  WeightsTree tree;
  put_legacy_weights(model, "model_weights", &tree);
  format::Hdf5Attributes& attributes = tree.root.attributes;
  Config whole = legacy_object(config);
  if (const Config* build = config.find("build_config"); build && !model.graph())
    whole["build_config"] = *build;
  attributes["keras_version"] = kKerasVersion;
  attributes["backend"] = "tensorflow";
  attributes["model_config"] = to_text(whole);
  if (include_optimizer && model.compiled()) {
    attributes["training_config"] = to_text(training_config(model));
    put_legacy_optimizer(model.optimizer(), &tree);
  }
  format::write_hdf5(path, tree.root, kSave);
}

// ---- reading ----------------------------------------------------------------------------------------------

Model make_model(const Config& config, const std::string& place, const LoadModelOptions& options,
                 uint64_t stored) {
  return at_place(place, [&] {
    const LoadingScope scope(options.safe_mode, stored, options.limit);
    return model_from_config(config);
  });
}

void compile_as(Model& model, const Config* config, const std::string& place) {
  if (!config || !config->members() || config->members()->empty()) return;
  at_place(place + "; {.compile = false} leaves out what it was compiled with",
           [&] { compile_from_config(model, *config); });
}

using ReadFile = std::function<std::optional<std::string>(const std::string& name)>;

// The parts of an archive, or of a folder with the same files.
Model from_parts(const Config& config, const std::string& place, const format::SharedBytes& weights,
                 uint64_t stored, const std::string& path, const LoadModelOptions& options,
                 const ReadFile& read) {
  const format::Hdf5File file(weights, options.limit);
  Model model = make_model(config, place, options, stored);
  if (options.compile) compile_as(model, config.find("compile_config"), place);
  load_weights(model, file.root(), path, {.limit = options.limit});
  for (const SavedObject& object : saved_objects(model))
    if (LayerAssets* assets = assets_of(object))
      at_place(path, [&] {
        assets->load_assets([&](const std::string& name) { return read(asset_path(object.path, name)); });
      });
  return model;
}

Model from_archive(const std::string& path, const LoadModelOptions& options) {
  const format::ZipFile archive(path, kLoad, options.limit);
  const std::string place = path + ": config.json";
  const Config config = format::parse_json(archive.read(archive.at("config.json")), place);
  if (const auto* metadata = archive.find("metadata.json"))
    format::parse_json(archive.read(*metadata), path + ": metadata.json");
  const auto& weights = archive.at(kWeights);
  const auto read = [&](const std::string& name) {
    const auto* entry = archive.find(name);
    return entry ? std::optional(archive.read(*entry)) : std::nullopt;
  };
  return from_parts(config, place, archive.open(weights), weights.stored, path, options, read);
}

Model from_folder(const std::string& path, const LoadModelOptions& options) {
  const std::string place = path + "/config.json";
  const format::SharedBytes text = format::open_bytes(place, kLoad);
  constexpr uint64_t kLongest = uint64_t{1} << 30;
  if (text->size() > kLongest) text->refuse("a config of more than 1 GiB");
  const Config config = format::parse_json(text->read(0, size_t(text->size())), place);
  const format::SharedBytes weights = format::open_bytes(path + "/" + kWeights, kLoad);
  const auto read = [&](const std::string& name) -> std::optional<std::string> {
    if (!fs::exists(path + "/" + name)) return std::nullopt;
    const format::SharedBytes bytes = format::open_bytes(path + "/" + name, kLoad);
    if (bytes->size() > kLongest) bytes->refuse("an asset of more than 1 GiB");
    return bytes->read(0, size_t(bytes->size()));
  };
  return from_parts(config, place, weights, weights->size(), path, options, read);
}

// Of a whole model's file, its entries by the names that .keras files have.
Config compile_config_of(const Config& training) {
  if (!training.members()) fail_config("what a model is compiled with as an object", training);
  Config out = Config::object();
  for (const auto& [name, value] : *training.members())
    out[name == "optimizer_config" ? "optimizer" : name] = value;
  return out;
}

Model from_legacy(const std::string& path, const LoadModelOptions& options) {
  const format::SharedBytes bytes = format::open_bytes(path, kLoad);
  const format::Hdf5File file(bytes, options.limit);
  const format::Hdf5Object& root = file.root();
  const auto config = root.attribute("model_config");
  if (!config)
    fail_invalid(kLoad,
                 path +
                     " has no attribute model_config: the file holds weights alone, which load_weights() of "
                     "a model takes");
  const std::string place = path + ": attribute model_config";
  Model model = make_model(format::parse_json(config->string(), place), place, options, bytes->size());
  load_legacy_weights(model, root.at("model_weights"), path, {.limit = options.limit});
  const auto training = root.attribute("training_config");
  if (!options.compile || !training) return model;
  const std::string training_place = path + ": attribute training_config";
  const Config compile = compile_config_of(format::parse_json(training->string(), training_place));
  compile_as(model, &compile, training_place);
  if (root.find("optimizer_weights") && !load_legacy_optimizer(model.optimizer(), root))
    warn(path + ": the optimizer's variables in the file are not those of " + model.optimizer().name() +
         ", which begins anew");
  return model;
}

[[noreturn]] void fail_folder(const std::string& path) {
  if (fs::exists(path + "/saved_model.pb"))
    fail_invalid(
        kLoad, path + " is a SavedModel, which has functions and no Keras model: keras::TFSMLayer(\"" + path +
                   "\", {.call_endpoint = \"serving_default\"}) is a layer that calls one of them, "
                   "rw::saved_model::load opens all");
  fail_invalid(kLoad, path + " is a folder: expected a .keras or .h5 file, or a folder with config.json");
}

}  // namespace

void save_model(const Model& model, const std::string& path, const SaveModelOptions& options) {
  if (current_trace()) fail_precondition(kSave, "models are saved outside of functions");
  if (!path.ends_with(".keras") && !is_legacy(path))
    fail_invalid(kSave, path +
                            ": the extension says the format: .keras, or .h5 for the older one; "
                            "rw::saved_model::save writes SavedModels");
  if (!options.overwrite && fs::exists(path))
    throw AlreadyExistsError(std::string("[") + kSave + "] " + path +
                             " is there already; {.overwrite = true} replaces it");
  if (!model.built())
    warn("model \"" + model.name() + "\" is saved before it is built: it has no weights yet");
  if (is_legacy(path)) save_legacy(model, path, options.include_optimizer);
  else save_archive(model, path);
}

Model load_model(const std::string& path, const LoadModelOptions& options) {
  if (current_trace()) fail_precondition(kLoad, "models are loaded outside of functions");
  if (fs::is_directory(path)) {
    if (fs::exists(path + "/config.json")) return from_folder(path, options);
    fail_folder(path);
  }
  if (is_legacy(path)) return from_legacy(path, options);
  if (path.ends_with(".keras")) return from_archive(path, options);
  fail_invalid(kLoad,
               path + ": expected a .keras file, an older .h5 or .hdf5 one, or a folder with config.json");
}

}  // namespace models
}  // namespace rw::keras
