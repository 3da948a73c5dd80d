// In which type a layer computes, and in which its variables are. "mixed_bfloat16" computes in bfloat16 on
// float32 variables.
#pragma once

#include <string>

#include "rewind/base/dtype.h"

namespace rw::keras {

class DTypePolicy {
 public:
  DTypePolicy() = default;  // what dtype_policy() is when the layer is made
  constexpr DTypePolicy(DType dtype) : compute_(dtype), variable_(dtype) {}  // NOLINT: one type for both
  DTypePolicy(const char* name);        // NOLINT: "float32", "mixed_bfloat16", "mixed_float16", ...
  DTypePolicy(const std::string& name)  // NOLINT
      : DTypePolicy(name.c_str()) {}

  bool defined() const { return compute_ != DType::kInvalid; }
  DType compute_dtype() const { return compute_; }
  DType variable_dtype() const { return variable_; }
  std::string name() const;

 private:
  DType compute_ = DType::kInvalid;
  DType variable_ = DType::kInvalid;
};

// Of layers that are made without a dtype of their own; "float32" until it is set.
void set_dtype_policy(const DTypePolicy& policy);
DTypePolicy dtype_policy();

}  // namespace rw::keras
