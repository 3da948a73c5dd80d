// Loops that write in place: scattered rows and optimizers' steps.
#pragma once

#include "rewind/kernel/cpu/isa/isa.h"

namespace rw {

// Rows of updates that go to rows of a target: target[index[k]] = combine(target[index[k]], updates[k]), for
// the rows and columns of one thread's part. Indices outside [row_begin, row_end) are not touched.
struct ScatterSpan {
  const int64_t* index;
  int64_t count;        // of indices
  int64_t columns;      // elements in a row of the target
  int64_t update_step;  // elements from one row of updates to the next; 0: one row for all
  int64_t row_begin, row_end, column_begin, column_end;
};
enum class ScatterKind : uint8_t { kNone, kAdd, kSub, kMul, kDiv, kMin, kMax, kSegmentMin, kSegmentMax };
using ScatterLoop = void (*)(void* target, const void* updates, const ScatterSpan& span);
struct ScatterRow {
  ScatterKind kind;
  DType dtype;
  ScatterLoop in_place;  // target of dtype
  ScatterLoop wide;      // target of the type that dtype is computed in
};

// Rows end with kind == kNone, op == nullptr.

// One step of an optimizer on n elements: slots are the variable and its companions, updated in place.
// `hyper` holds the op's scalars in the order of its row, in the type that dtype is computed in.
using UpdateLoop = void (*)(void* const* slots, const void* grad, const void* hyper, int64_t n);
struct UpdateRow {
  const char* op;  // of the dense form
  int variant;
  DType dtype;
  UpdateLoop loop;
};

}  // namespace rw
