// rewind convert A B: models, arrays and graphs from one format to another. What A is decides what B may be:
//
//   a graph       GraphDef .pb, .pbtxt                        .pb, .pbtxt
//   arrays        checkpoint, SavedModel, .keras, .h5, .npz,  .safetensors, .npz, .h5, checkpoint (a prefix)
//                 .safetensors
#include <filesystem>

#include "cli/arrays.h"
#include "cli/command.h"
#include "cli/graph_file.h"
#include "rewind/base/error.h"

namespace rw::cli {
namespace {

struct Options {
  std::string from, to;
  bool overwrite = false;
};

bool ends(const std::string& path, std::initializer_list<const char*> endings) {
  for (const char* e : endings)
    if (path.ends_with(e)) return true;
  return false;
}

void convert_arrays(const Options& o, const Context& context) {
  const auto file = open_arrays(o.from);
  std::map<std::string, Tensor> arrays;
  for (const auto& [name, spec] : file->specs()) {
    const bool bookkeeping =
        name == "_CHECKPOINTABLE_OBJECT_GRAPH" ||
        (spec.dtype == string && !ends(o.to, {".npz"}) && ends(o.to, {".safetensors", ".h5", ".hdf5"}));
    if (bookkeeping) {
      std::fprintf(stderr, "left out: %s, which is %s\n", name.c_str(),
                   std::string(name_of(spec.dtype)).c_str());
      continue;
    }
    arrays[name] = file->read(name);
  }
  write_arrays(o.to, arrays);
  if (!context.json) return print("wrote " + std::to_string(arrays.size()) + " arrays to " + o.to + "\n");
  format::Json all = format::Json::object();
  all["arrays"] = int64_t(arrays.size());
  print(all);
}

void convert(const Options& o, const Context& context) {
  if (!o.overwrite && (std::filesystem::exists(o.to) || std::filesystem::exists(o.to + ".index")))
    throw AlreadyExistsError("[convert] " + o.to + " is there already; --overwrite replaces it");
  if (ends(o.from, {".pb", ".pbtxt"}) && !std::filesystem::is_directory(o.from)) {
    if (!ends(o.to, {".pb", ".pbtxt"}))
      throw InvalidArgumentError("[convert] a GraphDef becomes .pb or .pbtxt: got " + o.to);
    return write_graph_def_file(o.to, read_graph_def_file(o.from));
  }
  if (ends(o.to, {".keras"}))
    throw InvalidArgumentError("[convert] arrays do not become a model: got " + o.to);
  convert_arrays(o, context);
}

}  // namespace

void add_convert(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  auto* added = app.add_subcommand("convert", "A model, arrays or a graph into another format");
  added
      ->add_option("A", options->from,
                   "A checkpoint's prefix or folder, a SavedModel's folder, .keras, .h5, .safetensors, .npz, "
                   ".pb, .pbtxt")
      ->required();
  added
      ->add_option("B", options->to,
                   "Its ending says the format; a path without one is a checkpoint's prefix")
      ->required();
  added->add_flag("--overwrite", options->overwrite, "Replace B if it is there");
  added->callback([options, &context] { convert(*options, context); });
}

}  // namespace rw::cli
