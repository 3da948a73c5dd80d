// The pure half of the random ops: what a Philox state says, written into an output of any of the ops'
// dtypes. Element i depends on state and i alone, so threads take any part of the output.
#pragma once

#include "rewind/kernel/cpu/isa/random.h"
#include "rewind/kernel/random_streams.h"
#include "rewind/op/view.h"

namespace rw {

// Each returns false when the output's dtype is none of its own.
bool draw_uniform(const Philox& state, const View& out);  // [0, 1)
bool draw_normal(const Philox& state, const View& out);
bool draw_truncated_normal(const Philox& state, const View& out);  // normal within (-2, 2)
bool draw_full_int(const Philox& state, const View& out);          // all values of the type
// [low, high), both of the output's dtype; low < high.
bool draw_uniform_int(const Philox& state, const View& out, const View& low, const View& high);

// What two seeds of a stateless op stand for.
Philox scramble_seeds(uint64_t seed0, uint64_t seed1);

// Words one after the other, for draws that take a number of them that is not known before.
class PhiloxWords {
 public:
  explicit PhiloxWords(const Philox& state) : state_(state) {}
  uint32_t operator()();
  double unit();  // [0, 1) from two words

 private:
  static constexpr int kBlocks = 16;
  Philox state_;
  uint32_t words_[4 * kBlocks];
  int at_ = 4 * kBlocks;
};

}  // namespace rw
