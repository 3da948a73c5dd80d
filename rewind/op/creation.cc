// Creation ops: rows and shape rules.
#include <cmath>

#include "rewind/base/dispatch.h"
#include "rewind/base/number_text.h"
#include "rewind/op/shape_rules.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

void fill_shape(ShapeContext& ctx) {
  ctx.require_scalar(1);
  sizes_from_input(ctx);
}

void const_shape(ShapeContext& ctx) {
  const auto value = ctx.attr<HostTensor>("value");
  if (value.dtype != ctx.attr<DType>("dtype")) {
    ctx.fail("value must have the dtype of attribute dtype: value is " + std::string(name_of(value.dtype)) +
             ", dtype is " + std::string(name_of(ctx.attr<DType>("dtype"))));
  }
  ctx.output(0, value.shape);
}

// One element, in a scalar or in a vector of one.
void require_single(const ShapeContext& ctx, int i) {
  const Shape& s = ctx.input(i);
  if (s.has_rank() && s.fully_known() && s.num_elements() != 1)
    ctx.fail(ctx.describe(i) + ", and must be a scalar");
}

void range_shape(ShapeContext& ctx) {
  for (int i = 0; i < 3; ++i) require_single(ctx, i);
  if (!ctx.view(0).data || !ctx.view(1).data || !ctx.view(2).data)
    return ctx.output(0, Shape::unknown_of_rank(1));
  int64_t size = 0;
  dispatch<kRealTypes>(ctx.dtype(0), [&]<class T>() {
    using C = Compute<T>;
    const C start = static_cast<C>(*ctx.view(0).as<T>());
    const C limit = static_cast<C>(*ctx.view(1).as<T>());
    const C delta = static_cast<C>(*ctx.view(2).as<T>());
    if (delta == C(0)) ctx.fail("delta must not be 0");
    if (delta > C(0) ? start > limit : limit > start)
      ctx.fail("limit must lie in the direction of delta: start is " + number_text(start) + ", limit is " +
               number_text(limit) + ", delta is " + number_text(delta));
    if constexpr (std::is_floating_point_v<C>) {
      // Rounded to the type after each step, as the values are.
      const C span = static_cast<C>(static_cast<T>(limit - start));
      const double steps = std::ceil(std::abs(double(static_cast<C>(static_cast<T>(span / delta)))));
      if (!(steps < 9e18))
        ctx.fail("there must be a finite number of values: start is " + number_text(start) + ", limit is " +
                 number_text(limit) + ", delta is " + number_text(delta));
      size = int64_t(steps);
    } else {
      const uint64_t span =
          delta > C(0) ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
      const uint64_t step = delta > C(0) ? uint64_t(delta) : uint64_t(0) - uint64_t(delta);
      const uint64_t count = span / step + (span % step != 0);
      if (count > uint64_t(INT64_MAX)) ctx.fail("there are too many values: " + std::to_string(count));
      size = int64_t(count);
    }
  });
  ctx.output(0, Shape{size});
}

void linspace_shape(ShapeContext& ctx) {
  for (int i = 0; i < 3; ++i) ctx.require_scalar(i);
  IntVector num;
  if (!ctx.ints(2, &num)) return ctx.output(0, Shape::unknown_of_rank(1));
  if (num[0] <= 0) ctx.fail("num must be positive: got " + std::to_string(num[0]));
  ctx.output(0, Shape{num[0]});
}

void one_hot_shape(ShapeContext& ctx) {
  for (int i = 1; i < 4; ++i) ctx.require_scalar(i);
  Shape out = ctx.input(0);
  const auto axis = ctx.attr<int64_t>("axis");
  if (axis < -1) ctx.fail("axis must be at least -1: got " + std::to_string(axis));
  if (!out.has_rank()) return ctx.output(0, Shape::unknown_rank());
  if (axis > out.rank()) {
    ctx.fail("axis must be in [-1, " + std::to_string(out.rank()) + "]: got " + std::to_string(axis));
  }
  IntVector depth;
  const bool known = ctx.ints(1, &depth);
  if (known && depth[0] < 0) ctx.fail("depth must not be negative: got " + std::to_string(depth[0]));
  out.insert(axis == -1 ? out.rank() : int(axis), known ? depth[0] : Shape::kUnknown);
  ctx.output(0, std::move(out));
}

}  // namespace

void register_creation_ops(OpTable& t) {
  t.add("Const() -> (output: dtype); value: tensor; dtype: type").shape(const_shape).tag("constant");
  t.add("Empty(shape: int32) -> (output: dtype); dtype: type; init: bool = false; stateful")
      .shape(sizes_from_input)
      .host({"shape"})
      .tag("empty");
  t.add("Fill(dims: index_type, value: T) -> (output: T); T: type; index_type: {int32, int64} = int32")
      .shape(fill_shape)
      .host({"dims"})
      .tag("fill");
  t.add(
       "OnesLike(x: T) -> (y: T); T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, "
       "uint32, "
       "int64, uint64, complex64, complex128, bool}")
      .shape(same_shape_as_input)
      .tag("ones_like");
  t.add("ZerosLike(x: T) -> (y: T); T: type").shape(same_shape_as_input).shares().tag("zeros_like");
  t.add(
       "Range(start: Tidx, limit: Tidx, delta: Tidx) -> (output: Tidx); Tidx: {bfloat16, half, float, "
       "double, int8, "
       "int16, int32, int64, uint16, uint32, uint64} = int32")
      .shape(range_shape)
      .host({"start", "limit", "delta"})
      .tag("range");
  t.add(
       "LinSpace(start: T, stop: T, num: Tidx) -> (output: T); T: {bfloat16, half, float, double}; "
       "Tidx: {int32, int64} = int32")
      .shape(linspace_shape)
      .host({"start", "stop", "num"})
      .tag("linspace");
  t.add(
       "OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> (output: T); axis: int = -1; T: "
       "type; "
       "TI: {uint8, int8, int32, int64} = int64")
      .shape(one_hot_shape)
      .host({"depth"})
      .tag("one_hot");
}

}  // namespace rw
