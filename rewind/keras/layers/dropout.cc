#include "rewind/keras/layers/dropout.h"

#include <cmath>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
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
    fail_invalid(layer, "rate must be between 0 and 1: got " + number_text(rate));
}

}  // namespace

Dropout::Dropout(double rate, const DropoutOptions& options)
    : LayerOf(layer_options(options)), rate_(rate), noise_shape_(options.noise_shape) {
  check_rate("Dropout", rate);
  if (rate > 0) random_ = add_seed_generator(options.seed);
  set_built();
}

Tensor Dropout::call(const Tensor& x, const CallArgs& args) {
  if (!args.is_training() || rate_ == 0) return x;
  Sizes mask = sizes_of(x);
  for (size_t i = 0; i < noise_shape_.size() && i < mask.size(); ++i)
    if (noise_shape_[i] >= 0) mask[i] = Size(noise_shape_[i]);
  return random_.dropout(x, rate_, mask);
}

namespace detail {

void SpatialDropoutLayer::set(const char* layer, int rank, double rate,
                              const SpatialDropoutOptions& options) {
  check_rate(layer, rate);
  rate_ = rate;
  channels_first_ = channels_first(layer, options.data_format);
  if (rate > 0) random_ = add_seed_generator(options.seed);
  set_input_spec({.ndim = rank + 2});
  set_built();
}

Tensor SpatialDropoutLayer::call(const Tensor& x, const CallArgs& args) {
  if (!args.is_training() || rate_ == 0) return x;
  Sizes mask = sizes_of(x);
  for (size_t i = 1; i < mask.size(); ++i)
    if (i != (channels_first_ ? 1 : mask.size() - 1)) mask[i] = Size(1);
  return random_.dropout(x, rate_, mask);
}

}  // namespace detail

GaussianNoise::GaussianNoise(double stddev, const NoiseOptions& options)
    : LayerOf(layer_options(options)), stddev_(stddev) {
  if (stddev != 0) random_ = add_seed_generator(options.seed);
  set_built();
}
Tensor GaussianNoise::call(const Tensor& x, const CallArgs& args) {
  if (!args.is_training() || stddev_ == 0) return x;
  return x + random_.normal(rw::shape(x), {.stddev = constant(stddev_, x.dtype()), .dtype = x.dtype()});
}

GaussianDropout::GaussianDropout(double rate, const NoiseOptions& options)
    : LayerOf(layer_options(options)), rate_(rate) {
  check_rate("GaussianDropout", rate);
  if (rate > 0) random_ = add_seed_generator(options.seed);
  set_built();
}
Tensor GaussianDropout::call(const Tensor& x, const CallArgs& args) {
  if (!args.is_training() || rate_ == 0) return x;
  const double stddev = std::sqrt(rate_ / (1 - rate_));
  return x * random_.normal(rw::shape(x), {.mean = constant(1.0, x.dtype()),
                                           .stddev = constant(stddev, x.dtype()),
                                           .dtype = x.dtype()});
}

#define RW_KERAS_SPATIAL_DROPOUT(Name, rank)                                                        \
  Name::Name(double rate, const SpatialDropoutOptions& options) : LayerOf(layer_options(options)) { \
    set(#Name, rank, rate, options);                                                                \
  }
RW_KERAS_SPATIAL_DROPOUT(SpatialDropout1D, 1)
RW_KERAS_SPATIAL_DROPOUT(SpatialDropout2D, 2)
RW_KERAS_SPATIAL_DROPOUT(SpatialDropout3D, 3)
#undef RW_KERAS_SPATIAL_DROPOUT

}  // namespace rw::keras
