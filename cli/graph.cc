// rewind graph show | dot FILE: GraphDefs, binary or as text, and the functions of SavedModels.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/command.h"
#include "cli/graph_file.h"
#include "rewind/format/graph_def.h"
#include "rewind/graph/dot.h"
#include "rewind/graph/graph_def.h"

namespace rw::cli {
namespace {

using format::Json;

struct Options {
  std::string file, function;
};

bool is_saved_model_file(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name == "saved_model.pb" || name == "saved_model.pbtxt";
}

// A graph to look at, of a file or of a function in a SavedModel ("serving_default", "__call__").
std::shared_ptr<const Graph> read_graph(const Options& o) {
  if (is_saved_model_file(o.file))
    return read_graph({(std::filesystem::path(o.file).parent_path() / "").string(), o.function});
  if (std::filesystem::is_directory(o.file)) {
    const auto model = saved_model::load(o.file);
    const std::string name = o.function.empty() ? "serving_default" : o.function;
    if (const auto signature = model.signatures().find(name); signature != model.signatures().end())
      return std::shared_ptr<const Graph>(signature->second.concrete_function(),
                                          &signature->second.concrete_function()->graph().ir());
    const auto traces = model.function(name).concrete_functions();
    if (traces.empty()) throw NotFoundError("[graph] " + name + " has no trace");
    return std::shared_ptr<const Graph>(traces[0], &traces[0]->graph().ir());
  }
  const format::GraphDef def = read_graph_def_file(o.file);
  if (o.function.empty()) return from_graph_def(def);
  if (!def.library) throw NotFoundError("[graph] " + o.file + " has no functions");
  FunctionLibraryReader library(*def.library);
  return library.get(o.function);
}

// The graph, and every function that it calls, each once.
std::vector<const Graph*> with_called(const Graph& graph) {
  std::vector<const Graph*> list{&graph};
  for (size_t i = 0; i < list.size(); ++i)
    for (const Node& node : list[i]->nodes())
      for_each_body(node.attrs, [&](const BodyRef& body) {
        const Graph* called = &graph_of(*body);
        if (std::find(list.begin(), list.end(), called) == list.end()) list.push_back(called);
      });
  return list;
}

// ---- graphs as a file has them, with ops that this library does not know
// ------------------------------------

using Nodes = std::vector<format::NodeDef>;

// The graph or one of its functions; null where the file has none of that name.
std::optional<Nodes> nodes_as_they_stand(const Options& o) {
  if (std::filesystem::is_directory(o.file) || is_saved_model_file(o.file)) return {};
  format::GraphDef def = read_graph_def_file(o.file);  // what is wrong with the file itself is told from here
  if (o.function.empty()) return std::move(def.node);
  if (def.library)
    for (auto& function : def.library->function)
      if (function.signature && function.signature->name == o.function) return std::move(function.node_def);
  return {};
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string text_of(const Nodes& nodes) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& node : nodes) {
    std::string inputs;
    for (const std::string& input : node.input) inputs += (inputs.empty() ? "" : ", ") + input;
    rows.push_back({node.name, "= " + node.op + "(" + inputs + ")"});
  }
  return table(rows, 0);
}

std::string dot_of(const Nodes& nodes) {
  std::string text = "digraph {\n  node [shape=box]\n";
  for (const auto& node : nodes)
    text += "  " + quoted(node.name) + " [label=" + quoted(node.op + "\\n" + node.name) + "]\n";
  for (const auto& node : nodes)
    for (const std::string& input : node.input) {
      const std::string from = input.substr(input.starts_with('^') ? 1 : 0, input.find(':'));
      text += "  " + quoted(from) + " -> " + quoted(node.name) +
              (input.starts_with('^') ? " [style=dashed]\n" : "\n");
    }
  return text + "}\n";
}

void print_counts(const std::map<std::string, int64_t>& ops, int64_t nodes) {
  Json all = Json::object();
  all["nodes"] = nodes;
  all["ops"] = Json::object();
  for (const auto& [op, count] : ops) all["ops"][op] = count;
  print(all);
}

void show_as_it_stands(const Nodes& nodes, const Context& context) {
  if (!context.json) return print(text_of(nodes));
  std::map<std::string, int64_t> ops;
  for (const auto& node : nodes) ++ops[node.op];
  print_counts(ops, int64_t(nodes.size()));
}

// ---- graphs of the library's ops
// ---------------------------------------------------------------------------

void show(const Options& o, const Context& context) {
  const auto graph = read_graph(o);
  const std::vector<const Graph*> all_graphs = with_called(*graph);
  if (!context.json) {
    std::string text;
    for (const Graph* g : all_graphs) text += (text.empty() ? "" : "\n") + g->to_string();
    return print(text);
  }
  std::map<std::string, int64_t> ops;
  int64_t nodes = 0;
  for (const Graph* g : all_graphs)
    for (const auto& node : g->nodes()) {
      ++ops[node.op->name];
      ++nodes;
    }
  print_counts(ops, nodes);
}

void look(const Options& o, bool dot, const Context& context) {
  try {
    if (dot) print(to_dot(*read_graph(o)));
    else show(o, context);
  } catch (const Error& e) {
    const auto nodes = nodes_as_they_stand(o);
    if (!nodes) throw;
    std::fprintf(stderr, "rewind: the graph is shown as it stands in the file: %s\n", e.what());
    if (dot) print(dot_of(*nodes));
    else show_as_it_stands(*nodes, context);
  }
}

}  // namespace

void add_graph(CLI::App& app, Context& context) {
  auto* group =
      app.add_subcommand("graph", "GraphDefs and frozen graphs (.pb, .pbtxt), and functions of SavedModels");
  group->require_subcommand(1);
  for (const bool dot : {false, true}) {
    auto options = std::make_shared<Options>();
    auto* added =
        group->add_subcommand(dot ? "dot" : "show", dot ? "A drawing for Graphviz" : "One line per node");
    added->fallthrough();
    added->add_option("FILE", options->file, "A GraphDef, or a SavedModel's folder")->required();
    added->add_option("--function", options->function,
                      "A function of it; of a SavedModel by default serving_default");
    added->callback([options, dot, &context] { look(*options, dot, context); });
  }
}

}  // namespace rw::cli
