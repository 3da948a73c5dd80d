#include "rewind/tensor/ops/reduce.h"

#include <cmath>
#include <numeric>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/sizes.h"

namespace rw {
namespace {

Tensor reduce(const Op& op, const Operand& x, const Axes& axis, bool keepdims) {
  const Tensor& t = x.tensor();
  const Tensor axes = axis.tensor(t);
  if (!keepdims) return apply_one(op, {&t, &axes});
  static const auto& kKeep = *new Attrs{{"keep_dims", true}};
  return apply_one(op, {&t, &axes}, kKeep);
}

Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return apply_one(RW_OP("SelectV2"), {&condition, &a, &b});
}

Tensor reshaped_as(const Tensor& x, const Tensor& like) {
  if (x.shape().has_rank() && x.rank() == like.rank()) return x;
  return op2(RW_OP("Reshape"), x, dims_tensor(like));
}

Tensor scan(const Op& op, const Operand& x, int axis, ScanOptions options) {
  const Tensor& t = x.tensor();
  const Tensor at = constant(axis);
  if (!options.exclusive && !options.reverse) return apply_one(op, {&t, &at});
  return apply_one(op, {&t, &at}, {{"exclusive", options.exclusive}, {"reverse", options.reverse}});
}

Tensor position(const Op& op, const Operand& x, int axis, DType output_type) {
  const Tensor& t = x.tensor();
  const Tensor at = constant(axis);
  if (output_type == DType::kInt64) return apply_one(op, {&t, &at});
  return apply_one(op, {&t, &at}, {{"output_type", output_type}});
}

void require_floating(const char* tag, const Tensor& x) {
  if (!is_differentiable(x.dtype()))
    fail_invalid(tag, "input must be a floating-point tensor: got " + std::string(name_of(x.dtype())) +
                          "; rw::cast converts");
}

}  // namespace

Tensor Axes::tensor(const Tensor& reduced) const {
  switch (kind_) {
    case Kind::kTensor: return tensor_;
    case Kind::kOne: return constant(list_[0], DType::kInt32);
    case Kind::kList: return constant(list_, Shape{int64_t(list_.size())}, DType::kInt32);
    case Kind::kAll: break;
  }
  const int rank = reduced.rank();
  if (rank < 0) return numbers_below(Size(op1(RW_OP("Rank"), reduced)), DType::kInt32);
  std::vector<int32_t> all(size_t(rank), 0);
  std::iota(all.begin(), all.end(), 0);
  return constant(all);
}

Tensor reduce_sum(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(RW_OP("Sum"), x, axis, keepdims);
}
Tensor reduce_mean(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(RW_OP("Mean"), x, axis, keepdims);
}
Tensor reduce_prod(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(RW_OP("Prod"), x, axis, keepdims);
}
Tensor reduce_max(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(RW_OP("Max"), x, axis, keepdims);
}
Tensor reduce_min(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(RW_OP("Min"), x, axis, keepdims);
}
Tensor reduce_any(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(RW_OP("Any"), x, axis, keepdims);
}
Tensor reduce_all(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(RW_OP("All"), x, axis, keepdims);
}

Tensor reduce_logsumexp(const Operand& x, const Axes& axis, bool keepdims) {
  const Tensor& t = x.tensor();
  const Tensor largest = reduce_max(t, axis, true);
  const Tensor finite = select(op1(RW_OP("IsFinite"), largest), largest, op1(RW_OP("ZerosLike"), largest));
  const Tensor shift = op1(RW_OP("StopGradient"), finite);
  const Tensor sum = reduce_sum(op1(RW_OP("Exp"), op2(RW_OP("Sub"), t, shift)), axis, keepdims);
  const Tensor result = op1(RW_OP("Log"), sum);
  return op2(RW_OP("AddV2"), result, reshaped_as(shift, result));
}

Tensor reduce_variance(const Operand& x, const Axes& axis, bool keepdims) {
  const Tensor& t = x.tensor();
  require_floating("reduce_variance", t);
  const Tensor deviation = op2(RW_OP("Sub"), t, reduce_mean(t, axis, true));
  return reduce_mean(op1(RW_OP("Square"), deviation), axis, keepdims);
}

Tensor reduce_std(const Operand& x, const Axes& axis, bool keepdims) {
  require_floating("reduce_std", x.tensor());
  return op1(RW_OP("Sqrt"), reduce_variance(x, axis, keepdims));
}

Tensor reduce_euclidean_norm(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(RW_OP("EuclideanNorm"), x, axis, keepdims);
}

Tensor argmax(const Operand& x, int axis, DType output_type) {
  return position(RW_OP("ArgMax"), x, axis, output_type);
}
Tensor argmin(const Operand& x, int axis, DType output_type) {
  return position(RW_OP("ArgMin"), x, axis, output_type);
}

Tensor cumsum(const Operand& x, int axis, ScanOptions options) {
  return scan(RW_OP("Cumsum"), x, axis, options);
}

Tensor norm(const Operand& x, const NormOptions& options) {
  const Tensor& t = x.tensor();
  const Axes& axis = options.axis;
  const bool keep = options.keepdims;
  const bool matrix = axis.count() == 2;
  if (!(options.ord > 0)) fail_invalid("norm", "ord must be positive: got " + number_text(options.ord));
  if (axis.count() > 2 || axis.count() == 0)
    fail_invalid("norm", "axis must be one number or two, or left out for all elements");
  if (options.frobenius || (options.ord == 2 && !matrix))
    return op1(RW_OP("Sqrt"), reduce_sum(op2(RW_OP("Mul"), t, t), axis, keep));
  const Tensor size = op1(RW_OP("Abs"), t);
  if (!matrix) {
    if (options.ord == 1) return reduce_sum(size, axis, keep);
    if (std::isinf(options.ord)) return reduce_max(size, axis, keep);
    const Tensor power = op2(RW_OP("Pow"), size, scalar_tensor(options.ord, t.dtype()));
    return op2(RW_OP("Pow"), reduce_sum(power, axis, keep), scalar_tensor(1 / options.ord, t.dtype()));
  }
  const int rank = t.rank();
  // Without a rank the axes stay as they are.
  const int from_end = rank < 0 ? 0 : rank;
  int64_t rows = axis[0] < 0 ? axis[0] + from_end : axis[0];
  int64_t columns = axis[1] < 0 ? axis[1] + from_end : axis[1];
  if (options.ord == 2) {
    if (rows != from_end - 2 || columns != from_end - 1)
      fail_unimplemented("norm",
                         "the 2-norm of matrices needs them in the last two axes; rw::transpose moves them");
    const Tensor singular = apply(RW_OP("Svd"), {&t}, {{"compute_uv", false}})[0];
    const Tensor result = reduce_max(singular, -1, keep);
    if (!keep) return result;
    return op2(RW_OP("ExpandDims"), result, constant(-1));
  }
  if (options.ord != 1 && !std::isinf(options.ord))
    fail_invalid("norm", "matrix norms are 1, 2, infinity and frobenius: got " + number_text(options.ord));
  if (options.ord == 1) std::swap(rows, columns);
  // Sums along `columns`, then the largest along `rows`.
  const Tensor sums = reduce_sum(size, columns, true);
  const Tensor largest = reduce_max(sums, rows, true);
  if (keep) return largest;
  return reduce_sum(largest, {rows, columns});
}

Tensor clip_by_norm(const Operand& x, const Operand& clip_norm, const Axes& axes) {
  const Tensor& t = x.tensor();
  const Tensor& limit = clip_norm.tensor(t.dtype());
  const Tensor squares = reduce_sum(op2(RW_OP("Mul"), t, t), axes, true);
  // The root has no derivative at 0: it is taken of 1 there, and not used.
  const Tensor positive = op2(RW_OP("Greater"), squares, op1(RW_OP("ZerosLike"), squares));
  const Tensor safe = select(positive, squares, op1(RW_OP("OnesLike"), squares));
  const Tensor length = select(positive, op1(RW_OP("Sqrt"), safe), squares);
  return op2(RW_OP("RealDiv"), op2(RW_OP("Mul"), t, limit), op2(RW_OP("Maximum"), length, limit));
}

ClippedTensors clip_by_global_norm(const MixedOperands& list, const Operand& clip_norm,
                                   const Tensor& use_norm) {
  const std::vector<Tensor>& tensors = list.tensors();
  ClippedTensors result;
  result.global_norm = use_norm.defined() ? use_norm : linalg::global_norm(tensors);
  const Tensor& length = result.global_norm;
  const Tensor& limit = clip_norm.tensor(length.dtype());
  const Tensor one = scalar_tensor(1.0, length.dtype());
  const Tensor share =
      op2(RW_OP("Minimum"), op2(RW_OP("RealDiv"), one, length), op2(RW_OP("RealDiv"), one, limit));
  const Tensor scale = select(op1(RW_OP("IsFinite"), length), op2(RW_OP("Mul"), limit, share),
                              scalar_tensor(std::nan(""), length.dtype()));
  for (const Tensor& t : tensors)
    result.tensors.push_back(t.defined() ? op2(RW_OP("Mul"), t, cast_to(scale, t.dtype())) : Tensor());
  return result;
}

namespace math {

Tensor cumprod(const Operand& x, int axis, ScanOptions options) {
  return scan(RW_OP("Cumprod"), x, axis, options);
}
Tensor cumulative_logsumexp(const Operand& x, int axis, ScanOptions options) {
  return scan(RW_OP("CumulativeLogsumexp"), x, axis, options);
}

Tensor count_nonzero(const Operand& x, const Axes& axis, bool keepdims, DType dtype) {
  const Tensor& t = x.tensor();
  const Tensor some = t.dtype() == DType::kBool ? t : op2(RW_OP("NotEqual"), t, op1(RW_OP("ZerosLike"), t));
  return cast_to(reduce_sum(cast_to(some, DType::kInt64), axis, keepdims), dtype);
}

}  // namespace math

namespace linalg {

Tensor global_norm(const MixedOperands& list) {
  std::vector<Tensor> halves;
  for (const Tensor& t : list.tensors())
    if (t.defined()) halves.push_back(op1(RW_OP("L2Loss"), t));
  if (halves.empty()) return constant(0.0f);
  const Tensor sum = reduce_sum(rw::apply(RW_OP("Pack"), halves)[0]);
  return op1(RW_OP("Sqrt"), op2(RW_OP("Mul"), sum, scalar_tensor(2.0, sum.dtype())));
}

}  // namespace linalg

namespace nn {

Moments moments(const Operand& x, const Axes& axes, bool keepdims) {
  const Tensor& t = x.tensor();
  require_floating("moments", t);
  const Tensor y = cast_to(t, t.dtype() == DType::kFloat16 ? DType::kFloat32 : t.dtype());
  const Tensor mean = reduce_mean(y, axes, true);
  const Tensor deviation = op2(RW_OP("SquaredDifference"), y, op1(RW_OP("StopGradient"), mean));
  const Tensor variance = reduce_mean(deviation, axes, keepdims);
  return {cast_to(reshaped_as(mean, variance), t.dtype()), cast_to(variance, t.dtype())};
}

Tensor zero_fraction(const Operand& x) {
  const Tensor& t = x.tensor();
  const Tensor size = cast_to(apply_one(RW_OP("Size"), {&t}, {{"out_type", DType::kInt64}}), DType::kFloat32);
  const Tensor some = cast_to(math::count_nonzero(t), DType::kFloat32);
  return op2(RW_OP("RealDiv"), op2(RW_OP("Sub"), size, some), size);
}

}  // namespace nn

}  // namespace rw
