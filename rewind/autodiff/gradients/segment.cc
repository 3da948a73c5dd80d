// Gradients of reductions over segments: each row gets its share of what its segment got.
#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"

namespace rw {
namespace {

Tensor raw(const Op& op, const Tensor& a, const Tensor& b) { return apply_one(op, {&a, &b}); }
Tensor raw(const Op& op, const Tensor& a, const Tensor& b, const Tensor& c) {
  return apply_one(op, {&a, &b, &c});
}
Tensor cast(const Tensor& t, DType dtype) { return apply_one(RW_OP("Cast"), {&t}, {{"DstT", dtype}}); }
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return raw(RW_OP("SelectV2"), condition, a, b);
}
Tensor number(int64_t value, DType dtype) { return scalar_tensor(value, dtype); }

// A tensor of the ids' shape with axes of size 1 behind, as many as a row of input 0 has.
Tensor beside_rows(const GradContext& g, const Tensor& t) {
  const Shape& data = g.input_shape(0);
  if (data.has_rank() && t.shape().has_rank()) {
    if (t.rank() >= data.rank()) return t;
    Sizes column = sizes_of(t);
    column.resize(size_t(data.rank()), 1);
    return reshape_sizes(t, column);
  }
  const Size rank = element_count(input_dims(g, 0));
  const Size own(apply_one(RW_OP("Rank"), {&t}));
  const Tensor ones = fill_sizes({rank - own}, constant(int64_t{1}));
  return reshape_dims(t, concat_rows(dims_tensor(t), ones));
}

// How a rule goes from segments to rows and back; the unsorted ops have ids of any rank, and negative ones,
// whose rows get nothing.
struct Segments {
  const Op& sum;
  const Op& prod;
  const Tensor& ids;
  const Tensor* count;  // nullptr: the ids are sorted
  const GradContext& g;

  Tensor total(const Tensor& rows) const { return count ? raw(sum, rows, ids, *count) : raw(sum, rows, ids); }
  Tensor product(const Tensor& rows) const {
    return count ? raw(prod, rows, ids, *count) : raw(prod, rows, ids);
  }

  Tensor spread(const Tensor& segments) const {
    const Tensor axis = constant(0);
    if (!count) return raw(RW_OP("GatherV2"), segments, ids, axis);
    const Tensor zero = number(0, ids.dtype());
    const Tensor at = raw(RW_OP("Maximum"), ids, zero);
    const Tensor rows = raw(RW_OP("GatherV2"), segments, at, axis);
    // Broadcasts the test over the axes of a row.
    const Tensor kept = beside_rows(g, raw(RW_OP("GreaterEqual"), ids, zero));
    return where(kept, rows, number(0, rows.dtype()));
  }
};

Segments segments_of(const GradContext& g) {
  if (g.num_inputs() == 2) return {RW_OP("SegmentSum"), RW_OP("SegmentProd"), g.input(1), nullptr, g};
  return {RW_OP("UnsortedSegmentSum"), RW_OP("UnsortedSegmentProd"), g.input(1), &g.input(2), g};
}

// Sizes that divide: segments without rows count as one, so that nothing is divided by zero.
Tensor at_least_one(const Tensor& sizes) { return raw(RW_OP("Maximum"), sizes, number(1, sizes.dtype())); }

void mean_grad(GradContext& g) {
  const Segments s = segments_of(g);
  const Tensor one = number(1, g.input_dtype(0));
  const Tensor dims = dims_tensor(s.ids);
  const Tensor ones = beside_rows(g, apply_one(RW_OP("Fill"), {&dims, &one}));
  const Tensor sizes = at_least_one(s.total(ones));
  g.set(0, s.spread(raw(RW_OP("Div"), g.grad(), sizes)));
}

// Rows that reach their segment's extreme share its gradient.
void extreme_grad(GradContext& g) {
  const Segments s = segments_of(g);
  const DType dtype = g.input_dtype(0);
  const Tensor reached = raw(RW_OP("Equal"), g.input(0), s.spread(g.output(0)));
  const Tensor share = raw(RW_OP("Div"), g.grad(), at_least_one(s.total(cast(reached, dtype))));
  g.set(0, where(reached, s.spread(share), number(0, dtype)));
}

// A row's factor is the product of the others: the product divided by it, or, for the only zero of a segment,
// the product of what is not zero.
void prod_grad(GradContext& g) {
  const Segments s = segments_of(g);
  const DType dtype = g.input_dtype(0);
  const Tensor& data = g.input(0);
  const Tensor zero = number(0, dtype);
  const Tensor is_zero = raw(RW_OP("Equal"), data, zero);
  const Tensor zeros = s.total(cast(is_zero, DType::kInt32));
  const Tensor many = raw(RW_OP("Greater"), zeros, number(1, DType::kInt32));
  const Tensor grad = where(many, zero, g.grad());
  const Tensor others = s.spread(s.product(where(is_zero, number(1, dtype), data)));
  const Tensor divided = raw(RW_OP("Div"), s.spread(g.output(0)), data);
  g.set(0, s.spread(grad) * where(is_zero, others, divided));
}

}  // namespace

void register_segment_gradients() {
  register_gradient("SegmentSum", needs_inputs({1}),
                    [](GradContext& g) { g.set(0, segments_of(g).spread(g.grad())); });
  register_gradient("UnsortedSegmentSum", needs_inputs({1, 2}),
                    [](GradContext& g) { g.set(0, segments_of(g).spread(g.grad())); });
  register_gradient("SegmentMean", needs_inputs({1}), mean_grad);
  for (const char* op : {"SegmentMax", "SegmentMin", "UnsortedSegmentMax", "UnsortedSegmentMin"})
    register_gradient(op, kNeedsAll, extreme_grad);
  for (const char* op : {"SegmentProd", "UnsortedSegmentProd"}) register_gradient(op, kNeedsAll, prod_grad);
}

}  // namespace rw
