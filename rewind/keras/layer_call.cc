// The way of a call: cast and check the inputs, build on first use, find training flag and masks, run, note
// losses and masks.
#include "rewind/base/error_note.h"
#include "rewind/keras/call_context.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/variable_reads.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {
namespace {

std::vector<Shape> shapes_of(const std::vector<Tensor>& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

template <class T>
const T& only_one(const Layer& layer, const std::vector<T>& results) {
  if (results.size() != 1)
    fail_invalid(layer.name(), "layer \"" + layer.name() + "\" gives " + std::to_string(results.size()) +
                                   " results: call it by all(inputs)");
  return results[0];
}

// An op's complaint does not know in which layer it was called.
[[noreturn]] void throw_in_layer(const Error& error, const std::string& layer,
                                 const std::vector<Tensor>& inputs) {
  std::string received;
  for (const Tensor& x : inputs)
    received +=
        (received.empty() ? "" : ", ") + std::string(name_of(x.dtype())) + " " + x.shape().to_string();
  throw_with_note(error, "; in layer \"" + layer + "\", which received " + received, {"ayer \"", "model \""});
}

// Layers inside that build() left alone are built by a call in a trace that nobody runs.
void build_inside(const Layer& layer, const std::vector<Shape>& inputs) {
  if (!layer.layer_state()->has_unbuilt()) return;
  const auto trace = Ref<Trace>::adopt(new Trace(layer.name()));
  {
    const TraceScope scope(*trace);
    std::vector<Tensor> symbols;
    for (const Shape& shape : inputs) symbols.push_back(trace->add_argument(layer.compute_dtype(), shape));
    layer.all(symbols);
  }
  layer.layer_state()->clear_losses();
}

}  // namespace

void Layer::build_many(const std::vector<Shape>& inputs) { build(inputs.at(0)); }

Tensor Layer::call(const Tensor& input, const CallArgs& args) {
  (void)input, (void)args;
  fail_unimplemented(name(), "class " + class_name() + " has no call()");
}

std::vector<Tensor> Layer::call_many(const std::vector<Tensor>& inputs, const CallArgs& args) {
  if (inputs.size() != 1)
    fail_invalid(name(), "Layer \"" + name() + "\" expects 1 input(s), but it received " +
                             std::to_string(inputs.size()) + " input tensors");
  return {call(inputs[0], args)};
}

Tensor Layer::compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) {
  (void)inputs;
  return masks.empty() ? Tensor() : masks[0];
}

void Layer::build_here(const std::vector<Shape>& shapes) {
  const OutsideTraces outside;
  LayerState& s = *state_;
  next_weight_ = 0;
  const size_t weights = s.weights.size(), states = s.random_states.size();
  try {
    build_many(shapes);
  } catch (...) {  // a build that failed leaves nothing that the next one would make again
    if (!s.built) {
      s.weights.resize(weights);
      s.random_states.resize(states);
    }
    throw;
  }
  next_weight_ = s.weights.size();
  if (!s.built || s.build_shapes.empty()) s.build_shapes = shapes;
  find_children();
  if (s.input_shapes.empty()) s.input_shapes = shapes;
  s.built = true;
  built_here_ = true;
  tell_new_children(*this);
}

void Layer::build_for(const std::vector<Shape>& inputs) const {
  name();
  const std::shared_ptr<Layer> shared = state_->shared_object();
  Layer& target = shared ? *shared : const_cast<Layer&>(*this);
  if (target.built_here_) return;
  const std::lock_guard building(tracing_mutex());
  if (target.built_here_) return;
  {
    CallContext context;
    const CallEntry entry(context, state_.get(), {});
    target.build_here(inputs);
  }
  build_inside(target, inputs);
}

// Trainable variables that call() reads and no layer has are weights that nobody listed.
std::vector<Tensor> Layer::first_call(const std::vector<Tensor>& inputs, const CallArgs& args) {
  if (!takes_what_it_reads()) return call_many(inputs, args);
  const VariableReads reads;
  std::vector<Tensor> results = call_many(inputs, args);
  find_children();
  for (const Variable& v : reads.list())
    if (v.trainable() && !LayerState::owned(v)) state_->add_found(v);
  return results;
}

std::vector<Tensor> Layer::run(std::vector<Tensor> inputs, CallArgs args) {
  name();
  LayerState& s = *state_;
  CallContext context;
  if (context.outermost()) s.clear_losses();
  const DType compute = compute_dtype();
  args.masks.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i == 0 && args.mask.defined()) args.masks[i] = args.mask;
    if (!args.masks[i].defined()) args.masks[i] = context.mask_of(inputs[i]);
    if (is_floating(compute) && is_floating(inputs[i].dtype()) && inputs[i].dtype() != compute)
      inputs[i] = cast(inputs[i], compute);
  }
  if (!args.mask.defined() && !args.masks.empty()) args.mask = args.masks[0];
  // The first thread builds; the others wait here and find the layer built.
  std::unique_lock building(tracing_mutex(), std::defer_lock);
  if (!built_here_) building.lock();
  const auto check_inputs = [&] {
    if (s.spec.empty()) return;
    for (size_t i = 0; i < inputs.size(); ++i) s.spec.check(s.name, i, inputs[i].shape());
  };
  check_inputs();
  if (!context.stack().empty()) {
    CallContext::Entry& around = context.stack().back();
    if (!args.training) args.training = around.training;
    around.layer->add_child(state_);
  }
  const CallEntry entry(context, &s, args.training);
  if (!built_here_) {
    if (s.input_types.empty())
      for (const Tensor& t : inputs) s.input_types.push_back(t.dtype());
    build_here(shapes_of(inputs));
    check_inputs();
  }
  if (building.owns_lock()) building.unlock();
  if (!args.training) args.training = trains_unless_told();
  std::vector<Tensor> results;
  try {
    results = s.knows_output() ? call_many(inputs, args) : first_call(inputs, args);
  } catch (const InvalidArgumentError& e) { throw_in_layer(e, s.name, inputs); }
  s.note_output(results);
  if (s.activity_regularizer) {
    for (const Tensor& y : results) {
      Tensor loss = s.activity_regularizer(y);
      if (y.rank() > 0) loss = math::divide_no_nan(loss, cast(rw::shape(y)[0], loss.dtype()));
      add_loss(loss);
    }
  }
  if (supports_masking() && !results.empty() && !context.mask_of(results[0]).defined())
    context.set_mask(results[0], compute_mask(inputs, args.masks));
  return results;
}

std::vector<Tensor> Layer::invoke(const std::vector<Tensor>& inputs, const CallArgs& args) const {
  if (const auto shared = state_->shared_object()) return shared->run(inputs, args);
  return const_cast<Layer*>(this)->run(inputs, args);
}

std::vector<KerasTensor> Layer::invoke(const std::vector<KerasTensor>& inputs, const CallArgs& args) const {
  return call_with_masks(*this, inputs, args, {});
}

std::vector<KerasTensor> call_with_masks(const Layer& called, const std::vector<KerasTensor>& inputs,
                                         const CallArgs& args, const std::vector<MaskInput>& masks) {
  called.name();
  const std::lock_guard building(tracing_mutex());
  const LayerRef layer = LayerRef::to(called);
  const std::shared_ptr<LayerState> state = called.layer_state();
  auto node = std::make_shared<GraphNode>();
  // The layer runs once in a trace that nobody runs: it says shapes and types of the results.
  const auto trace = Ref<Trace>::adopt(new Trace(called.name()));
  {
    const TraceScope scope(*trace);
    std::vector<Tensor> symbols, mask_symbols;
    for (const KerasTensor& x : inputs) symbols.push_back(trace->add_argument(x.dtype(), x.shape()));
    for (const MaskInput& m : masks)
      mask_symbols.push_back(trace->add_argument(m.tensor.dtype(), m.tensor.shape()));
    for (const Tensor& y : layer->all(symbols, with_masks(args, masks, mask_symbols))) {
      node->shapes.push_back(y.shape());
      node->dtypes.push_back(y.dtype());
    }
  }
  state->clear_losses();
  node->layer = layer;
  node->inputs = inputs;
  node->args = args;
  node->masks = masks;
  node->number = state->nodes.size();
  state->nodes.push_back(node);
  std::vector<KerasTensor> results;
  for (size_t i = 0; i < node->shapes.size(); ++i) results.push_back(KerasTensor(node, i));
  return results;
}

Tensor Layer::operator()(const Tensor& input, const CallArgs& args) const {
  return only_one(*this, invoke(std::vector{input}, args));
}
Tensor Layer::operator()(const std::vector<Tensor>& inputs, const CallArgs& args) const {
  return only_one(*this, invoke(inputs, args));
}
std::vector<Tensor> Layer::all(const Tensor& input, const CallArgs& args) const {
  return invoke(std::vector{input}, args);
}
std::vector<Tensor> Layer::all(const std::vector<Tensor>& inputs, const CallArgs& args) const {
  return invoke(inputs, args);
}
KerasTensor Layer::operator()(const KerasTensor& input, const CallArgs& args) const {
  return only_one(*this, invoke(std::vector{input}, args));
}
KerasTensor Layer::operator()(const std::vector<KerasTensor>& inputs, const CallArgs& args) const {
  return only_one(*this, invoke(inputs, args));
}
std::vector<KerasTensor> Layer::all(const KerasTensor& input, const CallArgs& args) const {
  return invoke(std::vector{input}, args);
}
std::vector<KerasTensor> Layer::all(const std::vector<KerasTensor>& inputs, const CallArgs& args) const {
  return invoke(inputs, args);
}

}  // namespace rw::keras
