#include "rewind/keras/dtype_policy.h"

#include <mutex>
#include <string_view>

#include "rewind/base/error.h"

namespace rw::keras {
namespace {

std::mutex g_policy_mutex;
constinit DTypePolicy g_policy(DType::kFloat32);

}  // namespace

DTypePolicy::DTypePolicy(const char* name) {
  const std::string_view text(name);
  const bool mixed = text.starts_with("mixed_");
  compute_ = parse_dtype(mixed ? text.substr(6) : text);
  variable_ = mixed ? DType::kFloat32 : compute_;
  const bool sixteen_bits = compute_ == DType::kBfloat16 || compute_ == DType::kFloat16;
  if (compute_ == DType::kInvalid || (mixed && !sixteen_bits))
    fail_invalid("DTypePolicy",
                 "\"" + std::string(text) +
                     "\" is no policy: use the name of a dtype, mixed_bfloat16 or mixed_float16");
}

std::string DTypePolicy::name() const {
  return (compute_ == variable_ ? "" : "mixed_") + std::string(name_of(compute_));
}

void set_dtype_policy(const DTypePolicy& policy) {
  const std::lock_guard lock(g_policy_mutex);
  g_policy = policy.defined() ? policy : DTypePolicy(DType::kFloat32);
}

DTypePolicy dtype_policy() {
  const std::lock_guard lock(g_policy_mutex);
  return g_policy;
}

}  // namespace rw::keras
