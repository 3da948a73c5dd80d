// A gradient rule outside a tape: what forward mode and custom gradients need.
#pragma once

#include <span>
#include <vector>

#include "rewind/autodiff/rule.h"

namespace rw {

// Runs the rule of `op` on one call's values. `output_gradients` has one entry per output (none: zeros);
// `wanted` one per input. Throws NotFoundError when the op has no rule; gives none for all inputs of an op
// that is not differentiable.
std::vector<Gradient> call_gradient_rule(const Op& op, const Attrs& attrs, std::span<const Tensor> inputs,
                                         std::span<const Tensor> outputs,
                                         std::span<const Gradient> output_gradients,
                                         const std::vector<bool>& wanted);

}  // namespace rw
