// Sorting and searching: all of it rests on TopKV2 and the two bounds, as in TensorFlow.
#include <utility>

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/sizes.h"

namespace rw {
namespace {

Tensor raw(const Op& op, const Tensor& a) { return apply_one(op, {&a}); }
Tensor raw(const Op& op, const Tensor& a, const Tensor& b) { return apply_one(op, {&a, &b}); }

Tensor reshaped(const Tensor& t, const Tensor& shape) { return apply_one(RW_OP("Reshape"), {&t, &shape}); }
Tensor rows_of(const Tensor& t) {
  const Sizes sizes = sizes_of(t);
  return reshape_sizes(t, {product(sizes, 0, sizes.size() - 1), sizes.back()});
}

Tensor swapped(const Tensor& t, int a, int b) {
  if (a == b) return t;
  std::vector<int32_t> order;
  for (int d = 0; d < t.rank(); ++d) order.push_back(d);
  std::swap(order[size_t(a)], order[size_t(b)]);
  return raw(RW_OP("Transpose"), t, constant(order));
}

// Turns the order around without leaving the type: -x, or the largest minus x, which is ~x for integers.
Tensor reversed(const Tensor& t) {
  return is_integer(t.dtype()) ? raw(RW_OP("Invert"), t) : raw(RW_OP("Neg"), t);
}

bool descending(std::string_view tag, std::string_view direction) {
  if (direction == "DESCENDING") return true;
  if (direction != "ASCENDING")
    fail_invalid(tag, "direction must be ASCENDING or DESCENDING: got " + std::string(direction));
  return false;
}

struct Sorted {
  Tensor values, indices;
};

Sorted sort_along(std::string_view tag, const Tensor& t, int64_t axis, bool down) {
  const int rank = int(sizes_of(t).size());
  if (axis < -rank || axis >= rank)
    fail_invalid(tag, "axis must be in [-" + std::to_string(rank) + ", " + std::to_string(rank) + "): got " +
                          std::to_string(axis));
  const int at = int(axis < 0 ? axis + rank : axis);
  const Tensor rows = swapped(down ? t : reversed(t), at, rank - 1);
  math::TopK top = math::top_k(rows, sizes_of(rows).back().tensor(DType::kInt32));
  const Tensor values = swapped(top.values, at, rank - 1);
  return {down ? values : reversed(values), swapped(top.indices, at, rank - 1)};
}

}  // namespace

Tensor sort(const Operand& values, int64_t axis, std::string_view direction) {
  return sort_along("sort", values.tensor(), axis, descending("sort", direction)).values;
}

Tensor argsort(const Operand& values, int64_t axis, std::string_view direction, bool) {
  return sort_along("argsort", values.tensor(), axis, descending("argsort", direction)).indices;
}

Tensor searchsorted(const Operand& sorted_sequence, const Operand& values, std::string_view side,
                    DType out_type) {
  if (side != "left" && side != "right")
    fail_invalid("searchsorted", "side must be left or right: got " + std::string(side));
  const OperandPair p = unify(sorted_sequence, values);
  if (p.a.rank() == 0 || p.b.rank() == 0)
    fail_invalid("searchsorted", "both must have at least one axis: got " + p.a.shape().to_string() +
                                     " and " + p.b.shape().to_string());
  const Tensor rows = rows_of(p.a);
  const Tensor wanted = rows_of(p.b);
  const Op& op = side == "left" ? RW_OP("LowerBound") : RW_OP("UpperBound");
  const Tensor places = apply_one(op, {&rows, &wanted}, {{"out_type", out_type}});
  return reshaped(places, raw(RW_OP("Shape"), p.b));
}

namespace math {

TopK top_k(const Operand& input, const Operand& k, bool sorted, DType index_type) {
  Tensors r = apply(RW_OP("TopKV2"), {&input.tensor(), &k.tensor()},
                    {{"sorted", sorted}, {"index_type", index_type}});
  return {r[0], r[1]};
}

Tensor in_top_k(const Operand& targets, const Operand& predictions, const Operand& k) {
  const Tensor& t = targets.tensor();
  return apply_one(RW_OP("InTopKV2"), {&predictions.tensor(), &t, &k.tensor(t.dtype())});
}

}  // namespace math
}  // namespace rw
