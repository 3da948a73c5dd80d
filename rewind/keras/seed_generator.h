// SeedGenerator: a stream of seeds with its state in a variable, as keras.random.SeedGenerator. Layers that
// draw have one, so that training goes on exactly where the variables say it stood. The numbers are those
// that Keras draws on TensorFlow. One thread at a time draws from one.
#pragma once

#include "rewind/module/trackable.h"
#include "rewind/tensor/ops/random.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras {

class SeedGenerator {
 public:
  SeedGenerator() = default;  // undefined
  // Without a seed one is drawn, from rw::random::set_seed if that was called.
  explicit SeedGenerator(std::optional<int64_t> seed);

  // A seed for the stateless functions of rw::random, another one each time: int32 (2).
  Tensor next() const;
  Tensor uniform(const ShapeArgument& shape, const random::UniformOptions& options = {}) const;
  Tensor normal(const ShapeArgument& shape, const random::NormalOptions& options = {}) const;
  // Zeros with probability `rate`, the rest grows by 1 / (1 - rate); the mask has these sizes and broadcasts.
  Tensor dropout(const Tensor& x, double rate, const Sizes& mask) const;
  Tensor dropout(const Tensor& x, double rate) const;

  const Variable& state() const { return state_; }  // int64: the seed, and how many were taken

 private:
  Variable state_;
};

TrackablePtr trackable_of(const SeedGenerator& generator);

}  // namespace rw::keras
