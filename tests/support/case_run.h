// Runs a test case in Rewind: as it is, twice differentiated, forward, batched. Bytes in, bytes out: no
// Tensor leaves this file, so that checks work on plain arrays.
#pragma once

#include <set>

#include "tests/support/case_io.h"

namespace rw::test {

// Outputs, then gradients of the wanted leaves for the case's output gradients. Errors become a failed
// Result; its error class is TensorFlow's name ("InvalidArgumentError"), with "gradient: " before it when the
// call itself went well, or "std::exception" for what is no rw::Error.
Result run_case(const Case& c);

// The second derivative, reverse over reverse: gradients with respect to the wanted leaves of
// sum_k <v[k], gradient of the k-th wanted leaf>.
Result run_second_gradient(const Case& c, const std::vector<Array>& v);

// Forward mode: tangents[k] belongs to the k-th wanted leaf; the result's outputs are the outputs' tangents
// (none: zero).
Result run_forward(const Case& c, const std::vector<Array>& tangents);

// The op under vectorized_map over the wanted leaves, each stacked along a new axis 0; other leaves are
// shared. Traced: in a graph that leaves the number of elements open, by the reference evaluator.
Result run_batched(const Case& c, const std::vector<Array>& stacked, bool traced);

// How the tensors of a case reach its trace: as arguments whose sizes (or even rank) the trace knows or not,
// or from outside, as constants; kData makes constants of axes, sizes and the like alone. Variables are
// always captured.
enum class LeavesAs { kArguments, kUnknownSizes, kUnknownRank, kConstants, kData };

// The case as run_case runs it, gradients included, but traced by rw::function.
struct CompiledResults {
  Result graph;               // the reference evaluator on the traced graph
  Result compiled;            // the function called
  std::set<std::string> ops;  // in the graph and in the graphs of its nodes
};
// An error while tracing is a failure of both, with "trace: " before its class.
CompiledResults run_compiled(const Case& c, LeavesAs as);

// The op table as text, one row a line.
std::string dump_op_table();

}  // namespace rw::test
