// The derivative of one op along tangents comes from its gradient rule, used twice: the rule is linear in the
// output's gradient u, v = J^T u, so the gradient of v with respect to u, with t as v's own gradient, is J t.
// Elementwise ops on equal shapes have a diagonal J and need the rule only once, with t for u.
#include "rewind/autodiff/forward_accumulator.h"

#include <unordered_map>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule_call.h"
#include "rewind/autodiff/tape.h"
#include "rewind/base/error.h"
#include "rewind/runtime/variable_cell.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/thread_state.h"

namespace rw {
namespace {

// While tangents are computed only recorders outside this one listen: a tape inside differentiates the
// function, not its tangents.
class ListenOutside {
 public:
  explicit ListenOutside(const Recorder& recorder) : saved_(thread_state().recorders) {
    thread_state().recorders = recorder.outer;
  }
  ~ListenOutside() { thread_state().recorders = saved_; }

 private:
  Recorder* saved_;
};

using Backward = std::function<std::vector<Gradient>(std::span<const Gradient>)>;

// A place to differentiate J^T u at. Any u would do; ones keep rules that divide by u or take its logarithm
// on their smooth side.
Tensor some_gradient(const Tensor& output) {
  if (output.dtype() == DType::kVariant) return zeros_of(output);
  return is_differentiable(output.dtype()) ? ones_of(output) : Tensor();
}

// J t by differentiating the linear map u -> J^T u.
std::vector<Tensor> transpose_twice(const Backward& backward, std::span<const Tensor> outputs,
                                    const std::vector<Tensor>& tangents) {
  Tape tape(/*persistent=*/false, /*watch_accessed_variables=*/false);
  std::vector<Tensor> u;
  std::vector<Gradient> grads;
  for (const Tensor& o : outputs) {
    u.push_back(some_gradient(o));
    if (u.back().defined()) tape.watch(u.back());
    grads.push_back(u.back().defined() ? Gradient(u.back()) : Gradient());
  }
  const std::vector<Gradient> v = backward(grads);
  std::vector<Tensor> targets, seeds, sources;
  for (size_t i = 0; i < v.size(); ++i) {
    if (v[i].none() || !tangents[i].defined()) continue;
    targets.push_back(v[i].tensor());
    seeds.push_back(tangents[i]);
  }
  for (const Tensor& t : u)
    if (t.defined()) sources.push_back(t);
  const std::vector<Gradient> result = tape.gradient(targets, sources, seeds);
  std::vector<Tensor> out(outputs.size());
  for (size_t i = 0, k = 0; i < outputs.size(); ++i)
    if (u[i].defined()) out[i] = result[k++].tensor();
  return out;
}

}  // namespace

class ForwardRecorder final : public Recorder {
 public:
  ForwardRecorder() {
    depth = thread_state().depth;
    push_recorder(*this);
  }
  ~ForwardRecorder() override { remove_recorder(*this); }

  void set_tangent(const Tensor& primal, Tensor tangent) {
    tangents_[tensor_id(primal)] = std::move(tangent);
  }
  Tensor tangent_of(const Tensor& t) const {
    if (!has_tensor_id(t)) return {};
    const auto it = tangents_.find(tensor_id(t));
    return it == tangents_.end() ? Tensor() : it->second;
  }

  bool follows(const Tensor& t) const override { return tangent_of(t).defined(); }

  void record(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs) override {
    std::vector<Tensor> in;
    std::vector<Tensor> tangents;
    std::vector<bool> wanted;
    if (abandoned.load(std::memory_order_relaxed)) return tangents_.clear();
    if (!gather(inputs, &in, &tangents, &wanted)) return;
    bool any = false;  // comparisons and the like have no tangents
    for (const Tensor& t : outputs) any |= is_differentiable(t.dtype()) || t.dtype() == DType::kVariant;
    if (!any) return;
    const ListenOutside scope(*this);
    const std::span<const Tensor> out(outputs.data(), outputs.size());
    if (op.elementwise && same_shapes(in, wanted, outputs))
      return elementwise(op, attrs, in, tangents, outputs);
    store(outputs,
          transpose_twice(
              [&](std::span<const Gradient> u) { return call_gradient_rule(op, attrs, in, out, u, wanted); },
              out, tangents));
  }

  void record_custom(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                     const CustomBackward& backward) override {
    std::vector<const Tensor*> pointers;
    for (const Tensor& t : inputs) pointers.push_back(&t);
    std::vector<Tensor> in;
    std::vector<Tensor> tangents;
    std::vector<bool> wanted;
    if (!gather(pointers, &in, &tangents, &wanted)) return;
    const ListenOutside scope(*this);
    Tensors out(outputs.begin(), outputs.end());
    store(out, transpose_twice(backward, outputs, tangents));
  }

 private:
  bool gather(TensorPointers inputs, std::vector<Tensor>* in, std::vector<Tensor>* tangents,
              std::vector<bool>* wanted) {
    bool any = false;
    for (const Tensor* t : inputs) {
      in->push_back(*t);
      tangents->push_back(tangent_of(*t));
      wanted->push_back(tangents->back().defined());
      any |= wanted->back();
    }
    return any;
  }

  static bool same_shapes(const std::vector<Tensor>& in, const std::vector<bool>& wanted,
                          const Tensors& outputs) {
    for (size_t i = 0; i < in.size(); ++i)
      if (wanted[i] && !(in[i].shape() == outputs[0].shape() && in[i].dtype() == outputs[0].dtype()))
        return false;
    return outputs.size() == 1 && outputs[0].shape().fully_known();
  }

  void elementwise(const Op& op, const Attrs& attrs, const std::vector<Tensor>& in,
                   const std::vector<Tensor>& tangents, Tensors& outputs) {
    Gradient sum;
    for (size_t i = 0; i < in.size(); ++i) {
      if (!tangents[i].defined()) continue;
      std::vector<bool> only(in.size(), false);
      only[i] = true;
      const Gradient u(tangents[i]);
      std::vector<Gradient> g = call_gradient_rule(op, attrs, in, {outputs.data(), 1}, {&u, 1}, only);
      sum = add_gradients(std::move(sum), std::move(g[i]));
    }
    store(outputs, {sum.tensor()});
  }

  void store(Tensors& outputs, const std::vector<Tensor>& tangents) {
    for (size_t i = 0; i < outputs.size(); ++i)
      if (tangents[i].defined()) set_tangent(outputs[i], tangents[i]);
  }

  std::unordered_map<uint64_t, Tensor> tangents_;
};

namespace {

void add_primal(ForwardRecorder& r, const Tensor& primal, const Tensor& tangent) {
  if (!primal.defined()) fail_invalid("ForwardAccumulator", "a primal is an undefined tensor");
  DType dtype = primal.dtype();
  Shape shape = primal.shape();
  if (dtype == DType::kResource) {
    const VariableCell& cell = variable_of(primal.impl()->view(), "ForwardAccumulator");
    dtype = cell.dtype;
    shape = cell.shape;
  }
  if (!tangent.defined() || tangent.dtype() != dtype || !tangent.shape().compatible_with(shape)) {
    fail_invalid("ForwardAccumulator",
                 "a tangent must look like its primal, " + std::string(name_of(dtype)) + shape.to_string() +
                     ": got " +
                     (tangent.defined() ? std::string(name_of(tangent.dtype())) + tangent.shape().to_string()
                                        : "an undefined tensor"));
  }
  r.set_tangent(primal, tangent);
}

void check_counts(size_t primals, size_t tangents) {
  if (primals != tangents)
    fail_invalid("ForwardAccumulator", "there must be one tangent per primal: got " +
                                           std::to_string(tangents) + " for " + std::to_string(primals));
}

}  // namespace

void ForwardAccumulator::start(const std::vector<Tensor>& primals, const std::vector<Tensor>& tangents) {
  check_counts(primals.size(), tangents.size());
  recorder_ = std::make_unique<ForwardRecorder>();
  for (size_t i = 0; i < primals.size(); ++i) add_primal(*recorder_, primals[i], tangents[i]);
}

ForwardAccumulator::ForwardAccumulator(const std::vector<Tensor>& primals,
                                       const std::vector<Tensor>& tangents) {
  start(primals, tangents);
}
ForwardAccumulator::ForwardAccumulator(const std::vector<Variable>& primals,
                                       const std::vector<Tensor>& tangents) {
  start(structure::flatten(primals), tangents);
}
ForwardAccumulator::ForwardAccumulator(structure::Sources primals, const std::vector<Tensor>& tangents) {
  start(structure::flatten(primals), tangents);
}
ForwardAccumulator::~ForwardAccumulator() { release_recorder(std::move(recorder_)); }

Gradient ForwardAccumulator::jvp(const Tensor& target, UnconnectedGradients unconnected) const {
  if (records_elsewhere(*recorder_))
    fail_precondition("ForwardAccumulator",
                      "it listens to the ops of another thread; call jvp() on that thread");
  Tensor t = recorder_->tangent_of(target);
  if (t.defined()) return t;
  return unconnected == UnconnectedGradients::ZERO ? Gradient(zeros_of(target)) : Gradient();
}

std::vector<Gradient> ForwardAccumulator::jvp(const std::vector<Tensor>& targets,
                                              UnconnectedGradients unconnected) const {
  std::vector<Gradient> result;
  for (const Tensor& t : targets) result.push_back(jvp(t, unconnected));
  return result;
}

}  // namespace rw
