// A While while its condition and body are traced: the graphs are opened, filled by whoever makes the loop,
// and closed, one after the other; then the node is made.
#pragma once

#include <optional>

#include "rewind/function/staging.h"
#include "rewind/function/while_loop.h"

namespace rw {

class LoopStaging {
 public:
  // Messages name the function `what`, and the loop variables by `names`, if given, one per tensor. Checks
  // the options against the loop variables.
  LoopStaging(const char* what, detail::LoopState initial, WhileLoopOptions options,
              std::vector<std::string> names = {});

  // Opens the graph of the condition, and afterwards that of the body; ops belong to it from here on. Gives
  // the loop variables there.
  std::vector<Tensor> open_condition();
  void close_condition(const Tensor& more);
  std::vector<Tensor> open_body();
  // Checks what the body leaves in the loop variables. False when shapes did not hold and say less now: then
  // both graphs must be made again.
  bool close_body(const BodyResult& results);
  const std::vector<Shape>& shapes() const { return shapes_; }  // of the loop variables, as far as they hold
  void set_parallel_iterations(int n) { options_.parallel_iterations = n; }
  // Leaves a graph without an end: of an attempt that is given up.
  void leave() { scope_.reset(); }
  Trace& trace_of_condition() const { return *traces_[0]; }
  Trace& trace_of_body() const { return *traces_[1]; }
  // Adds the node; gives the loop variables behind the loop.
  TensorList finish();

 private:
  std::vector<Tensor> open(size_t part, const char* kind);
  bool check_results(const BodyResult& results);
  bool counted() const { return limit_.defined(); }
  std::string name_of_variable(size_t i) const;

  const char* const what_;
  const detail::LoopState initial_;
  WhileLoopOptions options_;
  const std::vector<std::string> names_;
  Tensor limit_;
  std::vector<Shape> shapes_;
  Ref<Trace> traces_[2];
  std::vector<Tensor> arguments_;
  std::optional<TraceScope> scope_;
};

}  // namespace rw
