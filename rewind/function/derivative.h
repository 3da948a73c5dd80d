// The derivative of a body (a branch, a loop's body, a called function) as a graph of its own. It computes
// the body again from its arguments and differentiates that; results of effects (reads of variables, random
// draws) are never computed again: they stand among its arguments, and the forward run must give them out.
#pragma once

#include <memory>
#include <vector>

#include "rewind/graph/copy.h"
#include "rewind/graph/graph.h"
#include "rewind/tensor/trace.h"

namespace rw {

// What an argument of the derivative is.
struct DerivativeArgument {
  enum Kind { kArgument, kSeed, kKept, kCapture };
  Kind kind = kArgument;
  size_t index = 0;   // of the body's argument, or of the seed
  ValueId kept = -1;  // a value of `forward`
  Tensor captured = {};
};

struct Derivative {
  std::shared_ptr<const Graph> graph;         // outputs: one gradient per wanted argument
  std::vector<bool> given;                    // one per output: false where it is zeros
  std::vector<DerivativeArgument> arguments;  // one per argument of `graph`
  // The body, with nested control flow extended as the derivative needs. Values that the body had keep their
  // ids.
  std::shared_ptr<Graph> forward;

  // The arguments that these outputs need.
  std::vector<size_t> needed_for(const std::vector<size_t>& outputs) const;
  // Copies what these outputs need. The needed arguments must have been set in the copy.
  void copy_into(GraphCopy& copy, const std::vector<size_t>& outputs) const;
};

// `body` is what was recorded, `current` what runs now: the same body, or one that was extended since.
// `wanted`: arguments to differentiate with respect to; `seeds`: results whose gradients are given.
Derivative differentiate(const Graph& body, const Graph& current, const std::vector<size_t>& wanted,
                         const std::vector<size_t>& seeds);

// Whether gradients flow to such values: floats, lists, and variables through their handles.
bool takes_gradient(const GraphValue& value);
bool takes_gradient(DType dtype);  // without handles

// What is known of the variable behind a handle; nullptr for other tensors.
std::shared_ptr<const VariableSpec> variable_behind(const Tensor& handle);

// Zeros for the gradient of a tensor, or of the variable behind a handle.
Tensor zero_gradient(const Tensor& tensor);

// The element shape of a list of such values, as list ops take it.
HostTensor element_shape_of(const Shape& shape);
HostTensor host_scalar(int32_t value);

}  // namespace rw
