#include "rewind/graph/dot.h"

#include <map>

#include "rewind/graph/control_edges.h"

namespace rw {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out;
}

class Drawing {
 public:
  std::string text =
      "digraph {\n  node [shape=box, fontname=\"Helvetica\", fontsize=10];\n  compound=true;\n";

  // Draws a graph; `prefix` makes the ids of its boxes unique.
  void draw(const Graph& g, const std::string& prefix, const std::string& indent) {
    for (size_t i = 0; i < g.arguments.size(); ++i) {
      const GraphValue& v = g.value(g.arguments[i]);
      std::string name = i < g.argument_names.size() ? g.argument_names[i] : "";
      if (name.empty()) name = "argument " + std::to_string(i);
      box(indent, id_of(g, prefix, g.arguments[i]), name + "\n" + describe(v), "ellipse");
    }
    const auto edges = control_edges(g);
    for (NodeId id = 0; id < NodeId(g.nodes().size()); ++id) {
      const Node& n = g.node(id);
      std::string label = g.name_of(id) + "\n" + n.op->name;
      for (const ValueId v : n.outputs) label += "\n" + describe(g.value(v));
      const std::string own = prefix + "n" + std::to_string(id);
      box(indent, own, label, nullptr);
      for (const ValueId v : n.inputs) arrow(indent, id_of(g, prefix, v), own, g.value(v));
      for (const NodeId before : edges[size_t(id)])
        dashed(indent, prefix + "n" + std::to_string(before), own);
      draw_bodies(n, own, indent);
    }
    for (size_t i = 0; i < g.outputs.size(); ++i) {
      const std::string own = prefix + "out" + std::to_string(i);
      box(indent, own, "output " + std::to_string(i), "ellipse");
      arrow(indent, id_of(g, prefix, g.outputs[i]), own, g.value(g.outputs[i]));
    }
  }

 private:
  static std::string describe(const GraphValue& v) {
    return std::string(name_of(v.dtype)) + v.shape.to_string();
  }

  static std::string id_of(const Graph& g, const std::string& prefix, ValueId id) {
    const GraphValue& v = g.value(id);
    return v.node < 0 ? prefix + "arg" + std::to_string(v.index) : prefix + "n" + std::to_string(v.node);
  }

  void box(const std::string& indent, const std::string& id, const std::string& label, const char* shape) {
    text += indent + id + " [label=\"" + escaped(label) + "\"" +
            (shape ? std::string(", shape=") + shape : "") + "];\n";
  }

  // Which output it is, where there are several.
  void arrow(const std::string& indent, const std::string& from, const std::string& to, const GraphValue& v) {
    text += indent + from + " -> " + to;
    if (v.node >= 0 && v.index > 0) text += " [taillabel=\"" + std::to_string(v.index) + "\", fontsize=8]";
    text += ";\n";
  }

  void dashed(const std::string& indent, const std::string& from, const std::string& to) {
    text += indent + from + " -> " + to + " [style=dashed];\n";
  }

  void draw_bodies(const Node& n, const std::string& owner, const std::string& indent) {
    for (const std::pair<std::string, AttrValue>& attr : n.attrs) {
      if (const BodyRef* one = attr.second.get_if<BodyRef>()) cluster(attr.first, **one, owner, indent);
      const auto* list = attr.second.get_if<std::vector<BodyRef>>();
      for (size_t i = 0; list && i < list->size(); ++i)
        cluster(attr.first + "[" + std::to_string(i) + "]", *(*list)[i], owner, indent);
    }
  }

  void cluster(const std::string& role, const FunctionBody& body, const std::string& owner,
               const std::string& indent) {
    const auto link = [&](const std::string& id) {
      text += indent + owner + " -> " + id + "head [lhead=cluster_" + id + ", style=dotted, color=gray];\n";
    };
    const std::string id = "f" + std::to_string(clusters_.size()) + "_";
    const auto [it, fresh] = clusters_.emplace(&body, id);
    if (!fresh) return link(it->second);
    const std::string inner = indent + "  ";
    text += indent + "subgraph cluster_" + id + " {\n";
    text += inner + "label=\"" + escaped(role + ": " + body.body_name()) + "\"; color=gray;\n";
    text += inner + id + "head [label=\"\", shape=point, color=gray];\n";
    draw(graph_of(body), id, inner);
    text += indent + "}\n";
    link(id);
  }

  std::map<const FunctionBody*, std::string> clusters_;  // a function is drawn where it is first named
};

}  // namespace

std::string to_dot(const Graph& graph) {
  Drawing drawing;
  drawing.draw(graph, "", "  ");
  return drawing.text + "}\n";
}

}  // namespace rw
