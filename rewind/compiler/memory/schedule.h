// A schedule of a graph's steps in which steps may run again, so that blocks need not live from their first
// use to their last. Each run of a step makes new versions of its blocks; a version lives from its maker to
// its last reader.
#pragma once

#include <vector>

#include "rewind/compiler/memory/problem.h"
#include "rewind/compiler/memory/replay.h"

namespace rw {

struct PlanVersion {
  int block = -1;
  int maker = -1;          // run
  std::vector<int> users;  // runs, in order
};

struct PlanRun {
  int step = -1;
  bool again = false;
  std::vector<int> reads;   // versions, as the step's reads; -1 where a trimmed run needs none
  std::vector<int> writes;  // versions, as the step's writes; -1 where a trimmed run leaves it out
};

class Schedule {
 public:
  explicit Schedule(const PlanProblem& problem);
  // These runs in this order; each reads the last version of a block before it.
  Schedule(const PlanProblem& problem, const std::vector<PlannedRun>& runs);

  // The same schedule in few bytes, for lists of many: by run in order its step, whether it runs again, the
  // versions it reads, and whether it makes each of the step's blocks. Versions are counted as they are made.
  using Packed = std::vector<int32_t>;
  Packed pack() const;
  Schedule(const PlanProblem& problem, const Packed& packed);

  // Runs steps again until no moment needs more than `limit` bytes. False when it finds no way, or `work`
  // (steps looked at) is used up; the schedule is then good for nothing.
  bool fit(int64_t limit, int64_t* work);
  // The same with fewer second runs, where there is room to keep their results after all.
  void merge(int64_t limit);

  int64_t peak() const { return peak_; }
  double extra_cost() const { return extra_; }
  int second_runs() const { return again_; }
  // The runs in order, and what they make.
  const std::vector<int>& order() const { return order_; }
  const PlanRun& run(int i) const { return runs_[size_t(i)]; }
  const PlanVersion& version(int i) const { return versions_[size_t(i)]; }
  size_t num_versions() const { return versions_.size(); }
  // Bytes alive at each place of the order.
  const std::vector<int64_t>& live() const { return live_; }

 private:
  struct Source {
    enum Kind : uint8_t { kVersion, kJoin, kMake } kind;
    int block;
    int id;  // version, or run, or step
  };
  // A way to have a block again at some place.
  struct Remake {
    std::vector<Source> sources;
    double cost = 0;
    double penalty = 0;  // byte-places over the limit that longer lives add
    double price = 0;    // what a byte-place is worth
    int makes = 0;
    int64_t looked = 0;  // blocks asked for, also on ways that were not taken
    const Source* find(int block) const;
  };
  struct Candidate {
    int version;
    int user;  // the run behind the gap
    double score;
  };

  PlanRun& start_run(int step, bool again);
  void refresh(int64_t limit);
  int first(const PlanVersion& v) const { return pos_[size_t(v.maker)]; }
  int last(const PlanVersion& v) const { return v.users.empty() ? first(v) : pos_[size_t(v.users.back())]; }
  // Places in [from, to] where more than the limit is alive.
  int64_t over(int from, int to) const { return to < from ? 0 : over_[size_t(to) + 1] - over_[size_t(from)]; }
  int64_t bytes(int block) const { return problem_->blocks[size_t(block)].bytes; }

  bool may_run(int step, int place) const;
  // The reads (positions) that a run which makes these blocks needs.
  std::vector<int> reads_for(int step, int block) const;
  int join_at(int block, int after, int before) const;
  bool covers(int block, int place) const;
  void need(int block, int place, Remake& r) const;
  void make(int block, int place, Remake& r) const;
  bool evaluate(int version, int user, Remake* remake, double* score) const;
  void apply(int version, int user, const Remake& remake);
  int add_run(int step, int place);
  int write(int run, int block);
  void read(int run, int block, int version);
  void remove_user(int version, int run);
  void move_users(int from, int to, int from_place);

  const PlanProblem* problem_;
  std::vector<PlanRun> runs_;
  std::vector<PlanVersion> versions_;
  std::vector<std::vector<int>> versions_of_;  // by block
  std::vector<std::vector<int>> again_of_;     // by step: its second runs
  std::vector<int> order_, pos_;
  std::vector<int64_t> live_, over_;
  int64_t peak_ = 0;
  double extra_ = 0;
  int again_ = 0;
};

}  // namespace rw
