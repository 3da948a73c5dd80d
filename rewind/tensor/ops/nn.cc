#include "rewind/tensor/ops/nn.h"

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/sizes.h"

namespace rw::nn {
namespace {

int checked_axis(std::string_view tag, int64_t axis, const Shape& shape) {
  const int rank = shape.rank();
  if (axis < -rank || axis >= rank)
    fail_invalid(tag, "axis must be in [" + std::to_string(-rank) + ", " + std::to_string(rank) + "): got " +
                          std::to_string(axis) + " for logits of shape " + shape.to_string());
  return int(axis < 0 ? axis + rank : axis);
}

// x with `axis` and the last axis swapped.
Tensor swap_with_last(const Tensor& x, int axis) {
  std::vector<int32_t> order(size_t(x.rank()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = int32_t(i);
  std::swap(order[size_t(axis)], order.back());
  const Tensor permutation = constant(order);
  return apply_one(RW_OP("Transpose"), {&x, &permutation});
}

Tensor reshaped(const Tensor& x, const Tensor& dims) { return apply_one(RW_OP("Reshape"), {&x, &dims}); }

Tensor along_last(const Op& op, const Operand& logits, int axis) {
  const Tensor& x = logits.tensor(DType::kFloat32);
  if (axis == -1) return apply_one(op, {&x});
  if (!x.shape().has_rank())
    fail_unimplemented(op.tag,
                       "an axis other than the last needs the rank of the logits, which is not known");
  const int a = checked_axis(op.tag, axis, x.shape());
  if (a == x.rank() - 1) return apply_one(op, {&x});
  const Tensor swapped = swap_with_last(x, a);
  return swap_with_last(apply_one(op, {&swapped}), a);
}

// All axes but the last folded into one.
Tensor as_rows(const Tensor& x) {
  if (x.rank() == 2) return x;
  if (x.shape().has_rank()) {
    const Sizes sizes = sizes_of(x);
    return reshape_sizes(x, {product(sizes, 0, sizes.size() - 1), sizes.back()});
  }
  const Tensor dims = dims_tensor(x);
  return reshaped(x, dims_tensor(Sizes{-1, element_of(dims, element_count(dims) - 1)}));
}

Shape without_last(Shape shape) {
  if (shape.has_rank()) shape.erase(shape.rank() - 1);
  return shape;
}

Tensor shape_without_last(const Tensor& x) {
  const Shape shape = without_last(x.shape());
  if (shape.fully_known()) return dims_tensor(shape);
  const Tensor all = dims_tensor(x);
  return part_of_vector(all, 0, element_count(all) - 1);
}

}  // namespace

Tensor softmax(const Operand& logits, int axis) { return along_last(RW_OP("Softmax"), logits, axis); }
Tensor log_softmax(const Operand& logits, int axis) { return along_last(RW_OP("LogSoftmax"), logits, axis); }

Tensor softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits, int axis) {
  const OperandPair p = unify(logits, labels);
  Tensor x = p.a;
  Tensor y = p.b;
  const bool ranked = x.shape().has_rank() || y.shape().has_rank();
  if (!ranked && axis != -1)
    fail_unimplemented("softmax_cross_entropy_with_logits",
                       "an axis other than the last needs the rank of the logits, which is not known");
  const Shape& known = x.shape().has_rank() ? x.shape() : y.shape();
  const int rank = known.rank();
  const int a = ranked ? checked_axis("softmax_cross_entropy_with_logits", axis, known) : rank - 1;
  if (x.shape().has_rank() && y.shape().has_rank() && y.rank() != x.rank())
    fail_invalid("softmax_cross_entropy_with_logits",
                 "logits and labels must have the same rank: logits are " + x.shape().to_string() +
                     ", labels " + y.shape().to_string());
  if (a != rank - 1) {
    x = swap_with_last(x, a);
    y = swap_with_last(y, a);
  }
  const Tensor rows = as_rows(x);
  const Tensor label_rows = as_rows(y);
  const Tensor loss = apply(RW_OP("SoftmaxCrossEntropyWithLogits"), {&rows, &label_rows})[0];
  if (rank == 2) return loss;
  // The axis that was swapped to `a` is the last one: the loss has the logits' shape without `axis`.
  if (a != rank - 1) {
    const Tensor folded = reshaped(loss, shape_without_last(x));
    // Axis a of `folded` holds the former last axis: it goes to the end.
    std::vector<int32_t> back;
    for (int i = 0; i < rank - 1; ++i)
      if (i != a) back.push_back(int32_t(i));
    back.push_back(int32_t(a));
    const Tensor permutation = constant(back);
    return apply_one(RW_OP("Transpose"), {&folded, &permutation});
  }
  const Tensor shape = shape_without_last(x);
  return apply_one(RW_OP("Reshape"), {&loss, &shape});
}

Tensor sparse_softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits) {
  const Tensor& x = logits.tensor(DType::kFloat32);
  const Tensor& y = labels.tensor(DType::kInt32);
  const char* tag = "sparse_softmax_cross_entropy_with_logits";
  if (x.rank() == 0) fail_invalid(tag, "logits need at least one axis, for the classes: logits are a scalar");
  if (x.shape().has_rank() && y.shape().has_rank() && y.rank() != x.rank() - 1)
    fail_invalid(tag, "labels must have one axis less than logits: labels are " + y.shape().to_string() +
                          ", logits " + x.shape().to_string() +
                          "; one-hot labels go to softmax_cross_entropy_with_logits");
  if (!without_last(x.shape()).compatible_with(y.shape()))
    fail_invalid(tag, "labels must have the logits' shape without the last axis: labels are " +
                          y.shape().to_string() + ", logits " + x.shape().to_string());
  const Op& op = RW_OP("SparseSoftmaxCrossEntropyWithLogits");
  if (x.rank() == 2) return apply(op, {&x, &y})[0];
  const Tensor rows = as_rows(x);
  const Tensor flat = reshaped(y, constant(std::vector<int64_t>{-1}));
  const Tensor loss = apply(op, {&rows, &flat})[0];
  return reshaped(loss, dims_tensor(y));
}

Tensor bias_add(const Operand& value, const Operand& bias, const std::string& data_format) {
  const OperandPair p = unify(value, bias);
  if (data_format.empty()) return apply_one(RW_OP("BiasAdd"), {&p.a, &p.b});
  if (data_format.size() < 2 || data_format[0] != 'N' || (data_format[1] != 'C' && data_format.back() != 'C'))
    fail_invalid("bias_add", "data_format must be N...C or NC...: got " + data_format);
  return apply_one(RW_OP("BiasAdd"), {&p.a, &p.b},
                   {{"data_format", data_format[1] == 'C' ? "NCHW" : "NHWC"}});
}

Tensor l2_loss(const Operand& t) { return apply_one(RW_OP("L2Loss"), {&t.tensor(DType::kFloat32)}); }

}  // namespace rw::nn
