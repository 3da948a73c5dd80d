#include "rewind/keras/layers/conv.h"

#include <algorithm>

#include "rewind/base/ascii.h"
#include "rewind/base/error.h"
#include "rewind/keras/layers/channels.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/conv.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras::detail {
namespace {

void check_positive(const char* layer, const char* what, const std::vector<int64_t>& list) {
  for (const int64_t v : list)
    if (v <= 0) fail_invalid(layer, std::string(what) + " must be positive: got " + Shape(list).to_string());
}

Shape joined(const std::vector<int64_t>& window, std::initializer_list<int64_t> rest) {
  std::vector<int64_t> dims = window;
  dims.insert(dims.end(), rest);
  return dims;
}

}  // namespace

template <class O>
void ConvBase::set_window(const char* layer, int rank, const PerAxis& kernel_size, const O& o) {
  rank_ = rank;
  const auto axes = size_t(rank);
  window_ = {kernel_size.for_axes(layer, "kernel_size", axes), o.strides.for_axes(layer, "strides", axes),
             o.dilation_rate.for_axes(layer, "dilation_rate", axes), o.padding};
  window_.padding = ascii::to_lower(window_.padding);
  check_positive(layer, "kernel_size", window_.kernel_size);
  check_positive(layer, "strides", window_.strides);
  check_positive(layer, "dilation_rate", window_.dilation);
  const bool causal = window_.padding == "causal" && rank == 1;
  if (window_.padding != "valid" && window_.padding != "same" && !causal)
    fail_invalid(layer, "padding must be \"valid\" or \"same\": got \"" + o.padding + "\"");
  if (*std::max_element(window_.strides.begin(), window_.strides.end()) > 1 &&
      *std::max_element(window_.dilation.begin(), window_.dilation.end()) > 1)
    fail_invalid(layer, "strides > 1 and dilation_rate > 1 do not go together");
  channels_first_ = channels_first(layer, o.data_format);
  use_bias_ = o.use_bias;
  activation_ = o.activation;
  set_input_spec({.min_ndim = rank + 2});
  set_activity_regularizer(o.activity_regularizer);
}

int64_t ConvBase::channels_of(const Shape& input) const {
  const int64_t channels = channels_first_ ? input[1] : input.back();
  if (channels < 0)
    fail_invalid(name(), "The channel dimension of the input of layer \"" + name() +
                             "\" must be known: the input has shape " + input.to_string());
  return channels;
}

void ConvBase::set_channels(const Shape& input) {
  set_input_spec({.min_ndim = rank_ + 2, .axes = {{channels_first_ ? 1 : -1, channels_of(input)}}});
}

void ConvBase::add_bias(int64_t channels, const Initializer& i, const Regularizer& r, const Constraint& c) {
  if (use_bias_)
    bias_ = add_weight(
        {.name = "bias", .shape = {channels}, .initializer = i, .regularizer = r, .constraint = c});
}

Tensor ConvBase::call(const Tensor& x, const CallArgs&) {
  Tensor y = convolve(channels_first_ ? channels_to_end(x) : x);
  for (int i = y.rank() - 1 - rank_; i < y.rank() - 1; ++i)
    if (y.shape()[i] == 0)
      fail_invalid(name(), "the input of layer \"" + name() +
                               "\" is smaller than its window: it received input with shape " +
                               x.shape().to_string() + ", of which nothing would be left");
  if (bias_.defined()) y = nn::bias_add(y, value_of(bias_));
  y = activation_(y);
  return channels_first_ ? channels_to_front(y) : y;
}

void ConvLayer::set(const char* layer, int rank, int64_t filters, const PerAxis& kernel_size,
                    const ConvOptions& options) {
  if (filters <= 0) fail_invalid(layer, "filters must be positive: got " + std::to_string(filters));
  if (options.groups <= 0 || filters % options.groups != 0)
    fail_invalid(layer,
                 "The number of filters must be evenly divisible by the number of groups: got groups=" +
                     std::to_string(options.groups) + ", filters=" + std::to_string(filters));
  filters_ = filters;
  options_ = options;
  set_window(layer, rank, kernel_size, options);
}

void ConvLayer::build(const Shape& input) {
  const int64_t channels = channels_of(input);
  if (channels % options_.groups != 0)
    fail_invalid(name(),
                 "The number of input channels must be evenly divisible by the number of groups. "
                 "Layer \"" +
                     name() + "\" has groups=" + std::to_string(options_.groups) +
                     ", but the input has shape " + input.to_string());
  kernel_ = add_weight({.name = "kernel",
                        .shape = joined(window_.kernel_size, {channels / options_.groups, filters_}),
                        .initializer = options_.kernel_initializer,
                        .regularizer = options_.kernel_regularizer,
                        .constraint = options_.kernel_constraint});
  add_bias(filters_, options_.bias_initializer, options_.bias_regularizer, options_.bias_constraint);
  set_channels(input);
}

Tensor ConvLayer::convolve(const Tensor& x) {
  Tensor in = x;
  std::string padding = window_.padding;
  if (padding == "causal") {
    in = pad(x, {{0, 0}, {window_.dilation[0] * (window_.kernel_size[0] - 1), 0}, {0, 0}});
    padding = "valid";
  }
  return nn::convolution(in, value_of(kernel_), window_.strides, ascii::to_upper(padding),
                         {.dilations = window_.dilation});
}

void ConvTransposeLayer::set(const char* layer, int rank, int64_t filters, const PerAxis& kernel_size,
                             const ConvTransposeOptions& options) {
  if (filters <= 0) fail_invalid(layer, "filters must be positive: got " + std::to_string(filters));
  filters_ = filters;
  options_ = options;
  if (!options.output_padding.empty())
    output_padding_ = options.output_padding.for_axes(layer, "output_padding", size_t(rank));
  set_window(layer, rank, kernel_size, options);
  for (size_t i = 0; i < output_padding_.size(); ++i)
    if (output_padding_[i] >= window_.strides[i])
      fail_invalid(layer, "output_padding must be strictly less than strides on every axis");
}

void ConvTransposeLayer::build(const Shape& input) {
  kernel_ = add_weight({.name = "kernel",
                        .shape = joined(window_.kernel_size, {filters_, channels_of(input)}),
                        .initializer = options_.kernel_initializer,
                        .regularizer = options_.kernel_regularizer,
                        .constraint = options_.kernel_constraint});
  add_bias(filters_, options_.bias_initializer, options_.bias_regularizer, options_.bias_constraint);
  set_channels(input);
}

Tensor ConvTransposeLayer::convolve(const Tensor& x) {
  const Sizes sizes = sizes_of(x);
  Sizes out{sizes[0]};
  for (size_t i = 0; i < size_t(rank_); ++i) {
    const int64_t stride = window_.strides[i];
    const int64_t window = (window_.kernel_size[i] - 1) * window_.dilation[i] + 1;
    const bool asked = !output_padding_.empty();
    if (window_.padding == "same" && !asked) {
      out.push_back(sizes[i + 1] * Size(stride));
      continue;
    }
    const int64_t own = window_.padding == "same" ? window % 2 : window;
    const int64_t more = asked ? output_padding_[i] : std::max(window, stride) - window;
    out.push_back((sizes[i + 1] - Size(1)) * Size(stride) + Size(own + more));
  }
  out.push_back(filters_);
  const Tensor shape = dims_tensor(out, DType::kInt32);
  const nn::ConvOptions options{.dilations = window_.dilation};
  const Tensor kernel = value_of(kernel_);
  const std::string padding = ascii::to_upper(window_.padding);
  Tensor y = rank_ == 1   ? nn::conv1d_transpose(x, kernel, shape, window_.strides, padding, options)
             : rank_ == 2 ? nn::conv2d_transpose(x, kernel, shape, window_.strides, padding, options)
                          : nn::conv3d_transpose(x, kernel, shape, window_.strides, padding, options);
  return y.shape().fully_known() ? y : ensure_shape(y, known_shape(out));
}

void DepthwiseConvLayer::set(const char* layer, int rank, const PerAxis& kernel_size,
                             const DepthwiseConvOptions& options) {
  options_ = options;
  set_window(layer, rank, kernel_size, options);
}

void DepthwiseConvLayer::build(const Shape& input) {
  const int64_t channels = channels_of(input);
  kernel_ = add_weight({.name = "kernel",
                        .shape = joined(window_.kernel_size, {channels, options_.depth_multiplier}),
                        .initializer = options_.depthwise_initializer,
                        .regularizer = options_.depthwise_regularizer,
                        .constraint = options_.depthwise_constraint});
  add_bias(channels * options_.depth_multiplier, options_.bias_initializer, options_.bias_regularizer,
           options_.bias_constraint);
  set_channels(input);
}

// One axis is two, of which the first has size 1; the depthwise op takes equal strides only.
static Tensor depthwise(const Tensor& x, const Tensor& kernel, const std::vector<int64_t>& strides,
                        const std::vector<int64_t>& dilation, const std::string& padding) {
  if (strides.size() == 2) return nn::depthwise_conv2d(x, kernel, strides, padding, {.dilations = dilation});
  const std::vector<int64_t> strides2{strides[0], strides[0]}, dilation2{dilation[0], dilation[0]};
  const Tensor y = nn::depthwise_conv2d(expand_dims(x, 1), expand_dims(kernel, 0), strides2, padding,
                                        {.dilations = dilation2});
  return squeeze(y, {1});
}

Tensor DepthwiseConvLayer::convolve(const Tensor& x) {
  return depthwise(x, value_of(kernel_), window_.strides, window_.dilation, ascii::to_upper(window_.padding));
}

void SeparableConvLayer::set(const char* layer, int rank, int64_t filters, const PerAxis& kernel_size,
                             const SeparableConvOptions& options) {
  if (filters <= 0) fail_invalid(layer, "filters must be positive: got " + std::to_string(filters));
  filters_ = filters;
  options_ = options;
  set_window(layer, rank, kernel_size, options);
}

void SeparableConvLayer::build(const Shape& input) {
  const int64_t channels = channels_of(input);
  depthwise_kernel_ = add_weight({.name = "depthwise_kernel",
                                  .shape = joined(window_.kernel_size, {channels, options_.depth_multiplier}),
                                  .initializer = options_.depthwise_initializer,
                                  .regularizer = options_.depthwise_regularizer,
                                  .constraint = options_.depthwise_constraint});
  const std::vector<int64_t> point(size_t(rank_), 1);
  pointwise_kernel_ = add_weight({.name = "pointwise_kernel",
                                  .shape = joined(point, {channels * options_.depth_multiplier, filters_}),
                                  .initializer = options_.pointwise_initializer,
                                  .regularizer = options_.pointwise_regularizer,
                                  .constraint = options_.pointwise_constraint});
  add_bias(filters_, options_.bias_initializer, options_.bias_regularizer, options_.bias_constraint);
  set_channels(input);
}

Tensor SeparableConvLayer::convolve(const Tensor& x) {
  const Tensor y = depthwise(x, value_of(depthwise_kernel_), window_.strides, window_.dilation,
                             ascii::to_upper(window_.padding));
  return nn::convolution(y, value_of(pointwise_kernel_), 1, "VALID");
}

}  // namespace rw::keras::detail

namespace rw::keras {
namespace {

// What the configs of all have behind their numbers.
template <class O>
void window_fields(ConfigFields& f, O& o) {
  f("strides", o.strides);
  f("padding", o.padding);
  if constexpr (requires { o.output_padding; }) f("output_padding", o.output_padding);
  f("data_format", o.data_format);
  f("dilation_rate", o.dilation_rate);
}
template <class O>
void bias_fields(ConfigFields& f, O& o) {
  f("activation", o.activation);
  f("use_bias", o.use_bias);
  f("bias_initializer", o.bias_initializer);
  f("bias_regularizer", o.bias_regularizer);
  f("activity_regularizer", o.activity_regularizer);
  f("bias_constraint", o.bias_constraint);
}
template <class O>
void kernel_fields(ConfigFields& f, O& o) {
  f("kernel_initializer", o.kernel_initializer);
  f("kernel_regularizer", o.kernel_regularizer);
  f("kernel_constraint", o.kernel_constraint);
}
template <class O>
void depthwise_fields(ConfigFields& f, O& o) {
  f("depth_multiplier", o.depth_multiplier);
  f("depthwise_initializer", o.depthwise_initializer);
  f("depthwise_regularizer", o.depthwise_regularizer);
  f("depthwise_constraint", o.depthwise_constraint);
}
// Files of Keras 2 have the options of all convolutions in each.
void ignore_unused(ConfigFields& f, std::initializer_list<const char*> names) {
  for (const char* name : names) f.ignore(name);
}

void fields(ConfigFields& f, ConvOptions& o) {
  window_fields(f, o);
  f("groups", o.groups);
  bias_fields(f, o);
  kernel_fields(f, o);
}
void fields(ConfigFields& f, ConvTransposeOptions& o) {
  window_fields(f, o);
  bias_fields(f, o);
  kernel_fields(f, o);
  ignore_unused(f, {"groups"});
}
void fields(ConfigFields& f, DepthwiseConvOptions& o) {
  window_fields(f, o);
  bias_fields(f, o);
  depthwise_fields(f, o);
  ignore_unused(f, {"groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint"});
}
void fields(ConfigFields& f, SeparableConvOptions& o) {
  window_fields(f, o);
  bias_fields(f, o);
  depthwise_fields(f, o);
  f("pointwise_initializer", o.pointwise_initializer);
  f("pointwise_regularizer", o.pointwise_regularizer);
  f("pointwise_constraint", o.pointwise_constraint);
  ignore_unused(f, {"groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint"});
}

template <class L, class O>
struct ConvArguments {
  using Made = L;
  int64_t filters = 0;
  PerAxis kernel_size = 1;
  O options = {};
  L make() const { return L(filters, kernel_size, options); }
};
template <class L, class O>
void fields(ConfigFields& f, ConvArguments<L, O>& a) {
  f("filters", a.filters);
  f("kernel_size", a.kernel_size);
  fields(f, a.options);
}
template <class L>
struct DepthwiseConvArguments {
  using Made = L;
  PerAxis kernel_size = 1;
  DepthwiseConvOptions options = {};
  L make() const { return L(kernel_size, options); }
};
template <class L>
void fields(ConfigFields& f, DepthwiseConvArguments<L>& a) {
  f("kernel_size", a.kernel_size);
  fields(f, a.options);
}

// One number for each axis, as Keras writes them.
template <class O>
O spelled_out(const char* layer, O o, size_t axes) {
  o.strides = o.strides.for_axes(layer, "strides", axes);
  o.dilation_rate = o.dilation_rate.for_axes(layer, "dilation_rate", axes);
  o.padding = ascii::to_lower(o.padding);
  if constexpr (requires { o.output_padding; })
    if (!o.output_padding.empty())
      o.output_padding = o.output_padding.for_axes(layer, "output_padding", axes);
  return o;
}

}  // namespace

void add_conv_classes(ClassRegistry& r) {
  add_class<ConvArguments<Conv1D, ConvOptions>>(r.layers);
  add_class<ConvArguments<Conv2D, ConvOptions>>(r.layers);
  add_class<ConvArguments<Conv3D, ConvOptions>>(r.layers);
  add_class<ConvArguments<Conv1DTranspose, ConvTransposeOptions>>(r.layers);
  add_class<ConvArguments<Conv2DTranspose, ConvTransposeOptions>>(r.layers);
  add_class<ConvArguments<Conv3DTranspose, ConvTransposeOptions>>(r.layers);
  add_class<ConvArguments<SeparableConv1D, SeparableConvOptions>>(r.layers);
  add_class<ConvArguments<SeparableConv2D, SeparableConvOptions>>(r.layers);
  add_class<DepthwiseConvArguments<DepthwiseConv1D>>(r.layers);
  add_class<DepthwiseConvArguments<DepthwiseConv2D>>(r.layers);
}

// Out of line, so that a program does not compile what it takes to copy all of them.
#define RW_KERAS_CONV(Name, Options, rank)                                                               \
  Name::Name(int64_t filters, const PerAxis& kernel_size, const Options& options)                        \
      : LayerOf(layer_options(options)) {                                                                \
    set(#Name, rank, filters, kernel_size, options);                                                     \
    set_origin(origin_of(                                                                                \
        ConvArguments<Name, Options>{filters, window_.kernel_size, spelled_out(#Name, options, rank)})); \
  }
RW_KERAS_CONV(Conv1D, ConvOptions, 1)
RW_KERAS_CONV(Conv2D, ConvOptions, 2)
RW_KERAS_CONV(Conv3D, ConvOptions, 3)
RW_KERAS_CONV(Conv1DTranspose, ConvTransposeOptions, 1)
RW_KERAS_CONV(Conv2DTranspose, ConvTransposeOptions, 2)
RW_KERAS_CONV(Conv3DTranspose, ConvTransposeOptions, 3)
RW_KERAS_CONV(SeparableConv1D, SeparableConvOptions, 1)
RW_KERAS_CONV(SeparableConv2D, SeparableConvOptions, 2)
#undef RW_KERAS_CONV

DepthwiseConv1D::DepthwiseConv1D(const PerAxis& kernel_size, const DepthwiseConvOptions& options)
    : LayerOf(layer_options(options)) {
  set("DepthwiseConv1D", 1, kernel_size, options);
  set_origin(origin_of(DepthwiseConvArguments<DepthwiseConv1D>{window_.kernel_size,
                                                               spelled_out("DepthwiseConv1D", options, 1)}));
}
DepthwiseConv2D::DepthwiseConv2D(const PerAxis& kernel_size, const DepthwiseConvOptions& options)
    : LayerOf(layer_options(options)) {
  set("DepthwiseConv2D", 2, kernel_size, options);
  set_origin(origin_of(DepthwiseConvArguments<DepthwiseConv2D>{window_.kernel_size,
                                                               spelled_out("DepthwiseConv2D", options, 2)}));
}

}  // namespace rw::keras
