// Loops: Bessel functions.
#include "rewind/kernel/elementwise/special_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const UnaryRow* bessel_rows() {
  static constinit UnaryCollector<100> rows;
  if (rows.count == 0) visit_bessel(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
