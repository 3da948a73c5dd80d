#include "rewind/tensor/ops/reduce.h"

#include <numeric>

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

Tensor reduce(const Op& op, const Operand& x, const Axes& axis, bool keepdims) {
  const Tensor& t = x.tensor();
  const Tensor axes = axis.tensor(t.rank());
  if (!keepdims) return apply_one(op, {&t, &axes});
  static const Attrs kKeep{{"keep_dims", true}};
  return apply_one(op, {&t, &axes}, kKeep);
}

}  // namespace

Tensor Axes::tensor(int rank) const {
  switch (kind_) {
    case Kind::kTensor: return tensor_;
    case Kind::kOne: return constant(list_[0], DType::kInt32);
    case Kind::kList: return constant(list_, Shape{int64_t(list_.size())}, DType::kInt32);
    case Kind::kAll: break;
  }
  if (rank < 0) {
    fail_unimplemented("reduce", "all axes of a tensor of unknown rank; give the axes");
  }
  std::vector<int32_t> all(size_t(rank), 0);
  std::iota(all.begin(), all.end(), 0);
  return constant(all);
}

Tensor reduce_sum(const Operand& x, const Axes& axis, bool keepdims) { return reduce(RW_OP("Sum"), x, axis, keepdims); }
Tensor reduce_mean(const Operand& x, const Axes& axis, bool keepdims) { return reduce(RW_OP("Mean"), x, axis, keepdims); }
Tensor reduce_prod(const Operand& x, const Axes& axis, bool keepdims) { return reduce(RW_OP("Prod"), x, axis, keepdims); }
Tensor reduce_max(const Operand& x, const Axes& axis, bool keepdims) { return reduce(RW_OP("Max"), x, axis, keepdims); }
Tensor reduce_min(const Operand& x, const Axes& axis, bool keepdims) { return reduce(RW_OP("Min"), x, axis, keepdims); }
Tensor reduce_any(const Operand& x, const Axes& axis, bool keepdims) { return reduce(RW_OP("Any"), x, axis, keepdims); }
Tensor reduce_all(const Operand& x, const Axes& axis, bool keepdims) { return reduce(RW_OP("All"), x, axis, keepdims); }

}  // namespace rw
