// Creation ops: rows and shape rules.
#include "rewind/op/table.h"

namespace rw {
namespace {

void fill_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  ctx.require_scalar(1);
  IntVector dims;
  if (ctx.ints(0, &dims)) {
    for (const int64_t d : dims)
      if (d < 0) ctx.fail("dims must not be negative: got " + std::to_string(d));
    return ctx.output(0, Shape(std::span<const int64_t>(dims.data(), dims.size())));
  }
  const Shape& s = ctx.input(0);
  ctx.output(0, s.has_rank() && s[0] >= 0 ? Shape::unknown_of_rank(int(s[0])) : Shape::unknown_rank());
}

}  // namespace

void register_creation_ops(OpTable& t) {
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
  t.add("ZerosLike(x: T) -> (y: T); T: type").shape(same_shape_as_input).tag("zeros_like");
}

}  // namespace rw
