#include "rewind/tensor/ops/nn.h"

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"

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

Tensor reshaped(const Tensor& x, const Shape& shape) {
  const Tensor sizes = constant(std::vector<int64_t>(shape.begin(), shape.end()));
  return apply_one(RW_OP("Reshape"), {&x, &sizes});
}

Tensor shape_of(const Tensor& x) {
  if (x.shape().fully_known()) return constant(std::vector<int64_t>(x.shape().begin(), x.shape().end()));
  return apply_one(RW_OP("Shape"), {&x}, {{"out_type", DType::kInt64}});
}

Tensor along_last(const Op& op, const Operand& logits, int axis) {
  const Tensor& x = logits.tensor(DType::kFloat32);
  if (axis == -1 || !x.shape().has_rank()) return apply_one(op, {&x});
  const int a = checked_axis(op.tag, axis, x.shape());
  if (a == x.rank() - 1) return apply_one(op, {&x});
  const Tensor swapped = swap_with_last(x, a);
  return swap_with_last(apply_one(op, {&swapped}), a);
}

// All axes but the last folded into one.
Tensor as_rows(const Tensor& x) { return x.rank() == 2 ? x : reshaped(x, {-1, x.dim(-1)}); }

Shape without_last(Shape shape) {
  shape.erase(shape.rank() - 1);
  return shape;
}

Tensor shape_without_last(const Tensor& x) {
  const Shape shape = without_last(x.shape());
  if (shape.fully_known()) return constant(std::vector<int64_t>(shape.begin(), shape.end()));
  const Tensor all = shape_of(x);
  const Tensor begin = constant(std::vector<int64_t>{0});
  const Tensor size = constant(std::vector<int64_t>{x.rank() - 1});
  return apply_one(RW_OP("Slice"), {&all, &begin, &size});
}

}  // namespace

Tensor softmax(const Operand& logits, int axis) { return along_last(RW_OP("Softmax"), logits, axis); }
Tensor log_softmax(const Operand& logits, int axis) { return along_last(RW_OP("LogSoftmax"), logits, axis); }

Tensor softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits, int axis) {
  const OperandPair p = unify(logits, labels);
  const int rank = p.a.rank();
  Tensor x = p.a;
  Tensor y = p.b;
  const int a = checked_axis("softmax_cross_entropy_with_logits", axis, x.shape());
  if (y.rank() != rank)
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
    Shape order = without_last(x.shape());
    const Tensor folded = reshaped(loss, order);
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
  if (x.rank() < 1) fail_invalid(tag, "logits need at least one axis, for the classes: logits are a scalar");
  if (y.rank() != x.rank() - 1)
    fail_invalid(tag, "labels must have one axis less than logits: labels are " + y.shape().to_string() +
                          ", logits " + x.shape().to_string() +
                          "; one-hot labels go to softmax_cross_entropy_with_logits");
  if (!without_last(x.shape()).compatible_with(y.shape()))
    fail_invalid(tag, "labels must have the logits' shape without the last axis: labels are " +
                          y.shape().to_string() + ", logits " + x.shape().to_string());
  const Op& op = RW_OP("SparseSoftmaxCrossEntropyWithLogits");
  if (x.rank() == 2) return apply(op, {&x, &y})[0];
  const Tensor rows = as_rows(x);
  const Tensor flat = reshaped(y, {-1});
  const Tensor loss = apply(op, {&rows, &flat})[0];
  const Tensor shape = shape_of(y);
  return apply_one(RW_OP("Reshape"), {&loss, &shape});
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
