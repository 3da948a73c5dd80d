// Loops: three operands.
#include "rewind/kernel/elementwise/ternary_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const TernaryRow* ternary_rows() {
  static constinit TernaryCollector<100> rows;
  if (rows.count == 0) visit_ternary(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
