// The reference evaluator: runs a graph node by node with the eager kernels, in program order. It is the
// meaning of a graph: compiled programs are tested against it, and it runs what the compiler leaves to it.
#pragma once

#include <span>

#include "rewind/graph/graph.h"
#include "rewind/runtime/eager.h"

namespace rw {

// One input per argument. Values are freed behind their last use. Nodes that no output and no effect needs do
// not run.
ValueList evaluate(const Graph& graph, std::span<const Value* const> inputs);

// Runs a body of If, While or a call compiled. Defined in compiler/compiled_graph.cc; a program that links no
// compiler runs bodies by evaluate().
[[gnu::weak]] void run_compiled_body(const BodyRef& body, std::span<const Value* const> inputs,
                                     ValueList* results);
ValueList evaluate_body(const BodyRef& body, std::span<const Value* const> inputs);
// Whether the result of a condition is true; throws InvalidArgumentError when it is no single number.
bool condition_holds(const Value& result, const Op& op);

void register_control_runtime_kernels();

}  // namespace rw
