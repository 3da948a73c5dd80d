#include "rewind/tensor/ops/string.h"

#include "rewind/tensor/apply.h"

namespace rw::strings {

Tensor as_string(const Operand& input, const AsStringOptions& o) {
  return apply_one(RW_OP("AsString"), {&input.tensor()},
                   {{"precision", o.precision},
                    {"scientific", o.scientific},
                    {"shortest", o.shortest},
                    {"width", o.width},
                    {"fill", o.fill}});
}

Tensor join(const Operands& inputs, const std::string& separator) {
  return rw::apply(RW_OP("StringJoin"), inputs.tensors(), {{"separator", separator}})[0];
}

Tensor format(const std::string& pattern, const MixedOperands& inputs, const std::string& placeholder,
              int summarize) {
  return rw::apply(RW_OP("StringFormat"), inputs.tensors(),
                   {{"template", pattern}, {"placeholder", placeholder}, {"summarize", summarize}})[0];
}

Tensor length(const Operand& input, const std::string& unit) {
  return apply_one(RW_OP("StringLength"), {&input.tensor()}, {{"unit", unit}});
}
Tensor lower(const Operand& input) { return apply_one(RW_OP("StringLower"), {&input.tensor()}); }
Tensor upper(const Operand& input) { return apply_one(RW_OP("StringUpper"), {&input.tensor()}); }
Tensor strip(const Operand& input) { return apply_one(RW_OP("StringStrip"), {&input.tensor()}); }
Tensor to_number(const Operand& input, DType out_type) {
  return apply_one(RW_OP("StringToNumber"), {&input.tensor()}, {{"out_type", out_type}});
}

}  // namespace rw::strings
