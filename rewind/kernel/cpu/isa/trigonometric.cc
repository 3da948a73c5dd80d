// Loops: trigonometric functions.
#include "rewind/kernel/elementwise/trigonometric_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const UnaryRow* trigonometric_rows() {
  static constinit UnaryCollector<100> rows;
  if (rows.count == 0) visit_trigonometric(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
