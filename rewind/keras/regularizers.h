// Penalties on weights, with Keras' names, defaults and arithmetic. A Regularizer is a small value: by name
// ("l1", "l2", "l1_l2", ...), one of the makers below, or any callable Tensor -> scalar Tensor.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "rewind/keras/origin.h"
#include "rewind/tensor/tensor.h"

namespace rw::keras {

class Regularizer : public WithOrigin {
 public:
  using Call = std::function<Tensor(const Tensor&)>;

  Regularizer() = default;               // none
  Regularizer(std::nullptr_t) {}         // NOLINT: written as they are
  Regularizer(const char* name);         // NOLINT
  Regularizer(const std::string& name);  // NOLINT
  template <class F>
    requires(std::is_invocable_r_v<Tensor, const F&, const Tensor&> && !std::is_convertible_v<F, std::string>)
  Regularizer(F f) : call_(std::make_shared<const Call>(std::move(f))) {}  // NOLINT

  bool defined() const { return call_ != nullptr; }
  explicit operator bool() const { return defined(); }
  // The penalty of x, a scalar; an empty regularizer's is 0.
  Tensor operator()(const Tensor& x) const;

 private:
  std::shared_ptr<const Call> call_;
};

namespace regularizers {

Regularizer L1(double l1 = 0.01);  // l1 sum |x|
Regularizer L2(double l2 = 0.01);  // l2 sum x^2
struct L1L2Options {
  double l1 = 0.0;
  double l2 = 0.0;
};
Regularizer L1L2(const L1L2Options& options = {});
struct OrthogonalOptions {
  double factor = 0.01;
  std::string mode = "rows";  // or "columns"
};
// The mean size of the products of normalised rows (columns) of a matrix with each other.
Regularizer OrthogonalRegularizer(const OrthogonalOptions& options = {});

// By Keras' class name or its snake_case; throws InvalidArgumentError for others.
Regularizer get(const std::string& name);

}  // namespace regularizers
}  // namespace rw::keras
