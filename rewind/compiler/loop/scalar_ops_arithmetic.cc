#include "rewind/compiler/loop/scalar_ops_visitor.h"
#include "rewind/kernel/elementwise/activation_grad_defs.h"
#include "rewind/kernel/elementwise/arithmetic_defs.h"
#include "rewind/kernel/elementwise/binary_arithmetic_defs.h"
#include "rewind/kernel/elementwise/comparison_defs.h"
#include "rewind/kernel/elementwise/exponential_defs.h"
#include "rewind/kernel/elementwise/ternary_defs.h"

namespace rw::loop {

void collect_arithmetic(std::vector<ScalarOp>& ops) {
  ScalarOpCollector collector(ops);
  visit_arithmetic(collector);
  visit_binary_arithmetic(collector);
  visit_comparison(collector);
  visit_activation_grad(collector);
  visit_exponential(collector);
  visit_ternary(collector);
}

}  // namespace rw::loop
