#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/gather.h"

namespace rw::math {
namespace {

Tensor sorted(const Op& op, const Operand& data, const Operand& ids) {
  return apply_one(op, {&data.tensor(), &ids.tensor()});
}

Tensor unsorted(const Op& op, const Operand& data, const Operand& ids, const Operand& count) {
  return apply_one(op, {&data.tensor(), &ids.tensor(), &count.tensor()});
}

// Sizes of the segments, not below one, shaped to divide the segments' rows.
Tensor sizes(const Tensor& data, const Tensor& ids, const Tensor& count) {
  const Tensor shape = apply_one(RW_OP("Shape"), {&ids});
  const Tensor one = scalar_tensor(1.0, data.dtype());
  const Tensor ones = apply_one(RW_OP("Fill"), {&shape, &one});
  const Tensor n = apply_one(RW_OP("UnsortedSegmentSum"), {&ones, &ids, &count});
  if (!data.shape().has_rank() || !ids.shape().has_rank())
    fail_unimplemented("unsorted_segment_mean", "data and segment_ids must have known ranks");
  std::vector<int64_t> column(size_t(data.rank() - ids.rank() + 1), 1);
  column[0] = -1;
  const Tensor dims = constant(column);
  const Tensor tall = apply_one(RW_OP("Reshape"), {&n, &dims});
  return apply_one(RW_OP("Maximum"), {&tall, &one});
}

}  // namespace

#define RW_SEGMENT(function, Name)                                             \
  Tensor segment_##function(const Operand& data, const Operand& segment_ids) { \
    return sorted(RW_OP("Segment" Name), data, segment_ids);                   \
  }
RW_SEGMENT(sum, "Sum")
RW_SEGMENT(mean, "Mean")
RW_SEGMENT(prod, "Prod")
RW_SEGMENT(max, "Max")
RW_SEGMENT(min, "Min")
#undef RW_SEGMENT

#define RW_UNSORTED_SEGMENT(function, Name)                                                                  \
  Tensor unsorted_segment_##function(const Operand& data, const Operand& ids, const Operand& num_segments) { \
    return unsorted(RW_OP("UnsortedSegment" Name), data, ids, num_segments);                                 \
  }
RW_UNSORTED_SEGMENT(sum, "Sum")
RW_UNSORTED_SEGMENT(prod, "Prod")
RW_UNSORTED_SEGMENT(max, "Max")
RW_UNSORTED_SEGMENT(min, "Min")
#undef RW_UNSORTED_SEGMENT

Tensor unsorted_segment_mean(const Operand& data, const Operand& segment_ids, const Operand& num_segments) {
  const Tensor total = unsorted_segment_sum(data, segment_ids, num_segments);
  const Tensor n = sizes(data.tensor(), segment_ids.tensor(), num_segments.tensor());
  return apply_one(RW_OP("RealDiv"), {&total, &n});
}

Tensor unsorted_segment_sqrt_n(const Operand& data, const Operand& segment_ids, const Operand& num_segments) {
  const Tensor total = unsorted_segment_sum(data, segment_ids, num_segments);
  const Tensor n = sizes(data.tensor(), segment_ids.tensor(), num_segments.tensor());
  const Tensor root = apply_one(RW_OP("Sqrt"), {&n});
  return apply_one(RW_OP("RealDiv"), {&total, &root});
}

}  // namespace rw::math
