#include "rewind/keras/layers/preprocessing.h"

#include <algorithm>
#include <numbers>

#include "rewind/base/error.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/conv.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/random.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras {
namespace {

struct RescalingArguments {
  using Made = Rescaling;
  double scale = 1;
  RescalingOptions options = {};
  Rescaling make() const { return Rescaling(scale, options); }
};
void fields(ConfigFields& f, RescalingArguments& a) {
  f("scale", a.scale);
  f("offset", a.options.offset);
}

struct NormalizationArguments {
  using Made = Normalization;
  NormalizationOptions options = {};
  Normalization make() const { return Normalization(options); }
};
// 0.485 stays 0.485, and is no float32.
struct ExactNumbers {
  Tensor numbers;
  friend Config to_config(const ExactNumbers& v) { return keras::to_config(v.numbers); }
  friend void from_config(const Config& c, ExactNumbers* v) { exact_from_config(c, &v->numbers); }
};

void fields(ConfigFields& f, NormalizationArguments& a) {
  NormalizationOptions& o = a.options;
  if (const Config* c = f.find("axis"); c && c->is_null()) o.axis.clear();
  else f("axis", o.axis);
  f("invert", o.invert);
  for (auto [name, tensor] : {std::pair("mean", &o.mean), std::pair("variance", &o.variance)}) {
    ExactNumbers numbers{*tensor};
    f(name, numbers);
    *tensor = numbers.numbers;
  }
}

struct RandomFlipArguments {
  using Made = RandomFlip;
  RandomFlipOptions options = {};
  RandomFlip make() const { return RandomFlip(options); }
};
void fields(ConfigFields& f, RandomFlipArguments& a) {
  f.only("data_format", "channels_last");
  f("seed", a.options.seed);
  f("mode", a.options.mode);
}

struct RandomRotationArguments {
  using Made = RandomRotation;
  std::vector<double> factor;
  RandomRotationOptions options = {};
  RandomRotation make() const {
    return factor.size() == 1 ? RandomRotation(factor[0], options)
                              : RandomRotation(factor.at(0), factor.at(1), options);
  }
};
void fields(ConfigFields& f, RandomRotationArguments& a) {
  f.only("data_format", "channels_last");
  f("factor", a.factor);
  if (a.factor.empty() || a.factor.size() > 2) fail_config("a factor or a pair of them", to_config(a.factor));
  f("fill_mode", a.options.fill_mode);
  f("fill_value", a.options.fill_value);
  f("interpolation", a.options.interpolation);
  f("seed", a.options.seed);
  f.ignore("value_range");
}

struct RandomCropArguments {
  using Made = RandomCrop;
  int64_t height = 0, width = 0;
  RandomCropOptions options = {};
  RandomCrop make() const { return RandomCrop(height, width, options); }
};
void fields(ConfigFields& f, RandomCropArguments& a) {
  f.only("data_format", "channels_last");
  f("height", a.height);
  f("width", a.width);
  f("seed", a.options.seed);
}

Tensor as_floats(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

}  // namespace

void add_preprocessing_classes(ClassRegistry& r) {
  add_class<RescalingArguments>(r.layers);
  add_class<NormalizationArguments>(r.layers);
  add_class<RandomFlipArguments>(r.layers);
  add_class<RandomRotationArguments>(r.layers);
  add_class<RandomCropArguments>(r.layers);
}

Rescaling::Rescaling(double scale, const RescalingOptions& options)
    : LayerOf(layer_options(options)), scale_(scale), offset_(options.offset) {
  set_origin(origin_of(RescalingArguments{scale, options}));
  set_built();
}
Tensor Rescaling::call(const Tensor& x, const CallArgs&) {
  return as_floats(x, compute_dtype()) * scale_ + offset_;
}

Normalization::Normalization(const NormalizationOptions& options)
    : LayerOf(layer_options(options)), options_(options) {
  if (options.mean.defined() != options.variance.defined())
    fail_invalid("Normalization", "mean and variance must be given together, or neither of them");
  set_origin(origin_of(NormalizationArguments{options}));
}

std::vector<int64_t> Normalization::kept_axes(const Shape& shape) const {
  std::vector<int64_t> axes;
  for (const int axis : options_.axis) {
    const int at = axis < 0 ? axis + shape.rank() : axis;
    if (at < 0 || at >= shape.rank() || shape[at] < 0)
      fail_invalid(name(), "axis " + std::to_string(axis) + " of layer \"" + name() +
                               "\" must be one of known size of the input's shape " + shape.to_string());
    axes.push_back(at);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

void Normalization::build(const Shape& input) {
  if (options_.mean.defined()) return;
  Shape shape;
  for (const int64_t axis : kept_axes(input)) shape.append(input[int(axis)]);
  mean_ = add_weight({.name = "mean", .shape = shape, .initializer = "zeros", .trainable = false});
  variance_ = add_weight({.name = "variance", .shape = shape, .initializer = "ones", .trainable = false});
  count_ = add_weight(
      {.name = "count", .shape = {}, .initializer = "zeros", .dtype = DType::kInt64, .trainable = false});
}

Tensor Normalization::aligned(const Tensor& statistics, const Shape& input) const {
  if (statistics.rank() == 0) return statistics;
  std::vector<int64_t> dims(size_t(input.rank()), 1);
  const std::vector<int64_t> kept = kept_axes(input);
  for (int i = 1; i <= statistics.rank() && i <= int(kept.size()); ++i)
    dims[size_t(kept[kept.size() - size_t(i)])] = statistics.shape()[statistics.rank() - i];
  return reshape(statistics, dims);
}

Tensor Normalization::call(const Tensor& x, const CallArgs&) {
  const Tensor in = as_floats(x, compute_dtype());
  const bool given = options_.mean.defined();
  const Tensor mean = aligned(cast(given ? options_.mean : mean_.value(), in.dtype()), x.shape());
  const Tensor variance = aligned(cast(given ? options_.variance : variance_.value(), in.dtype()), x.shape());
  const Tensor deviation = maximum(sqrt(variance), 1e-7);
  return options_.invert ? mean + in * deviation : (in - mean) / deviation;
}

void Normalization::adapt(const Tensor& data) const { adapt(std::vector{data}); }

// Batches join by the parallel form of the variance.
void Normalization::adapt(const std::vector<Tensor>& batches) const {
  if (options_.mean.defined())
    fail_precondition(name(),
                      "layer \"" + name() + "\" was given its mean and variance: there is nothing to adapt");
  if (batches.empty()) fail_invalid(name(), "adapt() received no batches");
  build_for(batches[0].shape());
  const std::vector<int64_t> kept = kept_axes(batches[0].shape());
  std::vector<int64_t> reduced;
  for (int i = 0; i < batches[0].rank(); ++i)
    if (std::find(kept.begin(), kept.end(), i) == kept.end()) reduced.push_back(i);
  Tensor mean, variance;
  double total = 0;
  for (const Tensor& raw : batches) {
    const Tensor batch = as_floats(raw, compute_dtype());
    const Tensor m = reduce_mean(batch, reduced), v = reduce_variance(batch, reduced);
    double count = 1;
    for (const int64_t axis : reduced) count *= double(batch.shape()[int(axis)]);
    total += count;
    const double weight = count / total, rest = 1 - weight;
    if (!mean.defined()) {
      mean = m;
      variance = v;
      continue;
    }
    const Tensor joined = mean * rest + m * weight;
    variance = (variance + square(mean - joined)) * rest + (v + square(m - joined)) * weight;
    mean = joined;
  }
  const std::vector<Variable> list = weights();
  list[0].assign(cast(mean, list[0].dtype()));
  list[1].assign(cast(variance, list[1].dtype()));
}

RandomFlip::RandomFlip(const RandomFlipOptions& options)
    : LayerOf(layer_options(options)), options_(options) {
  const std::string& mode = options.mode;
  if (mode != "horizontal" && mode != "vertical" && mode != "horizontal_and_vertical")
    fail_invalid("RandomFlip",
                 "mode must be horizontal, vertical or horizontal_and_vertical: got \"" + mode + "\"");
  set_origin(origin_of(RandomFlipArguments{options}));
  random_ = add_seed_generator(options.seed);
  set_input_spec({.ndim = 4});
  set_built();
}

Tensor RandomFlip::call(const Tensor& x, const CallArgs& args) {
  Tensor y = as_floats(x, compute_dtype());
  if (!args.is_training()) return y;
  const Tensor drawn = random_.uniform(dims_tensor({sizes_of(x)[0]}, DType::kInt32));
  const Tensor flips = reshape(drawn, {-1, 1, 1, 1}) <= 0.5;
  if (options_.mode != "vertical") y = where(flips, reverse(y, {2}), y);
  if (options_.mode != "horizontal") y = where(flips, reverse(y, {1}), y);
  return y;
}

RandomRotation::RandomRotation(double low, double high, const RandomRotationOptions& options)
    : LayerOf(layer_options(options)), low_(low), high_(high), options_(options) {
  set_origin(origin_of(RandomRotationArguments{{low, high}, options}));
  random_ = add_seed_generator(options.seed);
  set_input_spec({.ndim = 4});
  set_built();
}

Tensor RandomRotation::call(const Tensor& x, const CallArgs& args) {
  const Tensor in = as_floats(x, compute_dtype());
  if (!args.is_training()) return in;
  const double turn = 2 * std::numbers::pi;
  const Tensor angles = random_.uniform(dims_tensor({sizes_of(x)[0]}, DType::kInt32),
                                        {.minval = constant(low_ * turn), .maxval = constant(high_ * turn)});
  return rotate_images(in, angles, options_.fill_mode, options_.interpolation, options_.fill_value);
}

namespace {

// Where a place outside of [0, size) is read from.
Tensor folded(const Tensor& at, const Tensor& size, const std::string& fill_mode) {
  if (fill_mode == "reflect") {
    const Tensor period = math::floormod(at, size * 2);
    return where(period < size, period, size * 2 - 1 - period);
  }
  return clip_by_value(at, constant(0), size - 1);
}

// TensorFlow's way round: whole sizes are added or taken off, and what is still between the last place and
// the first counts as the last.
Tensor wrapped(const Tensor& at, const Tensor& size) {
  const Tensor length = cast(size, float32), last = maximum(length - 1.0, 1.0);
  const Tensor turns = cast(cast(abs(at) / last, int32), float32);
  const Tensor inside = where(at < 0.0, at + length * (turns + 1.0), at);
  return clip_by_value(where(at > length - 1.0, at - length * turns, inside), constant(0.0), length - 1.0);
}

}  // namespace

Tensor rotate_images(const Tensor& images, const Tensor& angles, const std::string& fill_mode,
                     const std::string& interpolation, double fill_value) {
  const std::string modes[] = {"reflect", "constant", "nearest", "wrap"};
  if (std::find(std::begin(modes), std::end(modes), fill_mode) == std::end(modes))
    fail_invalid("RandomRotation",
                 "fill_mode must be reflect, constant, nearest or wrap: got \"" + fill_mode + "\"");
  const Sizes sizes = sizes_of(images);
  const Tensor height = sizes[1].tensor(DType::kInt32), width = sizes[2].tensor(DType::kInt32);
  const Tensor middle_y = (cast(height, float32) - 1.0) / 2.0, middle_x = (cast(width, float32) - 1.0) / 2.0;
  const Tensor y = expand_dims(cast(numbers_below(sizes[1]), float32), 1) - middle_y;  // (height, 1)
  const Tensor x = expand_dims(cast(numbers_below(sizes[2]), float32), 0) - middle_x;  // (1, width)
  const Tensor c = reshape(cos(angles), {-1, 1, 1}), s = reshape(sin(angles), {-1, 1, 1});
  Tensor from_x = c * x - s * y + middle_x;  // (batch, height, width)
  Tensor from_y = s * x + c * y + middle_y;
  if (fill_mode == "wrap") {
    from_x = wrapped(from_x, width);
    from_y = wrapped(from_y, height);
  }
  const Tensor fill = constant(fill_value, images.dtype());
  auto read = [&](const Tensor& iy, const Tensor& ix) {
    const Tensor fy = folded(iy, height, fill_mode), fx = folded(ix, width, fill_mode);
    const Tensor value = gather_nd(images, stack({fy, fx}, -1), 1);
    if (fill_mode != "constant") return value;
    const Tensor inside = logical_and(equal(fy, iy), equal(fx, ix));
    return where(expand_dims(inside, -1), value, fill);
  };
  if (interpolation == "nearest") return read(cast(round(from_y), int32), cast(round(from_x), int32));
  if (interpolation != "bilinear")
    fail_invalid("RandomRotation",
                 "interpolation must be bilinear or nearest: got \"" + interpolation + "\"");
  const Tensor y0 = floor(from_y), x0 = floor(from_x);
  const Tensor wy = cast(expand_dims(from_y - y0, -1), images.dtype()),
               wx = cast(expand_dims(from_x - x0, -1), images.dtype());
  const Tensor iy = cast(y0, int32), ix = cast(x0, int32);
  const Tensor top = read(iy, ix) * (1.0 - wx) + read(iy, ix + 1) * wx;
  const Tensor bottom = read(iy + 1, ix) * (1.0 - wx) + read(iy + 1, ix + 1) * wx;
  return top * (1.0 - wy) + bottom * wy;
}

RandomCrop::RandomCrop(int64_t height, int64_t width, const RandomCropOptions& options)
    : LayerOf(layer_options(options)), height_(height), width_(width) {
  set_origin(origin_of(RandomCropArguments{height, width, options}));
  random_ = add_seed_generator(options.seed);
  set_input_spec({.ndim = 4});
  set_built();
}

// Images that are not larger than the window are resized to it; outside of training nothing is cut.
Tensor RandomCrop::call(const Tensor& x, const CallArgs& args) {
  const Tensor in = as_floats(x, compute_dtype());
  if (!args.is_training()) return in;
  const int64_t height = x.shape()[1], width = x.shape()[2];
  if (height < 0 || width < 0)
    fail_invalid(name(), "RandomCrop requires the input to have a fully defined height and width. Layer \"" +
                             name() + "\" received input with shape " + x.shape().to_string());
  if (height <= height_ || width <= width_) return cast(image::resize(in, {height_, width_}), in.dtype());
  auto start = [&](int64_t room) {
    return cast(random_.uniform({}, {.maxval = constant(double(room + 1))}), int32);
  };
  const Tensor top = start(height - height_), left = start(width - width_);
  const Tensor begin = stack({constant(0), top, left, constant(0)});
  return slice(in, begin, {x.shape()[0], height_, width_, x.shape()[3]});  // -1: all
}

}  // namespace rw::keras
