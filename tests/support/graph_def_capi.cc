// Graphs for the Python harness (tests/interop/check_graph_def.py): bytes of GraphDef in, bytes of GraphDef
// out. Tensors travel as a GraphDef of Const nodes, in order. Every call returns 0, or 1 with an error's text
// in *out.
#include <cstdlib>
#include <cstring>
#include <exception>

#include "rewind/base/error.h"
#include "rewind/graph/dot.h"
#include "rewind/graph/graph_def.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/op/table.h"
#include "tests/support/graph_examples.h"

namespace {

using rw::format::GraphDef;

void give(const std::string& bytes, uint8_t** out, size_t* out_n) {
  *out = static_cast<uint8_t*>(std::malloc(bytes.size() + 1));
  std::memcpy(*out, bytes.data(), bytes.size());
  *out_n = bytes.size();
}

template <class F>
int reply(uint8_t** out, size_t* out_n, F&& f) {
  try {
    give(f(), out, out_n);
    return 0;
  } catch (const std::exception& e) {
    give(e.what(), out, out_n);
    return 1;
  }
}

std::string write_tensors(const std::vector<rw::HostTensor>& tensors) {
  GraphDef def;
  for (const rw::HostTensor& t : tensors) {
    rw::format::NodeDef& node = def.node.emplace_back();
    node.name = "tensor_" + std::to_string(def.node.size());
    node.op = "Const";
    node.attr["value"].value = rw::format::Box<rw::format::TensorProto>(rw::to_tensor_proto(t));
  }
  return rw::format::encode(def);
}

std::vector<rw::HostTensor> read_tensors(std::string_view bytes) {
  std::vector<rw::HostTensor> tensors;
  for (const rw::format::NodeDef& node : rw::format::decode<GraphDef>(bytes).node)
    tensors.push_back(rw::from_tensor_proto(
        *std::get<rw::format::Box<rw::format::TensorProto>>(node.attr.at("value").value), int64_t(1) << 30));
  return tensors;
}

// Names one a line.
std::vector<std::string> lines(const char* text) {
  std::vector<std::string> list;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    list.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return list;
}

std::vector<std::string> output_names(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("out_" + std::to_string(i));
  return names;
}

std::shared_ptr<rw::Graph> read_graph(const uint8_t* in, size_t n, const char* inputs, const char* outputs) {
  const auto def = rw::format::decode<GraphDef>({reinterpret_cast<const char*>(in), n});
  return rw::from_graph_def(def, {.inputs = lines(inputs), .outputs = lines(outputs)});
}

}  // namespace

#define RW_EXPORT extern "C" __attribute__((visibility("default")))

RW_EXPORT int rw_graph_example_names(uint8_t** out, size_t* out_n) {
  return reply(out, out_n, [] {
    std::string names;
    for (const auto& e : rw::test::graph_examples()) names += e.name + "\n";
    return names;
  });
}

// What: "graph" (its outputs are out_0, out_1, ...), "text", "feeds", "results".
RW_EXPORT int rw_graph_example(int index, const char* what, uint8_t** out, size_t* out_n) {
  return reply(out, out_n, [&]() -> std::string {
    const auto& e = rw::test::graph_examples().at(size_t(index));
    const auto graph = e.build();
    if (what == std::string_view("feeds")) return write_tensors(e.feeds);
    if (what == std::string_view("results")) return write_tensors(rw::test::run_graph(*graph, e.feeds));
    const GraphDef def = to_graph_def(*graph, {.output_names = output_names(graph->outputs.size())});
    return what == std::string_view("text") ? rw::format::to_text(def) : rw::format::encode(def);
  });
}

// Through the graph, and the result through the text: its outputs are out_0, out_1, ...
RW_EXPORT int rw_graph_convert(const uint8_t* in, size_t n, const char* inputs, const char* outputs,
                               uint8_t** out, size_t* out_n) {
  return reply(out, out_n, [&] {
    const auto graph = read_graph(in, n, inputs, outputs);
    verify(*graph);
    rw::to_dot(*graph);
    const GraphDef def = to_graph_def(*graph, {.output_names = output_names(graph->outputs.size())});
    return rw::format::encode(rw::format::from_text<GraphDef>(rw::format::to_text(def)));
  });
}

RW_EXPORT int rw_graph_run(const uint8_t* in, size_t n, const char* inputs, const char* outputs,
                           const uint8_t* feeds, size_t feeds_n, uint8_t** out, size_t* out_n) {
  return reply(out, out_n, [&] {
    const auto graph = read_graph(in, n, inputs, outputs);
    return write_tensors(
        rw::test::run_graph(*graph, read_tensors({reinterpret_cast<const char*>(feeds), feeds_n})));
  });
}
