#include "rewind/keras/layers/dropout.h"

#include <cmath>

#include "rewind/base/error.h"
#include "rewind/keras/layers/channels.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/random.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras {
namespace {

void check_rate(const char* layer, double rate) {
  if (!(rate >= 0 && rate <= 1))
    fail_invalid(layer, "rate must be between 0 and 1: got " + std::to_string(rate));
}

// The mask has these sizes and broadcasts over the rest.
Tensor dropped(const Tensor& x, double rate, const Sizes& mask, const std::optional<int64_t>& seed) {
  if (rate >= 1) return x * 0.0;
  const Tensor u = random::uniform(dims_tensor(mask, DType::kInt32), {.dtype = x.dtype(), .seed = seed});
  return where(u >= rate, x * (1.0 / (1.0 - rate)), zeros_like(x));
}

}  // namespace

Dropout::Dropout(double rate, const DropoutOptions& options)
    : LayerOf(layer_options(options)), rate_(rate), options_(options) {
  check_rate("Dropout", rate);
  set_built();
}

Tensor Dropout::call(const Tensor& x, const CallArgs& args) {
  if (!args.is_training() || rate_ == 0) return x;
  if (options_.noise_shape.empty() && rate_ < 1) return nn::dropout(x, rate_, {.seed = options_.seed});
  Sizes mask = sizes_of(x);
  for (size_t i = 0; i < options_.noise_shape.size() && i < mask.size(); ++i)
    if (options_.noise_shape[i] >= 0) mask[i] = Size(options_.noise_shape[i]);
  return dropped(x, rate_, mask, options_.seed);
}

namespace detail {

void SpatialDropoutLayer::set(const char* layer, int rank, double rate,
                              const SpatialDropoutOptions& options) {
  check_rate(layer, rate);
  rate_ = rate;
  channels_first_ = channels_first(layer, options.data_format);
  seed_ = options.seed;
  set_input_spec({.ndim = rank + 2});
  set_built();
}

Tensor SpatialDropoutLayer::call(const Tensor& x, const CallArgs& args) {
  if (!args.is_training() || rate_ == 0) return x;
  Sizes mask = sizes_of(x);
  for (size_t i = 1; i < mask.size(); ++i)
    if (i != (channels_first_ ? 1 : mask.size() - 1)) mask[i] = Size(1);
  return dropped(x, rate_, mask, seed_);
}

}  // namespace detail

GaussianNoise::GaussianNoise(double stddev, const NoiseOptions& options)
    : LayerOf(layer_options(options)), stddev_(stddev), seed_(options.seed) {
  set_built();
}
Tensor GaussianNoise::call(const Tensor& x, const CallArgs& args) {
  if (!args.is_training() || stddev_ == 0) return x;
  return x + random::normal(rw::shape(x),
                            {.stddev = constant(stddev_, x.dtype()), .dtype = x.dtype(), .seed = seed_});
}

GaussianDropout::GaussianDropout(double rate, const NoiseOptions& options)
    : LayerOf(layer_options(options)), rate_(rate), seed_(options.seed) {
  check_rate("GaussianDropout", rate);
  set_built();
}
Tensor GaussianDropout::call(const Tensor& x, const CallArgs& args) {
  if (!args.is_training() || rate_ == 0) return x;
  const double stddev = std::sqrt(rate_ / (1 - rate_));
  return x * random::normal(rw::shape(x), {.mean = constant(1.0, x.dtype()),
                                           .stddev = constant(stddev, x.dtype()),
                                           .dtype = x.dtype(),
                                           .seed = seed_});
}

}  // namespace rw::keras
