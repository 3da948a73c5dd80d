// rewind graph show | dot FILE: GraphDefs, binary or as text, and the functions of SavedModels.
#include <algorithm>
#include <filesystem>

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

// A graph to look at, of a file or of a function in a SavedModel ("serving_default", "__call__").
std::shared_ptr<const Graph> read_graph(const Options& o) {
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
  Json all = Json::object();
  all["nodes"] = nodes;
  all["ops"] = Json::object();
  for (const auto& [op, count] : ops) all["ops"][op] = count;
  print(all);
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
    added->callback([options, dot, &context] {
      if (dot) print(to_dot(*read_graph(*options)));
      else show(*options, context);
    });
  }
}

}  // namespace rw::cli
