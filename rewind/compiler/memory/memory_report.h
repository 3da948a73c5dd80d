// What a compiled function does with memory: the plan in words and numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rw {

struct MemoryReport {
  std::string name;    // of the function
  int64_t budget = 0;  // what was given; 0: none
  int64_t held = 0;    // by everything else when the plan was made: parameters, optimizer state, inputs
  int64_t arena = 0;   // values of the step, each at its offset, and the scratch memory of kernels
  int64_t owned = 0;   // results and other values outside the arena, at most
  int64_t predicted_peak = 0;  // held + arena + owned
  int64_t largest_live = 0;    // the most that is alive at once: the arena can be no smaller
  int64_t lower_bound = 0;     // one step's inputs and outputs: no plan needs less in arena and owned
  double extra_compute = 0;    // second runs, as a share of the step's work by the planner's model
  int second_runs = 0;

  struct Tensor {
    std::string op;     // that makes it
    std::string shape;  // with its type
    int64_t bytes = 0;
    int recomputed = 0;  // how often it is made again; 0: kept as long as somebody reads it
    std::string site;    // the user's line, where it is known
  };
  std::vector<Tensor> tensors;  // the largest first
  std::vector<Tensor> at_peak;  // what is alive at the fullest moment, the largest first

  // What is alive when, in the order in which steps run under the plan.
  struct Life {
    int first = 0, last = 0;  // steps, of num_steps
    int64_t bytes = 0;
    bool again = false;  // made by a second run
    int tensor = -1;     // in `tensors`, if it is among those
  };
  std::vector<Life> lives;
  int num_steps = 0;

  struct Point {
    int64_t budget = 0;
    double extra_compute = 0;
  };
  std::vector<Point> curve;  // all plans there are: less memory, more work

  // A loop whose backward pass computes again what it did not keep. `arena` holds none of it: it is part of
  // `owned`.
  struct Loop {
    int64_t steps = -1;  // iterations; -1: not known before it runs
    int64_t states = 0;  // how many of the states that iterations start from it may keep
    int64_t state_bytes = 0;
    int64_t advances = -1;  // iterations that run without their derivative, the first sweep included
    std::string site;
  };
  std::vector<Loop> loops;

  std::string to_string() const;
};

}  // namespace rw
