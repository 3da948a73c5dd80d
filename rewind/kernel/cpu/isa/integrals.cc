// Loops: oscillating Bessel functions, functions defined by integrals.
#include "rewind/kernel/elementwise/special_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const UnaryRow* integral_rows() {
  static constinit UnaryCollector<100> rows;
  if (rows.count == 0) visit_integrals(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
