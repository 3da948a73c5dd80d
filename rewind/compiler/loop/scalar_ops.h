// The elementwise definitions on single values: what an op of the loop IR means. A value lies in 64 bits, in
// the lowest bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "rewind/base/dtype.h"

namespace rw::loop {

struct ScalarOp {
  std::string_view name;  // lives for ever
  DType in, out;
  int arity;
  uint64_t (*run)(const uint64_t* args);
};

// The definition of `name` for inputs of type `in`, or nullptr. "Cast" and "Select" are none.
const ScalarOp* find_scalar_op(std::string_view name, DType in);

// Whether the op divides integers: its second operand must not be 0.
bool divides_integers(std::string_view name, DType in);

// Calls visit(op) for every definition.
void for_each_scalar_op(void (*visit)(const ScalarOp& op, void* data), void* data);

using CastFunction = void (*)(const void* x, void* out, int64_t n);
CastFunction find_cast(DType from, DType to);  // nullptr when there is none

}  // namespace rw::loop
