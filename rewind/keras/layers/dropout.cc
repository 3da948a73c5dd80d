#include "rewind/keras/layers/dropout.h"

#include <cmath>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/layers/channels.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/random.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras {
namespace {

struct DropoutArguments {
  using Made = Dropout;
  double rate = 0;
  DropoutOptions options = {};
  Dropout make() const { return Dropout(rate, options); }
};
void fields(ConfigFields& f, DropoutArguments& a) {
  f("rate", a.rate);
  f("seed", a.options.seed);
  Shape noise = a.options.noise_shape;  // unknown sizes are null
  if (f.is_reading() ? !f.find("noise_shape") || f.find("noise_shape")->is_null() : noise.rank() == 0) {
    f.only("noise_shape", nullptr);
  } else {
    f("noise_shape", noise);
    a.options.noise_shape.assign(noise.begin(), noise.end());
  }
}

template <class L>
struct SpatialDropoutArguments {
  using Made = L;
  double rate = 0;
  SpatialDropoutOptions options = {};
  L make() const { return L(rate, options); }
};
// Keras writes these layers without `trainable`, and with the name of the policy.
template <class L>
void fields(ConfigFields& f, SpatialDropoutArguments<L>& a) {
  f("rate", a.rate);
  f("seed", a.options.seed);
  if (Config* out = f.object()) {
    out->erase("trainable");
    (*out)["dtype"] = Config((*out)["dtype"]["config"]["name"]);
  }
  if (f.is_reading() || !std::is_same_v<L, SpatialDropout1D>) f("data_format", a.options.data_format);
}

struct GaussianNoiseArguments {
  using Made = GaussianNoise;
  double stddev = 0;
  NoiseOptions options = {};
  GaussianNoise make() const { return GaussianNoise(stddev, options); }
};
void fields(ConfigFields& f, GaussianNoiseArguments& a) {
  f("stddev", a.stddev);
  f("seed", a.options.seed);
}

struct GaussianDropoutArguments {
  using Made = GaussianDropout;
  double rate = 0;
  NoiseOptions options = {};
  GaussianDropout make() const { return GaussianDropout(rate, options); }
};
void fields(ConfigFields& f, GaussianDropoutArguments& a) {
  f("rate", a.rate);
  f("seed", a.options.seed);
}

void check_rate(const char* layer, double rate) {
  if (!(rate >= 0 && rate <= 1))
    fail_invalid(layer, "rate must be between 0 and 1: got " + number_text(rate));
}

}  // namespace

void add_dropout_classes(ClassRegistry& r) {
  add_class<DropoutArguments>(r.layers);
  add_class<SpatialDropoutArguments<SpatialDropout1D>>(r.layers);
  add_class<SpatialDropoutArguments<SpatialDropout2D>>(r.layers);
  add_class<SpatialDropoutArguments<SpatialDropout3D>>(r.layers);
  add_class<GaussianNoiseArguments>(r.layers);
  add_class<GaussianDropoutArguments>(r.layers);
}

Dropout::Dropout(double rate, const DropoutOptions& options)
    : LayerOf(layer_options(options)), rate_(rate), noise_shape_(options.noise_shape) {
  check_rate("Dropout", rate);
  set_origin(origin_of(DropoutArguments{rate, options}));
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
  set_origin(origin_of(GaussianNoiseArguments{stddev, options}));
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
  set_origin(origin_of(GaussianDropoutArguments{rate, options}));
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
    set_origin(origin_of(SpatialDropoutArguments<Name>{rate, options}));                            \
  }
RW_KERAS_SPATIAL_DROPOUT(SpatialDropout1D, 1)
RW_KERAS_SPATIAL_DROPOUT(SpatialDropout2D, 2)
RW_KERAS_SPATIAL_DROPOUT(SpatialDropout3D, 3)
#undef RW_KERAS_SPATIAL_DROPOUT

}  // namespace rw::keras
