// Loops that keep some of their states, and the loops that run through them backwards: the ops _KeepingWhile
// and _BackWhile, which the compiler makes of a While and its derivative (passes/checkpoint_loops.cc).
#pragma once

#include "rewind/op/object.h"
#include "rewind/runtime/eager.h"
#include "rewind/runtime/loop_schedule.h"

namespace rw {

// What a run of a _KeepingWhile leaves behind. Its one reader uses it up.
class LoopStates final : public Object {
 public:
  using State = SmallVector<Value, 4>;
  struct Kept {
    int64_t step;
    State state;
  };

  LoopStates(int64_t steps, int64_t states) : schedule_(steps, states) {}
  std::string describe() const override;

  // Forwards: every iteration in turn, with what it starts from.
  void offer(int64_t step, const State& state);
  // Backwards: what iteration `step` starts from, from the last one down to 0. advance(state, step) runs an
  // iteration of the loop.
  template <class Advance>
  State take(int64_t step, Advance advance) {
    if (step == last_) {
      if (kept_.back().step == step) kept_.pop_back();
      return std::move(last_state_);
    }
    while (true) {
      const int64_t from = kept_.back().step;
      State state = kept_.back().state;
      if (from == step) {
        kept_.pop_back();
        return state;
      }
      const int64_t ahead = next_kept(step - from + 1, schedule_.states() - int64_t(kept_.size()) + 1);
      const int64_t to = ahead > 0 ? from + ahead : step;
      for (int64_t i = from; i < to; ++i) advance(state, i);
      if (ahead == 0) return state;
      kept_.push_back({to, std::move(state)});
    }
  }
  int64_t steps() const { return last_ + 1; }

  // What effects gave in each iteration.
  void give(State values) { given_.push_back(std::move(values)); }
  std::span<const Value> given(int64_t step) const {
    if (given_.empty()) return {};
    return {given_[size_t(step)].data(), given_[size_t(step)].size()};
  }
  void forget_given(int64_t step) {
    if (!given_.empty()) given_.resize(size_t(step));
  }

 private:
  StateSchedule schedule_;
  std::vector<Kept> kept_;
  std::vector<State> given_;
  int64_t last_ = -1;
  State last_state_;  // of the last iteration: the backward loop begins with it
};

void register_checkpointed_loop_kernels();

}  // namespace rw
