// Binary elementwise ops: rows.
#include "rewind/op/table.h"

namespace rw {

void register_binary_ops(OpTable& t) {
  t.add(
       "AddV2(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, "
       "int16, "
       "int32, int64, complex64, complex128}; commutative; aggregate")
      .shape(broadcast_inputs)
      .elementwise()
      .tag("add");
  t.add(
       "Sub(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, "
       "int64, "
       "complex64, complex128, uint32, uint64}")
      .shape(broadcast_inputs)
      .elementwise()
      .tag("subtract");
  t.add(
       "Mul(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, "
       "uint32, "
       "uint64, int64, complex64, complex128}; commutative")
      .shape(broadcast_inputs)
      .elementwise()
      .tag("multiply");
}

}  // namespace rw
