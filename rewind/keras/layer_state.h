// What the copies of a layer share.
#pragma once

#include <mutex>

#include "rewind/keras/layer.h"

namespace rw::keras {

struct GraphNode;
class Trainer;

struct LayerState {
  LayerState() = default;
  LayerState(const LayerState&) = delete;
  LayerState& operator=(const LayerState&) = delete;
  ~LayerState() = default;

  struct Weight {
    Variable variable;
    Regularizer regularizer;
    Constraint constraint;
  };
  std::string name;
  bool auto_named = false;  // by its class, with a number
  std::string class_name;   // empty: asked of the object when it is needed first
  bool built = false;
  bool built_at_once = false;  // there is nothing to build
  bool trainable = true;
  DTypePolicy policy;
  InputSpec spec;
  Regularizer activity_regularizer;
  std::vector<Weight> weights;                        // in the order of add_weight
  std::vector<Variable> random_states;                // of its seed generators
  std::vector<std::shared_ptr<LayerState>> children;  // layers inside
  bool own_children = false;                          // a model that knows its layers: calls add none
  std::vector<Tensor> losses;                         // of the last call
  std::vector<std::weak_ptr<GraphNode>> nodes;        // symbolic calls
  std::vector<Shape> output_shapes;                   // of the first call

  std::shared_ptr<Trainer> trainer;  // of a model that was compiled

  // Objects that can run the layer: the one that models share, and the user's own.
  std::mutex mutex;
  std::weak_ptr<Layer> shared;
  std::vector<Layer*> objects;
  // Throws FailedPreconditionError if there is none any more.
  Layer& object();
  Layer* object_or_null();
  std::shared_ptr<Layer> shared_object();

  void add_child(const std::shared_ptr<LayerState>& child);
  void clear_losses();
  void set_trainable(bool value);
  void collect(std::vector<const Weight*>* trainable, std::vector<const Weight*>* all) const;
  bool has_unbuilt() const;
};

}  // namespace rw::keras
