// Rows of updates combined into rows of a tensor or a variable, in the order of the indices.
#pragma once

#include "rewind/kernel/cpu/isa/indexed.h"
#include "rewind/kernel/kernel.h"

namespace rw {

// The loop of a kind for elements of `dtype`, or nullptr.
const ScatterRow* find_scatter(ScatterKind kind, DType dtype);

// target[index[k]] = combine(target[index[k]], updates[k]) for k < count; indices outside [0, rows) are
// skipped. The target has `rows` rows of `columns` elements; update_step is 0 for one row of updates for all.
void scatter_into(ScatterLoop loop, void* target, const void* updates, const int64_t* index, int64_t count,
                  int64_t rows, int64_t columns, int64_t update_step);
// The same with the update taking the place of what was there; of equal indices the last wins. Any dtype.
void replace_rows(const View& target, const View& updates, const int64_t* index, int64_t count, int64_t rows,
                  int64_t columns, int64_t update_step);

}  // namespace rw
