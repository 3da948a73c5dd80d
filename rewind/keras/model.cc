#include "rewind/keras/model.h"

#include <algorithm>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/keras/call_context.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/operation.h"
#include "rewind/tensor/ops/shape.h"

namespace rw::keras {
namespace {

// Inputs as a functional model takes them: a last axis of size 1 may be left out or too many. A Sequential
// model compares ranks only: which sizes matter is known to its layers.
Tensor fitted(const Tensor& x, const KerasTensor& like, const std::string& model, bool compare_sizes) {
  Shape want = like.shape();
  const Shape& have = x.shape();
  if (!have.has_rank() || !want.has_rank()) return x;
  if (want.rank() > 0)
    want.set(0, Shape::kUnknown);  // the batch size that a model was built with is no promise
  Tensor y = x;
  if (have.rank() + 1 == want.rank() && want.back() == 1) y = expand_dims(x, -1);
  else if (have.rank() == want.rank() + 1 && have.back() == 1) y = squeeze(x, {-1});
  if (compare_sizes ? y.shape().compatible_with(want) : y.rank() == want.rank()) return y;
  fail_invalid(model, "Input \"" + like.name() + "\" of model \"" + model +
                          "\" is incompatible with it: expected shape " + want.to_string() +
                          ", but received input with shape " + have.to_string());
}

}  // namespace

Model::Model(const LayerOptions& options) : Layer(options) {}
Model::Model(std::string class_name, const LayerOptions& options) : Layer(std::move(class_name), options) {}

Model::Model(const KerasTensors& inputs, const KerasTensors& outputs, const LayerOptions& options)
    : Layer("Functional", options), graph_(std::make_shared<FunctionalGraph>(inputs.list(), outputs.list())) {
  LayerState& s = *layer_state();
  for (const LayerRef& l : graph_->operations()) s.add_child(l.state());
  s.own_children = true;
  set_built();
}

static thread_local const LayerState* model_in_copy = nullptr;
Model::Copying::Copying(const Layer& model) : before(model_in_copy) {
  model_in_copy = model.layer_state().get();
}
Model::Copying::~Copying() { model_in_copy = before; }
bool Model::Copying::inside(const Layer& model) { return model_in_copy == model.layer_state().get(); }

Model Model::handle_of(const LayerRef& model) {
  auto* object = dynamic_cast_to<Model*>(&*model);
  if (!object) fail_invalid("Model", "layer \"" + model.name() + "\" is no model");
  Model handle(*object);
  handle.kept_ = model.object();
  handle.behind_ = object;
  return handle;
}

const Model& Model::object() const { return behind_ ? *behind_ : *this; }

std::shared_ptr<Layer> Model::clone() const {
  if (behind_) return kept_;
  const std::type_info* type = dynamic_type(*this);
  return type && *type == typeid(Model) ? std::make_shared<Model>(*this) : nullptr;
}

std::vector<Tensor> Model::call_many(const std::vector<Tensor>& inputs, const CallArgs& args) {
  if (behind_) return behind_->call_many(inputs, args);
  const FunctionalGraph* g = graph();
  if (!g) return Layer::call_many(inputs, args);
  if (inputs.size() != g->inputs().size())
    fail_invalid(name(), "Model \"" + name() + "\" expects " + std::to_string(g->inputs().size()) +
                             " input(s), but it received " + std::to_string(inputs.size()) +
                             " input tensors");
  std::vector<Tensor> taken;
  CallContext context;
  for (size_t i = 0; i < inputs.size(); ++i) {
    taken.push_back(fitted(inputs[i], g->inputs()[i], name(), graph_ != nullptr));
    context.set_mask(taken.back(), args.mask_of(i));
  }
  return g->run(taken);
}

// The layers inside have said it for the results.
Tensor Model::compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) {
  return behind_ ? behind_->compute_mask(inputs, masks) : Tensor();
}

std::vector<LayerRef> Model::layers() const {
  if (behind_) return behind_->layers();
  std::vector<LayerRef> list;
  if (const FunctionalGraph* g = graph()) {
    for (const LayerRef& l : g->operations())
      if (!dynamic_cast_to<const Operation*>(&*l)) list.push_back(l);
    return list;
  }
  find_children();
  for (const auto& child : layer_state()->children_now()) list.push_back(LayerRef::to(child->object()));
  return list;
}

LayerRef Model::get_layer(const std::string& name) const {
  std::string all;
  for (const LayerRef& l : layers()) {
    if (l->name() == name) return l;
    all += (all.empty() ? "" : ", ") + l->name();
  }
  fail_not_found("get_layer", "No such layer: " + name + ". Existing layers are: " + all);
}

std::vector<KerasTensor> Model::inputs() const {
  return graph() ? graph()->inputs() : std::vector<KerasTensor>();
}
std::vector<KerasTensor> Model::outputs() const {
  return graph() ? graph()->outputs() : std::vector<KerasTensor>();
}

}  // namespace rw::keras
