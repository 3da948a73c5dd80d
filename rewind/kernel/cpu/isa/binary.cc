// Binary elementwise loops.
#include "rewind/kernel/elementwise/binary_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const BinaryRow* binary_rows() {
  static constinit BinaryCollector<600> rows;
  if (rows.count == 0) visit_binary_ops(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
