// Optionals: variants that hold tensors, or none. Branches of conditions give what their derivatives need as
// optionals, since only one of them has it.
#pragma once

#include <vector>

#include "rewind/op/object.h"
#include "rewind/runtime/storage.h"

namespace rw {

class OptionalObject final : public Object {
 public:
  std::string describe() const override;
  std::vector<Value> components;  // empty: it has no value
};

void register_optional_runtime_kernels();

}  // namespace rw
