#include "rewind/autodiff/custom_gradient.h"

#include <optional>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/effect_log.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"

namespace rw {

CustomOutputs::operator Tensor() const {
  if (list_.size() != 1)
    fail_invalid("custom_gradient",
                 "the function has " + std::to_string(list_.size()) + " outputs; index them");
  return list_[0];
}

// In a trace the gradient function becomes a graph beside its node, so that whoever runs or differentiates
// the graph later finds it.
static std::vector<Tensor> trace_custom_gradient(const std::vector<Tensor>& outputs,
                                                 const std::vector<Tensor>& inputs,
                                                 const CustomBackward& backward) {
  const auto trace = Ref<Trace>::adopt(new Trace("custom_gradient"));
  trace->part_of_outer = true;
  std::vector<int64_t> given;
  {
    const TraceScope scope(*trace);
    std::vector<Gradient> seeds;
    for (const Tensor& t : outputs) seeds.emplace_back(trace->add_argument(t.dtype(), t.shape()));
    const std::vector<Gradient> grads = backward(seeds);
    if (grads.size() != inputs.size()) {
      fail_invalid("custom_gradient",
                   "the gradient function must return one gradient per input: it returned " +
                       std::to_string(grads.size()) + " for " + std::to_string(inputs.size()) + " inputs");
    }
    std::vector<Tensor> results;
    for (size_t i = 0; i < grads.size(); ++i) {
      if (grads[i].none()) continue;
      given.push_back(int64_t(i));
      results.push_back(grads[i].tensor());
    }
    trace->finish(results);
  }
  std::vector<Tensor> values = outputs;
  values.insert(values.end(), inputs.begin(), inputs.end());
  values.insert(values.end(), trace->captures().begin(), trace->captures().end());
  std::vector<DType> types;
  for (const Tensor& t : outputs) types.push_back(t.dtype());
  const Tensors result = rw::apply(RW_OP("_CustomGradient"), values,
                                   {{"Tout", types},
                                    {"num_inputs", int64_t(inputs.size())},
                                    {"given", given},
                                    {"grad", BodyRef(trace->graph_ref())}});
  return {result.begin(), result.end()};
}

static bool will_be_repeated() {
  const ThreadState& state = thread_state();
  if (state.trace) return false;
  for (const Recorder* r = state.recorders; r; r = r->outer)
    if (r->depth == state.depth && !r->paused && r->repeats()) return true;
  return false;
}

std::vector<Tensor> apply_custom_gradient(const CustomFunction& f, const std::vector<Tensor>& inputs) {
  WithGradient result;
  const auto effects = will_be_repeated() ? std::make_shared<EffectLog>() : nullptr;
  {
    const StopRecording silent;
    std::optional<EffectScope> logged;
    if (effects) logged.emplace(*effects, /*repeat=*/false);
    result = f(inputs);
    // Outputs must be tensors of their own: one that is also an input would be its own derivative.
    for (Tensor& t : result.outputs) t = apply_one(RW_OP("Identity"), {&t});
  }
  std::vector<Tensor> all = inputs;
  for (const Variable& v : result.variables) all.push_back(v.handle());
  struct Look {
    DType dtype;
    Shape shape;
    Tensor symbol;  // where the shape alone does not say enough
  };
  std::vector<Look> looks;
  for (const Tensor& t : result.outputs) {
    const bool plain = t.shape().fully_known() && t.dtype() != DType::kVariant;
    looks.push_back({t.dtype(), t.shape(), plain ? Tensor() : t});
  }
  const CustomBackward backward = [gradient = std::move(result.gradient),
                                   looks = std::move(looks)](std::span<const Gradient> grads) {
    std::vector<Tensor> dense;
    for (size_t i = 0; i < grads.size(); ++i) {
      const Look& like = looks[i];
      if (!grads[i].none()) dense.push_back(grads[i].tensor());
      else dense.push_back(like.symbol.defined() ? zeros_of(like.symbol) : filled(like.dtype, like.shape, 0));
    }
    return gradient(dense);
  };
  if (thread_state().trace) return trace_custom_gradient(result.outputs, all, backward);
  const int depth = thread_state().depth;
  const Again again = [f, effects, count = inputs.size()](const std::vector<Tensor>& in) {
    const EffectScope given(*effects, /*repeat=*/true);
    return apply_custom_gradient(f, {in.begin(), in.begin() + int64_t(count)});
  };
  for (Recorder* r = thread_state().recorders; r; r = r->outer) {
    if (r->depth != depth || r->paused) continue;
    if (r->repeats()) r->record_again(all, result.outputs, again);
    else r->record_custom(all, result.outputs, backward);
  }
  return result.outputs;
}

}  // namespace rw
