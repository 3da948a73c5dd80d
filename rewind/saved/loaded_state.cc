#include "rewind/saved/loaded_state.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

#include "rewind/base/error.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/runtime/constant.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::saved_model {
namespace {

using format::SavedObject;

// All constants may be as large as the file, or this.
constexpr int64_t kConstantBytes = int64_t{1} << 28;

// Of a walk over all objects.
constexpr size_t kPathBytes = size_t{128} << 20;

const format::FunctionDefLibrary& library_of(const format::MetaGraphDef& graph) {
  static const auto& none = *new format::FunctionDefLibrary;
  return graph.graph_def && graph.graph_def->library ? *graph.graph_def->library : none;
}

}  // namespace

LoadedState::LoadedState(std::string dir, format::MetaGraphDef graph, const LoadOptions& options,
                         size_t file_size)
    : dir_(std::move(dir)),
      graph_(std::move(graph)),
      options_(options),
      constant_bytes_(std::max(int64_t(file_size), kConstantBytes)),
      check_(library_of(graph_), options.allowed_ops),
      library_(library_of(graph_), constant_bytes_) {
  const bool has_objects = graph_.object_graph_def && !graph_.object_graph_def->nodes.empty();
  if (!has_objects) add_session_objects(file_size);
  check_objects();
  variables_.emplace(objects(), dir_ + "/variables/variables", !has_objects);
  for (const auto& [name, f] : objects().concrete_functions)
    if (reads_only_assets(name)) check_.allow_tables_from_files(name);
  make_values();
  find_gradients();
  find_missing_ops();
}

// Numbers of nodes lead to nodes.
void LoadedState::check_objects() const {
  const auto& nodes = objects().nodes;
  const auto check = [&](int64_t node, const std::string& what) {
    if (node < 0 || node >= int64_t(nodes.size()))
      fail_invalid(kLoad, dir_ + "/saved_model.pb: " + what + " is object " + std::to_string(node) + " of " +
                              std::to_string(nodes.size()));
  };
  for (const SavedObject& object : nodes) {
    for (const auto& c : object.children) check(c.node_id, "child " + c.local_name);
    for (const auto& s : object.slot_variables) {
      check(s.original_variable_node_id, "the variable of slot " + s.slot_name);
      check(s.slot_variable_node_id, "slot " + s.slot_name);
    }
  }
  for (const auto& [name, f] : objects().concrete_functions)
    for (const int32_t node : f.bound_inputs) check(node, "a value that function " + name + " captured");
}

void LoadedState::make_values() {
  const auto& nodes = objects().nodes;
  values_.resize(nodes.size());
  resources_.resize(nodes.size());
  std::map<std::string_view, const format::NodeDef*> constants;
  if (graph_.graph_def)
    for (const format::NodeDef& node : graph_.graph_def->node)
      if (node.op == "Const") constants.emplace(node.name, &node);
  for (size_t at = 0; at < nodes.size(); ++at) {
    if (const auto* asset = std::get_if<format::SavedAsset>(&nodes[at].kind))
      values_[at] = asset_path(*asset);
    const auto* constant = std::get_if<format::SavedConstant>(&nodes[at].kind);
    if (!constant) continue;
    const auto it = constants.find(constant->operation);
    const format::Box<format::TensorProto>* value = nullptr;
    if (it != constants.end())
      if (const auto attr = it->second->attr.find("value"); attr != it->second->attr.end())
        value = std::get_if<format::Box<format::TensorProto>>(&attr->second.value);
    if (!value)
      fail_invalid(kLoad, "the graph has no constant '" + constant->operation + "', which functions capture");
    values_[at] = make_tensor(as_value(library_.constants().get(**value)));
  }
}

// Assets lie in the folder of their own, and nowhere else.
Tensor LoadedState::asset_path(const format::SavedAsset& asset) const {
  const auto& files = graph_.asset_file_def;
  if (asset.asset_file_def_index < 0 || size_t(asset.asset_file_def_index) >= files.size())
    fail_invalid(
        kLoad, "asset " + std::to_string(asset.asset_file_def_index) + " of " + std::to_string(files.size()));
  const std::filesystem::path name = files[size_t(asset.asset_file_def_index)].filename;
  bool leaves = name.empty() || name.is_absolute();
  for (const auto& part : name) leaves = leaves || part == "..";
  if (leaves || name.native().find('\0') != std::string::npos)
    fail_invalid(kLoad, "an asset must be a file below " + dir_ + "/assets: got '" + name.string() + "'");
  const auto folder = std::filesystem::path(dir_) / "assets";
  // Links of the folder's own lead nowhere else.
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(folder / name, error);
  const auto inside = real.lexically_relative(std::filesystem::weakly_canonical(folder, error));
  if (error || inside.empty() || *inside.begin() == "..")
    fail_invalid(kLoad, "an asset must be a file below " + folder.string() + ": '" + name.string() +
                            "' is a link to " + real.string());
  return Tensor((folder / name).string());
}

// Whether all the tables that the function itself fills from files have assets for them: arguments that stand
// for what the function captures.
bool LoadedState::reads_only_assets(const std::string& function) const {
  const auto saved = objects().concrete_functions.find(function);
  const format::FunctionDef* def = nullptr;
  for (const format::FunctionDef& f : library_of(graph_).function)
    if (f.signature && f.signature->name == function) def = &f;
  if (!def || saved == objects().concrete_functions.end()) return false;
  const auto& arguments = def->signature->input_arg;
  const auto& captured = saved->second.bound_inputs;
  if (captured.size() > arguments.size()) return false;
  bool any = false;
  for (const format::NodeDef& node : def->node_def) {
    if (node.op != "InitializeTableFromTextFileV2") continue;
    any = true;
    bool is_asset = false;
    for (size_t i = 0; i < captured.size() && node.input.size() > 1; ++i)
      is_asset |= arguments[arguments.size() - captured.size() + i].name == node.input[1] &&
                  std::holds_alternative<format::SavedAsset>(object(captured[i]).kind);
    if (!is_asset) return false;
  }
  return any;
}

bool LoadedState::is_function(int node) const {
  const auto& kind = object(node).kind;
  return std::holds_alternative<format::SavedFunction>(kind) ||
         std::holds_alternative<format::SavedBareConcreteFunction>(kind);
}

int LoadedState::child(int node, const std::string& name) const {
  for (const auto& c : object(node).children)
    if (c.local_name == name) return c.node_id;
  return -1;
}

int LoadedState::at_path(int node, std::string_view path) const {
  if (path.empty()) return node;
  if (const int found = child(node, std::string(path)); found >= 0) return found;
  for (size_t dot = path.find_first_of("./"); dot != std::string_view::npos;
       dot = path.find_first_of("./", dot + 1)) {
    const int first = child(node, std::string(path.substr(0, dot)));
    const int found = first >= 0 ? at_path(first, path.substr(dot + 1)) : -1;
    if (found >= 0) return found;
  }
  return -1;
}

std::vector<std::pair<std::string, int>> LoadedState::below(int node) const {
  std::vector<std::pair<std::string, int>> list{{"", node}};
  std::set<int> seen{node};
  size_t bytes = 0;
  for (size_t i = 0; i < list.size(); ++i)
    for (const auto& c : object(list[i].second).children) {
      if (is_function(c.node_id) || !seen.insert(c.node_id).second) continue;
      bytes += list[i].first.size() + c.local_name.size();
      // Of a chain of objects the paths grow with the square of its length.
      if (bytes > kPathBytes)
        fail_exhausted(kLoad, dir_ + "/saved_model.pb: the paths of its objects take more than " +
                                  std::to_string(kPathBytes) + " bytes");
      list.emplace_back(list[i].first.empty() ? c.local_name : list[i].first + "/" + c.local_name, c.node_id);
    }
  return list;
}

// Functions by the paths that users reach them by.
void LoadedState::find_missing_ops() {
  std::map<std::pair<std::string, bool>, std::set<std::string>> found;
  const auto add = [&](const std::string& function, const std::string& user_name) {
    const OpCheck::Problems& p = check_.of(function);
    for (const std::string& op : p.missing) found[{op, false}].insert(user_name);
    for (const std::string& op : p.refused) found[{op, true}].insert(user_name);
  };
  for (const auto& [path, node] : below(0)) {
    for (const auto& c : object(node).children) {
      const std::string name = path.empty() ? c.local_name : path + "/" + c.local_name;
      if (const auto* f = std::get_if<format::SavedFunction>(&object(c.node_id).kind))
        for (const std::string& trace : f->concrete_functions) add(trace, name);
      if (const auto* f = std::get_if<format::SavedBareConcreteFunction>(&object(c.node_id).kind))
        add(f->concrete_function_name, path == "signatures" ? "signature " + c.local_name : name);
    }
  }
  for (const auto& [op, functions] : found)
    missing_.push_back({op.first, op.second, {functions.begin(), functions.end()}});
}

}  // namespace rw::saved_model
