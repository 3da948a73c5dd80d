#include "rewind/keras/layers/normalization.h"

#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras {
namespace {

// Files of Keras 2 have a list of one axis.
void batch_axis_field(ConfigFields& f, int& axis) {
  std::vector<int> list{axis};
  f.one_or_list("axis", list);
  if (list.size() != 1) fail_config("one axis", *f.find("axis"));
  axis = list[0];
}

struct BatchNormalizationArguments {
  using Made = BatchNormalization;
  BatchNormalizationOptions options = {};
  BatchNormalization make() const { return BatchNormalization(options); }
};
void fields(ConfigFields& f, BatchNormalizationArguments& a) {
  BatchNormalizationOptions& o = a.options;
  batch_axis_field(f, o.axis);
  f("momentum", o.momentum);
  f("epsilon", o.epsilon);
  f("center", o.center);
  f("scale", o.scale);
  f("beta_initializer", o.beta_initializer);
  f("gamma_initializer", o.gamma_initializer);
  f("moving_mean_initializer", o.moving_mean_initializer);
  f("moving_variance_initializer", o.moving_variance_initializer);
  f("beta_regularizer", o.beta_regularizer);
  f("gamma_regularizer", o.gamma_regularizer);
  f("beta_constraint", o.beta_constraint);
  f("gamma_constraint", o.gamma_constraint);
  f.only("synchronized", false);
  f.only("renorm", false);
  f.only("renorm_clipping", nullptr);
  f.written("renorm_momentum", 0.99);
}

struct LayerNormalizationArguments {
  using Made = LayerNormalization;
  LayerNormalizationOptions options = {};
  LayerNormalization make() const { return LayerNormalization(options); }
};
void fields(ConfigFields& f, LayerNormalizationArguments& a) {
  LayerNormalizationOptions& o = a.options;
  f.one_or_list("axis", o.axis);
  f("epsilon", o.epsilon);
  f("center", o.center);
  f("scale", o.scale);
  f.only("rms_scaling", false);
  f("beta_initializer", o.beta_initializer);
  f("gamma_initializer", o.gamma_initializer);
  f("beta_regularizer", o.beta_regularizer);
  f("gamma_regularizer", o.gamma_regularizer);
  f("beta_constraint", o.beta_constraint);
  f("gamma_constraint", o.gamma_constraint);
}

struct GroupNormalizationArguments {
  using Made = GroupNormalization;
  GroupNormalizationOptions options = {};
  GroupNormalization make() const { return GroupNormalization(options); }
};
void fields(ConfigFields& f, GroupNormalizationArguments& a) {
  GroupNormalizationOptions& o = a.options;
  f("groups", o.groups);
  f("axis", o.axis);
  f("epsilon", o.epsilon);
  f("center", o.center);
  f("scale", o.scale);
  f("beta_initializer", o.beta_initializer);
  f("gamma_initializer", o.gamma_initializer);
  f("beta_regularizer", o.beta_regularizer);
  f("gamma_regularizer", o.gamma_regularizer);
  f("beta_constraint", o.beta_constraint);
  f("gamma_constraint", o.gamma_constraint);
}

Tensor widened(const Tensor& x) { return x.dtype() == DType::kFloat64 ? x : cast(x, DType::kFloat32); }
Tensor widened(const Variable& v, DType dtype) { return v.defined() ? cast(v.value(), dtype) : Tensor(); }

int axis_in(const std::string& layer, const Shape& input, int axis) {
  const int at = axis < 0 ? axis + input.rank() : axis;
  if (at < 0 || at >= input.rank())
    fail_invalid(layer,
                 "Axis " + std::to_string(axis) + " is out of bounds for input shape " + input.to_string());
  if (input[at] < 0)
    fail_invalid(layer, "Axis " + std::to_string(axis) + " of the input of layer \"" + layer +
                            "\" must have a known size: its shape is " + input.to_string());
  return at;
}

// The weights behind a normalization, those that are asked for.
template <class Options>
void add_scale_and_offset(Layer& layer, const Options& o, const Shape& shape, Variable* gamma,
                          Variable* beta) {
  if (o.scale)
    *gamma = layer.add_weight({.name = "gamma",
                               .shape = shape,
                               .initializer = o.gamma_initializer,
                               .regularizer = o.gamma_regularizer,
                               .constraint = o.gamma_constraint});
  if (o.center)
    *beta = layer.add_weight({.name = "beta",
                              .shape = shape,
                              .initializer = o.beta_initializer,
                              .regularizer = o.beta_regularizer,
                              .constraint = o.beta_constraint});
}

}  // namespace

void add_normalization_classes(ClassRegistry& r) {
  add_class<BatchNormalizationArguments>(r.layers);
  add_class<LayerNormalizationArguments>(r.layers);
  add_class<GroupNormalizationArguments>(r.layers);
}

BatchNormalization::BatchNormalization(const BatchNormalizationOptions& options)
    : LayerOf(layer_options(options)), options_(options) {
  set_origin(origin_of(BatchNormalizationArguments{options}));
}

void BatchNormalization::build(const Shape& input) {
  const int axis = axis_in(name(), input, options_.axis);
  const Shape shape{input[axis]};
  add_scale_and_offset(*this, options_, shape, &gamma_, &beta_);
  moving_mean_ = add_weight({.name = "moving_mean",
                             .shape = shape,
                             .initializer = options_.moving_mean_initializer,
                             .trainable = false});
  moving_variance_ = add_weight({.name = "moving_variance",
                                 .shape = shape,
                                 .initializer = options_.moving_variance_initializer,
                                 .trainable = false});
  set_input_spec({.ndim = input.rank(), .axes = {{options_.axis, input[axis]}}});
}

Tensor BatchNormalization::call(const Tensor& x, const CallArgs& args) {
  const Tensor in = widened(x);
  const int axis = options_.axis < 0 ? options_.axis + x.rank() : options_.axis;
  std::vector<int64_t> others;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) others.push_back(i);
  Tensor mean = widened(moving_mean_, in.dtype());
  Tensor variance = widened(moving_variance_, in.dtype());
  if (args.is_training() && trainable()) {
    const Tensor old_mean = mean, old_variance = variance;
    if (args.mask.defined()) {
      // Only what the mask leaves counts.
      const Tensor kept = cast(broadcast_to(expand_dims(args.mask, -1), rw::shape(in)), in.dtype());
      const Tensor weight = reduce_sum(kept, others, true) + 1e-7;
      const Tensor wide_mean = reduce_sum(in * kept, others, true) / weight;
      const Tensor wide_variance = reduce_sum(square(in - wide_mean) * kept, others, true) / weight;
      mean = reshape(wide_mean, {-1});
      variance = reshape(wide_variance, {-1});
    } else {
      const nn::Moments m = nn::moments(in, others);
      mean = m.mean;
      variance = m.variance;
    }
    const double m = options_.momentum;
    moving_mean_.assign(cast(old_mean * m + mean * (1.0 - m), moving_mean_.dtype()));
    moving_variance_.assign(cast(old_variance * m + variance * (1.0 - m), moving_variance_.dtype()));
  }
  auto aligned = [&](const Tensor& t) {
    if (!t.defined() || axis == x.rank() - 1) return t;
    std::vector<int64_t> dims(size_t(x.rank()), 1);
    dims[size_t(axis)] = -1;
    return reshape(t, dims);
  };
  const Tensor y =
      nn::batch_normalization(in, aligned(mean), aligned(variance), aligned(widened(beta_, in.dtype())),
                              aligned(widened(gamma_, in.dtype())), options_.epsilon);
  return cast(y, compute_dtype());
}

LayerNormalization::LayerNormalization(const LayerNormalizationOptions& options)
    : LayerOf(layer_options(options)), options_(options) {
  set_origin(origin_of(LayerNormalizationArguments{options}));
}

// Keras makes a list of one axis when it builds the layer.
Config LayerNormalization::get_config() const {
  Config config = Layer::get_config();
  if (built() && !config["axis"].list()) config["axis"] = Config::Array{Config(config["axis"])};
  return config;
}

void LayerNormalization::build(const Shape& input) {
  std::sort(options_.axis.begin(), options_.axis.end());
  Shape shape;
  for (const int axis : options_.axis) shape.append(input[axis_in(name(), input, axis)]);
  add_scale_and_offset(*this, options_, shape, &gamma_, &beta_);
}

Tensor LayerNormalization::call(const Tensor& x, const CallArgs&) {
  const Tensor in = widened(x);
  const std::vector<int64_t> axes(options_.axis.begin(), options_.axis.end());
  const Tensor y = nn::layer_normalization(in, widened(gamma_, in.dtype()), widened(beta_, in.dtype()),
                                           {.axis = axes, .epsilon = options_.epsilon});
  return cast(y, compute_dtype());
}

GroupNormalization::GroupNormalization(const GroupNormalizationOptions& options)
    : LayerOf(layer_options(options)), options_(options) {
  if (options.groups <= 0 && options.groups != -1)
    fail_invalid("GroupNormalization",
                 "groups must be positive, or -1: got " + std::to_string(options.groups));
  set_origin(origin_of(GroupNormalizationArguments{options}));
}

void GroupNormalization::build(const Shape& input) {
  const int64_t channels = input[axis_in(name(), input, options_.axis)];
  groups_ = options_.groups == -1 ? channels : options_.groups;
  if (channels < groups_ || channels % groups_ != 0)
    fail_invalid(name(), "layer \"" + name() + "\" has " + std::to_string(groups_) +
                             " groups, which must divide the " + std::to_string(channels) +
                             " channels of the input");
  add_scale_and_offset(*this, options_, {channels}, &gamma_, &beta_);
  set_input_spec({.ndim = input.rank(), .axes = {{options_.axis, channels}}});
}

Tensor GroupNormalization::call(const Tensor& x, const CallArgs&) {
  const Tensor in = widened(x);
  const int axis = options_.axis < 0 ? options_.axis + x.rank() : options_.axis;
  const int64_t each = x.shape()[axis] / groups_;
  const Sizes sizes = sizes_of(in);
  Sizes grouped;
  std::vector<int64_t> others, broadcast;
  for (int i = 0; i < x.rank(); ++i) {
    if (i == axis) {
      grouped.push_back(groups_);
      broadcast.push_back(groups_);
    }
    if (i > 0) others.push_back(int64_t(grouped.size()));
    grouped.push_back(i == axis ? Size(each) : sizes[size_t(i)]);
    broadcast.push_back(i == axis ? each : 1);
  }
  const Tensor parts = reshape_sizes(in, grouped);
  const nn::Moments m = nn::moments(parts, others, true);
  Tensor factor = math::rsqrt(m.variance + options_.epsilon);
  if (gamma_.defined()) factor = factor * reshape(widened(gamma_, in.dtype()), broadcast);
  Tensor offset = -m.mean * factor;
  if (beta_.defined()) offset = offset + reshape(widened(beta_, in.dtype()), broadcast);
  return cast(reshape_sizes(parts * factor + offset, sizes), compute_dtype());
}

}  // namespace rw::keras
