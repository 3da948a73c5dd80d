#include "rewind/compiler/loop/scalar_ops_visitor.h"
#include "rewind/kernel/elementwise/binary_special_defs.h"
#include "rewind/kernel/elementwise/special_defs.h"
#include "rewind/kernel/elementwise/trigonometric_defs.h"

namespace rw::loop {

void collect_special(std::vector<ScalarOp>& ops) {
  ScalarOpCollector collector(ops);
  visit_trigonometric(collector);
  visit_special(collector);
  visit_bessel(collector);
  visit_integrals(collector);
  visit_binary_special(collector);
}

}  // namespace rw::loop
