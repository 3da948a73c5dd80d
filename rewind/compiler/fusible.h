// Which nodes a fused loop can hold, and as what.
#pragma once

#include "rewind/compiler/loop/ir.h"
#include "rewind/graph/graph.h"

namespace rw {

enum class FuseKind : uint8_t {
  kNot,
  kScalar,     // an elementwise definition, Cast or a select: one value per element, inputs broadcast
  kSpread,     // BroadcastTo, or a reshape that a broadcast can do: the value itself
  kConstant,   // Fill, ZerosLike, OnesLike of a known number
  kRowReduce,  // Sum, Mean, Max, ... over all axes behind some axis
  kPart,       // a Slice of a group's argument at a known place: its elements are read where they lie
};

struct Fusible {
  FuseKind kind = FuseKind::kNot;
  int kept_axes = 0;       // of a row reduction: axes [0, kept_axes) stay
  bool keep_dims = false;  // of a row reduction
};

Fusible fusible(const Graph& graph, const Node& node);

// What it takes to compute an elementwise op again, in additions; 0 for ops that are stored rather than
// computed twice.
int weight_of(const Op& op);

// How a row reduction combines, and whether it divides by the count at the end.
struct RowReduction {
  loop::Combine combine;
  bool mean;
};
RowReduction row_reduction(const Op& op);

}  // namespace rw
