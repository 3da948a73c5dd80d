// Batching rules of reads and writes by index: the batch becomes one more batch axis, one more coordinate, or
// one more factor of the number of segments.
#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/batching/fold.h"

namespace rw {
namespace {

// 0, step, 2 step, ... along the batch, with ones behind it.
Tensor batch_numbers(const Size& batch, const Size& step, int rank, DType dtype) {
  Sizes column(size_t(rank), Size(1));
  column[0] = batch;
  return reshape_sizes(cast_ints(multiples_column(batch, step), dtype), column);
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
    c.set(0, axis == 0 ? out : move_axis(out, int(axis), 0));
  } else {
    const Tensor params = c.with_batch(0);
    const Tensor indices = c.with_batch(1);
    const Tensor at = constant(axis + 1);
    c.set(0, apply_one(op, {&params, &indices, &at}, {{"batch_dims", batch_dims + 1}}));
  }
}

// Index tuples with the batch's number in front.
Tensor batch_tuples(const BatchContext& c, const Tensor& indices) {
  Sizes column = sizes_of(indices);
  column.back() = 1;
  const Tensor front = broadcast_sizes(batch_numbers(c.batch(), 1, indices.rank(), indices.dtype()), column);
  const Tensor axis = constant(-1);
  return apply_one(RW_OP("ConcatV2"), {&front, &indices, &axis});
}

void gather_nd_rule(BatchContext& c) {
  if (!c.batched(0)) return c.set(0, apply_one(c.op(), {&c.input(0), &c.input(1)}, c.attrs()));
  const Tensor tuples = batch_tuples(c, c.with_batch(1));
  c.set(0, apply_one(c.op(), {&c.input(0), &tuples}, c.attrs()));
}

void scatter_nd_rule(BatchContext& c) {
  if (c.batched(2)) return batch_by_loop(c);
  const Tensor tuples = batch_tuples(c, c.with_batch(0));
  const Tensor updates = c.with_batch(1);
  const Tensor batch = dims_tensor(Sizes{c.batch()}, c.input(2).dtype());
  const Tensor axis = constant(0);
  const Tensor shape = apply_one(RW_OP("ConcatV2"), {&batch, &c.input(2), &axis});
  c.set(0, apply_one(c.op(), {&tuples, &updates, &shape}, c.attrs()));
}

void tensor_scatter_rule(BatchContext& c) {
  const Tensor tensor = c.with_batch(0);
  const Tensor tuples = batch_tuples(c, c.with_batch(1));
  const Tensor updates = c.with_batch(2);
  c.set(0, apply_one(c.op(), {&tensor, &tuples, &updates}, c.attrs()));
}

// Counts of each element by themselves: as rows of one matrix, by the op that has rows.
void bincount_rule(BatchContext& c) {
  const bool known = c.input(0).shape().has_rank() && c.input(2).shape().fully_known();
  if (!known || c.batched(1) || !c.batched(0) || c.rank(0) != 1) return batch_by_loop(c);
  const bool weighted = c.input(2).size() != 0;
  if (!weighted && c.batched(2)) return batch_by_loop(c);
  const Tensor weights = weighted ? c.with_batch(2) : c.input(2);
  const Attrs attrs = c.op().name == "Bincount" ? Attrs() : c.attrs();
  c.set(0, apply_one(RW_OP("DenseBincount"), {&c.input(0), &c.input(1), &weights}, attrs));
}

// With one set of ids, the batch goes behind the segments' axis and back.
void sorted_segment_rule(BatchContext& c) {
  if (c.batched(1)) return batch_by_loop(c);
  const Tensor data = move_axis(c.input(0), 0, 1);
  c.set(0, move_axis(apply_one(c.op(), {&data, &c.input(1)}), 1, 0));
}

void unsorted_segment_rule(BatchContext& c) {
  if (c.batched(2)) return batch_by_loop(c);
  if (!c.batched(1)) {
    const int ids_rank = c.rank(1);
    const Tensor data = move_axis(c.input(0), 0, ids_rank);
    return c.set(0, move_axis(apply_one(c.op(), {&data, &c.input(1), &c.input(2)}), 1, 0));
  }
  // Every element of the batch gets its own segments; negative ids stay so.
  const Size count(c.input(2));
  const Tensor data = c.with_batch(0);
  const Tensor wide = cast_ints(c.input(1), DType::kInt64);
  const Tensor starts = batch_numbers(c.batch(), count, wide.rank(), DType::kInt64);
  const Tensor shifted = apply_one(RW_OP("AddV2"), {&wide, &starts});
  const Tensor zero = scalar_tensor(int64_t{0}, DType::kInt64);
  const Tensor kept = apply_one(RW_OP("GreaterEqual"), {&wide, &zero});
  const Tensor ids = apply_one(RW_OP("SelectV2"), {&kept, &shifted, &wide});
  const Tensor total = (c.batch() * count).tensor();
  c.set(0, unfold_first(apply_one(c.op(), {&data, &ids, &total}), c.batch()));
}

// Ops on matrices whose rows are independent: the batch joins the rows.
void rowwise_rule(BatchContext& c) {
  if (c.num_inputs() == 3 && c.batched(2)) return batch_by_loop(c);
  const Tensor x = fold_first(c.with_batch(0));
  const Tensor y = fold_first(c.with_batch(1));
  const Tensor out = c.num_inputs() == 3 ? apply_one(c.op(), {&x, &y, &c.input(2)}, c.attrs())
                                         : apply_one(c.op(), {&x, &y}, c.attrs());
  c.set(0, unfold_first(out, c.batch()));
}

// Where rows go is the same for all: the batch stands behind the axes of the places.
void partition_rule(BatchContext& c) {
  if (c.batched(1)) return batch_by_loop(c);  // the sizes of the parts follow from the places
  const Tensor data = move_axis(c.input(0), 0, c.rank(1));
  const Tensors parts = apply(c.op(), {&data, &c.input(1)}, c.attrs());
  for (int i = 0; i < c.num_outputs(); ++i) c.set(i, move_axis(parts[size_t(i)], 1, 0));
}

void stitch_rule(BatchContext& c) {
  const int n = c.num_inputs() / 2;
  std::vector<Tensor> inputs;
  for (int i = 0; i < n; ++i) {
    if (c.batched(i)) return batch_by_loop(c);  // the size follows from the places
    inputs.push_back(c.input(i));
  }
  for (int i = 0; i < n; ++i) inputs.push_back(move_axis(c.with_batch(n + i), 0, c.rank(i)));
  c.set(0, move_axis(rw::apply(c.op(), inputs, c.attrs())[0], 1, 0));
}

}  // namespace

void register_gather_batching() {
  register_batching("Bincount", bincount_rule);
  register_batching("DenseBincount", bincount_rule);
  register_batching("RaggedBincount", batch_by_loop);
  register_batching("SparseToDense", batch_by_loop);
  register_batching("Gather", [](BatchContext& c) { gather_rule(c, 0, 0); });
  register_batching("GatherV2", [](BatchContext& c) {
    if (c.batched(2)) return batch_by_loop(c);
    gather_rule(c, known_ints(c.input(2))[0], c.attr<int64_t>("batch_dims"));
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
    if (c.batched(1)) return batch_by_loop(c);
    c.set_all(apply(c.op(), {&c.input(0), &c.input(1)}, c.attrs()));
  });
  for (const char* op : {"InTopK", "InTopKV2", "LowerBound", "UpperBound"})
    register_batching(op, rowwise_rule);
  register_batching("DynamicPartition", partition_rule);
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"}) register_batching(op, stitch_rule);
}

}  // namespace rw
