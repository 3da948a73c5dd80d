#include "rewind/keras/layers/rnn.h"

#include "rewind/base/error.h"
#include "rewind/function/while_loop.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {
namespace detail {
namespace {

// Loops of at most so many known steps become straight code.
constexpr int64_t kUnrolledSteps = 32;

// Where the mask says so the new value, elsewhere the old one.
Tensor chosen(const Tensor& mask, const Tensor& now, const Tensor& before) {
  return mask.defined() ? where(expand_dims(mask, -1), now, before) : now;
}

}  // namespace

template <class O>
void RnnLayer::set(const char* layer, const char* cell, int64_t units, int64_t gates, size_t states,
                   const O& o) {
  if (units <= 0) fail_invalid(layer, "units must be a positive number: got " + std::to_string(units));
  units_ = units;
  gates_ = gates;
  states_ = states;
  cell_ = cell;
  settings_ = {.use_bias = o.use_bias,
               .kernel_initializer = o.kernel_initializer,
               .recurrent_initializer = o.recurrent_initializer,
               .bias_initializer = o.bias_initializer,
               .kernel_regularizer = o.kernel_regularizer,
               .recurrent_regularizer = o.recurrent_regularizer,
               .bias_regularizer = o.bias_regularizer,
               .activity_regularizer = o.activity_regularizer,
               .kernel_constraint = o.kernel_constraint,
               .recurrent_constraint = o.recurrent_constraint,
               .bias_constraint = o.bias_constraint,
               .dropout = o.dropout,
               .recurrent_dropout = o.recurrent_dropout,
               .seed = o.seed,
               .return_sequences = o.return_sequences,
               .return_state = o.return_state,
               .go_backwards = o.go_backwards,
               .stateful = o.stateful,
               .unroll = o.unroll,
               .zero_output_for_mask = o.zero_output_for_mask};
  set_activity_regularizer(o.activity_regularizer);
  if (o.dropout > 0 || o.recurrent_dropout > 0) random_ = add_seed_generator(o.seed);
  if (o.stateful) kept_ = std::make_shared<std::vector<Variable>>();
}

void RnnLayer::build_many(const std::vector<Shape>& inputs) {
  const Shape& input = inputs.at(0);
  const InputSpec spec{.ndim = 3};
  spec.check(name(), 0, input);
  if (input.back() < 0)
    fail_invalid(name(), "the last axis of the input of layer \"" + name() +
                             "\" must have a known size: its shape is " + input.to_string());
  kernel_ = add_weight({.name = cell_ + "/kernel",
                        .shape = {input.back(), gates_ * units_},
                        .initializer = settings_.kernel_initializer,
                        .regularizer = settings_.kernel_regularizer,
                        .constraint = settings_.kernel_constraint});
  recurrent_kernel_ = add_weight({.name = cell_ + "/recurrent_kernel",
                                  .shape = {units_, gates_ * units_},
                                  .initializer = settings_.recurrent_initializer,
                                  .regularizer = settings_.recurrent_regularizer,
                                  .constraint = settings_.recurrent_constraint});
  if (settings_.use_bias)
    bias_ = add_weight({.name = cell_ + "/bias",
                        .shape = bias_shape(),
                        .initializer = bias_initializer(),
                        .regularizer = settings_.bias_regularizer,
                        .constraint = settings_.bias_constraint});
}

void RnnLayer::reset_state() const {
  if (!kept_) fail_precondition(name(), "layer \"" + name() + "\" is not stateful: it keeps no state");
  for (const Variable& v : *kept_) v.assign(zeros(v.shape(), v.dtype()));
}

const std::vector<Variable>& RnnLayer::kept_states(int64_t batch, DType dtype) const {
  const std::lock_guard lock(tracing_mutex());
  if (batch < 0)
    fail_invalid(name(), "layer \"" + name() +
                             "\" is stateful: the size of its batches must be known, as by "
                             "Input(shape, {.batch_size = 32})");
  if (!kept_->empty() && kept_->front().shape()[0] != batch)
    fail_invalid(name(), "layer \"" + name() + "\" is stateful: it expects batches of " +
                             std::to_string(kept_->front().shape()[0]) + ", but it received one of " +
                             std::to_string(batch));
  const OutsideTraces outside;
  for (size_t i = kept_->size(); i < states_; ++i) {
    kept_->push_back(Variable(zeros({batch, units_}, dtype),
                              {.trainable = false, .name = name() + "/rnn_state_" + std::to_string(i)}));
    layer_state()->random_states.push_back(kept_->back());
  }
  return *kept_;
}

Tensor RnnLayer::compute_mask(const std::vector<Tensor>&, const std::vector<Tensor>& masks) {
  return settings_.return_sequences && !masks.empty() ? masks[0] : Tensor();
}

std::vector<Tensor> RnnLayer::call_many(const std::vector<Tensor>& inputs, const CallArgs& args) {
  const Tensor& x = inputs.at(0);
  const InputSpec spec{.ndim = 3, .axes = {{-1, kernel_.shape()[0]}}};
  spec.check(name(), 0, x.shape());
  if (inputs.size() != 1 && inputs.size() != 1 + states_)
    fail_invalid(name(), "Layer \"" + name() + "\" takes " + std::to_string(states_) +
                             " initial states behind its input, " + "but it received " +
                             std::to_string(inputs.size()) + " input tensors");
  const Sizes sizes = sizes_of(x);
  Weights w{value_of(kernel_), value_of(recurrent_kernel_), value_of(bias_), {}, {}};
  std::vector<Tensor> states(inputs.begin() + 1, inputs.end());
  if (states.empty() && kept_)
    for (const Variable& v : kept_states(x.shape()[0], x.dtype())) states.push_back(v.value());
  if (states.empty()) states.assign(states_, fill_sizes({sizes[0], Size(units_)}, constant(0.0, x.dtype())));

  // The same mask for all steps, as for the same example.
  const bool training = args.is_training();
  const int64_t masks_drawn = settings_.recurrent_dropout > 0 ? gates_ : 1;
  std::vector<Tensor> in;
  for (int64_t i = 0; training && settings_.dropout > 0 && i < masks_drawn; ++i) {
    const Tensor ones = fill_sizes({sizes[0], Size(1), sizes[2]}, constant(1.0, x.dtype()));
    in.push_back(x * random_.dropout(ones, settings_.dropout));
  }
  if (in.empty()) in.push_back(x);
  for (int64_t i = 0; training && settings_.recurrent_dropout > 0 && i < masks_drawn; ++i)
    w.noise.push_back(random_.dropout(ones_like(states[0]), settings_.recurrent_dropout));
  if (by_gate() || !w.noise.empty()) w.gates = split(w.recurrent, int(gates_), 1);

  // Products with the inputs do not wait for each other: one for all steps.
  Tensor z;
  if (in.size() == 1) {
    z = tensordot(in[0], w.kernel, 1);
  } else {
    std::vector<Tensor> products;
    const std::vector<Tensor> kernels = split(w.kernel, int(gates_), 1);
    for (size_t i = 0; i < in.size(); ++i) products.push_back(tensordot(in[i], kernels[i], 1));
    z = concat(products, -1);
  }
  if (bias_.defined()) z = z + input_bias(w);
  z = transpose(z, {1, 0, 2});  // (time, batch, gates * units)
  Tensor mask = args.mask.defined() ? transpose(args.mask) : Tensor();
  // Carried from step to step: the states, and under a mask the result, which a masked step repeats.
  std::vector<Tensor> carried = states;
  if (mask.defined()) carried.push_back(zeros_like(states[0]));
  auto next = [&](const Tensor& zt, const Tensor& mt, const std::vector<Tensor>& before) {
    std::vector<Tensor> now = step(zt, {before.begin(), before.begin() + long(states_)}, w);
    if (!mt.defined()) return now;
    const Tensor idle = settings_.zero_output_for_mask ? zeros_like(now[0]) : before.back();
    now.push_back(chosen(mt, now[0], idle));
    for (size_t i = 0; i < states_; ++i) now[i] = chosen(mt, now[i], before[i]);
    return now;
  };
  auto result = [&](const std::vector<Tensor>& now) { return mask.defined() ? now.back() : now[0]; };

  Tensor sequence;
  const int64_t time = x.shape()[1];
  if (time >= 0 && (settings_.unroll || time <= kUnrolledSteps)) {
    const std::vector<Tensor> parts = unstack(z);
    const std::vector<Tensor> masks = mask.defined() ? unstack(mask) : std::vector<Tensor>();
    std::vector<Tensor> outputs;
    for (int64_t i = 0; i < time; ++i) {
      const auto at = size_t(settings_.go_backwards ? time - 1 - i : i);
      carried = next(parts[at], mask.defined() ? masks[at] : Tensor(), carried);
      outputs.push_back(result(carried));
    }
    if (settings_.return_sequences) sequence = stack(outputs, 1);
  } else {
    const Tensor steps = sizes[1].tensor(DType::kInt32);
    const Shape element{x.shape()[0], units_};
    const TensorArray none(x.dtype(), {.size = steps, .element_shape = element});
    // A list: the gradient of what a step reads of it is one element, not all of z.
    const TensorArrayOptions per_step{
        .size = steps, .clear_after_read = false, .element_shape = {x.shape()[0], gates_ * units_}};
    const TensorArray parts = TensorArray(x.dtype(), per_step).unstack(z);
    auto body = [&](const Tensor& i, const std::vector<Tensor>& before, const TensorArray& rows) {
      const Tensor at = settings_.go_backwards ? steps - 1 - i : i;
      const std::vector<Tensor> now = next(parts.read(at), mask.defined() ? mask(at) : Tensor(), before);
      return std::tuple(i + 1, now, settings_.return_sequences ? rows.write(i, result(now)) : rows);
    };
    auto [last, final_values, rows] =
        while_loop([&](const Tensor& i, const std::vector<Tensor>&, const TensorArray&) { return i < steps; },
                   body, std::tuple(constant(0), carried, none));
    carried = final_values;
    if (settings_.return_sequences) sequence = transpose(rows.stack(), {1, 0, 2});
  }
  if (kept_) {
    const std::vector<Variable>& kept = kept_states(x.shape()[0], x.dtype());
    for (size_t i = 0; i < states_; ++i) kept[i].assign(carried[i]);
  }
  std::vector<Tensor> results{settings_.return_sequences ? sequence : result(carried)};
  if (settings_.return_state) results.insert(results.end(), carried.begin(), carried.begin() + long(states_));
  return results;
}

Tensor RnnLayer::through(const Tensor& h, const Weights& w) const {
  if (w.noise.empty()) return matmul(h, w.recurrent);
  std::vector<Tensor> products;
  for (size_t i = 0; i < w.noise.size(); ++i) products.push_back(through(h, w, i));
  return products.size() == 1 ? products[0] : concat(products, 1);
}
Tensor RnnLayer::through(const Tensor& h, const Weights& w, size_t gate) const {
  return matmul(w.noise.empty() ? h : h * w.noise[gate], w.gates[gate]);
}

template void RnnLayer::set(const char*, const char*, int64_t, int64_t, size_t, const SimpleRNNOptions&);
template void RnnLayer::set(const char*, const char*, int64_t, int64_t, size_t, const LSTMOptions&);
template void RnnLayer::set(const char*, const char*, int64_t, int64_t, size_t, const GRUOptions&);

}  // namespace detail

namespace {

template <class L, class O>
struct RnnArguments {
  using Made = L;
  int64_t units = 0;
  O options = {};
  L make() const { return L(units, options); }
};
template <class L, class O>
void fields(ConfigFields& f, RnnArguments<L, O>& a) {
  O& o = a.options;
  f("return_sequences", o.return_sequences);
  f("return_state", o.return_state);
  f("go_backwards", o.go_backwards);
  f("stateful", o.stateful);
  f("unroll", o.unroll);
  f("zero_output_for_mask", o.zero_output_for_mask);
  f("units", a.units);
  f("activation", o.activation);
  if constexpr (requires { o.recurrent_activation; }) f("recurrent_activation", o.recurrent_activation);
  f("use_bias", o.use_bias);
  f("kernel_initializer", o.kernel_initializer);
  f("recurrent_initializer", o.recurrent_initializer);
  f("bias_initializer", o.bias_initializer);
  if constexpr (requires { o.unit_forget_bias; }) f("unit_forget_bias", o.unit_forget_bias);
  f("kernel_regularizer", o.kernel_regularizer);
  f("recurrent_regularizer", o.recurrent_regularizer);
  f("bias_regularizer", o.bias_regularizer);
  f("activity_regularizer", o.activity_regularizer);
  f("kernel_constraint", o.kernel_constraint);
  f("recurrent_constraint", o.recurrent_constraint);
  f("bias_constraint", o.bias_constraint);
  f("dropout", o.dropout);
  f("recurrent_dropout", o.recurrent_dropout);
  if constexpr (requires { o.reset_after; }) f("reset_after", o.reset_after);
  // Keras' SimpleRNN does not write its seed.
  if constexpr (std::is_same_v<O, SimpleRNNOptions>) f.unless("seed", o.seed, std::optional<int64_t>());
  else f("seed", o.seed);
  f.ignore("implementation");
  f.ignore("time_major");
}

template <class L, class O>
LayerRef made_again(int64_t units, O options, const std::string& name, bool turned) {
  options.name = name;
  options.go_backwards = options.go_backwards != turned;
  options.zero_output_for_mask = options.return_sequences;
  return L(units, options);
}
}  // namespace

void add_rnn_classes(ClassRegistry& r) {
  add_class<RnnArguments<SimpleRNN, SimpleRNNOptions>>(r.layers);
  add_class<RnnArguments<LSTM, LSTMOptions>>(r.layers);
  add_class<RnnArguments<GRU, GRUOptions>>(r.layers);
}

SimpleRNN::SimpleRNN(int64_t units, const SimpleRNNOptions& options)
    : LayerOf(layer_options(options)), options_(options) {
  set("SimpleRNN", "simple_rnn_cell", units, 1, 1, options);
  set_origin(origin_of(RnnArguments<SimpleRNN, SimpleRNNOptions>{units, options}));
}
LayerRef SimpleRNN::fresh(const std::string& name, bool turned) const {
  return made_again<SimpleRNN>(units_, options_, name, turned);
}
std::vector<Tensor> SimpleRNN::step(const Tensor& z, const std::vector<Tensor>& states,
                                    const Weights& w) const {
  return {options_.activation(z + through(states[0], w))};
}

LSTM::LSTM(int64_t units, const LSTMOptions& options) : LayerOf(layer_options(options)), options_(options) {
  set("LSTM", "lstm_cell", units, 4, 2, options);
  set_origin(origin_of(RnnArguments<LSTM, LSTMOptions>{units, options}));
}
LayerRef LSTM::fresh(const std::string& name, bool turned) const {
  return made_again<LSTM>(units_, options_, name, turned);
}
// The forget gate starts open.
Initializer LSTM::bias_initializer() const {
  if (!options_.unit_forget_bias) return options_.bias_initializer;
  const Initializer rest = options_.bias_initializer;
  const int64_t units = units_;
  return [rest, units](const Shape&, DType dtype) {
    return concat({rest({units}, dtype), ones({units}, dtype), rest({2 * units}, dtype)}, 0);
  };
}
// Gates lie in the order input, forget, cell, output.
std::vector<Tensor> LSTM::step(const Tensor& z, const std::vector<Tensor>& states, const Weights& w) const {
  const std::vector<Tensor> gates = split(z + through(states[0], w), 4, 1);
  const Tensor i = options_.recurrent_activation(gates[0]);
  const Tensor f = options_.recurrent_activation(gates[1]);
  const Tensor c = f * states[1] + i * options_.activation(gates[2]);
  const Tensor o = options_.recurrent_activation(gates[3]);
  return {o * options_.activation(c), c};
}

GRU::GRU(int64_t units, const GRUOptions& options) : LayerOf(layer_options(options)), options_(options) {
  set("GRU", "gru_cell", units, 3, 1, options);
  set_origin(origin_of(RnnArguments<GRU, GRUOptions>{units, options}));
}
LayerRef GRU::fresh(const std::string& name, bool turned) const {
  return made_again<GRU>(units_, options_, name, turned);
}
// With reset_after there are biases for the inputs and for the state.
Shape GRU::bias_shape() const { return options_.reset_after ? Shape{2, 3 * units_} : Shape{3 * units_}; }
Tensor GRU::input_bias(const Weights& w) const { return options_.reset_after ? w.bias[0] : w.bias; }
// Gates lie in the order update, reset, candidate.
std::vector<Tensor> GRU::step(const Tensor& z, const std::vector<Tensor>& states, const Weights& w) const {
  const Tensor& h = states[0];
  const std::vector<Tensor> x = split(z, 3, 1);
  Tensor update, candidate;
  if (options_.reset_after) {
    Tensor inner = through(h, w);
    if (w.bias.defined()) inner = inner + w.bias[1];
    const std::vector<Tensor> r = split(inner, 3, 1);
    update = options_.recurrent_activation(x[0] + r[0]);
    candidate = options_.activation(x[2] + options_.recurrent_activation(x[1] + r[1]) * r[2]);
  } else {
    update = options_.recurrent_activation(x[0] + through(h, w, 0));
    const Tensor reset = options_.recurrent_activation(x[1] + through(h, w, 1));
    candidate = options_.activation(x[2] + through(reset * h, w, 2));
  }
  return {update * h + (1.0 - update) * candidate};
}

}  // namespace rw::keras
