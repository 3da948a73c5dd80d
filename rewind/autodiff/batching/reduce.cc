// Batching of reductions and scans: the axes move one to the right, those counted from the end stay.
#include <vector>

#include "rewind/autodiff/batching.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

Tensor shifted(const Tensor& axes) {
  std::vector<int64_t> list;
  if (axes.dtype() == DType::kInt64)
    for (const int64_t a : axes.data<int64_t>()) list.push_back(a);
  else if (axes.dtype() == DType::kInt16)
    for (const int16_t a : axes.data<int16_t>()) list.push_back(a);
  else
    for (const int32_t a : axes.data<int32_t>()) list.push_back(a);
  for (int64_t& a : list) a += a >= 0;
  return constant(list, axes.shape(), axes.dtype());
}

void move_axes(BatchContext& c) {
  if (c.batched(1))
    fail_unimplemented(c.op().tag, "axes must be the same for all elements of vectorized_map");
  const Tensor axes = shifted(c.input(1));
  const Tensor x = c.with_batch(0);
  c.set(0, apply_one(c.op(), {&x, &axes}, c.attrs()));
}

}  // namespace

void register_reduce_batching() {
  for (const char* op : {"Sum", "Mean", "Prod", "Max", "Min", "Any", "All", "EuclideanNorm", "ArgMax",
                         "ArgMin", "Cumsum", "Cumprod", "CumulativeLogsumexp"}) {
    register_batching(op, move_axes);
  }
}

}  // namespace rw
