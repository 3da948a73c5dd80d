#include "rewind/compiler/memory/deeper.h"

namespace rw {

PlanProblem problem_of_runs(const PlanProblem& problem, const Schedule& schedule) {
  PlanProblem p;
  std::vector<int> block_of(schedule.num_versions(), -1);
  std::vector<int> place_of(problem.steps.size(), -1);  // of a step's first run
  for (size_t i = 0; i < schedule.order().size(); ++i) {
    const PlanRun& run = schedule.run(schedule.order()[i]);
    const PlanStep& step = problem.steps[size_t(run.step)];
    if (!run.again) place_of[size_t(run.step)] = int(i);
    PlanStep& s = p.steps.emplace_back();
    s.node = step.node;
    s.cost = step.cost;
    s.scratch = step.scratch;
    s.again = step.again;
    s.trims = step.trims;
    s.latest = step.latest;
    std::vector<int> read_at(run.reads.size(), -1);  // by the step's reads: the position among the run's
    for (size_t k = 0; k < run.reads.size(); ++k) {
      if (run.reads[k] < 0) continue;
      read_at[k] = int(s.reads.size());
      s.reads.push_back(block_of[size_t(run.reads[k])]);
    }
    for (size_t k = 0; k < run.writes.size(); ++k) {
      if (run.writes[k] < 0) continue;
      const PlanBlock& block = problem.blocks[size_t(step.writes[k])];
      block_of[size_t(run.writes[k])] = int(p.blocks.size());
      s.writes.push_back(int(p.blocks.size()));
      p.blocks.push_back({block.bytes, block.value, int(i), block.owned});
      if (!step.trims) continue;
      std::vector<int>& needs = s.needs.emplace_back();
      for (const int read : step.needs[k]) needs.push_back(read_at[size_t(read)]);
    }
  }
  for (PlanStep& s : p.steps)
    if (s.latest >= 0) s.latest = place_of[size_t(s.latest)];
  return p;
}

Schedule schedule_of_runs(const PlanProblem& problem, const Schedule& schedule, const Schedule& of_runs) {
  Schedule::Packed packed;
  std::vector<int> number(of_runs.num_versions(), -1);
  int next = 0;
  for (const int id : of_runs.order()) {
    const PlanRun& now = of_runs.run(id);
    const PlanRun& run = schedule.run(schedule.order()[size_t(now.step)]);
    packed.push_back(run.step);
    packed.push_back(run.again || now.again);
    auto read = now.reads.begin();
    for (const int v : run.reads) {
      const int version = v < 0 ? -1 : *read++;
      packed.push_back(version < 0 ? -1 : number[size_t(version)]);
    }
    auto write = now.writes.begin();
    for (const int v : run.writes) {
      const int version = v < 0 ? -1 : *write++;
      packed.push_back(version >= 0);
      if (version >= 0) number[size_t(version)] = next++;
    }
  }
  return {problem, packed};
}

}  // namespace rw
