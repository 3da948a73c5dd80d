#include "rewind/compiler/loop/scalar_ops.h"

#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "rewind/compiler/loop/scalar_ops_visitor.h"
#include "rewind/kernel/cpu/isa/isa.h"

namespace rw::loop {

void collect_arithmetic(std::vector<ScalarOp>& ops);
void collect_special(std::vector<ScalarOp>& ops);

namespace {

using Key = std::pair<std::string_view, DType>;

const std::map<Key, ScalarOp>& table() {
  static const auto& all = *new std::map<Key, ScalarOp>([] {
    std::vector<ScalarOp> ops;
    collect_arithmetic(ops);
    collect_special(ops);
    std::map<Key, ScalarOp> map;
    for (const ScalarOp& op : ops) map.emplace(Key{op.name, op.in}, op);
    return map;
  }());
  return all;
}

}  // namespace

const ScalarOp* find_scalar_op(std::string_view name, DType in) {
  const auto it = table().find({name, in});
  return it == table().end() ? nullptr : &it->second;
}

bool divides_integers(std::string_view name, DType in) {
  if (!is_integer(in)) return false;
  for (std::string_view op : {"Div", "FloorDiv", "TruncateDiv", "FloorMod", "TruncateMod", "Mod"})
    if (op == name) return true;
  return false;
}

void for_each_scalar_op(void (*visit)(const ScalarOp& op, void* data), void* data) {
  for (const auto& [key, op] : table()) visit(op, data);
}

CastFunction find_cast(DType from, DType to) {
  for (const UnaryRow* row = isa_loops().elementwise->casts; row->op; ++row)
    if (row->in == from && row->out == to) return row->loop;
  return nullptr;
}

}  // namespace rw::loop
