// Batching of the creation ops.
#include "rewind/autodiff/batching.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"

namespace rw {
namespace {

void like(BatchContext& c) { c.set(0, apply_one(c.op(), {&c.input(0)})); }

void fill(BatchContext& c) {
  const Tensor& dims = c.input(0);
  if (c.batched(0) || dims.dim(0) < 0) return batch_by_loop(c);
  Sizes column{c.batch()};
  Sizes all{c.batch()};
  for (int64_t i = 0; i < dims.dim(0); ++i) {
    column.emplace_back(1);
    all.push_back(element_of(dims, i));
  }
  c.set(0, broadcast_sizes(reshape_sizes(c.with_batch(1), column), all));
}

// In equal steps from start, and the last number is stop: the kernel's own arithmetic, which is in float for
// the short types.
void linspace_rule(BatchContext& c) {
  if (c.batched(2)) return batch_by_loop(c);
  const DType dtype = c.input(0).dtype();
  const DType wide = dtype == DType::kFloat64 ? dtype : DType::kFloat32;
  const auto column = [&](int i) { return reshape_sizes(cast(c.with_batch(i), wide), {c.batch(), 1}); };
  const Tensor start = column(0);
  const Tensor stop = column(1);
  const Size count(c.input(2));
  const Tensor places = numbers_below(count);
  const Tensor steps = maximum((count - 1).tensor(), 1);
  const Tensor way = start + (stop - start) / cast(steps, wide) * cast(places, wide);
  c.set(0, cast(where(equal(places, steps), stop, way), dtype));
}

void one_hot(BatchContext& c) {
  if (c.batched(1)) return batch_by_loop(c);
  const auto axis = c.attr<int64_t>("axis");
  const Attrs attrs{{"axis", axis < 0 ? axis : axis + 1}};
  const Tensor indices = c.with_batch(0);
  if (!c.batched(2) && !c.batched(3)) {
    c.set(0, apply_one(c.op(), {&indices, &c.input(1), &c.input(2), &c.input(3)}, attrs));
    return;
  }
  const Tensor yes = constant(true);
  const Tensor no = constant(false);
  const Tensor hot = apply_one(c.op(), {&indices, &c.input(1), &yes, &no}, attrs);
  const Tensor on = c.aligned(2, c.rank(0) + 1);
  const Tensor off = c.aligned(3, c.rank(0) + 1);
  c.set(0, apply_one(RW_OP("SelectV2"), {&hot, &on, &off}));
}

}  // namespace

void register_creation_batching() {
  register_batching("OnesLike", like);
  register_batching("ZerosLike", like);
  register_batching("Fill", fill);
  register_batching("OneHot", one_hot);
  register_batching("LinSpace", linspace_rule);
}

}  // namespace rw
