// Shapes: the family's rows lie in layout.cc, slice.cc, join.cc, pad.cc and block.cc; here is what they
// share.
#include "rewind/op/shape_rows.h"

namespace rw {

std::string list_text(const IntVector& values) {
  std::string text = "[";
  for (const int64_t v : values) text += (text.size() == 1 ? "" : ", ") + std::to_string(v);
  return text + "]";
}

Shape same_rank_unknown(const Shape& shape) {
  return shape.has_rank() ? Shape::unknown_of_rank(shape.rank()) : Shape::unknown_rank();
}

int64_t checked_product(const ShapeContext& ctx, int64_t a, int64_t b) {
  int64_t c = 0;
  if (__builtin_mul_overflow(a, b, &c))
    ctx.fail("sizes must stay within int64: got " + std::to_string(a) + " * " + std::to_string(b));
  return c;
}

int64_t checked_sum(const ShapeContext& ctx, int64_t a, int64_t b) {
  int64_t c = 0;
  if (__builtin_add_overflow(a, b, &c))
    ctx.fail("sizes must stay within int64: got " + std::to_string(a) + " + " + std::to_string(b));
  return c;
}

int64_t merge_sizes(const ShapeContext& ctx, int64_t a, int64_t b, const char* what) {
  if (a < 0) return b;
  if (b >= 0 && a != b)
    ctx.fail(std::string(what) + ": got " + std::to_string(a) + " and " + std::to_string(b));
  return a;
}

void register_shape_ops(OpTable& table) {
  register_layout_rows(table);
  register_slice_rows(table);
  register_join_rows(table);
  register_pad_rows(table);
  register_block_rows(table);
}

}  // namespace rw
