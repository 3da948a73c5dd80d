// Initial values of weights, with Keras' names, defaults and arithmetic. An Initializer is a small value: by
// name, one of the makers below, a tensor, or any callable (Shape, DType) -> Tensor.
//   Dense(10, {.kernel_initializer = "he_normal"})
//   Dense(10, {.kernel_initializer = keras::initializers::RandomNormal({.stddev = 0.1, .seed = 3})})
//
// As in Keras, an initializer without a seed draws one when it is made, so that it gives the same values each
// time; clone() draws anew. The same seed gives the bits that Keras gives on TensorFlow.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/shape.h"
#include "rewind/keras/origin.h"
#include "rewind/tensor/tensor.h"

namespace rw::keras {

class Initializer : public WithOrigin {
 public:
  using Call = std::function<Tensor(const Shape&, DType)>;

  Initializer() = default;               // none
  Initializer(std::nullptr_t) {}         // NOLINT: written as they are
  Initializer(const char* name);         // NOLINT
  Initializer(const std::string& name);  // NOLINT
  Initializer(const Tensor& value);      // NOLINT: exactly this, of this shape
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Shape&, DType>
  Initializer(F f) : state_(std::make_shared<State>(State{"custom", Call(std::move(f)), {}})) {}  // NOLINT

  bool defined() const { return state_ != nullptr; }
  explicit operator bool() const { return defined(); }
  const std::string& name() const;  // Keras' class name; "" when undefined
  Tensor operator()(const Shape& shape, DType dtype = DType::kFloat32) const;
  // The same kind, with a new seed if it has none of its own.
  Initializer clone() const;

  // For the library: `again` makes another of the kind.
  Initializer(std::string name, Call call, std::function<Initializer()> again);

 private:
  struct State {
    std::string name;
    Call call;
    std::function<Initializer()> again;
  };
  std::shared_ptr<const State> state_;
};

namespace initializers {

using Seed = std::optional<int64_t>;

Initializer Zeros();
Initializer Ones();
Initializer Constant(double value = 0.0);
Initializer Identity(double gain = 1.0);

struct NormalOptions {
  double mean = 0.0;
  double stddev = 0.05;
  Seed seed = {};
};
Initializer RandomNormal(const NormalOptions& options = {});
Initializer TruncatedNormal(const NormalOptions& options = {});
struct UniformOptions {
  double minval = -0.05;
  double maxval = 0.05;
  Seed seed = {};
};
Initializer RandomUniform(const UniformOptions& options = {});

struct VarianceScalingOptions {
  double scale = 1.0;
  std::string mode = "fan_in";                    // or "fan_out", "fan_avg"
  std::string distribution = "truncated_normal";  // or "untruncated_normal", "uniform"
  Seed seed = {};
  // Which axes count as inputs and outputs; both or none. By default the last two, times the others.
  std::optional<std::vector<int>> input_axes = {};
  std::optional<std::vector<int>> output_axes = {};
};
Initializer VarianceScaling(const VarianceScalingOptions& options = {});

struct SeedOptions {
  Seed seed = {};
};
Initializer GlorotUniform(const SeedOptions& options = {});
Initializer GlorotNormal(const SeedOptions& options = {});
Initializer LecunUniform(const SeedOptions& options = {});
Initializer LecunNormal(const SeedOptions& options = {});
Initializer HeUniform(const SeedOptions& options = {});
Initializer HeNormal(const SeedOptions& options = {});

struct OrthogonalOptions {
  double gain = 1.0;
  Seed seed = {};
};
Initializer Orthogonal(const OrthogonalOptions& options = {});

// By Keras' class name or its snake_case; throws InvalidArgumentError for others.
Initializer get(const std::string& name);

}  // namespace initializers

// A seed as Keras takes one where the user gave none: it follows from random::set_seed, if that was called.
int64_t make_default_seed();
// The two numbers that Keras hands to stateless random ops for an integer seed.
Tensor stateless_seed(int64_t seed);

}  // namespace rw::keras
