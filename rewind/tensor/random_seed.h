// The seeds of the stateful random ops, by TensorFlow's rules: the global seed, and one for each op, which
// follows from the global one when the caller gives none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace rw {

struct OpSeeds {
  int64_t seed = 0, seed2 = 0;  // both 0: the machine decides
  bool once = false;            // no other call will have these
};

void set_global_seed(std::optional<int64_t> seed);
OpSeeds next_op_seeds(std::optional<int64_t> op_seed);

// The place in the sequence of op seeds, to go back to when ops that took seeds are thrown away.
class SeedMark {
 public:
  SeedMark();
  void go_back() const;

 private:
  std::shared_ptr<const void> place_;
};

}  // namespace rw
