// Unary elementwise ops: rows.
#include "rewind/op/table.h"

namespace rw {

void register_unary_ops(OpTable& t) {
  t.add("Exp(x: T) -> (y: T); T: {bfloat16, half, float, double, complex64, complex128}")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("exp");
  t.add(
       "Neg(x: T) -> (y: T); T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, "
       "complex128}")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("negative");
}

}  // namespace rw
