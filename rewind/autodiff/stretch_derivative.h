// The derivative of a recomputed stretch of a trace as a function: traced once for all stretches that are
// alike, with a call for each. The blocks of a deep model take the nodes of one.
#pragma once

#include <memory>
#include <vector>

#include "rewind/autodiff/gradient.h"
#include "rewind/base/function_ref.h"
#include "rewind/graph/graph.h"

namespace rw {

// Runs the body once more on these inputs.
using RunStretch = FunctionRef<std::vector<Tensor>(std::span<const Tensor> inputs)>;

// As differentiate_block (see block.h) of a body without effects. False, with nothing done, where somebody
// listens to the single ops, or where the gradients are no plain tensors of known sizes.
bool call_stretch_derivative(const std::shared_ptr<const Graph>& body, RunStretch run,
                             std::span<const Tensor> inputs, std::span<const Gradient> outputs,
                             std::span<Gradient* const> sums);

}  // namespace rw
