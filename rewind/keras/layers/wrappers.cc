#include "rewind/keras/layers/wrappers.h"

#include <algorithm>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/layers/normalization.h"
#include "rewind/keras/loading_scope.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras {
namespace {

struct BidirectionalArguments {
  using Made = Bidirectional;
  LayerRef layer;
  BidirectionalOptions options = {};
  Bidirectional make() const {
    const auto* rnn = layer.defined() ? dynamic_cast_to<const detail::RnnLayer*>(&*layer) : nullptr;
    if (!rnn) fail_invalid("from_config", "Bidirectional: the layer inside must be SimpleRNN, LSTM or GRU");
    return Bidirectional(*rnn, options);
  }
};
void fields(ConfigFields& f, BidirectionalArguments& a) {
  std::string& mode = a.options.merge_mode;
  if (f.object() && mode == "none") f.set("merge_mode", nullptr);
  else if (const Config* c = f.find("merge_mode"); c && c->is_null()) {
    f.ignore("merge_mode");
    mode = "none";
  } else f("merge_mode", mode);
  f("layer", a.layer);
  f("backward_layer", a.options.backward_layer);
}

struct TimeDistributedArguments {
  using Made = TimeDistributed;
  LayerRef layer;
  LayerOptions options = {};
  TimeDistributed make() const {
    if (!layer.defined()) fail_invalid("from_config", "TimeDistributed: there is no layer inside");
    return TimeDistributed(layer, options);
  }
};
void fields(ConfigFields& f, TimeDistributedArguments& a) { f("layer", a.layer); }

struct LambdaArguments {
  using Made = Lambda;
  Activation function;
  LambdaOptions options = {};
  Lambda make() const { return Lambda(function, options); }
};

[[noreturn]] void fail_python_code(const Config* name) {
  const LoadingScope* loading = LoadingScope::current();
  const std::string layer = "layer \"" + (name && name->text() ? *name->text() : "lambda") + "\"";
  const std::string cure =
      "; register the function in Python by keras.saving.register_keras_serializable and here by "
      "keras::saving::register_keras_serializable, or replace the layer";
  if (loading && loading->safe_mode())
    fail_invalid("from_config", layer + " is a Lambda with Python code, which safe_mode refuses" + cure);
  fail_unimplemented("from_config", layer + " is a Lambda with Python code, which cannot run here" + cure);
}

// {"module": "builtins", "class_name": "function", "config": "relu", "registered_name": "function"}
void fields(ConfigFields& f, LambdaArguments& a) {
  if (f.is_reading()) {
    const Config* function = f.find("function");
    const Config* kind = function ? function->find("class_name") : nullptr;
    if (function && (function->list() || (kind && kind->text() && *kind->text() == "__lambda__")))
      fail_python_code(f.find("name"));
    f("function", a.function);
    return f.only("arguments", Config::object());
  }
  Config function = to_config(a.function);
  if (function.text()) {
    Config whole;
    whole["module"] = "builtins";
    whole["class_name"] = "function";
    whole["config"] = function;
    whole["registered_name"] = "function";
    function = std::move(whole);
  }
  f.set("function", std::move(function));
  f.set("arguments", Config::object());
}

}  // namespace

void add_wrapper_classes(ClassRegistry& r) {
  add_class<BidirectionalArguments>(r.layers);
  add_class<TimeDistributedArguments>(r.layers);
  add_class<LambdaArguments>(r.layers);
}

// Without the prefix that the forward layer of another one has.
static std::string plain_name(const Layer& layer) {
  constexpr std::string_view kPrefix = "forward_";
  const std::string& name = layer.name();
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

Bidirectional::Bidirectional(const detail::RnnLayer& layer, const BidirectionalOptions& options)
    : LayerOf(layer_options(options)),
      forward_(layer.fresh("forward_" + plain_name(layer), false)),
      backward_(options.backward_layer.defined() ? options.backward_layer
                                                 : layer.fresh("backward_" + plain_name(layer), true)),
      merge_mode_(options.merge_mode),
      sequences_(layer.return_sequences()),
      state_(layer.return_state()) {
  const std::string modes[] = {"concat", "sum", "mul", "ave", "none"};
  if (std::find(std::begin(modes), std::end(modes), merge_mode_) == std::end(modes))
    fail_invalid("Bidirectional",
                 "merge_mode must be concat, sum, mul, ave or none: got \"" + merge_mode_ + "\"");
  const auto* back = dynamic_cast_to<const detail::RnnLayer*>(&*backward_);
  if (!back || !back->goes_backwards() || back->return_sequences() != sequences_ ||
      back->return_state() != state_)
    fail_invalid("Bidirectional", "backward_layer \"" + backward_.name() +
                                      "\" must be a recurrent layer with go_backwards, and with the "
                                      "return_sequences and return_state of the forward layer");
  // Names made of an automatic one have its number.
  forward_.state()->auto_named = layer.layer_state()->auto_named;
  if (!options.backward_layer.defined()) backward_.state()->auto_named = layer.layer_state()->auto_named;
  BidirectionalOptions both = options;
  both.backward_layer = backward_;
  set_origin(origin_of(BidirectionalArguments{forward_, both}));
  layer_state()->add_child(forward_.state());
  layer_state()->add_child(backward_.state());
  layer_state()->own_children = true;
}

void Bidirectional::build_many(const std::vector<Shape>& inputs) {
  forward_->build_for({inputs[0]});
  backward_->build_for({inputs[0]});
}

Tensor Bidirectional::compute_mask(const std::vector<Tensor>&, const std::vector<Tensor>& masks) {
  return sequences_ && !masks.empty() ? masks[0] : Tensor();
}

std::vector<Tensor> Bidirectional::call_many(const std::vector<Tensor>& inputs, const CallArgs& args) {
  const size_t half = (inputs.size() - 1) / 2;
  std::vector<Tensor> first{inputs[0]}, second{inputs[0]};
  first.insert(first.end(), inputs.begin() + 1, inputs.begin() + 1 + long(half));
  second.insert(second.end(), inputs.begin() + 1 + long(half), inputs.end());
  const CallArgs own{.mask = args.mask};
  std::vector<Tensor> a = forward_->all(first, own), b = backward_->all(second, own);
  if (sequences_) b[0] = reverse(b[0], {1});
  std::vector<Tensor> results;
  if (merge_mode_ == "concat") results = {concat({a[0], b[0]}, -1)};
  else if (merge_mode_ == "sum") results = {a[0] + b[0]};
  else if (merge_mode_ == "ave") results = {(a[0] + b[0]) / 2.0};
  else if (merge_mode_ == "mul") results = {a[0] * b[0]};
  else results = {a[0], b[0]};
  results.insert(results.end(), a.begin() + 1, a.end());
  results.insert(results.end(), b.begin() + 1, b.end());
  return results;
}

TimeDistributed::TimeDistributed(const LayerRef& layer, const LayerOptions& options)
    : LayerOf(options), layer_(layer) {
  set_origin(origin_of(TimeDistributedArguments{layer, options}));
  layer_state()->add_child(layer.state());
  layer_state()->own_children = true;
}

void TimeDistributed::build(const Shape& input) {
  if (input.rank() < 3)
    fail_invalid(name(),
                 "`TimeDistributed` Layer should be passed an input with at least 3 dimensions: layer \"" +
                     name() + "\" received input with shape " + input.to_string());
  Shape step = input;
  step.erase(1);
  layer_->build_for(step);
}

// Whether what a layer gives for one step in training depends on more than its weights and the step:
// statistics that it updates, numbers that it draws.
static bool has_steps_of_its_own(const LayerState& state) {
  if (!state.random_states.empty()) return true;
  if (auto* object = const_cast<LayerState&>(state).object_or_null();
      object && dynamic_cast_to<const BatchNormalization*>(object) && object->trainable())
    return true;
  const auto inside = state.children_now();
  return std::any_of(inside.begin(), inside.end(), [](const auto& c) { return has_steps_of_its_own(*c); });
}

// Steps are one batch where that makes no difference.
Tensor TimeDistributed::call(const Tensor& x, const CallArgs& args) {
  const int64_t steps = x.shape()[1];
  if (args.is_training() && steps > 0 && has_steps_of_its_own(*layer_.state())) {
    std::vector<Tensor> results;
    for (const Tensor& step : unstack(x, 1)) results.push_back((*layer_)(step));
    return stack(results, 1);
  }
  const Sizes sizes = sizes_of(x);
  Sizes joined{sizes[0] * sizes[1]};
  joined.insert(joined.end(), sizes.begin() + 2, sizes.end());
  const Tensor y = (*layer_)(reshape_sizes(x, joined));
  const Sizes inner = sizes_of(y);
  Sizes out{sizes[0], sizes[1]};
  out.insert(out.end(), inner.begin() + 1, inner.end());
  return reshape_sizes(y, out);
}

Lambda::Lambda(Function f, const LambdaOptions& options) : LayerOf(layer_options(options)), f_(std::move(f)) {
  set_built();
}

Lambda::Lambda(const Activation& f, const LambdaOptions& options)
    : Lambda(Function([f](const std::vector<Tensor>& x) { return f(x.at(0)); }), options) {
  set_origin(origin_of(LambdaArguments{f, options}));
}

}  // namespace rw::keras
