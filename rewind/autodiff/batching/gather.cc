// Batching rules of reads and writes by index: the batch becomes one more batch axis, one more coordinate, or
// one more factor of the number of segments.
#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/grad_ops.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

int64_t scalar_int(const Tensor& t) {
  if (t.dtype() == DType::kInt16) return t.item<int16_t>();
  return t.dtype() == DType::kInt32 ? int64_t(t.item<int32_t>()) : t.item<int64_t>();
}

// One call per element: what is left where sizes or positions differ within the batch.
void run_each(BatchContext& c) {
  if (c.batch_size() == 0)
    fail_unimplemented(c.op().tag, "vectorized_map over no elements needs inputs that do not differ");
  const Tensor axis = constant(0);
  std::vector<std::vector<Tensor>> rows(static_cast<size_t>(c.num_outputs()));
  for (int64_t b = 0; b < c.batch_size(); ++b) {
    const Tensor at = constant(b);
    std::vector<Tensor> inputs;
    for (int i = 0; i < c.num_inputs(); ++i)
      inputs.push_back(c.batched(i) ? apply_one(RW_OP("GatherV2"), {&c.input(i), &at, &axis}) : c.input(i));
    const Tensors outputs = rw::apply(c.op(), inputs, c.attrs());
    for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(outputs[i]);
  }
  for (size_t i = 0; i < rows.size(); ++i) c.set(int(i), rw::apply(RW_OP("Pack"), rows[i])[0]);
}

// Moves axis `from` to `to`.
Tensor moved(const Tensor& t, int from, int to) {
  std::vector<int32_t> order;
  for (int d = 0; d < t.rank(); ++d)
    if (d != from) order.push_back(d);
  order.insert(order.begin() + to, from);
  const Tensor perm = constant(order);
  return apply_one(RW_OP("Transpose"), {&t, &perm});
}

// 0, step, 2 step, ... along the batch, with ones behind it.
Tensor batch_numbers(int64_t batch, int64_t step, int rank, DType dtype) {
  std::vector<int64_t> numbers(static_cast<size_t>(batch));
  for (size_t b = 0; b < numbers.size(); ++b) numbers[b] = int64_t(b) * step;
  Shape shape{batch};
  while (shape.rank() < rank) shape.append(1);
  return constant(numbers, shape, dtype);
}

void gather_rule(BatchContext& c, int64_t axis, int64_t batch_dims) {
  const Op& op = RW_OP("GatherV2");
  if (axis < 0) axis += c.rank(0);
  if (batch_dims < 0) batch_dims += c.rank(1);
  if (c.batched(0) && !c.batched(1) && batch_dims == 0) {
    const Tensor at = constant(axis + 1);
    c.set(0, apply_one(op, {&c.input(0), &c.input(1), &at}));
  } else if (!c.batched(0) && batch_dims == 0) {
    const Tensor at = constant(axis);
    const Tensor out = apply_one(op, {&c.input(0), &c.input(1), &at});
    c.set(0, axis == 0 ? out : moved(out, int(axis), 0));
  } else {
    const Tensor params = c.with_batch(0);
    const Tensor indices = c.with_batch(1);
    const Tensor at = constant(axis + 1);
    c.set(0, apply_one(op, {&params, &indices, &at}, {{"batch_dims", batch_dims + 1}}));
  }
}

// Index tuples with the batch's number in front.
Tensor batch_tuples(const Tensor& indices) {
  Shape column = indices.shape();
  column.set(column.rank() - 1, 1);
  const Tensor dims = constant(std::vector<int64_t>(column.begin(), column.end()));
  const Tensor numbers = batch_numbers(indices.dim(0), 1, column.rank(), indices.dtype());
  const Tensor front = apply_one(RW_OP("BroadcastTo"), {&numbers, &dims});
  const Tensor axis = constant(-1);
  return apply_one(RW_OP("ConcatV2"), {&front, &indices, &axis});
}

void gather_nd_rule(BatchContext& c) {
  if (!c.batched(0)) return c.set(0, apply_one(c.op(), {&c.input(0), &c.input(1)}, c.attrs()));
  const Tensor tuples = batch_tuples(c.with_batch(1));
  c.set(0, apply_one(c.op(), {&c.input(0), &tuples}, c.attrs()));
}

void scatter_nd_rule(BatchContext& c) {
  if (c.batched(2)) return run_each(c);
  const Tensor tuples = batch_tuples(c.with_batch(0));
  const Tensor updates = c.with_batch(1);
  const Tensor batch = constant(std::vector<int64_t>{c.batch_size()}, c.input(2).dtype());
  const Tensor axis = constant(0);
  const Tensor shape = apply_one(RW_OP("ConcatV2"), {&batch, &c.input(2), &axis});
  c.set(0, apply_one(c.op(), {&tuples, &updates, &shape}, c.attrs()));
}

void tensor_scatter_rule(BatchContext& c) {
  const Tensor tensor = c.with_batch(0);
  const Tensor tuples = batch_tuples(c.with_batch(1));
  const Tensor updates = c.with_batch(2);
  c.set(0, apply_one(c.op(), {&tensor, &tuples, &updates}, c.attrs()));
}

// With one set of ids, the batch goes behind the segments' axis and back.
void sorted_segment_rule(BatchContext& c) {
  if (c.batched(1)) return run_each(c);
  const Tensor data = moved(c.input(0), 0, 1);
  c.set(0, moved(apply_one(c.op(), {&data, &c.input(1)}), 1, 0));
}

void unsorted_segment_rule(BatchContext& c) {
  if (c.batched(2)) return run_each(c);
  if (!c.batched(1)) {
    const int ids_rank = c.rank(1);
    const Tensor data = moved(c.input(0), 0, ids_rank);
    return c.set(0, moved(apply_one(c.op(), {&data, &c.input(1), &c.input(2)}), 1, 0));
  }
  // Every element of the batch gets its own segments; negative ids stay so.
  const int64_t count = scalar_int(c.input(2));
  const Tensor data = c.with_batch(0);
  const Tensor wide = apply_one(RW_OP("Cast"), {&c.input(1)}, {{"DstT", DType::kInt64}});
  const Tensor starts = batch_numbers(c.batch_size(), count, wide.rank(), DType::kInt64);
  const Tensor shifted = apply_one(RW_OP("AddV2"), {&wide, &starts});
  const Tensor zero = scalar_tensor(int64_t{0}, DType::kInt64);
  const Tensor kept = apply_one(RW_OP("GreaterEqual"), {&wide, &zero});
  const Tensor ids = apply_one(RW_OP("SelectV2"), {&kept, &shifted, &wide});
  const Tensor total = constant(c.batch_size() * count);
  const Tensor out = apply_one(c.op(), {&data, &ids, &total});
  std::vector<int64_t> dims{c.batch_size(), count};
  for (int d = 1; d < out.rank(); ++d) dims.push_back(out.shape()[d]);
  c.set(0, reshape_to(out, dims));
}

// Ops on matrices whose rows are independent: the batch joins the rows.
void rowwise_rule(BatchContext& c) {
  if (c.num_inputs() == 3 && c.batched(2)) return run_each(c);
  const Tensor a = c.with_batch(0);
  const Tensor b = c.with_batch(1);
  auto joined = [](const Tensor& t) {
    std::vector<int64_t> dims{t.dim(0) * t.dim(1)};
    for (int d = 2; d < t.rank(); ++d) dims.push_back(t.dim(d));
    return reshape_to(t, dims);
  };
  const Tensor x = joined(a);
  const Tensor y = joined(b);
  const Tensor out = c.num_inputs() == 3 ? apply_one(c.op(), {&x, &y, &c.input(2)}, c.attrs())
                                         : apply_one(c.op(), {&x, &y}, c.attrs());
  const Shape& like = b.shape();
  c.set(0, reshape_to(out, like));
}

}  // namespace

void register_gather_batching() {
  register_batching("Gather", [](BatchContext& c) { gather_rule(c, 0, 0); });
  register_batching("GatherV2", [](BatchContext& c) {
    if (c.batched(2)) return run_each(c);
    gather_rule(c, scalar_int(c.input(2)), c.attr<int64_t>("batch_dims"));
  });
  register_batching("GatherNd", gather_nd_rule);
  register_batching("ScatterNd", scatter_nd_rule);
  for (const char* op : {"TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax",
                         "TensorScatterMin"})
    register_batching(op, tensor_scatter_rule);
  for (const char* op : {"SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"})
    register_batching(op, sorted_segment_rule);
  for (const char* op :
       {"UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"})
    register_batching(op, unsorted_segment_rule);
  register_batching("TopK", [](BatchContext& c) { c.set_all(apply(c.op(), {&c.input(0)}, c.attrs())); });
  register_batching("TopKV2", [](BatchContext& c) {
    if (c.batched(1)) return run_each(c);
    c.set_all(apply(c.op(), {&c.input(0), &c.input(1)}, c.attrs()));
  });
  for (const char* op : {"InTopK", "InTopKV2", "LowerBound", "UpperBound"})
    register_batching(op, rowwise_rule);
}

}  // namespace rw
