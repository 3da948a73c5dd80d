#include "rewind/op/compiler_rows.h"

#include "rewind/base/error.h"

namespace rw {

bool is_compiler_row(const Op& op) {
  if (op.name[0] != '_') return false;
  for (const std::string_view name : {"_Fused", "_Tiles", "_Attention", "_AttentionGrad", "_KeepingWhile",
                                      "_StatelessKeepingWhile", "_BackWhile", "_ReserveRandom"})
    if (op.name == name) return true;
  return false;
}

void refuse_compiler_row(const Op& op) {
  if (is_compiler_row(op))
    fail_invalid(op.tag, "op " + op.name + " is the compiler's own: programs and files cannot call it");
}

}  // namespace rw
