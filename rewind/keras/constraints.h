// Projections of weights after each step of an optimizer, with Keras' names, defaults and arithmetic. A
// Constraint is a small value: by name, one of the makers below, or any callable Tensor -> Tensor.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "rewind/keras/origin.h"
#include "rewind/tensor/variable.h"

namespace rw::keras {

class Constraint : public WithOrigin {
 public:
  using Call = std::function<Tensor(const Tensor&)>;

  Constraint() = default;               // none
  Constraint(std::nullptr_t) {}         // NOLINT: written as they are
  Constraint(const char* name);         // NOLINT
  Constraint(const std::string& name);  // NOLINT
  template <class F>
    requires(std::is_invocable_r_v<Tensor, const F&, const Tensor&> && !std::is_convertible_v<F, std::string>)
  Constraint(F f) : call_(std::make_shared<const Call>(std::move(f))) {}  // NOLINT

  bool defined() const { return call_ != nullptr; }
  explicit operator bool() const { return defined(); }
  Tensor operator()(const Tensor& w) const { return call_ ? (*call_)(w) : w; }

 private:
  std::shared_ptr<const Call> call_;
};

namespace constraints {

// Norms are taken along these axes.
struct MaxNormOptions {
  double max_value = 2.0;
  std::vector<int64_t> axis = {0};
};
Constraint MaxNorm(const MaxNormOptions& options = {});
Constraint NonNeg();
struct UnitNormOptions {
  std::vector<int64_t> axis = {0};
};
Constraint UnitNorm(const UnitNormOptions& options = {});
struct MinMaxNormOptions {
  double min_value = 0.0;
  double max_value = 1.0;
  double rate = 1.0;  // how much of the way is gone in one step
  std::vector<int64_t> axis = {0};
};
Constraint MinMaxNorm(const MinMaxNormOptions& options = {});

// By Keras' class name or its snake_case; throws InvalidArgumentError for others.
Constraint get(const std::string& name);

}  // namespace constraints

// The constraint of a variable: optimizers apply it after each step. An empty one takes it away.
void set_constraint(const Variable& variable, const Constraint& constraint);
Constraint constraint_of(const Variable& variable);

}  // namespace rw::keras
