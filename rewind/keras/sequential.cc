#include "rewind/keras/sequential.h"

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/keras/call_context.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/layers/input_layer.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {

struct Sequential::Chain {
  LayerRef input;  // defined: the shape is known
  std::vector<LayerRef> layers;
  std::shared_ptr<const FunctionalGraph> graph;
  std::atomic<const FunctionalGraph*> ready{nullptr};  // the graph, for threads that only call
};

Config Sequential::get_config() const {
  Config config;
  config["name"] = name();
  config["trainable"] = trainable();
  config["dtype"] = to_config(layer_state()->policy);
  Config::Array list;
  if (chain_->input.defined()) list.push_back(to_config(chain_->input));
  for (const LayerRef& l : chain_->layers) list.push_back(to_config(l));
  config["layers"] = std::move(list);
  if (chain_->graph) config["build_input_shape"] = to_config(chain_->graph->inputs()[0].shape());
  return config;
}

Sequential::Sequential(std::initializer_list<LayerRef> layers, const LayerOptions& options)
    : Sequential(std::vector<LayerRef>(layers), options) {}

Sequential::Sequential(const std::vector<LayerRef>& layers, const LayerOptions& options)
    : LayerOf(options), chain_(std::make_shared<Chain>()) {
  for (const LayerRef& l : layers) {
    if (dynamic_cast_to<const InputLayer*>(&*l) && chain_->layers.empty()) chain_->input = l;
    else chain_->layers.push_back(l);
  }
  rebuild();
}

void Sequential::rebuild() {
  const std::lock_guard building(tracing_mutex());
  LayerState& s = *layer_state();
  s.own_children = false;
  s.children.clear();
  for (const LayerRef& l : chain_->layers) {
    for (const auto& other : s.children)
      if (other->name == l->name() && other != l.state())
        fail_invalid(name(), "All layers added to a Sequential model should have unique names. Name \"" +
                                 l->name() + "\" is already the name of a layer in this model");
    s.add_child(l.state());
  }
  s.own_children = true;
  s.built = false;
  chain_->graph = nullptr;
  chain_->ready = nullptr;
  if (chain_->input.defined() && !chain_->layers.empty()) {
    const Shape shape = dynamic_cast<const InputLayer&>(*chain_->input).batch_shape();
    CallContext context;
    const CallEntry entry(context, &s, {});
    build(shape);
    s.build_shapes = {shape};
    s.built = true;
    tell_new_children(*this);
  }
}

void Sequential::add(const LayerRef& layer) {
  if (dynamic_cast_to<const InputLayer*>(&*layer)) {
    if (chain_->input.defined() || !chain_->layers.empty())
      fail_invalid(name(), "an Input can only be the first layer of a Sequential model");
    chain_->input = layer;
  } else {
    chain_->layers.push_back(layer);
  }
  rebuild();
}

void Sequential::pop() {
  if (chain_->layers.empty()) fail_invalid(name(), "There are no layers in the model.");
  chain_->layers.pop_back();
  rebuild();
}

std::vector<LayerRef> Sequential::layers() const { return chain_->layers; }
const FunctionalGraph* Sequential::graph() const { return chain_->ready; }

void Sequential::build(const Shape& input) {
  if (chain_->graph) return;
  if (chain_->layers.empty())
    fail_invalid(name(), "Sequential model " + name() +
                             " cannot be built because it has no layers. Call `model.add(layer)`.");
  if (!chain_->input.defined()) {
    const DType dtype = chain_->layers[0]->compute_dtype();
    chain_->input = InputLayer(input, {.dtype = dtype});
  }
  const KerasTensor first = dynamic_cast<const InputLayer&>(*chain_->input).output();
  KerasTensor x = first;
  for (const LayerRef& l : chain_->layers) x = (*l)(x);
  auto_name("Functional");  // the graph takes a name, as in Keras
  chain_->graph = std::make_shared<FunctionalGraph>(std::vector{first}, std::vector{x});
  chain_->ready = chain_->graph.get();
}

std::vector<Tensor> Sequential::call_many(const std::vector<Tensor>& inputs, const CallArgs& args) {
  if (!graph() && inputs.size() == 1) {  // layers came or went since it was built
    const std::lock_guard building(tracing_mutex());
    const OutsideTraces outside;
    build(inputs[0].shape());
  }
  return Model::call_many(inputs, args);
}

}  // namespace rw::keras
