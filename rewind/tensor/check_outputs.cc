#include "rewind/tensor/check_outputs.h"

#include <cmath>

#include "rewind/base/call_site.h"
#include "rewind/base/dispatch.h"
#include "rewind/base/error.h"
#include "rewind/tensor/check_numerics.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

namespace rw {

constinit std::atomic<bool> g_check_numerics{false};

namespace {

struct BadElements {
  int64_t nan = 0, infinite = 0;
  explicit operator bool() const { return nan + infinite > 0; }
  std::string text() const {
    return std::to_string(nan) + " NaN and " + std::to_string(infinite) + " infinite";
  }
};

BadElements count_bad(const Tensor& t) {
  BadElements bad;
  if (!is_floating(t.dtype()) || t.impl()->kind != TensorKind::kEager) return bad;
  const void* data = t.host_data();
  dispatch<kFloatTypes>(t.dtype(), [&]<class T>() {
    const T* values = static_cast<const T*>(data);
    for (int64_t i = 0; i < t.size(); ++i) {
      const auto v = static_cast<Compute<T>>(values[i]);
      bad.nan += v != v;
      bad.infinite += std::isinf(v);
    }
  });
  return bad;
}

// Outputs beyond the first of these are notes for the gradient, and may hold anything.
bool is_checked(const Op& op, size_t output) {
  return output == 0 || !std::string_view(op.name).starts_with("FusedBatchNorm");
}
// Bodies of control flow check for themselves.
bool is_checked(const Op& op) {
  const std::string_view name = op.name;
  if (name.starts_with("CheckNumerics") || name == "Assert" || name.starts_with("_")) return false;
  for (const char* whole : {"If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile",
                            "PartitionedCall", "StatefulPartitionedCall", "EagerPyFunc"})
    if (name == whole) return false;
  return true;
}

std::string output_text(const Op& op, size_t output, const Tensor& t) {
  return "output " + std::to_string(output) + " of " + std::string(op.name) + ", " +
         std::string(name_of(t.dtype())) + " " + t.shape().to_string();
}

}  // namespace

void check_outputs(const Op& op, TensorPointers inputs, const Tensors& outputs) {
  if (!is_checked(op)) return;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!is_checked(op, k)) continue;
    const BadElements bad = count_bad(outputs[k]);
    if (!bad) continue;
    std::string text = "[check_numerics] " + output_text(op, k, outputs[k]) + ": " + bad.text() + " of " +
                       std::to_string(outputs[k].size()) + " elements";
    bool inherited = false;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (const BadElements before = count_bad(*inputs[i])) {
        text +=
            (inherited ? ", " : "; it came in: ") + ("input " + std::to_string(i)) + " has " + before.text();
        inherited = true;
      }
    if (!inherited) text += "; all inputs were finite";
    throw_with_places(InvalidArgumentError(text), {{"at", std::make_shared<CallSite>(CallSite::here())}});
  }
}

void add_output_checks(Trace& trace, const Op& op, const Tensors& outputs) {
  if (!is_checked(op)) return;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!is_floating(outputs[k].dtype()) || !is_checked(op, k)) continue;
    const Tensor* result = &outputs[k];
    trace.add(RW_OP("CheckNumericsV2"), TensorPointers(&result, 1),
              {{"message", output_text(op, k, outputs[k])}});
  }
}

namespace debugging {
void enable_check_numerics() { g_check_numerics = true; }
void disable_check_numerics() { g_check_numerics = false; }
bool check_numerics_enabled() { return checks_numerics(); }
}  // namespace debugging

}  // namespace rw
