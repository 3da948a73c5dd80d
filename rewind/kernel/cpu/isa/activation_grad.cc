// Loops: gradients of activations.
#include "rewind/kernel/elementwise/activation_grad_defs.h"

#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {

const BinaryRow* activation_grad_rows() {
  static constinit BinaryCollector<100> rows;
  if (rows.count == 0) visit_activation_grad(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
