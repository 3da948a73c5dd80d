// LayerRef: any layer, as models keep it: on the heap, shared by all who use it.
#pragma once

#include <concepts>
#include <memory>

#include "rewind/keras/activations.h"
#include "rewind/keras/layer.h"

namespace rw::keras {

class LayerRef {
 public:
  LayerRef() = default;
  // Takes the layer itself; a class of the user's is copied as what it is.
  template <class L>
    requires std::derived_from<std::remove_cvref_t<L>, Layer>
  LayerRef(L&& layer)  // NOLINT: lists of layers are written as they are
      : LayerRef(static_cast<const Layer&>(layer).layer_state()) {
    using Class = std::remove_cvref_t<L>;  // shared_ptr<Layer> of all: quick to compile
    if (!object_) keep(std::shared_ptr<Layer>(static_cast<Layer*>(new Class(std::forward<L>(layer)))));
  }
  LayerRef(const Activation& activation);  // NOLINT: the layer that applies it
  LayerRef(const KerasTensor& input);      // NOLINT: the layer of an Input
  // An object on the heap, which the model shares from then on.
  static LayerRef adopt(std::shared_ptr<Layer> object);
  // By a layer whose class is known only to itself.
  static LayerRef to(const Layer& layer);

  bool defined() const { return state_ != nullptr; }
  Layer& operator*() const;
  Layer* operator->() const { return &**this; }
  const std::shared_ptr<LayerState>& state() const { return state_; }
  const std::shared_ptr<Layer>& object() const { return object_; }  // null: the user's own
  const std::string& name() const;                                  // also when the object is gone
  friend bool operator==(const LayerRef& a, const LayerRef& b) { return a.state_ == b.state_; }

 private:
  explicit LayerRef(const std::shared_ptr<LayerState>& state);  // with the object that models share, if any
  void keep(std::shared_ptr<Layer> object);
  std::shared_ptr<LayerState> state_;
  std::shared_ptr<Layer> object_;
};

}  // namespace rw::keras
