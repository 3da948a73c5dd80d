// Reductions and scans: rows and shape rules.
#include <string>

#include "rewind/op/table.h"

namespace rw {
namespace {

// Axes may be given in any order and from the end, but each only once.
void reduction_shape(ShapeContext& ctx) {
  const Shape& in = ctx.input(0);
  const Shape& axes_shape = ctx.input(1);
  if (axes_shape.has_rank() && axes_shape.rank() > 1)
    ctx.fail("axis must be a number or a list of numbers: " + ctx.describe(1));
  const bool keep = ctx.attr<bool>("keep_dims");
  if (!in.has_rank()) return ctx.output(0, Shape::unknown_rank());
  IntVector axes;
  if (!ctx.ints(1, &axes)) {
    const int64_t count = axes_shape.num_elements();
    if (keep) ctx.output(0, Shape::unknown_of_rank(in.rank()));
    else
      ctx.output(0, count >= 0 && count <= in.rank() ? Shape::unknown_of_rank(int(in.rank() - count))
                                                     : Shape::unknown_rank());
    return;
  }
  SmallVector<bool, 8> reduced(size_t(in.rank()), false);
  for (const int64_t a : axes) {
    bool& mark = reduced[size_t(ctx.axis(a, in.rank()))];
    if (mark) ctx.fail("each axis may be given once: got axis " + std::to_string(a) + " twice");
    mark = true;
  }
  Shape out;
  for (int a = 0; a < in.rank(); ++a) {
    if (!reduced[size_t(a)]) out.append(in[a]);
    else if (keep) out.append(1);
  }
  ctx.output(0, std::move(out));
}

void argument_shape(ShapeContext& ctx) {
  ctx.require_scalar(1);
  const Shape& in = ctx.input(0);
  if (!in.has_rank()) return ctx.output(0, Shape::unknown_rank());
  if (in.rank() == 0) ctx.fail("input must have at least one axis: " + ctx.describe(0));
  IntVector axis;
  if (!ctx.ints(1, &axis)) return ctx.output(0, Shape::unknown_of_rank(in.rank() - 1));
  Shape out = in;
  const int a = ctx.axis(axis[0], in.rank());
  if (in[a] == 0)
    ctx.fail("the axis must not be empty: " + ctx.describe(0) + ", axis is " + std::to_string(a));
  out.erase(a);
  ctx.output(0, std::move(out));
}

void scan_shape(ShapeContext& ctx) {
  ctx.require_scalar(1);
  IntVector axis;
  if (ctx.input(0).has_rank() && ctx.ints(1, &axis)) ctx.axis(axis[0], ctx.input(0).rank());
  ctx.output(0, ctx.input(0));
}

constexpr const char* kNumbers =
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, "
    "quint16, "
    "uint16, complex128, half, uint32, uint64}";
constexpr const char* kOrdered =
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, "
    "quint8, qint32, "
    "qint16, quint16}";
constexpr const char* kPositioned =
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, "
    "quint8, qint32, "
    "qint16, quint16, bool}";

void add_reduction(OpTable& t, const std::string& op, const std::string& tag, const std::string& types) {
  t.add(op + "(input: T, reduction_indices: Tidx) -> (output: T); keep_dims: bool = false; T: " + types +
        "; Tidx: {int32, int64} = int32")
      .shape(reduction_shape)
      .host({"reduction_indices"})
      .tag(tag);
}

}  // namespace

void register_reduce_ops(OpTable& t) {
  add_reduction(t, "Sum", "reduce_sum", kNumbers);
  add_reduction(t, "Mean", "reduce_mean", kNumbers);
  add_reduction(t, "Prod", "reduce_prod", kNumbers);
  add_reduction(t, "EuclideanNorm", "reduce_euclidean_norm", kNumbers);
  add_reduction(t, "Max", "reduce_max", kOrdered);
  add_reduction(t, "Min", "reduce_min", kOrdered);
  for (const auto& [op, tag] : {std::pair{"Any", "reduce_any"}, std::pair{"All", "reduce_all"}}) {
    t.add(std::string(op) +
          "(input: bool, reduction_indices: Tidx) -> (output: bool); keep_dims: bool = false; "
          "Tidx: {int32, int64} = int32")
        .shape(reduction_shape)
        .host({"reduction_indices"})
        .tag(tag);
  }
  t.add(std::string("ArgMax(input: T, dimension: Tidx) -> (output: output_type); T: ") + kPositioned +
        "; Tidx: {int16, int32, int64} = int32; output_type: {int16, uint16, int32, int64} = int64")
      .shape(argument_shape)
      .host({"dimension"})
      .tag("argmax");
  t.add(std::string("ArgMin(input: T, dimension: Tidx) -> (output: output_type); T: ") + kPositioned +
        "; Tidx: {int32, int64} = int32; output_type: {int32, int64} = int64")
      .shape(argument_shape)
      .host({"dimension"})
      .tag("argmin");
  for (const auto& [op, tag] : {std::pair{"Cumsum", "cumsum"}, std::pair{"Cumprod", "cumprod"}}) {
    t.add(std::string(op) +
          "(x: T, axis: Tidx) -> (out: T); exclusive: bool = false; reverse: bool = false; T: " + kNumbers +
          "; Tidx: {int32, int64} = int32")
        .shape(scan_shape)
        .host({"axis"})
        .tag(tag);
  }
  t.add(
       "CumulativeLogsumexp(x: T, axis: Tidx) -> (out: T); exclusive: bool = false; reverse: bool = false; "
       "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32")
      .shape(scan_shape)
      .host({"axis"})
      .tag("cumulative_logsumexp");
}

}  // namespace rw
