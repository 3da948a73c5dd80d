#include "rewind/keras/seed_generator.h"

#include "rewind/keras/initializers.h"
#include "rewind/keras/layer_name.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {

SeedGenerator::SeedGenerator(std::optional<int64_t> seed) {
  const OutsideTraces outside;
  state_ = Variable(constant(std::vector<int64_t>{seed ? *seed : make_default_seed(), 0}),
                    {.trainable = false, .name = auto_name("SeedGenerator") + "/seed_generator_state"});
}

Tensor SeedGenerator::next() const {
  constexpr int64_t kModulus = 0x7fffffff - 1;
  const Tensor now = state_.value();
  state_.assign_add(constant(std::vector<int64_t>{0, 1}));
  return cast(math::floormod(now, kModulus), int32);
}

Tensor SeedGenerator::uniform(const ShapeArgument& shape, const random::UniformOptions& options) const {
  return random::stateless_uniform(shape, next(), options);
}
Tensor SeedGenerator::normal(const ShapeArgument& shape, const random::NormalOptions& options) const {
  return random::stateless_normal(shape, next(), options);
}

Tensor SeedGenerator::dropout(const Tensor& x, double rate, const Sizes& mask) const {
  if (rate >= 1) return zeros_like(x);
  if (rate == 0) return x;
  const Tensor noise = uniform(dims_tensor(mask, DType::kInt32), {.dtype = x.dtype()});
  return where(noise >= rate, x * (1.0 / (1.0 - rate)), scalar_tensor(0.0, x.dtype()));
}
Tensor SeedGenerator::dropout(const Tensor& x, double rate) const { return dropout(x, rate, sizes_of(x)); }

}  // namespace rw::keras
