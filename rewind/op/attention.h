// Fused attention as the compiler writes it into a graph: where the operands lie, and what happens to the
// scores between the first product and the softmax. Sizes and places are plain numbers, so that query, key
// and value may be parts of one projection and results may go straight into the layout that follows.
#pragma once

#include "rewind/base/small_vector.h"
#include "rewind/op/op.h"

namespace rw {

class OpTable;

// A (batch, heads, positions, depth) array inside an input or output of the node.
struct AttentionView {
  int64_t operand = -1;  // which input (of results: which output); -1: there is none
  int64_t offset = 0;    // in elements, as the steps
  int64_t step[4] = {};  // from one batch entry, head, position, component to the next
};

// One change of all scores.
struct AttentionStep {
  enum Kind : int64_t {
    kMultiply,  // by a number
    kDivide,    // by a number
    kAdd,       // a tensor
    kKeep,      // where the mask is true; elsewhere the number
    kDrop,      // where the mask is true, for the number
  };
  Kind kind = kMultiply;
  int64_t operand = -1;  // the input with the mask or summand
  int64_t step[4] = {};  // of that: batch, head, query, key; 0 where it is spread
  double number = 0;
  bool masks() const { return kind == kKeep || kind == kDrop; }
};

struct AttentionSpec {
  int64_t batch = 1, heads = 1, queries = 0, keys = 0;
  int64_t depth = 0;        // of query and key
  int64_t value_depth = 0;  // of value and output
  AttentionView query, key, value;
  AttentionView output;                            // of _Attention; of _AttentionGrad: its gradient, an input
  AttentionView query_grad, key_grad, value_grad;  // of _AttentionGrad
  SmallVector<AttentionStep, 3> steps;

  // Everything as attributes of the node. The function is what the node means, in TensorFlow's ops.
  Attrs to_attrs(const BodyRef& meaning, const std::vector<DType>& results) const;
  static AttentionSpec from_attrs(const Op& op, const Attrs& attrs);
};

void register_attention_ops(OpTable& table);

}  // namespace rw
