// Random numbers, TensorFlow's very bits: by global and op seeds, by explicit seeds (stateless), and by
// generators that hold their own state.
#pragma once

#include <optional>
#include <vector>

#include "rewind/tensor/operand.h"
#include "rewind/tensor/shape_argument.h"
#include "rewind/tensor/variable.h"

namespace rw::random {

using Seed = std::optional<int64_t>;

// All draws after this follow from it (until the next call), also those without a seed of their own.
void set_seed(int64_t seed);

struct UniformOptions {
  Tensor minval = {};  // 0
  Tensor maxval = {};  // 1; integers need it
  DType dtype = DType::kFloat32;
  Seed seed = {};  // of this op; the stateless functions and generators have their own
};
struct NormalOptions {
  Tensor mean = {};    // 0
  Tensor stddev = {};  // 1
  DType dtype = DType::kFloat32;
  Seed seed = {};
};

// minval <= x < maxval.
Tensor uniform(const ShapeArgument& shape, const UniformOptions& options = {});
Tensor uniform(const ShapeArgument& shape, const Tensor& minval, const Tensor& maxval,
               DType dtype = DType::kFloat32);
Tensor normal(const ShapeArgument& shape, const NormalOptions& options = {});
Tensor normal(const ShapeArgument& shape, const Tensor& mean, const Tensor& stddev,
              DType dtype = DType::kFloat32);
// Normal; values more than two standard deviations from the mean are drawn again.
Tensor truncated_normal(const ShapeArgument& shape, const NormalOptions& options = {});
// The rows along the first axis in another order.
Tensor shuffle(const Operand& value, Seed seed = {});
// Classes by their unnormalised log-probabilities, logits (batch, classes): (batch, num_samples).
Tensor categorical(const Operand& logits, int64_t num_samples, DType dtype = DType::kInt64, Seed seed = {});

// The same values for the same seed (two integers), always.
Tensor stateless_uniform(const ShapeArgument& shape, const Operand& seed, const UniformOptions& options = {});
Tensor stateless_uniform_full_int(const ShapeArgument& shape, const Operand& seed,
                                  DType dtype = DType::kUint64);
Tensor stateless_normal(const ShapeArgument& shape, const Operand& seed, const NormalOptions& options = {});
Tensor stateless_truncated_normal(const ShapeArgument& shape, const Operand& seed,
                                  const NormalOptions& options = {});
Tensor stateless_categorical(const Operand& logits, int64_t num_samples, const Operand& seed,
                             DType dtype = DType::kInt64);

// A stream of random numbers with its state in a variable. Copies share it. Any number of threads may draw:
// no two draws take the same numbers.
class Generator {
 public:
  static Generator from_seed(int64_t seed);
  static Generator from_key_counter(uint64_t key, uint64_t counter_low, uint64_t counter_high = 0);
  static Generator from_state(const Operand& state);
  static Generator from_non_deterministic_state();

  Tensor uniform(const ShapeArgument& shape, const UniformOptions& options = {}) const;
  Tensor uniform_full_int(const ShapeArgument& shape, DType dtype = DType::kUint64) const;
  Tensor normal(const ShapeArgument& shape, const NormalOptions& options = {}) const;
  Tensor truncated_normal(const ShapeArgument& shape, const NormalOptions& options = {}) const;
  // Seeds for stateless functions: int64 (2, count).
  Tensor make_seeds(int64_t count = 1) const;
  // Generators whose streams are independent of this one and of each other.
  std::vector<Generator> split(int64_t count = 1) const;

  // The state before; the counter goes on as if `delta` numbers had been drawn.
  Tensor skip(const Operand& delta) const;
  void reset(const Operand& state) const { state_.assign(state); }
  void reset_from_seed(int64_t seed) const;
  const Variable& state() const { return state_; }  // int64: counter low, counter high, key
  Tensor key() const;
  int algorithm() const { return 1; }  // Philox

 private:
  explicit Generator(const Tensor& state);
  struct KeyCounter {
    Tensor key, counter;
  };
  KeyCounter advance(const Tensor& shape) const;
  Variable state_;
};

// The generator that code without one of its own shares.
Generator get_global_generator();
void set_global_generator(const Generator& generator);

}  // namespace rw::random
