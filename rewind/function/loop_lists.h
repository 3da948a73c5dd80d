// What a loop keeps of its iterations for the loop that runs backwards: a counter, and lists onto which every
// iteration pushes values of its body.
#pragma once

#include <map>
#include <optional>

#include "rewind/function/control_node.h"
#include "rewind/function/derivative.h"

namespace rw {

inline constexpr ValueId kCounter = -1;       // stands for the number of iterations
using KeptLists = std::map<ValueId, Tensor>;  // the list of a value of the body; the counter

// The lists of these values: those that the forward loop has already, and others by which it is extended in
// its place. A loop that ran eagerly runs again; it must have no effects.
KeptLists keep_in_lists(GradContext& g, const std::optional<ControlNode>& node, const Derivative& d,
                        const std::vector<ValueId>& values);

}  // namespace rw
