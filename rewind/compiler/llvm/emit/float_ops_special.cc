#include "rewind/compiler/llvm/emit/float_ops_visitor.h"
// Behind the visitor.
#include "rewind/kernel/elementwise/binary_special_defs.h"
#include "rewind/kernel/elementwise/special_defs.h"

namespace rw::emit {

void collect_special_float_ops(std::vector<FloatOp>& ops) {
  FloatOpCollector called(ops, false);
  visit_special(called);
  visit_bessel(called);
  visit_integrals(called);
  visit_binary_special(called);
}

}  // namespace rw::emit
