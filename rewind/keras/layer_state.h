// What the copies of a layer share.
//
// Threads. Weights, input spec, symbolic calls and the rest of what build() makes change under
// tracing_mutex() only, and stay once `built` is true. What calls of a built layer may still add (names,
// layers inside, losses, output shapes) is guarded by `mutex`, which is a leaf: nothing is called under it.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "rewind/keras/layer.h"

namespace rw::keras {

struct GraphNode;
class Trainer;

struct LayerState {
  LayerState() = default;
  LayerState(const LayerState&) = delete;
  LayerState& operator=(const LayerState&) = delete;
  ~LayerState();

  struct Weight {
    Variable variable;
    Regularizer regularizer;
    Constraint constraint;
  };
  std::string name;
  bool auto_named = false;         // by its class, with a number
  std::string class_name;          // empty: asked of the object when it is needed first
  std::atomic<bool> named{false};  // `name` is there and stays
  std::atomic<bool> built{false};
  bool built_at_once = false;  // there is nothing to build
  bool trainable = true;
  DTypePolicy policy;
  InputSpec spec;
  Regularizer activity_regularizer;
  std::shared_ptr<const Origin> origin;               // null: of a class that does not tell its options
  std::vector<Shape> build_shapes;                    // of the inputs that it was built for
  std::vector<Weight> listed;                         // variables that are members; they come first
  std::vector<Weight> weights;                        // in the order of add_weight
  std::vector<Weight> found;                          // that call() reads and nobody owned; they come last
  std::vector<Variable> random_states;                // of its seed generators
  std::vector<std::shared_ptr<LayerState>> children;  // layers inside
  bool own_children = false;                          // a model that knows its layers: calls add none
  std::vector<std::weak_ptr<GraphNode>> nodes;        // symbolic calls
  std::vector<Shape> output_shapes;                   // of the first call
  std::vector<Shape> input_shapes;                    // for which it was built
  std::vector<DType> input_types;                     // of the call that built it, if one did

  std::shared_ptr<Trainer> trainer;  // of a model that was compiled; guarded by mutex
  std::recursive_mutex training;     // fit, evaluate and single steps take turns

  // Objects that can run the layer: the one that models share, and the user's own.
  mutable std::mutex mutex;
  std::weak_ptr<Layer> shared;
  std::vector<Layer*> objects;
  // Throws FailedPreconditionError if there is none any more.
  Layer& object();
  Layer* object_or_null();
  std::vector<Layer*> all_objects() const;
  std::shared_ptr<Layer> shared_object();

  void add_child(const std::shared_ptr<LayerState>& child);
  std::vector<std::shared_ptr<LayerState>> children_now() const;
  // Each thread has the losses of its own last call.
  void add_loss(const Tensor& loss);
  void add_weight(Weight weight);
  // Unless the layer has it already.
  void add_listed(const Variable& variable);
  void add_found(const Variable& variable);
  bool has(const Variable& variable) const;
  // Whether any layer has this variable among its weights.
  static bool owned(const Variable& variable);
  void clear_losses();
  std::vector<Tensor> own_losses() const;
  void note_output(const std::vector<Tensor>& results);
  std::vector<Shape> outputs_of_first_call() const {
    const std::lock_guard lock(mutex);
    return output_shapes;
  }
  bool knows_output() const { return knows_output_.load(std::memory_order_relaxed); }
  std::shared_ptr<Trainer> trainer_now() const;
  void set_trainable(bool value);
  void collect(std::vector<const Weight*>* trainable, std::vector<const Weight*>* all) const;
  bool has_unbuilt() const;

 private:
  std::atomic<bool> has_losses_{false};
  std::atomic<bool> knows_output_{false};
  std::vector<std::pair<std::thread::id, Tensor>> losses_;
};

// The layer as an object of checkpoints.
ObjectId layer_id(const LayerState& state);

// Keeps other threads from building while weights and layers inside are looked at; does nothing once all of
// them are there.
class BuildLock {
 public:
  explicit BuildLock(const LayerState& state);

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

}  // namespace rw::keras
