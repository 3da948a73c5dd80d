#include "rewind/autodiff/tape.h"

#include "rewind/autodiff/grad_ops.h"
#include "rewind/base/error.h"
#include "rewind/device/memory_budget.h"
#include "rewind/runtime/history.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

namespace rw {
namespace {

bool keeps(uint32_t mask, size_t i) { return (mask >> (i < 31 ? i : 31)) & 1; }

// What gradients flow to: floats, and variants, which may be lists of them.
bool carries_gradient(DType dtype) { return is_differentiable(dtype) || dtype == DType::kVariant; }
// Resource tensors have no derivative of their own, but gradients flow to variables through their handles.
bool followable(DType dtype) { return carries_gradient(dtype) || dtype == DType::kResource; }

// A tensor whose shape cannot stand for it later: ops must be asked for its sizes.
bool shape_open(const TensorImpl& impl) {
  return impl.kind != TensorKind::kEager && !impl.shape.fully_known();
}

}  // namespace

// Gives a rule its view of one record.
class TapeGradContext final : public GradContext {
 public:
  TapeGradContext(const Tape& tape, Tape::Record& record, GradientSums& grads,
                  const std::vector<uint8_t>& needed)
      : tape_(tape),
        inputs_(record.inputs()),
        outputs_(record.outputs()),
        grads_(grads),
        needed_(needed),
        dense_(outputs_.size()),
        result(inputs_.size()) {
    op_ = record.op;
    attrs_ = &record.attrs;
  }
  int num_inputs() const override { return int(inputs_.size()); }
  int num_outputs() const override { return int(outputs_.size()); }
  const Tensor& input(int i) const override { return kept(inputs_[size_t(i)], "input", i); }
  const Tensor& output(int i) const override { return kept(outputs_[size_t(i)], "output", i); }
  const Shape& input_shape(int i) const override { return tape_.shape_of(inputs_[size_t(i)]); }
  DType input_dtype(int i) const override { return inputs_[size_t(i)].dtype(); }
  const Shape& output_shape(int i) const override { return tape_.shape_of(outputs_[size_t(i)]); }
  DType output_dtype(int i) const override { return outputs_[size_t(i)].dtype(); }
  Tensor input_shape_tensor(int i) const override { return tape_.shape_tensor(inputs_[size_t(i)]); }
  Tensor output_shape_tensor(int i) const override { return tape_.shape_tensor(outputs_[size_t(i)]); }
  const Tensor& grad(int i) override {
    Tensor& dense = dense_[size_t(i)];
    if (dense.defined()) return dense;
    const Gradient& g = raw_grad(i);
    dense = g.none() ? tape_.zeros(outputs_[size_t(i)]) : g.tensor();
    return dense;
  }
  bool has_grad(int i) const override { return !raw_grad(i).none(); }
  const Gradient& raw_grad(int i) const override {
    static const auto& none = *new Gradient;
    const int32_t n = outputs_[size_t(i)].number;
    return n < 0 ? none : std::as_const(grads_)[size_t(n)];
  }
  bool wants(int i) const override {
    const int32_t n = inputs_[size_t(i)].number;
    return n >= 0 && needed_[size_t(n)];
  }
  void set(int i, Gradient gradient) override { result[size_t(i)] = std::move(gradient); }
  Gradient* sum(int i) override { return wants(i) ? &grads_.at(size_t(inputs_[size_t(i)].number)) : nullptr; }

 private:
  const Tensor& kept(const Tape::Saved& saved, const char* what, int i) const {
    if (!saved.tensor.defined()) {
      fail_internal(
          __FILE__, __LINE__,
          ("the gradient rule of " + op_->name + " declares that it needs " + what + " " + std::to_string(i))
              .c_str());
    }
    return saved.tensor;
  }

  const Tape& tape_;
  std::span<const Tape::Saved> inputs_, outputs_;
  GradientSums& grads_;
  const std::vector<uint8_t>& needed_;
  SmallVector<Tensor, 1> dense_;

 public:
  SmallVector<Gradient, 2> result;
};

void Tape::Record::reserve(size_t values) {
  if (values <= kFew) return;
  many_ = static_cast<Saved*>(::operator new(values * sizeof(Saved)));
  room = uint32_t(values);
}

void Tape::Record::clear() {
  std::destroy_n(values(), count);
  if (room != kFew) ::operator delete(many_);
}

Tape::Tape(bool persistent, bool watch_accessed_variables)
    : persistent_(persistent),
      watch_variables_(watch_accessed_variables),
      made_at_(Trace::latest_serial()),
      line_(&history_line()) {
  open_history();
  start();
}

Tape::~Tape() {
  leave_list();
  records_.clear();
  steps_.clear();
  leave_history();
}

void Tape::leave_history() {
  if (in_history_) close_history();
  in_history_ = false;
}

void Tape::start() {
  if (recording_) return;
  depth = thread_state().depth;
  push_recorder(*this);
  recording_ = true;
}

void Tape::check_thread() const {
  if (records_elsewhere(*this))
    fail_precondition("GradientTape",
                      "the tape records the ops of another thread; call stop() on that thread before this "
                      "one uses the tape");
}

void Tape::leave_list() {
  if (!recording_) return;
  remove_recorder(*this);
  recording_ = false;
}

void Tape::stop() {
  check_thread();
  leave_list();
}

void Tape::forget() {
  reset();
  leave_history();
}

void Tape::reset() {
  check_thread();
  numbers_.clear();
  records_.clear();
  steps_.clear();
  shapes_.clear();
  shape_numbers_.clear();
  variables_.clear();
  used_ = false;
  made_at_ = Trace::latest_serial();
}

void Tape::watch(const Tensor& tensor) {
  check_thread();
  if (!tensor.defined()) fail_invalid("GradientTape.watch", "the tensor is undefined");
  if (followable(tensor.dtype()) && !follows(tensor)) numbers_.add(tensor, false);
}

void Tape::watch(const Variable& variable) {
  check_thread();
  if (follows(variable.handle())) return;
  numbers_.add(variable.handle(), false);
  variables_.push_back(variable);
}

void Tape::on_variable_read(const Variable& variable) {
  if (watch_variables_ && variable.trainable() && is_differentiable(variable.dtype())) watch(variable);
}

uint32_t Tape::shape_number(const Shape& shape) {
  if (!shapes_.empty() && shapes_[last_shape_] == shape) return last_shape_;
  size_t hash = size_t(shape.rank());
  for (const int64_t d : shape) hash = hash * 0x9E3779B97F4A7C15u + size_t(d);
  const auto [at, fresh] = shape_numbers_.try_emplace(hash, uint32_t(shapes_.size()));
  // Of two shapes with one hash the later one is listed whenever it comes.
  if (fresh || !(shapes_[at->second] == shape)) {
    at->second = uint32_t(shapes_.size());
    shapes_.push_back(shape);
  }
  RW_CHECK(shapes_.size() < size_t{1} << 24);
  return last_shape_ = at->second;
}

Tape::Saved Tape::save(const Tensor& t, int32_t number, bool keep) {
  const TensorImpl& impl = *t.impl();
  return {keep || shape_open(impl) ? t : Tensor(), number, shape_number(impl.shape), uint32_t(impl.dtype)};
}

Tensor Tape::shape_tensor(const Saved& saved) const { return shape_as_tensor(shape_of(saved), saved.tensor); }
Tensor Tape::zeros(const Saved& saved) const {
  const Shape& shape = shape_of(saved);
  return saved.tensor.defined() && (saved.dtype() == DType::kVariant || !shape.fully_known())
             ? zeros_of(saved.tensor)
             : filled(saved.dtype(), shape, 0);
}

void Tape::record(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs) {
  if (abandoned.load(std::memory_order_relaxed)) [[unlikely]]
    return forget();
  SmallVector<int32_t, 8> numbers(inputs.size());
  bool followed = false;
  for (size_t i = 0; i < inputs.size(); ++i) followed |= (numbers[i] = numbers_.of(*inputs[i])) >= 0;
  if (!followed) return;
  bool differentiable = false;
  for (const Tensor& t : outputs) differentiable |= carries_gradient(t.impl()->dtype);
  if (!differentiable) return;
  const GradientRule* rule = find_gradient(op);
  if (rule && !rule->fn) return;
  const Needs needs = rule ? rule->needs : kNeedsNothing;
  const bool names_line = !rule && thread_state().trace;  // a traced tensor knows where it was made

  Record& r = records_.emplace_back();
  r.op = &op;
  if (cpu_memory_limit() > 0) [[unlikely]]
    r.place = history_place();
  r.attrs = attrs;
  r.num_inputs = uint32_t(inputs.size());
  r.reserve(inputs.size() + outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool keep = keeps(needs.inputs, i) || (needs.last_input && i + 1 == inputs.size());
    if (needs.other) keep = numbers[1 - i] >= 0;
    r.add(save(*inputs[i], numbers[i], keep));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const DType dtype = outputs[i].impl()->dtype;
    const int32_t n = carries_gradient(dtype) ? numbers_.add(outputs[i], true) : -1;
    // Zeros like one list of several outputs take the list itself.
    const bool list = dtype == DType::kVariant && outputs.size() > 1;
    r.add(save(outputs[i], n, list || names_line || keeps(needs.outputs, i)));
  }
}

Tape::Steps* Tape::add_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  if (abandoned.load(std::memory_order_relaxed)) [[unlikely]]
    return nullptr;
  SmallVector<int32_t, 8> numbers(inputs.size());
  bool followed = false;
  for (size_t i = 0; i < inputs.size(); ++i) followed |= (numbers[i] = numbers_.of(inputs[i])) >= 0;
  if (!followed) return nullptr;
  Record& r = records_.emplace_back();
  r.num_inputs = uint32_t(inputs.size());
  r.reserve(inputs.size() + outputs.size());
  if (cpu_memory_limit() > 0) r.place = history_place();
  for (size_t i = 0; i < inputs.size(); ++i) r.add(save(inputs[i], numbers[i], false));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int32_t n = carries_gradient(outputs[i].dtype()) ? numbers_.add(outputs[i], false) : -1;
    r.add(save(outputs[i], n, false));
  }
  Steps& steps = steps_.emplace_back();
  steps.record = records_.size() - 1;
  return &steps;
}

const Tape::Steps& Tape::steps_of(size_t record) const {
  size_t low = 0, high = steps_.size();
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (steps_[middle].record <= record ? low : high) = middle;
  }
  RW_CHECK(low < steps_.size() && steps_[low].record == record);
  return steps_[low];
}

void Tape::record_custom(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                         const CustomBackward& backward) {
  if (Steps* s = add_step(inputs, outputs)) s->custom = backward;
}

void Tape::record_block(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                        const BlockBackward& backward) {
  if (Steps* s = add_step(inputs, outputs)) s->block = backward;
}

void Tape::fail_without_rule(const Record& r) {
  const Tensor& out = r.outputs()[0].tensor;
  try {
    fail_not_found("GradientTape", "op " + r.op->name +
                                       " has no gradient rule; give it one with rw::RegisterGradient(\"" +
                                       r.op->name + "\", rule), or cut it out with rw::stop_gradient");
  } catch (const Error& e) {
    throw_with_places(e, {{"at", out.defined() && is_symbol(out) ? site_of(out) : nullptr}});
  }
}

void Tape::run_backward(size_t number, GradientSums& grads, const std::vector<uint8_t>& needed) {
  Record& r = records_[number];
  bool any_grad = false;
  bool any_wanted = false;
  for (const Saved& out : r.outputs()) any_grad |= out.number >= 0 && !grads[size_t(out.number)].none();
  for (const Saved& in : r.inputs()) any_wanted |= in.number >= 0 && needed[size_t(in.number)];
  if (!any_grad || !any_wanted) return;
  if (!r.op) return run_steps(number, grads, needed);
  const GradientRule* rule = find_gradient(*r.op);
  if (!rule) fail_without_rule(r);
  TapeGradContext ctx(*this, r, grads, needed);
  rule->fn(ctx);
  for (size_t i = 0; i < r.num_inputs; ++i) add(r.inputs()[i], std::move(ctx.result[i]), grads, needed);
}

void Tape::add(const Saved& in, Gradient&& g, GradientSums& grads, const std::vector<uint8_t>& needed) {
  if (g.none() || in.number < 0 || !needed[size_t(in.number)]) return;
  Gradient& sum = grads.at(size_t(in.number));
  sum = add_gradients(std::move(sum), std::move(g));
}

void Tape::run_steps(size_t number, GradientSums& grads, const std::vector<uint8_t>& needed) {
  const Record& r = records_[number];
  const Steps& steps = steps_of(number);
  SmallVector<Gradient, 2> out;
  for (const Saved& o : r.outputs()) out.push_back(o.number >= 0 ? grads[size_t(o.number)] : Gradient());
  if (steps.block) {
    SmallVector<Gradient*, 8> sums;
    for (const Saved& in : r.inputs())
      sums.push_back(in.number >= 0 && needed[size_t(in.number)] ? &grads.at(size_t(in.number)) : nullptr);
    steps.block({out.data(), out.size()}, {sums.data(), sums.size()});
    return;
  }
  std::vector<Gradient> in = steps.custom({out.data(), out.size()});
  if (in.size() != r.num_inputs) {
    fail_invalid("custom_gradient", "the gradient function must return one gradient per input: it returned " +
                                        std::to_string(in.size()) + " for " + std::to_string(r.num_inputs) +
                                        " inputs");
  }
  for (size_t i = 0; i < in.size(); ++i) add(r.inputs()[i], std::move(in[i]), grads, needed);
}

void Tape::check_asked_once() const {
  bool in_loop = false;
  for (const Trace* t = current_trace(); t && t->serial() > made_at_; t = t->outer()) in_loop |= t->repeats;
  if (!used_ && !in_loop) return;
  try {
    fail_precondition(
        "GradientTape",
        used_ ? "a tape gives gradients once; make it with {.persistent = true} to ask again"
              : "a tape gives gradients once, and this loop asks one from outside of it in every iteration; "
                "make the tape inside of the loop's body, or with {.persistent = true}");
  } catch (const Error& e) {
    if (Trace* const trace = current_trace()) throw_with_places(e, {{"at", trace->site_here()}});
    throw;
  }
}

std::vector<Gradient> Tape::gradient(std::span<const Tensor> targets, std::span<const Tensor> sources,
                                     std::span<const Tensor> output_gradients,
                                     std::span<const Gradient> sums) {
  check_thread();
  if (!persistent_) check_asked_once();
  if (!output_gradients.empty() && output_gradients.size() != targets.size()) {
    fail_invalid("GradientTape", "output_gradients must hold one tensor per target: got " +
                                     std::to_string(output_gradients.size()) + " for " +
                                     std::to_string(targets.size()) + " targets");
  }
  for (size_t i = 0; i < output_gradients.size(); ++i) {
    const Tensor& g = output_gradients[i];
    if (g.defined() && !(g.shape().compatible_with(targets[i].shape()) && g.dtype() == targets[i].dtype())) {
      fail_invalid("GradientTape", "output gradient " + std::to_string(i) + " must look like its target, " +
                                       std::string(name_of(targets[i].dtype())) +
                                       targets[i].shape().to_string() + ": got " +
                                       std::string(name_of(g.dtype())) + g.shape().to_string());
    }
  }
  used_ = true;
  if (!persistent_) stop();
  const SiteScope here;

  const size_t num_values = size_t(numbers_.count());
  const size_t num_records = records_.size();
  GradientSums grads(num_values);
  std::vector<uint8_t> needed(num_values, 0);
  std::vector<int32_t> source_numbers;
  for (const Tensor& s : sources) {
    source_numbers.push_back(numbers_.of(s));
    if (source_numbers.back() < 0) continue;
    needed[size_t(source_numbers.back())] = 1;
    if (!sums.empty()) grads.at(size_t(source_numbers.back())) = sums[source_numbers.size() - 1];
  }
  const std::vector<uint8_t> is_source = needed;
  for (size_t i = 0; i < num_records; ++i) {
    const Record& r = records_[i];
    bool on_path = false;
    for (const Saved& in : r.inputs()) on_path |= in.number >= 0 && needed[size_t(in.number)];
    if (!on_path) continue;
    for (const Saved& out : r.outputs())
      if (out.number >= 0) needed[size_t(out.number)] = 1;
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    const int32_t n = numbers_.of(targets[i]);
    if (n < 0 || !needed[size_t(n)]) continue;
    const bool given = i < output_gradients.size() && output_gradients[i].defined();
    Gradient& sum = grads.at(size_t(n));
    sum = add_gradients(std::move(sum), given ? output_gradients[i] : ones_of(targets[i]));
  }
  HistoryRewind rewind(line_);
  for (size_t i = num_records; i-- > 0;) {
    Record& r = records_[i];
    rewind.to(r.place);
    run_backward(i, grads, needed);
    for (const Saved& out : r.outputs())
      if (out.number >= 0 && !is_source[size_t(out.number)]) grads.clear(size_t(out.number));
    if (persistent_) continue;
    if (!r.op) steps_.pop_back();
    records_.pop_back();
  }
  if (!persistent_) leave_history();
  std::vector<Gradient> results;
  for (const int32_t n : source_numbers) results.push_back(n < 0 ? Gradient() : grads[size_t(n)]);
  return results;
}

}  // namespace rw
