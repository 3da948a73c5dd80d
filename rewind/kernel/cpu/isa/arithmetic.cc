// Loops: unary arithmetic, rounding, tests, bits.
#include "rewind/kernel/elementwise/arithmetic_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const UnaryRow* arithmetic_rows() {
  static constinit UnaryCollector<200> rows;
  if (rows.count == 0) visit_arithmetic(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
