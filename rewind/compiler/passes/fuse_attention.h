// The parts of fuse_attention: what it finds in a graph, and where values lie.
#pragma once

#include <optional>
#include <vector>

#include "rewind/graph/uses.h"
#include "rewind/op/attention.h"

namespace rw {

// A value as a part of another one: element (i, j, ...) lies at offset + i * steps[0] + j * steps[1] + ...
struct StridedPlace {
  ValueId base = -1;
  int64_t offset = 0;
  IntVector steps;
};

IntVector dense_steps(const Shape& shape);
// Back through transposes, reshapes, splits and slices to what they take parts of; not beyond a value for
// which `stop` is set. Shapes on the way are known.
StridedPlace place_of(const Graph& g, ValueId v, const std::vector<uint8_t>& stop);
// The axes' order of a Transpose, if it is known.
std::optional<IntVector> order_of(const Graph& g, const Node& n);
// The one number that a known integer value holds.
std::optional<int64_t> known_integer(const Graph& g, ValueId v);

struct MatchedStep {
  AttentionStep step;
  ValueId operand = -1;  // the mask or summand
};

// softmax(steps(query key^T)) value, and what computes its gradients, if they are computed.
struct MatchedAttention {
  ValueId query = -1, key = -1, value = -1;
  bool key_turned = false, value_turned = false;  // lies as (depth, positions)
  std::vector<MatchedStep> steps;
  NodeId softmax = -1, product = -1;
  ValueId output = -1;
  ValueId output_grad = -1;  // -1: no gradients
  ValueId query_grad = -1, key_grad = -1, value_grad = -1;
  NodeId first_grad = -1;     // the first node of those that compute gradients
  std::vector<NodeId> nodes;  // all that it stands for
};

// Finds attention around a Softmax whose inner values nobody else reads.
class AttentionMatcher {
 public:
  AttentionMatcher(const Graph& graph, const Uses& uses);
  std::optional<MatchedAttention> match(NodeId softmax) const;
  // The needed nodes that read a value, in order; a node twice if it reads it twice.
  const std::vector<NodeId>& readers(ValueId v) const { return readers_[size_t(v)]; }
  // The only reader, or nullptr when there are others or the graph returns the value.
  const Node* only_reader(ValueId v) const;

 private:
  struct Product {
    ValueId a, b;
    bool turn_a, turn_b;
  };
  std::optional<Product> product_of(NodeId n) const;
  bool trace_scores(ValueId scores, int depth, MatchedAttention* m) const;
  bool trace_step(ValueId chain, ValueId result, int depth, MatchedAttention* m) const;
  bool match_grads(ValueId weights, MatchedAttention* m) const;
  std::optional<ValueId> undo_step(const MatchedStep& s, ValueId grad, MatchedAttention* m) const;
  bool last_axis_sum(const Node& n) const;
  bool is_number(ValueId v, double number) const;
  std::optional<double> number_of(ValueId v) const;
  const Shape& shape(ValueId v) const { return g_.value(v).shape; }
  NodeId maker(ValueId v) const { return g_.value(v).node; }
  int64_t count(ValueId v) const { return uses_.count[size_t(v)]; }
  bool named(NodeId n, const char* name) const { return n >= 0 && g_.node(n).op->name == name; }

  const Graph& g_;
  const Uses& uses_;
  std::vector<std::vector<NodeId>> readers_;
};

}  // namespace rw
