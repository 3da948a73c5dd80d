// Schedules in which each step runs at most twice: once in its place, and once more right before the first
// late reader of a result that was not kept. A choice says which blocks are kept; the schedule follows.
#pragma once

#include <vector>

#include "rewind/base/small_vector.h"
#include "rewind/compiler/memory/problem.h"

namespace rw {

struct PlannedRun {
  int step = -1;
  bool again = false;
  std::vector<int> writes;  // of a second run: the positions among the step's writes that are wanted
};

class Replay {
 public:
  // Which readers of a block are late: those behind its longest gap, or those behind the fullest step.
  enum class Late : uint8_t { kLongestGap, kFullestStep };
  // `work` is what its searches may still cost, in steps looked at; they end early when it is used up.
  Replay(const PlanProblem& problem, Late late, int64_t* work);

  // A copy whose searches draw on another account.
  Replay with_work(int64_t* work) const {
    Replay r = *this;
    r.work_ = work;
    return r;
  }

  // Drops blocks until no moment needs more than `limit` bytes; false when that leads nowhere. Starts from
  // the choice of the last call, so ask for ever less.
  bool fit(int64_t limit);
  // Keeps only what crosses the narrow places between the early uses, one place in `spacing` steps at most,
  // as a start for tight limits.
  void keep_narrow(int spacing);
  // The most that is alive at once.
  int64_t peak() { return outcome(0).peak; }
  // Keeps again what there is room for.
  void keep_more(int64_t limit);
  // The blocks that are made again and whose keeping would save work, those first that save most for their
  // bytes; of blocks that are alike (the same part of many layers) the last made first, which go first.
  std::vector<int> rank();
  // Keeps the first of such a list, as many as there is room for; gives what the second runs then cost.
  double keep_first(const std::vector<int>& ranked, int64_t limit);
  // The runs in order.
  std::vector<PlannedRun> runs();

 private:
  struct Outcome {
    double cost = 0;    // of second runs
    double excess = 0;  // bytes over the limit, summed over the places
    int64_t peak = 0;
  };
  struct Life {
    int first_last = 0;                       // place of the last reader of the first version
    int second_start = -1, second_last = -1;  // places of the second version
    int first_start = 0;
  };
  struct Move {
    int block;
    bool siblings;  // also the other blocks that its step makes
    double score;
  };

  Outcome outcome(int64_t limit, std::vector<PlannedRun>* runs = nullptr);
  void touch(int block, int step);
  void remake(int block, int step);
  void place(int step, bool again);
  bool may_run(int step, int now) const;
  int fullest_step() const;
  int behind_longest_gap(size_t block) const;
  std::vector<int> remade() const;
  SmallVector<int, 4> to_drop(const Move& m) const;
  bool keep_instead(int64_t limit);

  const PlanProblem& problem_;
  int64_t* work_;
  std::vector<std::vector<int>> uses_;  // by block: steps that read it
  std::vector<int> late_from_;          // by block: the first late reader; -1 for none
  std::vector<int> last_early_;         // by block: its last reader before the late ones, or its maker
  std::vector<uint8_t> droppable_;      // by block
  std::vector<uint8_t> dropped_;        // by block
  // Of the outcome being computed.
  std::vector<Life> lives_;
  std::vector<PlannedRun>* runs_ = nullptr;
  std::vector<int64_t> live_, scratch_;  // by place
  int places_ = 0;
  double cost_ = 0;
};

}  // namespace rw
