// Unary elementwise loops.
#include "rewind/kernel/elementwise/unary_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const UnaryRow* unary_rows() {
  static constinit UnaryCollector<600> rows;
  if (rows.count == 0) visit_unary_ops(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
