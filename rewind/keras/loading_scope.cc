#include "rewind/keras/loading_scope.h"

#include "rewind/base/error.h"
#include "rewind/tensor/ops/creation.h"

namespace rw::keras {
namespace {

thread_local LoadingScope* innermost = nullptr;

}  // namespace

LoadingScope::LoadingScope(bool safe_mode, uint64_t stored, const format::ExpansionLimit& limit)
    : safe_mode_(safe_mode), stored_(stored), limit_(limit), outer_(innermost) {
  innermost = this;
}
LoadingScope::~LoadingScope() { innermost = outer_; }
LoadingScope* LoadingScope::current() { return innermost; }

Tensor LoadingScope::new_weight(const std::string& path, const Shape& shape, DType dtype) {
  int64_t elements = 0;
  uint64_t bytes = 0;
  const bool fits = shape.fully_known() && shape.checked_num_elements(&elements) &&
                    !__builtin_mul_overflow(uint64_t(elements), uint64_t(size_of(dtype)), &bytes) &&
                    !__builtin_add_overflow(taken_, bytes, &taken_);
  if (!fits || !limit_.allows(taken_, stored_))
    fail_invalid("load_model", "weight " + path + " of shape " + shape.to_string() +
                                   " is more than the file can hold, whose weights take " +
                                   std::to_string(stored_) + " bytes");
  return zeros(shape, dtype);
}

void LoadingScope::count_call() {
  constexpr int64_t kMost = 100'000;
  if (++calls_ > kMost)
    fail_invalid("load_model",
                 "to build the model takes more than " + std::to_string(kMost) +
                     " calls of its layers: models in models double with every level that calls "
                     "the one inside twice");
}

}  // namespace rw::keras
