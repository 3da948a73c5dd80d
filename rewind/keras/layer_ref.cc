#include "rewind/keras/layer_ref.h"

#include "rewind/base/error.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/layers/activation_layers.h"

namespace rw::keras {

LayerRef::LayerRef(const std::shared_ptr<LayerState>& state)
    : state_(state), object_(state->shared_object()) {}

LayerRef::LayerRef(const Activation& activation) : LayerRef(ActivationLayer(activation)) {}

LayerRef::LayerRef(const KerasTensor& input) {
  if (!input.defined() || !input.node()->is_input())
    fail_invalid("LayerRef", "of symbolic tensors only an Input can stand in a list of layers");
  *this = input.node()->layer;
}

void LayerRef::keep(std::shared_ptr<Layer> object) {
  object->name();
  const std::lock_guard lock(state_->mutex);
  object_ = state_->shared.lock();  // another thread may have been faster
  if (object_) return;
  state_->shared = object;
  object_ = std::move(object);
}

LayerRef LayerRef::adopt(std::shared_ptr<Layer> object) {
  LayerRef ref(object->layer_state());
  if (!ref.object_) ref.keep(std::move(object));
  return ref;
}

LayerRef LayerRef::to(const Layer& layer) {
  LayerRef ref(layer.layer_state());
  if (!ref.object_)
    if (std::shared_ptr<Layer> copy = layer.clone()) ref.keep(std::move(copy));
  return ref;
}

Layer& LayerRef::operator*() const {
  if (object_) return *object_;
  if (!state_) fail_invalid("LayerRef", "expected a layer, got an empty LayerRef");
  return state_->object();
}
const std::string& LayerRef::name() const { return state_->name; }

}  // namespace rw::keras
