#include "rewind/autodiff/recompute.h"

#include <variant>

#include "rewind/autodiff/block.h"
#include "rewind/autodiff/recompute_trace.h"
#include "rewind/autodiff/tape.h"
#include "rewind/tensor/ops/random.h"

namespace rw::detail {
namespace {

// What the call is to those who listen at this depth.
enum class Listeners { kNone, kTapes, kOthers };

Listeners listeners() {
  const ThreadState& state = thread_state();
  Listeners who = Listeners::kNone;
  for (const Recorder* r = state.recorders; r; r = r->outer) {
    if (r->depth != state.depth || r->paused) continue;
    if (!r->is_tape() && !r->repeats()) return Listeners::kOthers;
    who = Listeners::kTapes;
  }
  return who;
}

void watch(const std::vector<Variable>& variables) {
  const ThreadState& state = thread_state();
  for (Recorder* r = state.recorders; r; r = r->outer)
    if (auto* tape = dynamic_cast<Tape*>(r); tape && !tape->paused && tape->depth == state.depth)
      for (const Variable& v : variables) tape->watch(v);
}

}  // namespace

struct RecomputeScope::State {
  std::variant<std::monostate, BlockRecorder, StretchRecorder> recorder;
};

// Forward mode keeps nothing that could be computed again, so it hears the ops themselves. So does everybody
// in a trace of a batch, where one op is several nodes.
RecomputeScope::RecomputeScope(const CheckpointOptions& options) {
  watch(options.watch_vars);
  if (options.force_seed) random::set_seed(*options.force_seed);
  const ThreadState& state = thread_state();
  const Listeners who = listeners();
  if (who == Listeners::kOthers) return;
  if (state.trace) {
    if (state.depth > 0) return;
    state_ = std::make_unique<State>();
    state_->recorder.emplace<StretchRecorder>(*state.trace);
  } else if (who == Listeners::kTapes) {
    state_ = std::make_unique<State>();
    state_->recorder.emplace<BlockRecorder>();
  }
}

RecomputeScope::~RecomputeScope() = default;

void RecomputeScope::finish(std::vector<Tensor>& results) {
  if (!state_) return;
  if (auto* stretch = std::get_if<StretchRecorder>(&state_->recorder)) return stretch->finish(results);
  auto& recorder = std::get<BlockRecorder>(state_->recorder);
  std::vector<Tensor> made;
  for (const Tensor& t : results) {
    const bool carries = is_differentiable(t.dtype()) || t.dtype() == DType::kVariant;
    bool known = !carries || !recorder.made(t);
    for (const Tensor& m : made) known |= m.impl() == t.impl();
    if (!known) made.push_back(t);
  }
  SmallVector<Recorder*, 4> around;
  for (Recorder* r : recorder.around().recorders()) around.push_back(r);
  const BlockRun run = recorder.finish(made);
  bool followed = false;
  for (const Tensor& t : run.inputs)
    for (const Recorder* r : around) followed |= r->follows(t);
  if (!made.empty() && followed) tell_of_block({around.data(), around.size()}, run, made);
}

}  // namespace rw::detail
