// Layers and models as checkpoints see them: the attributes of Keras' classes, by their names there.
//
// A model made from symbolic tensors has its layers in the list _operations, a Sequential one behind
// _functional; both have a few empty lists besides, since Keras' objects have them. Layers of the user's own
// have their members by the names in RW_TRACK. Keras keeps metrics and seed generators out of checkpoints,
// and so are they here.
#include <algorithm>
#include <map>

#include "rewind/base/dynamic_type.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/model.h"
#include "rewind/keras/operation.h"
#include "rewind/keras/sequential.h"
#include "rewind/keras/trainer.h"

namespace rw::keras {
namespace {

using Children = std::vector<TrackableChild>;
using Kind = Trackable::Kind;

// An object that is known only by what it is part of: `part` tells the parts of one owner from each other.
class Part final : public Trackable {
 public:
  Part(const void* owner, size_t part, std::string what, Children children)
      : id_{"keras part", uint64_t(reinterpret_cast<uintptr_t>(owner)) + part},
        what_(std::move(what)),
        children_(std::move(children)) {}
  ObjectId id() const override { return id_; }
  Children children(TrackFor) const override { return children_; }
  std::string describe() const override { return what_; }

 private:
  ObjectId id_;
  std::string what_;
  Children children_;
};

// Addresses within an object stand for lists that it does not have.
TrackablePtr empty_container(Kind kind, const void* owner, size_t part) {
  return make_container(kind, static_cast<const char*>(owner) + part, {});
}

Children functional_children(const FunctionalGraph& graph) {
  Children list;
  size_t part = 1;
  for (const char* name : {"_tracked", "_inbound_nodes", "_outbound_nodes", "_losses", "_losses_override",
                           "call_signature_parameters"})
    list.push_back({name, empty_container(Kind::kList, &graph, part++)});
  list.push_back({"_call_has_context_arg", empty_container(Kind::kDict, &graph, part++)});
  Children operations;
  const std::vector<LayerRef>& layers = graph.operations();
  for (size_t i = 0; i < layers.size(); ++i)
    if (!dynamic_cast_to<const Operation*>(&*layers[i]))
      operations.push_back({std::to_string(i), layers[i]->trackable()});
  list.push_back({"_operations", make_container(Kind::kList, &layers, std::move(operations))});
  return list;
}

// The name that add_weight() was given: behind the layer's own in the weight's path.
std::string given_name(const Variable& weight, const std::string& layer) {
  const std::string path = weight_path(weight);
  const size_t at = ("/" + path).rfind("/" + layer + "/");
  return at == std::string::npos ? weight_name(weight) : path.substr(at + layer.size() + 1);
}

// Keras' attribute for a weight of this name.
std::string attribute_of(std::string_view class_name, const std::string& weight) {
  struct Name {
    std::string_view class_name, weight, attribute;
  };
  constexpr Name kNames[] = {
      {"Dense", "kernel", "_kernel"},          {"EinsumDense", "kernel", "_kernel"},
      {"Conv1D", "kernel", "_kernel"},         {"Conv2D", "kernel", "_kernel"},
      {"Conv3D", "kernel", "_kernel"},         {"Embedding", "embeddings", "_embeddings"},
      {"Normalization", "mean", "adapt_mean"}, {"Normalization", "variance", "adapt_variance"}};
  for (const Name& n : kNames)
    if (n.class_name == class_name && n.weight == weight) return std::string(n.attribute);
  return weight;
}

// Objects that are layers in Keras and only weights here: what the weights' names have in front of "/", the
// attribute, and the class, which the layer makes unbuilt at once or when it is built.
struct InnerLayer {
  const char *prefix, *attribute, *class_name;
  bool at_once;
};
std::vector<InnerLayer> inner_layers(const std::string& class_name) {
  if (class_name == "SimpleRNN") return {{"simple_rnn_cell", "cell", "SimpleRNNCell", true}};
  if (class_name == "LSTM") return {{"lstm_cell", "cell", "LSTMCell", true}};
  if (class_name == "GRU") return {{"gru_cell", "cell", "GRUCell", true}};
  if (class_name == "MultiHeadAttention")
    return {{"query", "_query_dense", "EinsumDense", false},
            {"key", "_key_dense", "EinsumDense", false},
            {"value", "_value_dense", "EinsumDense", false},
            {"-", "_softmax", "Softmax", false},
            {"-", "_dropout_layer", "Dropout", false},
            {"attention_output", "_output_dense", "EinsumDense", false}};
  return {};
}

// The attributes of layers that a built-in class keeps.
std::vector<const char*> layer_attributes(const std::string& class_name) {
  if (class_name == "Bidirectional") return {"forward_layer", "backward_layer"};
  if (class_name == "TimeDistributed") return {"layer"};
  return {};
}

class LayerView final : public Trackable {
 public:
  explicit LayerView(std::shared_ptr<LayerState> state) : state_(std::move(state)) {}
  ObjectId id() const override { return layer_id(*state_); }
  std::weak_ptr<const void> life() const override { return state_; }
  std::string describe() const override { return "layer " + state_->name; }
  const Module* module() const override { return state_->object_or_null(); }

  Children children(TrackFor purpose) const override {
    const BuildLock lock(*state_);
    Children list;
    const Layer* object = state_->object_or_null();
    const Model* model = object ? object->as_model() : nullptr;
    const FunctionalGraph* graph = model ? model->graph() : nullptr;
    const bool is_sequential = object && dynamic_cast_to<const Sequential*>(object);
    const std::shared_ptr<Trainer> trainer = state_->trainer_now();
    const bool compiled = trainer && trainer->compiled;
    if (compiled && trainer->compiled_unbuilt) add_trainer(*trainer, &list);
    if (graph && is_sequential)
      list.push_back({"_functional", std::make_shared<Part>(graph, 0, "layers of model " + state_->name,
                                                            functional_children(*graph))});
    else if (graph) list = functional_children(*graph);
    add_members(purpose, &list);
    add_weights(&list);
    if (!graph && !is_sequential) add_layers(&list);
    if (compiled && !trainer->compiled_unbuilt) add_trainer(*trainer, &list);
    return list;
  }

 private:
  static bool is_kept(const Trackable& object) {
    const std::string_view family = object.id().family;
    return family != "metric" && family != "seed generator";
  }
  static bool has(const Children& list, const ObjectId& id) {
    return std::any_of(list.begin(), list.end(), [&](const TrackableChild& c) {
      if (c.object->id() == id) return true;
      const bool is_list = c.object->kind() != Kind::kObject && c.object->kind() != Kind::kVariable;
      return is_list && has(c.object->children(TrackFor::kCheckpoint), id);
    });
  }

  void add_trainer(const Trainer& trainer, Children* list) const {
    list->push_back({"optimizer", trackable_of(trainer.options.optimizer)});
    list->push_back({"_compiled_trainable_state", empty_container(Kind::kDict, state_.get(), 1)});
  }

  // Copies that were made before the layer was built have fewer members.
  void add_members(TrackFor, Children* list) const {
    Children most;
    for (Layer* object : state_->all_objects()) {
      ChildCollector collector(ChildCollector::Want::kObjects);
      object->visit_members(collector);
      if (Children found = collector.take_objects(); found.size() > most.size()) most.swap(found);
    }
    for (TrackableChild& c : most)
      if (is_kept(*c.object)) list->push_back(std::move(c));
  }

  void add_weights(Children* list) const {
    const std::vector<InnerLayer> inner = inner_layers(state_->class_name);
    std::map<std::string, Children> of_inner;  // by prefix
    for (const auto* weights : {&state_->listed, &state_->weights, &state_->found})
      for (const LayerState::Weight& w : *weights) {
        const TrackablePtr object = rw::trackable_of(w.variable);
        if (has(*list, object->id())) continue;
        const std::string name = given_name(w.variable, state_->name);
        const size_t slash = name.find('/');
        const auto it = std::find_if(inner.begin(), inner.end(), [&](const InnerLayer& i) {
          return slash != std::string::npos && name.substr(0, slash) == i.prefix;
        });
        if (it == inner.end()) list->push_back({attribute_of(state_->class_name, name), object});
        else of_inner[it->prefix].push_back({attribute_of(it->class_name, name.substr(slash + 1)), object});
      }
    size_t part = 2;
    for (const InnerLayer& i : inner)
      if (i.at_once || state_->built)
        list->push_back({i.attribute, std::make_shared<Part>(state_.get(), part++,
                                                             i.class_name + (" of layer " + state_->name),
                                                             of_inner[i.prefix])});
    // A stateful recurrent layer.
    Children states;
    for (const Variable& v : state_->random_states)
      if (weight_name(v).starts_with("rnn_state"))
        states.push_back({std::to_string(states.size()), rw::trackable_of(v)});
    if (!states.empty())
      list->push_back({"states", make_container(Kind::kList, &state_->random_states, std::move(states))});
  }

  void add_layers(Children* list) const {
    const std::vector<const char*> names = layer_attributes(state_->class_name);
    const auto layers = state_->children_now();
    for (size_t i = 0; i < layers.size(); ++i) {
      const TrackablePtr object = std::make_shared<LayerView>(layers[i]);
      if (!has(*list, object->id())) list->push_back({i < names.size() ? names[i] : layers[i]->name, object});
    }
  }

  std::shared_ptr<LayerState> state_;
};

}  // namespace

ObjectId layer_id(const LayerState& state) {
  return {"layer", uint64_t(reinterpret_cast<uintptr_t>(&state))};
}

TrackablePtr Layer::trackable() const {
  name();
  (void)class_name();
  return std::make_shared<LayerView>(state_);
}

void tell_new_children(const Layer& layer) {
  rw::tell_new_children(layer_id(*layer.layer_state()), [&] { return layer.trackable(); });
}

}  // namespace rw::keras
