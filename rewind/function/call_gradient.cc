#include "rewind/function/call_gradient.h"

#include <algorithm>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/tape.h"
#include "rewind/base/error.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/graph/copy.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"

namespace rw {
namespace {

bool carries_gradient(const GraphValue& v) {
  return is_differentiable(v.dtype) || v.dtype == DType::kVariant;
}

// The joint trace of a graph and its derivative.
struct Joint {
  Ref<Trace> trace;
  size_t forward_nodes = 0;  // the first so many nodes are the function itself
  size_t num_inputs = 0;     // arguments: the inputs, then a gradient per entry of `gradient_of`
  std::vector<size_t> gradient_of;
  std::vector<TrainingLevel::Given> given;
  size_t num_results = 0;  // outputs: the results, then what is given
};

Joint trace_joint(const Graph& g, const std::vector<bool>& followed) {
  Joint joint;
  joint.trace = Ref<Trace>::adopt(new Trace(g.name + "_joint"));
  joint.num_inputs = g.arguments.size();
  joint.num_results = g.outputs.size();
  Trace& trace = *joint.trace;
  const TraceScope scope(trace);
  std::vector<Tensor> inputs;
  for (const ValueId a : g.arguments) {
    inputs.push_back(trace.add_argument(g.value(a).dtype, g.value(a).shape));
    trace.graph().value(trace.graph().arguments.back()).variable = g.value(a).variable;
    trace.graph().value(trace.graph().arguments.back()).known = g.value(a).known;
  }
  std::vector<Tensor> seeds;
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    if (!carries_gradient(g.value(g.outputs[i]))) continue;
    joint.gradient_of.push_back(i);
    seeds.push_back(trace.add_argument(g.value(g.outputs[i]).dtype, g.value(g.outputs[i]).shape));
  }
  Tape tape(/*persistent=*/false, /*watch_accessed_variables=*/false);
  std::vector<size_t> sources_at;
  std::vector<Tensor> sources;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!followed[i]) continue;
    tape.watch(inputs[i]);
    sources_at.push_back(i);
    sources.push_back(inputs[i]);
  }
  std::vector<Tensor> results = replay(g, inputs);
  const size_t forward_end = trace.mark();
  std::vector<Tensor> targets;
  for (const size_t i : joint.gradient_of) targets.push_back(results[i]);
  std::vector<Gradient> grads = tape.gradient(targets, sources, seeds);
  for (size_t i = 0; i < grads.size(); ++i) {
    if (grads[i].none()) continue;
    const IndexedSlices* slices = grads[i].slices();
    joint.given.push_back({sources_at[i], slices != nullptr});
    if (!slices) results.push_back(grads[i].tensor());
    else
      for (const Tensor& t : {slices->values, slices->indices, slices->dense_shape}) results.push_back(t);
  }
  trace.finish(results);
  joint.forward_nodes = trace.position(forward_end);
  return joint;
}

// Cuts a joint trace into what runs forward and what runs backward.
TrainingLevel cut(const Joint& joint, const ConcreteFunction& f) {
  size_t forward_nodes = joint.forward_nodes;
  const Graph j = redraw(*joint.trace->graph_ref(), {&forward_nodes, 1});
  TrainingLevel level;
  level.num_results = joint.num_results;
  level.gradient_of = joint.gradient_of;
  level.given = joint.given;

  // Values of the forward part that the backward part reads.
  std::vector<uint8_t> in_backward(j.num_values(), 0);
  std::vector<uint8_t> needed(j.num_values(), 0);
  for (size_t i = joint.num_results; i < j.outputs.size(); ++i) needed[size_t(j.outputs[i])] = 1;
  for (size_t i = j.nodes().size(); i-- > forward_nodes;) {
    const Node& n = j.nodes()[i];
    bool wanted = false;
    for (const ValueId v : n.outputs) wanted |= needed[size_t(v)] != 0;
    for (const ValueId v : n.outputs) in_backward[size_t(v)] = 1;
    if (!wanted) continue;
    for (const ValueId v : n.inputs) needed[size_t(v)] = 1;
  }
  auto forward = std::make_shared<Graph>();
  forward->name = f.name() + "_forward";
  GraphCopy to_forward(j, *forward);
  for (size_t i = 0; i < joint.num_inputs; ++i) to_forward.argument(j.arguments[i]);
  std::vector<Tensor> captures = joint.trace->captures();
  for (size_t i = joint.trace->num_arguments(); i < j.arguments.size(); ++i)
    to_forward.argument(j.arguments[i]);
  for (size_t i = 0; i < forward_nodes; ++i) to_forward.node(NodeId(i));
  for (size_t i = 0; i < joint.num_results; ++i) forward->outputs.push_back(to_forward[j.outputs[i]]);

  auto backward = std::make_shared<Graph>();
  backward->name = f.name() + "_backward";
  GraphCopy to_backward(j, *backward);
  for (size_t i = joint.num_inputs; i < joint.trace->num_arguments(); ++i)
    to_backward.argument(j.arguments[i]);
  std::vector<int64_t> argument_at(j.num_values(), -1);
  for (size_t i = 0; i < j.arguments.size(); ++i) argument_at[size_t(j.arguments[i])] = int64_t(i);
  for (size_t v = 0; v < j.num_values(); ++v) {
    if (!needed[v] || in_backward[v] || to_backward.has(ValueId(v))) continue;
    const Node* maker = j.producer(ValueId(v));
    if (maker && maker->op->name == "Const") {
      to_backward.node(j.value(ValueId(v)).node);
      continue;
    }
    to_backward.argument(ValueId(v));
    if (argument_at[v] >= 0) {
      const size_t at = size_t(argument_at[v]);
      // Behind the inputs stand captures of the joint trace; the gradients are left out of the forward
      // function.
      level.saved.push_back({true, at < joint.num_inputs ? at : at - joint.gradient_of.size()});
    } else {
      level.saved.push_back({false, forward->outputs.size()});
      forward->outputs.push_back(to_forward[ValueId(v)]);
    }
  }
  for (size_t i = forward_nodes; i < j.nodes().size(); ++i) {
    bool wanted = false;
    for (const ValueId v : j.nodes()[i].outputs) wanted |= needed[size_t(v)] != 0;
    if (wanted) to_backward.node(NodeId(i));
  }
  for (size_t i = joint.num_results; i < j.outputs.size(); ++i)
    backward->outputs.push_back(to_backward[j.outputs[i]]);

  const size_t inputs = joint.num_inputs;
  level.forward = std::make_shared<ConcreteFunction>(forward, inputs, captures, std::vector<Variable>());
  if (!level.given.empty())
    level.backward = std::make_shared<ConcreteFunction>(backward, backward->arguments.size(),
                                                        std::vector<Tensor>(), std::vector<Variable>());
  return level;
}

Tensor zeros_for(const Tensor& like) {
  return like.shape().fully_known() && like.dtype() != DType::kVariant ? filled(like.dtype(), like.shape(), 0)
                                                                       : zeros_of(like);
}

}  // namespace

struct TrainingVariants::Levels {
  std::mutex mutex;
  std::shared_ptr<const Graph> graph;
  std::string name;
  std::vector<bool> followed;
  std::vector<std::unique_ptr<const TrainingLevel>> levels;

  // Level k, from 1.
  const TrainingLevel& level(size_t k, const ConcreteFunction& f) {
    const std::lock_guard lock(mutex);
    while (levels.size() < k) {
      const ConcreteFunction& before = levels.empty() ? f : *levels.back()->forward;
      std::vector<bool> wanted = followed;
      wanted.resize(before.graph().ir().arguments.size(), false);
      levels.push_back(
          std::make_unique<const TrainingLevel>(cut(trace_joint(before.graph().ir(), wanted), before)));
    }
    return *levels[k - 1];
  }
};

std::shared_ptr<TrainingVariants::Levels> TrainingVariants::levels_for(const ConcreteFunction&,
                                                                       const std::vector<bool>& followed) {
  const std::lock_guard lock(mutex_);
  auto& slot = by_followed_[followed];
  if (!slot) {
    slot = std::make_shared<Levels>();
    slot->followed = followed;
  }
  return slot;
}

std::vector<Tensor> TrainingVariants::call(const ConcreteFunction& f, const std::vector<Tensor>& inputs) {
  const ThreadState& state = thread_state();
  std::vector<bool> followed(inputs.size(), false);
  size_t tapes = 0;
  for (const Recorder* r = state.recorders; r; r = r->outer) {
    bool any = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (r->paused || !r->follows(inputs[i])) continue;
      followed[i] = true;
      any = true;
    }
    tapes += any;
  }
  const std::shared_ptr<Levels> levels = levels_for(f, followed);
  const ConcreteFunction& top = *levels->level(tapes, f).forward;
  std::vector<Tensor> outputs;
  {
    const StopRecording silent;
    outputs = top(inputs);
  }
  // Closures keep what they need alive: the function may be gone when the tape is asked.
  struct Call {
    std::shared_ptr<Levels> levels;
    std::shared_ptr<const ConcreteFunction> f;
    std::vector<Tensor> inputs, outputs;
    size_t tapes;
  };
  auto call = std::make_shared<Call>(Call{levels, f.shared(), inputs, outputs, tapes});
  const CustomBackward backward = [call](std::span<const Gradient> grads) {
    std::vector<Gradient> results(call->inputs.size());
    size_t last = grads.size();
    while (last > 0 && grads[last - 1].none()) --last;
    if (last == 0) return results;
    size_t k = 1;
    while (call->levels->level(k, *call->f).num_results < last) ++k;
    const TrainingLevel& level = call->levels->level(k, *call->f);
    if (!level.backward) return results;
    // Values beyond those that were kept are computed again.
    const std::vector<Tensor> again =
        k > call->tapes ? (*level.forward)(call->inputs) : std::vector<Tensor>();
    const std::vector<Tensor>& outputs = k > call->tapes ? again : call->outputs;
    std::vector<Tensor> arguments;
    for (const size_t i : level.gradient_of)
      arguments.push_back(i < grads.size() && !grads[i].none() ? grads[i].tensor() : zeros_for(outputs[i]));
    for (const TrainingLevel::Saved& s : level.saved)
      arguments.push_back(!s.input ? outputs[s.index]
                          : s.index < call->inputs.size()
                              ? call->inputs[s.index]
                              : level.forward->captured_inputs()[s.index - call->inputs.size()]);
    const std::vector<Tensor> given = (*level.backward)(arguments);
    size_t at = 0;
    for (const TrainingLevel::Given& g : level.given) {
      if (g.slices) results[g.input] = IndexedSlices{given[at], given[at + 1], given[at + 2]};
      else results[g.input] = given[at];
      at += g.slices ? 3 : 1;
    }
    return results;
  };
  for (Recorder* r = state.recorders; r; r = r->outer)
    if (!r->paused) r->record_custom(inputs, outputs, backward);
  outputs.resize(levels->level(1, f).num_results);
  return outputs;
}

}  // namespace rw
