#include "rewind/autodiff/block.h"

#include <limits>

#include "rewind/autodiff/recompute.h"
#include "rewind/autodiff/rule.h"
#include "rewind/autodiff/tape.h"
#include "rewind/base/error.h"
#include "rewind/graph/graph.h"

namespace rw {
namespace {

constexpr int32_t kKept = std::numeric_limits<int32_t>::max();

// Gradients flow from the op's outputs to its inputs.
bool is_differentiated(const Op& op) {
  const GradientRule* rule = find_gradient(op);
  return rule && rule->fn;
}

}  // namespace

bool has_effects(const Op& op, const Attrs& attrs) { return op.stateful && effects_of(op, attrs).any(); }

Unheard::Unheard() {
  const int depth = thread_state().depth;
  for (Recorder* r = thread_state().recorders; r; r = r->outer) {
    if (r->depth != depth || r->paused) continue;
    r->paused = true;
    hidden_.push_back(r);
  }
}
void Unheard::resume() {
  for (Recorder* r : hidden_) r->paused = false;
  hidden_.clear();
}
bool Unheard::follow(const Tensor& tensor) const {
  for (const Recorder* r : hidden_)
    if (r->follows(tensor)) return true;
  return false;
}

void tell_of_effect(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs) {
  const int depth = thread_state().depth;
  for (Recorder* r = thread_state().recorders; r; r = r->outer)
    if (r->depth == depth && !r->paused) r->record(op, inputs, attrs, outputs);
}

std::vector<Tensor> run_block(const Block& block, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& given) {
  std::vector<Tensor> values(block.last_use.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[size_t(block.inputs[i])] = inputs[i];
  for (size_t k = 0; k < block.steps.size(); ++k) {
    const BlockStep& step = block.steps[k];
    Tensors out;
    if (step.again) {
      std::vector<Tensor> in;
      for (const int32_t s : step.inputs) in.push_back(values[size_t(s)]);
      const std::vector<Tensor> results = (*step.again)(in);
      out = Tensors(results.begin(), results.end());
    } else {
      SmallVector<const Tensor*, 8> in;
      for (const int32_t s : step.inputs) in.push_back(&values[size_t(s)]);
      const TensorPointers pointers(in.data(), in.size());
      if (step.given < 0) {
        out = rw::apply(*step.op, pointers, step.attrs);
      } else {
        for (size_t i = 0; i < step.outputs.size(); ++i) out.push_back(given[size_t(step.given) + i]);
        tell_of_effect(*step.op, pointers, step.attrs, out);
      }
    }
    for (const int32_t s : step.inputs)
      if (block.last_use[size_t(s)] == int32_t(k)) values[size_t(s)] = Tensor();
    for (size_t i = 0; i < step.outputs.size(); ++i)
      if (block.last_use[size_t(step.outputs[i])] >= 0) values[size_t(step.outputs[i])] = std::move(out[i]);
  }
  std::vector<Tensor> results;
  for (const int32_t s : block.outputs) results.push_back(values[size_t(s)]);
  return results;
}

std::vector<Tensor> run_as_step(const BlockRun& run) {
  std::vector<Tensor> outputs;
  SmallVector<Recorder*, 4> listening;
  {
    const Unheard quiet;
    for (Recorder* r : quiet.recorders()) listening.push_back(r);
    outputs = run_block(*run.block, run.inputs, run.given);
  }
  tell_of_block({listening.data(), listening.size()}, run, outputs);
  return outputs;
}

void tell_of_block(std::span<Recorder* const> recorders, const BlockRun& run,
                   const std::vector<Tensor>& outputs) {
  const auto shared = std::make_shared<const BlockRun>(run);
  for (Recorder* r : recorders) {
    if (r->repeats()) {
      r->record_again(run.inputs, outputs, [shared](const std::vector<Tensor>& inputs) {
        return run_as_step({shared->block, inputs, shared->given});
      });
    } else {
      r->record_block(
          run.inputs, outputs, [shared](std::span<const Gradient> grads, std::span<Gradient* const> sums) {
            differentiate_block([&] { return run_block(*shared->block, shared->inputs, shared->given); },
                                shared->inputs, grads, sums);
          });
    }
  }
}

void differentiate_block(FunctionRef<std::vector<Tensor>()> run, std::span<const Tensor> inputs,
                         std::span<const Gradient> outputs, std::span<Gradient* const> sums) {
  std::vector<Tensor> sources;
  std::vector<Gradient> totals;
  std::vector<Gradient*> places;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!sums[i]) continue;
    sources.push_back(inputs[i]);
    totals.push_back(std::move(*sums[i]));
    places.push_back(sums[i]);
  }
  detail::RecomputeScope scope;
  Tape tape(/*persistent=*/false, /*watch_accessed_variables=*/false);
  for (const Tensor& t : sources) tape.watch(t);
  std::vector<Tensor> targets, seeds;
  {
    const std::vector<Tensor> results = run();
    for (size_t i = 0; i < results.size(); ++i) {
      if (outputs[i].none()) continue;
      targets.push_back(results[i]);
      seeds.push_back(outputs[i].tensor());
    }
  }
  totals = tape.gradient(targets, sources, seeds, totals);
  std::vector<Tensor> tensors;
  auto take = [&](Tensor& t) { tensors.push_back(t); };
  detail::for_each_tensor(totals, take);
  scope.finish(tensors);
  auto next = tensors.begin();
  auto put = [&](Tensor& t) { t = *next++; };
  detail::for_each_tensor(totals, put);
  for (size_t i = 0; i < places.size(); ++i) *places[i] = std::move(totals[i]);
}

BlockRecorder::BlockRecorder() {
  depth = thread_state().depth;
  push_recorder(*this);
}

void BlockRecorder::stop() {
  if (!recording_) return;
  recording_ = false;
  remove_recorder(*this);
  around_.resume();
}

void BlockRecorder::on_variable_read(const Variable& variable) {
  for (Recorder* r : around_.recorders()) r->on_variable_read(variable);
}

bool BlockRecorder::made(const Tensor& tensor) const {
  const int32_t n = numbers_.of(tensor);
  return n >= 0 && !outside_[size_t(n)].defined();
}

int32_t BlockRecorder::slot(const Tensor& tensor) {
  const int32_t known = numbers_.of(tensor);
  if (known >= 0) return known;
  outside_.push_back(tensor);
  return numbers_.add(tensor, /*fresh=*/false);
}

void BlockRecorder::record(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs) {
  const bool effect = has_effects(op, attrs);
  // No gradient flows through it: its results are like any tensor from outside.
  if (effect && !is_differentiated(op)) return;
  BlockStep& step = steps_.emplace_back();
  step.op = &op;
  step.attrs = attrs;
  for (const Tensor* t : inputs) step.inputs.push_back(slot(*t));
  for (const Tensor& t : outputs) {
    step.outputs.push_back(numbers_.add(t, /*fresh=*/true));
    outside_.emplace_back();
  }
  if (!effect) return;
  step.given = int32_t(given_.size());
  given_.insert(given_.end(), outputs.begin(), outputs.end());
}

void BlockRecorder::record_custom(std::span<const Tensor>, std::span<const Tensor>, const CustomBackward&) {
  fail_internal(__FILE__, __LINE__, "a recorder that repeats is told how to take a step again");
}

void BlockRecorder::record_again(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                                 const Again& again) {
  BlockStep& step = steps_.emplace_back();
  step.again = std::make_shared<const Again>(again);
  for (const Tensor& t : inputs) step.inputs.push_back(slot(t));
  for (const Tensor& t : outputs) {
    step.outputs.push_back(numbers_.add(t, /*fresh=*/false));
    outside_.emplace_back();
  }
}

BlockRun BlockRecorder::finish(const std::vector<Tensor>& results) {
  auto block = std::make_shared<Block>();
  std::vector<int32_t>& last_use = block->last_use;
  last_use.assign(size_t(numbers_.count()), -1);
  for (const Tensor& t : results) {
    block->outputs.push_back(numbers_.of(t));
    last_use[size_t(block->outputs.back())] = kKept;
  }
  std::vector<uint8_t> needed(steps_.size(), 0);
  for (size_t k = steps_.size(); k-- > 0;) {
    for (const int32_t s : steps_[k].outputs) needed[k] |= last_use[size_t(s)] >= 0;
    if (!needed[k]) continue;
    for (const int32_t s : steps_[k].inputs)
      if (last_use[size_t(s)] < 0) last_use[size_t(s)] = 0;
  }
  BlockRun run;
  for (size_t s = 0; s < outside_.size(); ++s) {
    if (!outside_[s].defined() || last_use[s] < 0) continue;
    block->inputs.push_back(int32_t(s));
    run.inputs.push_back(std::move(outside_[s]));
  }
  for (size_t k = 0; k < steps_.size(); ++k) {
    if (!needed[k]) continue;
    BlockStep& step = block->steps.emplace_back(std::move(steps_[k]));
    for (const int32_t s : step.inputs)
      if (last_use[size_t(s)] != kKept) last_use[size_t(s)] = int32_t(block->steps.size()) - 1;
    if (step.given < 0) continue;
    const auto first = given_.begin() + step.given;
    step.given = int32_t(run.given.size());
    run.given.insert(run.given.end(), first, first + int64_t(step.outputs.size()));
  }
  block->steps.shrink_to_fit();
  run.block = std::move(block);
  stop();
  return run;
}

}  // namespace rw
