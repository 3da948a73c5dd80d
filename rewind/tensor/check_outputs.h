// What debugging::enable_check_numerics does with the results of an op. For the library's own files.
#pragma once

#include <atomic>

#include "rewind/tensor/apply.h"

namespace rw {

class Trace;

extern std::atomic<bool> g_check_numerics;
inline bool checks_numerics() { return g_check_numerics.load(std::memory_order_relaxed); }

// Of an op that ran; throws InvalidArgumentError.
void check_outputs(const Op& op, TensorPointers inputs, const Tensors& outputs);
// Of an op that was traced: adds nodes that check when the graph runs.
void add_output_checks(Trace& trace, const Op& op, const Tensors& outputs);

}  // namespace rw
