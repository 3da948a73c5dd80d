// Functions of a SavedModel: traces as FunctionDefs, and what the object graph says of them.
#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/graph/graph_def.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/op/table.h"
#include "rewind/saved/loaded_view.h"
#include "rewind/saved/saved_model_writer.h"
#include "rewind/tensor/trace.h"

namespace rw::saved {
namespace {

bool captures_symbols(const ConcreteFunction& f) {
  return std::any_of(f.captured_inputs().begin(), f.captured_inputs().end(), is_symbol);
}

bool has_effects(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const Node& n) { return effects_of(n).any(); });
}

std::vector<FlatTensor> sorted(std::vector<FlatTensor> list) {
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return list;
}

void name_arguments(const GraphPtr& graph, const std::vector<FlatTensor>& arguments) {
  auto& names = std::const_pointer_cast<Graph>(graph)->argument_names;  // the exporter's own
  for (size_t i = 0; i < arguments.size(); ++i) names[i] = arguments[i].name;
}

// Calls say the shapes of their results, which TensorFlow does not look up in the function.
void write_shapes_of_calls(const std::map<std::string, GraphPtr>& graphs,
                           format::FunctionDefLibrary* library) {
  for (format::FunctionDef& function : library->function)
    for (format::NodeDef& node : function.node_def) {
      if (node.op != "PartitionedCall" && node.op != "StatefulPartitionedCall") continue;
      const auto* f = std::get_if<format::Box<format::NameAttrList>>(&node.attr["f"].value);
      const auto it = f ? graphs.find((*f)->name) : graphs.end();
      if (it != graphs.end()) node.attr["_output_shapes"] = attr_of_shapes(it->second->output_shapes());
    }
}

void keep_signature(const format::SavedConcreteFunction& saved, CallSignature* call) {
  if (saved.canonicalized_input_signature) call->canonical_inputs = *saved.canonicalized_input_signature;
  if (saved.output_signature) call->structured_outputs = *saved.output_signature;
}

}  // namespace

GraphPtr SavedModelWriter::reordered(const GraphPtr& body, size_t num_arguments,
                                     const std::vector<FlatTensor>& arguments,
                                     const std::vector<FlatTensor>& results, const std::string& name) {
  auto graph = std::make_shared<Graph>();
  graph->name = name;
  std::vector<ValueId> inputs(body->arguments.size(), -1);
  const auto take = [&](size_t i, const std::string& argument) {
    const GraphValue& like = body->value(body->arguments[i]);
    inputs[i] = graph->add_argument(like.dtype, like.shape, argument);
    graph->value(inputs[i]).variable = like.variable;
  };
  for (const FlatTensor& a : arguments) take(a.index, a.name);
  for (size_t i = num_arguments; i < inputs.size(); ++i) take(i, body->argument_names[i]);
  RW_CHECK(std::find(inputs.begin(), inputs.end(), -1) == inputs.end());
  const std::vector<DType> types = body->output_types();
  const std::vector<Shape> shapes = body->output_shapes();
  const Op& op = find_op(has_effects(*body) ? "StatefulPartitionedCall" : "PartitionedCall");
  const NodeId call = graph->add_node(op, {{"Tout", types}, {"f", BodyRef(body)}}, inputs, types, shapes);
  for (const FlatTensor& r : results) graph->outputs.push_back(graph->node(call).outputs[r.index]);
  return graph;
}

SavedModelWriter::Saved* SavedModelWriter::add_function(const ConcreteFunction& f, const std::string& name) {
  const GraphPtr trace = f.graph().ir_ref();
  if (const auto it = by_graph_.find(trace.get()); it != by_graph_.end()) return it->second;
  auto saved = std::make_unique<Saved>(Saved{f, call_signature(f), exporter_.get(trace, name), nullptr});
  const auto in_order = [](const std::vector<FlatTensor>& list, size_t size) {
    if (list.size() != size) return false;
    for (size_t i = 0; i < size; ++i)
      if (list[i].index != i) return false;
    return true;
  };
  const size_t arguments = f.inputs().size();
  if (in_order(saved->call.arguments, arguments) && in_order(saved->call.results, f.outputs().size())) {
    saved->graph = saved->body;
    name_arguments(saved->graph, saved->call.arguments);
  } else {
    saved->graph = reordered(saved->body, arguments, saved->call.arguments, saved->call.results,
                             saved->body->name + "_call");
  }
  by_graph_[trace.get()] = saved.get();
  return functions_.emplace_back(std::move(saved)).get();
}

void SavedModelWriter::find_functions(const ObjectGraph& objects) {
  for (const ObjectNode& node : objects.nodes()) {
    if (node.object->kind() != Trackable::Kind::kFunction) continue;
    const auto& function = static_cast<const FunctionTrackable&>(*node.object);
    const std::string member = node.path.substr(node.path.rfind('/') + 1);
    Traced& traced = traced_[function.id()];
    traced.object = &function;
    traced.name = function.options().name == "function" ? member : function.options().name;
    const auto* loaded = dynamic_cast<const saved_model::LoadedFunctionView*>(&function);
    const std::vector<ConcreteFunction> traces = function.traces();
    for (size_t i = 0; i < traces.size(); ++i) {
      if (captures_symbols(traces[i])) continue;
      traced.traces.push_back(add_function(traces[i], identifier(traced.name)));
      if (loaded) keep_signature(loaded->saved(i), &traced.traces.back()->call);
    }
  }
}

// TensorFlow's rule: the root's only function, where it has one trace that can be served.
std::optional<ConcreteFunction> SavedModelWriter::deduced_signature(const ObjectGraph& objects) const {
  const Traced* only = nullptr;
  for (const ObjectNode::Child& child : objects.nodes()[0].children) {
    const Trackable& object = *objects.nodes()[child.node].object;
    if (object.kind() != Trackable::Kind::kFunction) continue;
    if (only) return {};
    only = &traced_.at(object.id());
  }
  if (!only || only->traces.size() != 1 || !only->traces[0]->call.no_signature_because.empty()) return {};
  return only->traces[0]->function;
}

// Inputs and outputs are sorted by name, as TensorFlow calls them.
void SavedModelWriter::add_signature(const std::string& key, const ConcreteFunction& f) {
  if (captures_symbols(f))
    fail_invalid(kSaveModel,
                 "signature " + key + ": the function was traced inside another one, whose tensors it uses");
  Saved* const saved = add_function(f, "function");
  CallSignature& call = saved->call;
  if (!call.no_signature_because.empty())
    fail_invalid(kSaveModel, "signature " + key + ": function " + f.name() +
                                 " cannot be served: " + call.no_signature_because);
  std::vector<FlatTensor> arguments = sorted(call.arguments), results = sorted(call.results);
  signatures_[key] = {saved, reordered(saved->body, f.inputs().size(), arguments, results,
                                       "__inference_signature_wrapper_" + identifier(key))};
}

void SavedModelWriter::write_library() {
  format::FunctionDefLibrary& library = *graph_def_.library;
  std::map<std::string, GraphPtr> graphs;
  FunctionLibraryWriter writer;
  const auto add = [&](const GraphPtr& graph) {
    std::string name = writer.add(*graph);
    graphs[name] = graph;
    return name;
  };
  for (const auto& f : functions_) {
    add(f->body);
    f->name = add(f->graph);
  }
  for (const auto& [key, served] : signatures_) add(served.second);
  for (const ExportedGradient& g : exporter_.gradients()) {
    const std::string name = add(g.function);
    library.registered_gradients.push_back({.gradient_func = name, .registered_op_type = g.op_type});
  }
  format::FunctionDefLibrary written = writer.take();
  write_shapes_of_calls(graphs, &written);
  library.function = std::move(written.function);
  for (format::FunctionDef& function : library.function)
    for (format::NodeDef& node : function.node_def)
      if (node.op == "IdentityN" && node.name.starts_with("CustomGradient-"))
        node.attr["_gradient_op_type"] = attr_of(node.name);
  for (const auto& f : functions_) write_captures(f.get());
  for (const ExportedGradient& g : exporter_.gradients()) write_gradient(g);
}

void SavedModelWriter::write_captures(Saved* f) {
  for (const Tensor& capture : f->function.captured_inputs())
    f->captures.push_back(capture_node(capture, f->function.name()));
}

// The gradient's function is bound to tensors inside the function that it is for.
void SavedModelWriter::write_gradient(const ExportedGradient& g) {
  const auto names = [&](const GraphPtr& graph) {
    for (const format::FunctionDef& f : graph_def_.library->function)
      if (f.signature->name == graph->name) return &f;
    throw InternalError("[saved_model.save] function " + graph->name + " is not in the library");
  };
  const format::FunctionDef* const around = names(g.graph);
  format::SavedConcreteFunction concrete;
  for (size_t k = 0; k < g.captured_arguments.size(); ++k) {
    const int node = add_node();
    const std::string name = g.captured_arguments[k]
                                 ? around->signature->input_arg[*g.captured_arguments[k]].name
                                 : g.op_type + "_capture_" + std::to_string(k);
    object_graph_.nodes[size_t(node)].kind =
        format::CapturedTensor{.name = name + ":0", .concrete_function = around->signature->name};
    concrete.bound_inputs.push_back(node);
  }
  std::vector<format::StructuredValue> inputs{none_value()}, outputs(g.num_results, none_value());
  for (size_t k = 0; k < g.num_results + g.num_inputs; ++k) {
    const GraphValue& v = g.function->value(g.function->arguments[k]);
    inputs.push_back(tensor_spec_value("result_grads_" + std::to_string(k), v.dtype, v.shape));
  }
  for (size_t k = 0; k < g.num_inputs; ++k) {
    const auto at = std::find(g.given.begin(), g.given.end(), int64_t(k));
    if (at == g.given.end()) {
      outputs.push_back(none_value());
      continue;
    }
    const GraphValue& v = g.function->value(g.function->outputs[size_t(at - g.given.begin())]);
    outputs.push_back(tensor_spec_value("tensor_" + std::to_string(k), v.dtype, v.shape));
  }
  concrete.canonicalized_input_signature = call_value(std::move(inputs), {});
  concrete.output_signature = list_value(std::move(outputs));
  object_graph_.concrete_functions[names(g.function)->signature->name] = std::move(concrete);
}

void SavedModelWriter::write_concrete(const Saved& f) {
  object_graph_.concrete_functions[f.name] = {.bound_inputs = {f.captures.begin(), f.captures.end()},
                                              .canonicalized_input_signature = f.call.canonical_inputs,
                                              .output_signature = f.call.structured_outputs};
}

int SavedModelWriter::write_bare(const std::string& function, const std::vector<std::string>& keywords,
                                 const format::FunctionSpec& spec, const std::vector<int>& captures) {
  const int node = add_node();
  object_graph_.nodes[size_t(node)].kind =
      format::SavedBareConcreteFunction{.concrete_function_name = function,
                                        .argument_keywords = keywords,
                                        .allowed_positional_arguments = int64_t(keywords.size()),
                                        .function_spec = spec};
  for (size_t i = 0; i < captures.size(); ++i) {
    if (captures[i] < int(objects_->nodes().size())) continue;  // a variable
    const std::string name = "capture_" + std::to_string(i);
    add_child(node, captures[i], name);
    object_graph_.nodes[size_t(node)].dependencies.push_back({captures[i], name});
  }
  return node;
}

void SavedModelWriter::write_function(const Traced& traced, int node) {
  const auto parameters = [&](const Saved& f) -> const std::vector<std::string>& {
    return f.call.parameters;
  };
  const auto& traces = traced.traces;
  if (const auto* loaded = dynamic_cast<const saved_model::LoadedFunctionView*>(traced.object);
      loaded && loaded->bare() && !traces.empty()) {
    write_concrete(*traces[0]);
    format::SavedBareConcreteFunction bare = *loaded->bare();
    bare.concrete_function_name = traces[0]->name;
    object_graph_.nodes[size_t(node)].kind = std::move(bare);
    return;
  }
  const bool differ = std::any_of(traces.begin(), traces.end(), [&](const Saved* f) {
    return parameters(*f).size() != parameters(*traces[0]).size();
  });
  const format::FunctionSpec spec =
      traced.object->spec
          ? *traced.object->spec
          : function_spec(traces.empty() ? traced.object->options().argument_names : parameters(*traces[0]),
                          differ);
  format::SavedFunction function;
  function.function_spec = spec;
  for (size_t i = 0; i < traces.size(); ++i) {
    const Saved& f = *traces[i];
    function.concrete_functions.push_back(f.name);
    write_concrete(f);
    std::vector<std::string> keywords;
    for (const FlatTensor& a : f.call.arguments) keywords.push_back(a.name);
    const int bare = write_bare(f.name, keywords, spec, f.captures);
    const std::string name = "trace_" + std::to_string(i);
    add_child(node, bare, name);
    object_graph_.nodes[size_t(node)].dependencies.push_back({bare, name});
  }
  object_graph_.nodes[size_t(node)].kind = std::move(function);
}

void SavedModelWriter::write_signature(const std::string& key, const Saved& f, int map_node) {
  const GraphPtr& graph = signatures_.at(key).second;
  const std::vector<FlatTensor> arguments = sorted(f.call.arguments), results = sorted(f.call.results);
  format::SignatureDef signature;
  signature.method_name = "tensorflow/serving/predict";
  const auto info = [](const std::string& tensor, const GraphPort& port) {
    format::TensorInfo out;
    out.encoding = tensor;
    out.dtype = format::DataType(port.dtype);
    out.tensor_shape = to_shape_proto(port.shape);
    return out;
  };
  format::StructuredDict inputs, outputs;
  std::vector<std::string> keywords, nodes;
  std::vector<GraphPort> in, out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const GraphValue& v = graph->value(graph->arguments[i]);
    const std::string& name = arguments[i].name;
    in.push_back({v.dtype, v.shape});
    nodes.push_back(main_.placeholder(key + "_" + name, in.back()));
    signature.inputs[name] = info(nodes.back() + ":0", in.back());
    inputs.fields[name] = tensor_spec_value(name, v.dtype, v.shape);
    keywords.push_back(name);
  }
  for (const int node : f.captures) {
    nodes.push_back(main_names_[size_t(node)]);
    in.push_back(main_ports_[size_t(node)]);
  }
  for (const ValueId id : graph->outputs) out.push_back({graph->value(id).dtype, graph->value(id).shape});
  const std::string call = main_.call(graph->name, has_effects(*graph), nodes, in, out);
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string& name = results[i].name;
    signature.outputs[name] = info(call + ":" + std::to_string(i), out[i]);
    outputs.fields[name] = tensor_spec_value(name, out[i].dtype, out[i].shape);
  }
  meta_.signature_def[key] = std::move(signature);

  format::SavedConcreteFunction concrete;
  concrete.bound_inputs.assign(f.captures.begin(), f.captures.end());
  concrete.canonicalized_input_signature = call_value({}, std::move(inputs));
  concrete.output_signature = dict_value(std::move(outputs));
  object_graph_.concrete_functions[graph->name] = std::move(concrete);
  add_child(map_node, write_bare(graph->name, keywords, function_spec({}, false, keywords), f.captures), key);
}

}  // namespace rw::saved
