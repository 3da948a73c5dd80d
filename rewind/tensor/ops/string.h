// String functions.
#pragma once

#include <string>
#include <vector>

#include "rewind/tensor/operand.h"

namespace rw::strings {

struct AsStringOptions {
  int precision = -1;
  bool scientific = false;
  bool shortest = false;
  int width = -1;
  std::string fill = "";
};
Tensor as_string(const Operand& input, const AsStringOptions& options = {});
Tensor join(const Operands& inputs, const std::string& separator = "");
// Tensors in the places of the placeholder: format("loss {} at {}", {loss, step}).
Tensor format(const std::string& pattern, const MixedOperands& inputs, const std::string& placeholder = "{}",
              int summarize = 3);
Tensor length(const Operand& input, const std::string& unit = "BYTE");
Tensor lower(const Operand& input);
Tensor upper(const Operand& input);
Tensor strip(const Operand& input);
Tensor to_number(const Operand& input, DType out_type = DType::kFloat32);

}  // namespace rw::strings

namespace rw {
using strings::as_string;
}  // namespace rw
