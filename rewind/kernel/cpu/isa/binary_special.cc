// Loops: powers, remainders, special functions of two arguments.
#include "rewind/kernel/elementwise/binary_special_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const BinaryRow* binary_special_rows() {
  static constinit BinaryCollector<100> rows;
  if (rows.count == 0) visit_binary_special(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
