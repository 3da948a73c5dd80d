#include "rewind/compiler/llvm/emit/float_ops_visitor.h"
// Behind the visitor.
#include <map>

#include "rewind/kernel/elementwise/activation_grad_defs.h"
#include "rewind/kernel/elementwise/arithmetic_defs.h"
#include "rewind/kernel/elementwise/binary_arithmetic_defs.h"
#include "rewind/kernel/elementwise/comparison_defs.h"
#include "rewind/kernel/elementwise/exponential_defs.h"
#include "rewind/kernel/elementwise/ternary_defs.h"
#include "rewind/kernel/elementwise/trigonometric_defs.h"

namespace rw::emit {

void collect_special_float_ops(std::vector<FloatOp>& ops);

const FloatOp* find_float_op(std::string_view name) {
  static const auto& map = *new std::map<std::string_view, FloatOp>([] {
    std::vector<FloatOp> ops;
    FloatOpCollector inlined(ops, true), called(ops, false);
    visit_arithmetic(inlined);
    visit_binary_arithmetic(inlined);
    visit_comparison(inlined);
    visit_activation_grad(inlined);
    visit_ternary(inlined);
    visit_exponential(called);
    visit_trigonometric(called);
    collect_special_float_ops(ops);
    std::map<std::string_view, FloatOp> by_name;
    for (const FloatOp& op : ops) by_name.emplace(op.name, op);
    return by_name;
  }());
  const auto it = map.find(name);
  return it == map.end() ? nullptr : &it->second;
}

}  // namespace rw::emit
