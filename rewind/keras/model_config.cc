// Functional and sequential models as configs. A functional model lists its layers; each has the calls that
// made the graph, whose arguments name tensors by [layer, call, result]:
//
//   {"layers": [{"class_name": "Dense", "config": {...}, "name": "dense", "inbound_nodes": [
//                  {"args": [{"class_name": "__keras_tensor__", "config": {..., "keras_history": ["x", 0,
//                  0]}}],
//                   "kwargs": {}}]}, ...],
//    "input_layers": ["x", 0, 0], "output_layers": [["dense", 0, 0], ["dense_1", 0, 0]]}
#include "rewind/keras/model_config.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/layers/attention.h"
#include "rewind/keras/layers/input_layer.h"
#include "rewind/keras/layers/merging.h"
#include "rewind/keras/layers/rnn.h"
#include "rewind/keras/layers/wrappers.h"
#include "rewind/keras/operation.h"
#include "rewind/keras/registry.h"
#include "rewind/keras/sequential.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {

bool is_functional(const Layer& layer) { return layer.as_model() && layer.class_name() == "Functional"; }

namespace {

class GraphWriter {
 public:
  explicit GraphWriter(const FunctionalGraph& graph) : graph_(graph) {
    std::map<const GraphNode*, bool> inside;
    for (const auto& level : graph.nodes_by_depth())
      for (const auto& node : level) inside[node.get()] = true;
    for (const LayerRef& l : graph.operations()) {
      std::vector<std::shared_ptr<GraphNode>>& nodes = nodes_[l.state().get()];
      for (const auto& weak : l.state()->nodes)
        if (auto node = weak.lock(); node && inside.contains(node.get())) nodes.push_back(std::move(node));
      for (size_t i = 0; i < nodes.size(); ++i) number_[nodes[i].get()] = i;
    }
  }

  void write(Config* config) const {
    Config::Array layers;
    for (const LayerRef& l : graph_.operations()) {
      Config layer = serialized_layer(*l);
      layer["name"] = l.name();
      Config::Array calls;
      for (const auto& node : nodes_.at(l.state().get()))
        if (!node->is_input()) calls.push_back(call(*node));
      layer["inbound_nodes"] = std::move(calls);
      layers.push_back(std::move(layer));
    }
    (*config)["layers"] = std::move(layers);
    (*config)["input_layers"] = ends(graph_.inputs(), graph_.input_structure);
    (*config)["output_layers"] = ends(graph_.outputs(), graph_.output_structure);
  }

 private:
  Config tensor(const KerasTensor& x) const {
    Config out;
    out["class_name"] = "__keras_tensor__";
    Config& config = out["config"];
    config["shape"] = to_config(x.shape());
    config["dtype"] = to_config(x.dtype());
    config["keras_history"] = Config::Array{x.name(), number_.at(x.node().get()), x.index()};
    return out;
  }
  Config tensors(const std::vector<KerasTensor>& list, size_t begin = 0) const {
    Config::Array out;
    for (size_t i = begin; i < list.size(); ++i) out.push_back(tensor(list[i]));
    return out;
  }

  Config call(const GraphNode& node) const {
    const Layer& layer = *node.layer;
    Config::Array args;
    Config kwargs = Config::object();
    const bool recurrent =
        dynamic_cast_to<const detail::RnnLayer*>(&layer) || dynamic_cast_to<const Bidirectional*>(&layer);
    const bool joins = dynamic_cast_to<const detail::MergeLayer*>(&layer) ||
                       dynamic_cast_to<const Concatenate*>(&layer) || dynamic_cast_to<const Dot*>(&layer);
    if (const auto* operation = dynamic_cast_to<const Operation*>(&layer)) {
      args = operation_arguments(*operation, node);
    } else if (dynamic_cast_to<const MultiHeadAttention*>(&layer)) {
      for (const KerasTensor& x : node.inputs) args.push_back(tensor(x));
    } else if (recurrent) {
      args.push_back(tensor(node.inputs.at(0)));
      if (node.inputs.size() > 1) kwargs["initial_state"] = tensors(node.inputs, 1);
    } else if (const FunctionalGraph* inner = layer.as_model() ? layer.as_model()->graph() : nullptr;
               inner && inner->inputs().size() == node.inputs.size()) {
      args.push_back(structure_config(inner->input_structure, node.inputs.size(),
                                      [&](size_t i) { return tensor(node.inputs[i]); }));
    } else if (node.inputs.size() == 1 && !joins) {
      args.push_back(tensor(node.inputs[0]));
    } else {
      args.push_back(tensors(node.inputs));
    }
    add_flags(layer, node, &kwargs);
    Config out;
    out["args"] = std::move(args);
    out["kwargs"] = std::move(kwargs);
    return out;
  }

  void add_flags(const Layer& layer, const GraphNode& node, Config* kwargs) const {
    const CallArgs& args = node.args;
    for (const MaskInput& m : node.masks) {
      if (!m.in_list) {
        (*kwargs)[m.name] = tensor(m.tensor);
        continue;
      }
      Config::Array list(node.inputs.size());
      if (const Config* before = kwargs->find(m.name)) list = *before->list();
      list.at(m.input) = tensor(m.tensor);
      (*kwargs)[m.name] = std::move(list);
    }
    if (args.mask.defined() || args.attention_mask.defined())
      fail_unimplemented("get_config",
                         "a call of layer \"" + layer.name() +
                             "\" in the model has a mask, which the config of a model cannot hold");
    if (args.training) (*kwargs)["training"] = *args.training;
    if (args.use_causal_mask) (*kwargs)["use_causal_mask"] = true;
    if (args.return_attention_scores) (*kwargs)["return_attention_scores"] = true;
  }

  Config::Array operation_arguments(const Operation& operation, const GraphNode& node) const {
    Config::Array out;
    size_t next = 0;
    for (const Tensor& fixed : operation.arguments()) {
      const size_t at = out.size();
      if (!fixed.defined()) {
        out.push_back(tensor(node.inputs.at(next++)));
      } else if (at < operation.given().size()) {
        out.push_back(operation.given()[at]);
      } else if (fixed.rank() == 0 && is_integer(fixed.dtype())) {
        out.push_back(cast(fixed, DType::kInt64).item<int64_t>());
      } else if (fixed.rank() == 0) {
        out.push_back(to_config(fixed));
      } else {
        Config value;
        value["class_name"] = "__tensor__";
        value["config"]["value"] = to_config(fixed);
        value["config"]["dtype"] = to_config(fixed.dtype());
        out.push_back(std::move(value));
      }
    }
    if (operation.class_name() == "Concatenate" || operation.class_name() == "Stack")
      out = Config::Array{Config(std::move(out))};
    out.insert(out.end(), operation.extra().begin(), operation.extra().end());
    return out;
  }

  // A functional model counts its calls from 1 here.
  Config end(const KerasTensor& x) const {
    const size_t number = number_.at(x.node().get()) + (is_functional(*x.node()->layer) ? 1 : 0);
    return Config::Array{x.name(), number, x.index()};
  }
  Config ends(const std::vector<KerasTensor>& list, const TensorStructure& structure) const {
    return structure_config(structure, list.size(), [&](size_t i) { return end(list[i]); });
  }

  const FunctionalGraph& graph_;
  std::unordered_map<const LayerState*, std::vector<std::shared_ptr<GraphNode>>> nodes_;
  std::unordered_map<const GraphNode*, size_t> number_;
};

}  // namespace

Config Model::get_config() const {
  if (behind_) return behind_->get_config();
  if (!graph_ || class_name() != "Functional") return Layer::get_config();
  Config config;
  config["name"] = name();
  config["trainable"] = trainable();
  GraphWriter(*graph_).write(&config);
  return config;
}

std::string Model::to_json() const { return to_text(serialized_layer(*this)); }

}  // namespace rw::keras
