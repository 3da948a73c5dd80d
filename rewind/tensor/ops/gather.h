// Reading and writing by index, sorting, searching, distinct values, segments, partitions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rewind/tensor/operand.h"

namespace rw {

// Slices of params along `axis` at the given places; the axis is batch_dims unless told. The first batch_dims
// axes of params and indices go together. Along the first axis the gradient is sparse.
Tensor gather(const Operand& params, const Operand& indices, std::optional<int64_t> axis = {},
              int64_t batch_dims = 0);
// Slices of params at index tuples, which lie along the last axis of indices.
Tensor gather_nd(const Operand& params, const Operand& indices, int64_t batch_dims = 0);
// Zeros of this shape with updates added at index tuples.
Tensor scatter_nd(const Operand& indices, const Operand& updates, const Operand& shape);
// A copy of the tensor with updates put in at, added to, ... the places of index tuples.
Tensor tensor_scatter_nd_update(const Operand& tensor, const Operand& indices, const Operand& updates);
Tensor tensor_scatter_nd_add(const Operand& tensor, const Operand& indices, const Operand& updates);
Tensor tensor_scatter_nd_sub(const Operand& tensor, const Operand& indices, const Operand& updates);
Tensor tensor_scatter_nd_max(const Operand& tensor, const Operand& indices, const Operand& updates);
Tensor tensor_scatter_nd_min(const Operand& tensor, const Operand& indices, const Operand& updates);

// The slices where the mask is true; the mask covers the axes from `axis` on.
Tensor boolean_mask(const Operand& tensor, const Operand& mask, int64_t axis = 0);
// The places of what is true (not zero): one row of indices each, int64.
Tensor where(const Operand& condition);

struct UniqueResult {
  Tensor y;    // in the order of their first appearance
  Tensor idx;  // y[idx] is x
};
UniqueResult unique(const Operand& x, DType out_idx = DType::kInt32);
struct UniqueCounts {
  Tensor y, idx, count;
};
UniqueCounts unique_with_counts(const Operand& x, DType out_idx = DType::kInt32);
struct SetDifference {
  Tensor out;  // elements of x that are not in y
  Tensor idx;  // their places in x
};
SetDifference setdiff1d(const Operand& x, const Operand& y, DType index_dtype = DType::kInt32);

// direction: "ASCENDING" or "DESCENDING". Equal elements keep their order; NaN comes last either way.
Tensor sort(const Operand& values, int64_t axis = -1, std::string_view direction = "ASCENDING");
Tensor argsort(const Operand& values, int64_t axis = -1, std::string_view direction = "ASCENDING",
               bool stable = false);
// Where each value would go in the sorted innermost rows. side: "left" or "right".
Tensor searchsorted(const Operand& sorted_sequence, const Operand& values, std::string_view side = "left",
                    DType out_type = DType::kInt32);

std::vector<Tensor> dynamic_partition(const Operand& data, const Operand& partitions, int64_t num_partitions);
Tensor dynamic_stitch(const Operands& indices, const Operands& data);

namespace math {

struct TopK {
  Tensor values, indices;
};
// The k largest along the last axis, largest first.
TopK top_k(const Operand& input, const Operand& k = 1, bool sorted = true, DType index_type = DType::kInt32);
Tensor in_top_k(const Operand& targets, const Operand& predictions, const Operand& k);

// Rows of data combined by sorted segment_ids.
Tensor segment_sum(const Operand& data, const Operand& segment_ids);
Tensor segment_mean(const Operand& data, const Operand& segment_ids);
Tensor segment_prod(const Operand& data, const Operand& segment_ids);
Tensor segment_max(const Operand& data, const Operand& segment_ids);
Tensor segment_min(const Operand& data, const Operand& segment_ids);
// The same with ids in any order; rows with negative ids are left out.
Tensor unsorted_segment_sum(const Operand& data, const Operand& segment_ids, const Operand& num_segments);
Tensor unsorted_segment_mean(const Operand& data, const Operand& segment_ids, const Operand& num_segments);
Tensor unsorted_segment_prod(const Operand& data, const Operand& segment_ids, const Operand& num_segments);
Tensor unsorted_segment_max(const Operand& data, const Operand& segment_ids, const Operand& num_segments);
Tensor unsorted_segment_min(const Operand& data, const Operand& segment_ids, const Operand& num_segments);
Tensor unsorted_segment_sqrt_n(const Operand& data, const Operand& segment_ids, const Operand& num_segments);

}  // namespace math

namespace nn {

using math::in_top_k;
using math::top_k;
// Rows of params by their numbers; a variable's rows are read without the rest. With max_norm, rows that are
// longer are scaled down to it.
Tensor embedding_lookup(const Operand& params, const Operand& ids, std::optional<double> max_norm = {});
Tensor variable_lookup(const Variable& params, const Operand& ids, std::optional<double> max_norm);
template <class V>
  requires std::is_same_v<V, Variable>
Tensor embedding_lookup(const V& params, const Operand& ids, std::optional<double> max_norm = {}) {
  return variable_lookup(params, ids, max_norm);
}

}  // namespace nn
}  // namespace rw
