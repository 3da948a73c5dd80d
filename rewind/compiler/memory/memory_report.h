// What a compiled function does with memory: the plan in words and numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rw {

struct MemoryReport {
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

  struct Point {
    int64_t budget = 0;
    double extra_compute = 0;
  };
  std::vector<Point> curve;  // all plans there are: less memory, more work

  std::string to_string() const;
};

}  // namespace rw
