#include "rewind/tensor/ops/gather.h"

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/sizes.h"
#include "rewind/tensor/variable.h"

namespace rw {
namespace {

Tensor reshaped(const Tensor& t, const std::vector<int64_t>& dims) {
  const Tensor shape = constant(dims);
  return apply_one(RW_OP("Reshape"), {&t, &shape});
}

int normal_axis(std::string_view tag, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    fail_invalid(tag, "axis must be in [-" + std::to_string(rank) + ", " + std::to_string(rank) + "): got " +
                          std::to_string(axis));
  return int(axis < 0 ? axis + rank : axis);
}

Tensor tensor_scatter(const Op& op, const Operand& tensor, const Operand& indices, const Operand& updates) {
  const OperandPair p = unify(tensor, updates);
  return apply_one(op, {&p.a, &indices.tensor(), &p.b});
}

// The batch's own coordinates, put in front of each index tuple.
Tensor with_batch_coordinates(const Tensor& indices, int batch_dims) {
  const Shape& shape = indices.shape();
  const Tensor axis = constant(-1);
  if (!shape.fully_known()) {
    const Sizes sizes = sizes_of(indices);
    std::vector<Tensor> columns;
    Sizes column = sizes;
    column.back() = 1;
    for (size_t d = 0; d < size_t(batch_dims); ++d) {
      Sizes along(sizes.size(), 1);
      along[d] = sizes[d];
      columns.push_back(
          broadcast_sizes(reshape_sizes(numbers_below(sizes[d], indices.dtype()), along), column));
    }
    columns.push_back(indices);
    columns.push_back(axis);
    return rw::apply(RW_OP("ConcatV2"), columns)[0];
  }
  Shape lead = shape;
  lead.set(shape.rank() - 1, batch_dims);
  int64_t inner = 1;
  for (int d = batch_dims; d + 1 < shape.rank(); ++d) inner *= shape[d];
  std::vector<int64_t> coordinates(static_cast<size_t>(lead.num_elements()));
  for (size_t i = 0; i < coordinates.size(); ++i) {
    int64_t rest = int64_t(i) / batch_dims / inner;
    for (int d = batch_dims - 1; d >= 0; --d) {
      if (int64_t(i) % batch_dims == d) coordinates[i] = rest % shape[d];
      rest /= shape[d];
    }
  }
  const Tensor front = constant(coordinates, lead, indices.dtype());
  return apply_one(RW_OP("ConcatV2"), {&front, &indices, &axis});
}

}  // namespace

Tensor gather(const Operand& params, const Operand& indices, std::optional<int64_t> axis,
              int64_t batch_dims) {
  const Tensor at = constant(axis ? *axis : batch_dims);
  return apply_one(RW_OP("GatherV2"), {&params.tensor(), &indices.tensor(), &at},
                   {{"batch_dims", batch_dims}});
}

Tensor gather_nd(const Operand& params, const Operand& indices, int64_t batch_dims) {
  const Tensor& p = params.tensor();
  const Tensor& i = indices.tensor();
  if (batch_dims == 0) return apply_one(RW_OP("GatherNd"), {&p, &i});
  const bool ranked = p.shape().has_rank() && i.shape().has_rank();
  if (!ranked) fail_unimplemented("gather_nd", "batch_dims with tensors of unknown rank");
  if (batch_dims < 0 || batch_dims >= i.rank() || batch_dims > p.rank())
    fail_invalid("gather_nd", "batch_dims must be in [0, rank of indices): got " +
                                  std::to_string(batch_dims) + ", indices is " + i.shape().to_string());
  for (int d = 0; d < int(batch_dims); ++d)
    if (p.shape()[d] != i.shape()[d] && p.shape()[d] >= 0 && i.shape()[d] >= 0)
      fail_invalid("gather_nd", "the first batch_dims axes must match: params is " + p.shape().to_string() +
                                    ", indices is " + i.shape().to_string());
  const Tensor full = with_batch_coordinates(i, int(batch_dims));
  return apply_one(RW_OP("GatherNd"), {&p, &full});
}

Tensor scatter_nd(const Operand& indices, const Operand& updates, const Operand& shape) {
  const Tensor& i = indices.tensor();
  return apply_one(RW_OP("ScatterNd"), {&i, &updates.tensor(), &shape.tensor(i.dtype())});
}

Tensor tensor_scatter_nd_update(const Operand& tensor, const Operand& indices, const Operand& updates) {
  return tensor_scatter(RW_OP("TensorScatterUpdate"), tensor, indices, updates);
}
Tensor tensor_scatter_nd_add(const Operand& tensor, const Operand& indices, const Operand& updates) {
  return tensor_scatter(RW_OP("TensorScatterAdd"), tensor, indices, updates);
}
Tensor tensor_scatter_nd_sub(const Operand& tensor, const Operand& indices, const Operand& updates) {
  return tensor_scatter(RW_OP("TensorScatterSub"), tensor, indices, updates);
}
Tensor tensor_scatter_nd_max(const Operand& tensor, const Operand& indices, const Operand& updates) {
  return tensor_scatter(RW_OP("TensorScatterMax"), tensor, indices, updates);
}
Tensor tensor_scatter_nd_min(const Operand& tensor, const Operand& indices, const Operand& updates) {
  return tensor_scatter(RW_OP("TensorScatterMin"), tensor, indices, updates);
}

Tensor where(const Operand& condition) { return apply_one(RW_OP("Where"), {&condition.tensor()}); }

Tensor boolean_mask(const Operand& tensor, const Operand& mask, int64_t axis) {
  const Tensor& t = tensor.tensor();
  const Tensor& m = mask.tensor();
  if (m.rank() == 0) fail_invalid("boolean_mask", "the mask must have at least one axis: got a scalar");
  if (!m.shape().has_rank()) fail_invalid("boolean_mask", "the mask's rank must be known");
  const Sizes sizes = sizes_of(t);
  const int at = normal_axis("boolean_mask", axis, t.rank());
  bool fits = at + m.rank() <= t.rank();
  for (int d = 0; fits && d < m.rank(); ++d) {
    const int64_t a = t.shape()[at + d];
    const int64_t b = m.shape()[d];
    fits = a == b || a < 0 || b < 0;
  }
  if (!fits)
    fail_invalid("boolean_mask", "the mask must match the tensor's axes from " + std::to_string(at) +
                                     " on: the mask is " + m.shape().to_string() + ", the tensor " +
                                     t.shape().to_string());
  // The masked axes become one.
  Sizes folded(sizes.begin(), sizes.begin() + at);
  const int end = at + m.rank();
  folded.push_back(product(sizes, size_t(at), size_t(end)));
  folded.insert(folded.end(), sizes.begin() + end, sizes.end());
  const Tensor places = where(reshaped(m, {-1}));
  return gather(m.rank() == 1 ? t : reshape_sizes(t, folded), reshaped(places, {-1}), at);
}

UniqueResult unique(const Operand& x, DType out_idx) {
  Tensors r = apply(RW_OP("Unique"), {&x.tensor()}, {{"out_idx", out_idx}});
  return {r[0], r[1]};
}

UniqueCounts unique_with_counts(const Operand& x, DType out_idx) {
  Tensors r = apply(RW_OP("UniqueWithCounts"), {&x.tensor()}, {{"out_idx", out_idx}});
  return {r[0], r[1], r[2]};
}

SetDifference setdiff1d(const Operand& x, const Operand& y, DType index_dtype) {
  const OperandPair p = unify(x, y);
  Tensors r = apply(RW_OP("ListDiff"), {&p.a, &p.b}, {{"out_idx", index_dtype}});
  return {r[0], r[1]};
}

std::vector<Tensor> dynamic_partition(const Operand& data, const Operand& partitions,
                                      int64_t num_partitions) {
  Tensors r = apply(RW_OP("DynamicPartition"), {&data.tensor(), &partitions.tensor(DType::kInt32)},
                    {{"num_partitions", num_partitions}});
  return {r.begin(), r.end()};
}

Tensor dynamic_stitch(const Operands& places, const Operands& rows) {
  const std::vector<Tensor>& indices = places.tensors();
  const std::vector<Tensor>& data = rows.tensors();
  if (indices.size() != data.size() || indices.empty())
    fail_invalid("dynamic_stitch", "indices and data must be lists of one length, not empty: got " +
                                       std::to_string(indices.size()) + " and " +
                                       std::to_string(data.size()));
  std::vector<Tensor> inputs = indices;
  inputs.insert(inputs.end(), data.begin(), data.end());
  return rw::apply(RW_OP("DynamicStitch"), inputs)[0];
}

namespace nn {
namespace {

Tensor within_norm(const Tensor& rows, int ids_rank, double max_norm) {
  std::vector<int32_t> axes;
  for (int d = ids_rank; d < rows.rank(); ++d) axes.push_back(d);
  const Tensor over = constant(axes);
  const Tensor squares = apply_one(RW_OP("Mul"), {&rows, &rows});
  const Tensor sums = apply_one(RW_OP("Sum"), {&squares, &over}, {{"keep_dims", true}});
  const Tensor norms = apply_one(RW_OP("Sqrt"), {&sums});
  const Tensor limit = scalar_tensor(max_norm, rows.dtype());
  const Tensor scaled = apply_one(RW_OP("Mul"), {&rows, &limit});
  const Tensor longest = apply_one(RW_OP("Maximum"), {&norms, &limit});
  return apply_one(RW_OP("RealDiv"), {&scaled, &longest});
}

}  // namespace

Tensor embedding_lookup(const Operand& params, const Operand& ids, std::optional<double> max_norm) {
  const Tensor rows = gather(params, ids, 0);
  return max_norm ? within_norm(rows, ids.tensor().rank(), *max_norm) : rows;
}

Tensor variable_lookup(const Variable& params, const Operand& ids, std::optional<double> max_norm) {
  const Tensor rows = params.sparse_read(ids);
  return max_norm ? within_norm(rows, ids.tensor().rank(), *max_norm) : rows;
}

}  // namespace nn
}  // namespace rw
