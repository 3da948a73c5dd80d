// Batching of the creation ops.
#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/grad_ops.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

void like(BatchContext& c) { c.set(0, apply_one(c.op(), {&c.input(0)})); }

// The sizes are one for all elements: they lie in host memory.
void fill(BatchContext& c) {
  if (c.batched(0)) fail_unimplemented("fill", "sizes must be the same for all elements of vectorized_map");
  Shape shape;
  const Tensor& dims = c.input(0);
  for (int64_t i = 0; i < dims.size(); ++i)
    shape.append(dims.dtype() == DType::kInt64 ? dims.data<int64_t>()[size_t(i)]
                                               : dims.data<int32_t>()[size_t(i)]);
  Shape ones{c.batch_size()};
  for (int i = 0; i < shape.rank(); ++i) ones.append(1);
  shape.insert(0, c.batch_size());
  const Tensor value = reshape_to(c.with_batch(1), ones);
  const Tensor all = constant(shape.begin(), Shape{shape.rank()});
  c.set(0, apply_one(RW_OP("BroadcastTo"), {&value, &all}));
}

void one_hot(BatchContext& c) {
  if (c.batched(1))
    fail_unimplemented("one_hot", "depth must be the same for all elements of vectorized_map");
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
}

}  // namespace rw
