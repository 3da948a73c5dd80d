// Which states of a loop are kept so that it can be run through backwards. A state is what an iteration
// starts from; going back to an iteration whose state is not kept means running the loop again from one that
// is: each iteration run so is an advance.
#pragma once

#include <cstdint>
#include <vector>

namespace rw {

// The fewest advances that run through `steps` iterations backwards with room for `states` states, the first
// of all among them (Griewank's binomial schedule). The first sweep counts, up to the last iteration's state;
// the last iteration itself, which gives the loop's result, is no advance.
int64_t least_advances(int64_t steps, int64_t states);

// How many iterations behind a kept state the next one is best kept, when `steps` iterations from it on are
// to be run through backwards and there is room for `states` states, this one among them. 0: nowhere.
int64_t next_kept(int64_t steps, int64_t states);

// Decides while the loop runs forwards. A loop of known length keeps what the binomial schedule says. One of
// unknown length keeps the first state and new ones, and gives up old ones so that the later a part of the
// loop is the closer its states lie (Wang, Moin and Iaccarino's levels): at most 1.5 times the advances of
// the binomial schedule, whenever the loop ends.
class StateSchedule {
 public:
  // `steps` < 0: unknown. `states` 0: about sqrt(2 * steps), so that an iteration runs again once or twice.
  StateSchedule(int64_t steps, int64_t states);

  struct Decision {
    bool keep = false;
    int drop = -1;  // which of the kept states, in order, gives way
  };
  // What to do with the state of each iteration in turn: 0, 1, 2, ...
  Decision offer(int64_t step);
  // How many may be kept by now.
  int64_t states() const { return states_; }

 private:
  Decision online(int64_t step);

  int64_t steps_;
  int64_t states_;
  bool grows_;
  int64_t next_ = 0;         // of known length: the next step to keep
  std::vector<int> levels_;  // of the kept ones
};

}  // namespace rw
