// Runs a loaded function on zeros of the types and shapes that it says, in little memory. Functions with
// loops are made and not run: how long they run is theirs to say.
#pragma once

#include <memory>

#include "rewind/function/concrete_function.h"
#include "rewind/graph/graph.h"
#include "rewind/op/op.h"
#include "rewind/rewind.h"

namespace rw::fuzz {

inline bool has_loop(const std::string& graph_text) { return graph_text.find("While") != std::string::npos; }

inline Tensor zeros_of(const TensorSpec& spec) {
  std::vector<int64_t> dims;
  if (spec.shape.has_rank())
    for (int i = 0; i < spec.shape.rank(); ++i) dims.push_back(spec.shape[i] < 0 ? 2 : spec.shape[i]);
  if (spec.dtype == DType::kString) return fill(dims, constant("ab"));
  return cast(zeros(dims), spec.dtype);
}

inline void run_function(const ConcreteFunction& f) {
  if (has_loop(f.graph().as_graph_def())) return;
  std::vector<Tensor> arguments;
  for (const TensorSpec& spec : f.inputs()) {
    if (spec.dtype == DType::kResource || spec.dtype == DType::kVariant) return;
    arguments.push_back(zeros_of(spec));
  }
  f(arguments);
}

}  // namespace rw::fuzz
