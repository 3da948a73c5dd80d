// rw::saved_model::load: the files of the folder, and the MetaGraph that is meant.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "rewind/base/error_context.h"
#include "rewind/format/read_file.h"
#include "rewind/saved/loaded_state.h"
#include "rewind/tensor/trace.h"

namespace rw::saved_model {
namespace {

using format::MetaGraphDef;

struct Read {
  format::SavedModel model;
  size_t bytes = 0;
};

Read read_model(const std::string& dir) {
  std::error_code ignored;
  const std::string binary = dir + "/saved_model.pb", text = dir + "/saved_model.pbtxt";
  const bool is_text = !std::filesystem::exists(binary, ignored) && std::filesystem::exists(text, ignored);
  if (!is_text && !std::filesystem::exists(binary, ignored))
    fail_not_found(kLoad, dir + " is no SavedModel: there is no saved_model.pb in it");
  const format::ReadFile file(is_text ? text : binary, kLoad);
  const std::string bytes = file.read(0, size_t(file.size()));
  try {
    return {
        is_text ? format::from_text<format::SavedModel>(bytes) : format::decode<format::SavedModel>(bytes),
        bytes.size()};
  } catch (const DataLossError& e) {
    throw DataLossError(std::string("[") + kLoad + "] " + file.path() + ": " + e.what());
  } catch (const InvalidArgumentError& e) {
    throw InvalidArgumentError(std::string("[") + kLoad + "] " + file.path() + ": " + e.what());
  }
}

std::set<std::string> tags_of(const MetaGraphDef& graph) {
  if (!graph.meta_info_def) return {};
  return {graph.meta_info_def->tags.begin(), graph.meta_info_def->tags.end()};
}

std::string tags_text(const std::set<std::string>& tags) {
  std::string text = "{";
  for (const std::string& t : tags) text += (text.size() > 1 ? ", " : "") + t;
  return text + "}";
}

MetaGraphDef& choose_graph(format::SavedModel& model, const std::vector<std::string>& tags,
                           const std::string& dir) {
  if (model.meta_graphs.size() == 1 && tags.empty()) return model.meta_graphs[0];
  const std::set<std::string> wanted =
      tags.empty() ? std::set<std::string>{"serve"} : std::set<std::string>(tags.begin(), tags.end());
  std::string known;
  for (MetaGraphDef& graph : model.meta_graphs) {
    if (tags_of(graph) == wanted) return graph;
    known += (known.empty() ? "" : ", ") + tags_text(tags_of(graph));
  }
  fail_not_found(kLoad, dir + " has no MetaGraph with the tags " + tags_text(wanted) +
                            "; there are: " + (known.empty() ? "none" : known));
}

// Errors of what the file says name it.
template <class Make>
auto naming(const std::string& dir, const Make& make) {
  return naming_file(dir, std::string("[") + kLoad + "] " + dir + "/saved_model.pb: ", make);
}

void report(const std::string& dir, const std::vector<MissingOp>& missing) {
  for (const MissingOp& m : missing) {
    std::string text = "rewind: " + dir + ": " +
                       (m.refused ? "a loaded model may not use " + m.op : missing_op_text(m.op)) +
                       "; these functions need it and will not run: ";
    for (size_t i = 0; i < m.functions.size(); ++i) text += (i ? ", " : "") + m.functions[i];
    std::fputs((text + "\n").c_str(), stderr);
  }
}

}  // namespace

LoadedModel load(const std::string& dir, const LoadOptions& options) {
  if (current_trace()) fail_precondition(kLoad, "models are loaded outside of functions");
  Read read = read_model(dir);
  MetaGraphDef& graph = choose_graph(read.model, options.tags, dir);
  const auto state =
      naming(dir, [&] { return std::make_shared<LoadedState>(dir, std::move(graph), options, read.bytes); });
  report(dir, state->missing_ops());
  auto signatures =
      naming(dir, [&] { return std::make_shared<const LoadedModel::Signatures>(state->signatures()); });
  return {state, std::move(signatures), 0};
}

}  // namespace rw::saved_model
