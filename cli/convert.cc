// rewind convert A B: models, arrays and graphs from one format to another. What A is decides what B may be:
//
//   a model      .keras, whole-model .h5, a folder with      .keras, .h5, SavedModel (a path that ends in /),
//                config.json                                 checkpoint, .weights.h5, .safetensors, .npz
//   arrays       checkpoint, SavedModel, .weights.h5, .h5,   .safetensors, .npz, .h5, checkpoint (a prefix)
//                .npz, .npy, .safetensors
//   a function   of a SavedModel                             a frozen graph .pb, .pbtxt
//   a graph      GraphDef .pb, .pbtxt                        .pb, .pbtxt
//   SavedModel's saved_model.pb, saved_model.pbtxt           the other of the two
#include <filesystem>
#include <fstream>

#include "cli/arrays.h"
#include "cli/command.h"
#include "cli/graph_file.h"
#include "cli/progress.h"
#include "rewind/base/error.h"
#include "rewind/format/atomic_file.h"
#include "rewind/format/hdf5.h"
#include "rewind/format/message.h"
#include "rewind/format/read_file.h"
#include "rewind/format/saved_model.h"
#include "rewind/keras/keras.h"

namespace rw::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string from, to;
  std::string signature = "serving_default";
  std::vector<std::string> allowed_ops;
  bool overwrite = false, arrays = false, unsafe = false;
};

bool ends(const std::string& path, std::initializer_list<const char*> endings) {
  for (const char* e : endings)
    if (path.ends_with(e)) return true;
  return false;
}

void report(const Context& context, const std::string& what, const std::string& to, int64_t count) {
  if (!context.json) {
    if (count < 0) return print("wrote " + to + "\n");
    return print("wrote " + std::to_string(count) + " " + what + " to " + to + "\n");
  }
  format::Json all = format::Json::object();
  all["wrote"] = to;
  if (count >= 0) all[what] = count;
  print(all);
}

// ---- whole models -----------------------------------------------------------------------------------------

// Whether a file or folder has the architecture of a Keras model, not arrays alone.
bool is_model(const std::string& path) {
  if (fs::is_directory(path))
    return fs::exists(path + "/config.json") && fs::exists(path + "/model.weights.h5");
  if (path.ends_with(".keras")) return true;
  if (!ends(path, {".h5", ".hdf5"}) || path.ends_with(".weights.h5") || !fs::is_regular_file(path))
    return false;
  const format::Hdf5File file(path, "convert");
  return file.root().attribute("model_config").has_value();
}

keras::Model open_model(const Options& o) {
  try {
    return keras::models::load_model(o.from, {.safe_mode = !o.unsafe});
  } catch (const InvalidArgumentError& e) {
    throw InvalidArgumentError(std::string(e.what()) +
                               "; --arrays converts the weights alone, without the model");
  } catch (const UnimplementedError& e) {
    throw UnimplementedError(std::string(e.what()) +
                             "; --arrays converts the weights alone, without the model");
  }
}

void convert_model(const Options& o, const Context& context) {
  const keras::Model model = open_model(o);
  const auto count = int64_t(model.weights().size());
  if (ends(o.to, {".weights.h5", ".safetensors", ".npz"})) {
    model.save_weights(o.to, {.training_state = o.to.ends_with(".weights.h5")});
  } else if (ends(o.to, {".keras", ".h5", ".hdf5"})) {
    keras::models::save_model(model, o.to);
  } else if (o.to.ends_with('/')) {
    saved_model::save(model, fs::path(o.to).parent_path().string());
  } else {
    train::Checkpoint(model).write(o.to);
  }
  report(context, "weights", o.to, count);
}

// ---- arrays -----------------------------------------------------------------------------------------------

[[noreturn]] void fail_pair(const std::string& what, const std::string& becomes, const std::string& to) {
  throw InvalidArgumentError("[convert] " + what + " becomes " + becomes + ": got " + to +
                             " (docs/cli.md has a table of what converts into what)");
}

void convert_arrays(const Options& o, const Context& context) {
  if (o.to.ends_with('/') || o.to.ends_with(".keras"))
    fail_pair(o.from + " holds arrays and no model, which", ".safetensors, .npz, .h5 or a checkpoint", o.to);
  const auto file = open_arrays(o.from);
  std::map<std::string, Tensor> arrays;
  Progress progress("reading", double(file->specs().size()));
  for (const auto& [name, spec] : file->specs()) {
    const bool bookkeeping = name == "_CHECKPOINTABLE_OBJECT_GRAPH" || spec.dtype == resource ||
                             spec.dtype == variant ||
                             (spec.dtype == string && ends(o.to, {".safetensors", ".h5", ".hdf5"}));
    if (bookkeeping) {
      std::fprintf(stderr, "left out: %s, which is %s\n", name.c_str(),
                   std::string(name_of(spec.dtype)).c_str());
      continue;
    }
    arrays[name] = file->read(name);
    progress.add(1);
  }
  write_arrays(o.to, arrays);
  report(context, "arrays", o.to, int64_t(arrays.size()));
}

// ---- graphs -----------------------------------------------------------------------------------------------

// saved_model.pb and saved_model.pbtxt, by their names as TensorFlow looks for them.
bool is_saved_model_file(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name == "saved_model.pb" || name == "saved_model.pbtxt";
}

void convert_saved_model_file(const Options& o, const Context& context) {
  const format::ReadFile file(o.from, "convert");
  const std::string bytes = file.read(0, size_t(file.size()));
  format::SavedModel model;
  try {
    model = o.from.ends_with(".pbtxt") ? format::from_text<format::SavedModel>(bytes)
                                       : format::decode<format::SavedModel>(bytes);
  } catch (const Error& e) { throw DataLossError("[convert] " + o.from + " is no SavedModel: " + e.what()); }
  const std::string out = o.to.ends_with(".pbtxt") ? format::to_text(model) : format::encode(model);
  format::AtomicFile to(o.to, "convert");
  to.write(out.data(), out.size());
  to.commit();
  report(context, "", o.to, -1);
}

void convert_graph(const Options& o, const Context& context) {
  if (!ends(o.to, {".pb", ".pbtxt"})) fail_pair("a GraphDef", ".pb or .pbtxt", o.to);
  if (is_saved_model_file(o.from)) return convert_saved_model_file(o, context);
  write_graph_def_file(o.to, read_graph_def_file(o.from));
  report(context, "", o.to, -1);
}

bool is_saved_model(const std::string& path) {
  return fs::exists(path + "/saved_model.pb") || fs::exists(path + "/saved_model.pbtxt");
}

// A signature with its variables as constants.
void convert_frozen(const Options& o, const Context& context) {
  const auto model = saved_model::load(o.from, {.allowed_ops = o.allowed_ops});
  const auto& signatures = model.signatures();
  const auto it = signatures.find(o.signature);
  if (it == signatures.end()) {
    std::string all;
    for (const auto& [name, f] : signatures) all += (all.empty() ? "" : ", ") + name;
    throw NotFoundError("[convert] " + o.from + " has no signature " + o.signature +
                        "; available: " + (all.empty() ? "none" : all));
  }
  const saved_model::GraphTensors tensors = saved_model::save_graph(it->second, o.to);
  if (context.json) {
    format::Json all = format::Json::object();
    all["wrote"] = o.to;
    all["signature"] = o.signature;
    for (const auto& [name, tensor] : tensors.inputs) all["inputs"][name] = tensor;
    for (const auto& [name, tensor] : tensors.outputs) all["outputs"][name] = tensor;
    return print(all);
  }
  std::string text = "wrote signature " + o.signature + " to " + o.to + "\n";
  for (const auto& [name, tensor] : tensors.inputs) text += "  input   " + name + " is " + tensor + "\n";
  for (const auto& [name, tensor] : tensors.outputs) text += "  output  " + name + " is " + tensor + "\n";
  print(text);
}

// Without an ending that is known B is a checkpoint's prefix; "model.onnx" is meant otherwise.
void check_ending(const std::string& to) {
  const std::string ending = fs::path(to).extension().string();
  const bool number = ending.find_first_not_of("0123456789.-") == std::string::npos;
  if (number || ending.starts_with(".ckpt") || to.ends_with('/') ||
      ends(to, {".keras", ".h5", ".hdf5", ".npz", ".npy", ".safetensors", ".pb", ".pbtxt"}))
    return;
  throw CLI::ValidationError("B",
                             "nothing is converted into " + ending + " files: got " + to +
                                 "; a checkpoint's prefix has no ending, a SavedModel's folder ends in /");
}

void convert(const Options& o, const Context& context) {
  check_ending(o.to);
  if (!o.overwrite && (fs::exists(o.to) || fs::exists(o.to + ".index")))
    throw AlreadyExistsError("[convert] " + o.to + " is there already; --overwrite replaces it");
  if (!fs::exists(o.from) && !fs::exists(o.from + ".index"))
    throw NotFoundError("[convert] there is no " + o.from);
  if (ends(o.from, {".pb", ".pbtxt"}) && !fs::is_directory(o.from)) return convert_graph(o, context);
  if (ends(o.to, {".pb", ".pbtxt"})) {
    if (is_saved_model(o.from)) return convert_frozen(o, context);
    fail_pair("a GraphDef or a SavedModel",
              ".pb or .pbtxt; a Keras model becomes a SavedModel first (B ends in /)", o.to);
  }
  if (!o.arrays && is_model(o.from)) return convert_model(o, context);
  convert_arrays(o, context);
}

}  // namespace

void add_convert(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  auto* added = app.add_subcommand("convert", "A model, arrays or a graph into another format");
  added
      ->add_option(
          "A", options->from,
          "A Keras model (.keras, .h5), arrays (a checkpoint's prefix or folder, a SavedModel's folder, "
          ".weights.h5, .safetensors, .npz, .npy), or a graph (.pb, .pbtxt)")
      ->required();
  added
      ->add_option(
          "B", options->to,
          "Its ending says the format: .keras, .h5, .weights.h5, .safetensors, .npz, .npy, .pb, .pbtxt; "
          "DIR/ is a SavedModel, a path without an ending a checkpoint's prefix")
      ->required();
  added
      ->add_option("--signature", options->signature,
                   "Of a SavedModel that becomes a frozen graph (.pb, .pbtxt)")
      ->capture_default_str();
  added->add_option("--allow-op", options->allowed_ops, "An op that reaches files, sockets or programs");
  added->add_flag("--overwrite", options->overwrite, "Replace B if it is there");
  added->add_flag("--arrays", options->arrays,
                  "Of a Keras model the arrays alone, by their paths in the file");
  added->add_flag("--unsafe", options->unsafe, "Open models whose layers bring code along: TFSMLayer");
  added->callback([options, &context] { convert(*options, context); });
}

}  // namespace rw::cli
