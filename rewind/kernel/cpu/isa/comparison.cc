// Loops: comparisons, logic, bits.
#include "rewind/kernel/elementwise/comparison_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const BinaryRow* comparison_rows() {
  static constinit BinaryCollector<200> rows;
  if (rows.count == 0) visit_comparison(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
