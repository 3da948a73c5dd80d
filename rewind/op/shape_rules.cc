#include "rewind/op/shape_rules.h"

namespace rw {

void sizes_from_input(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  IntVector dims;
  if (ctx.ints(0, &dims)) {
    for (const int64_t d : dims)
      if (d < 0) ctx.fail("sizes must not be negative: got " + std::to_string(d));
    return ctx.output(0, Shape(std::span<const int64_t>(dims.data(), dims.size())));
  }
  const Shape& s = ctx.input(0);
  ctx.output(0, s.has_rank() && s[0] >= 0 ? Shape::unknown_of_rank(int(s[0])) : Shape::unknown_rank());
}

}  // namespace rw
