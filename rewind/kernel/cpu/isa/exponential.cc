// Loops: exponentials and logarithms.
#include "rewind/kernel/elementwise/exponential_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const UnaryRow* exponential_rows() {
  static constinit UnaryCollector<100> rows;
  if (rows.count == 0) visit_exponential(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
