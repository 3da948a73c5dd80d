// Loops: binary arithmetic.
#include "rewind/kernel/elementwise/binary_arithmetic_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const BinaryRow* binary_arithmetic_rows() {
  static constinit BinaryCollector<200> rows;
  if (rows.count == 0) visit_binary_arithmetic(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
