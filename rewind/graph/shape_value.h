// What is known of a value that other ops take as a shape, where its value as a whole is not: Shape(x) of an
// x with some open sizes, and slices, joins and casts of such.
#pragma once

#include "rewind/graph/graph.h"

namespace rw {

// Sizes that are open are -1, as are negative elements; of unknown rank when not even their number is known.
Shape shape_value(const Graph& graph, ValueId value);

// Puts what the inputs say into the shape that the op's row left open: of Reshape, BroadcastTo and Fill.
void refine_by_shape_value(const Graph& graph, const Op& op, std::span<const ValueId> inputs, Shape* out);

}  // namespace rw
