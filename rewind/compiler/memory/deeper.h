// Plans that run steps more than twice. The runs of a schedule, second runs included, are the steps of a
// problem of its own, and what they make are its blocks: a plan of that problem drops what the schedule
// keeps, and makes it again from what was kept before it.
#pragma once

#include "rewind/compiler/memory/schedule.h"

namespace rw {

PlanProblem problem_of_runs(const PlanProblem& problem, const Schedule& schedule);

// The schedule of the problem that a schedule of its runs stands for.
Schedule schedule_of_runs(const PlanProblem& problem, const Schedule& schedule, const Schedule& of_runs);

}  // namespace rw
