// Bodies of control flow while they are traced: branches, conditions, loop bodies. Each is a trace of its own
// inside the trace around it; what it uses from outside becomes further arguments.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/function/nest.h"
#include "rewind/graph/graph.h"
#include "rewind/tensor/trace.h"

namespace rw {

// A trace for a body, part of the trace around it.
Ref<Trace> new_body(std::string_view kind);

// Gives all bodies one list of further arguments, the union of what they captured, which it returns. The
// traces must be finished. Values keep their ids.
std::vector<Tensor> share_captures(std::span<const Ref<Trace>> bodies);

// Applies the row, or its stateless twin when the functions in its attributes have no effects.
Tensors apply_control(std::string_view stateful_row, const std::vector<Tensor>& inputs, const Attrs& attrs);
// The row that fits the functions in the attributes: of the If, Case, While or call that `op` is.
const Op& control_row(const Op& op, const Attrs& attrs);

// Whether C++ can look at the value now: an eager tensor, or one that the trace knows.
bool value_is_known(const Tensor& t);

// The structure that a key tells, without dtypes and shapes of tensors: "a list of 2, tensor, tensor".
std::string structure_text(const TraceKey& key);

// Flat results of a body with their structure.
struct BodyResult {
  TensorList tensors;
  TraceKey key;
  NestWriter writer() { return {key, tensors}; }
};

}  // namespace rw
