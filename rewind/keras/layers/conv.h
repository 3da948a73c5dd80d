// Convolutions: Conv1D/2D/3D, their transposes, DepthwiseConv1D/2D, SeparableConv1D/2D.
//   Conv2D(32, 3, {.strides = 2, .padding = "same", .activation = "relu"})
#pragma once

#include "rewind/keras/activations.h"
#include "rewind/keras/layer.h"
#include "rewind/keras/layers/per_axis.h"

namespace rw::keras {

struct ConvOptions {
  PerAxis strides = 1;
  std::string padding = "valid";  // or "same"; Conv1D also "causal"
  std::string data_format = "channels_last";
  PerAxis dilation_rate = 1;
  int64_t groups = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

struct ConvTransposeOptions {
  PerAxis strides = 1;
  std::string padding = "valid";
  PerAxis output_padding = std::vector<int64_t>{};  // empty: none is asked for
  std::string data_format = "channels_last";
  PerAxis dilation_rate = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

struct DepthwiseConvOptions {
  PerAxis strides = 1;
  std::string padding = "valid";
  int64_t depth_multiplier = 1;
  std::string data_format = "channels_last";
  PerAxis dilation_rate = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint depthwise_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

struct SeparableConvOptions {
  PerAxis strides = 1;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  PerAxis dilation_rate = 1;
  int64_t depth_multiplier = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer pointwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer pointwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint depthwise_constraint = {};
  Constraint pointwise_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

namespace detail {

// What they share: windows, bias, activation, where the channels are.
class ConvBase : public Layer {
 public:
  Tensor call(const Tensor& x, const CallArgs&) override;

 protected:
  ConvBase(std::string class_name, const LayerOptions& options) : Layer(std::move(class_name), options) {}
  struct Window {
    std::vector<int64_t> kernel_size, strides, dilation;
    std::string padding;
  };
  template <class O>
  void set_window(const char* layer, int rank, const PerAxis& kernel_size, const O& o);
  // The convolution alone, on channels last.
  virtual Tensor convolve(const Tensor& x) = 0;
  int64_t channels_of(const Shape& input) const;
  void set_channels(const Shape& input);
  void add_bias(int64_t channels, const Initializer& i, const Regularizer& r, const Constraint& c);

  int rank_ = 0;
  Window window_;
  bool channels_first_ = false;
  bool use_bias_ = true;
  Activation activation_;
  Variable bias_;
};

class ConvLayer : public ConvBase {
 public:
  void build(const Shape& input) override;
  Tensor convolve(const Tensor& x) override;

 protected:
  using ConvBase::ConvBase;
  void set(const char* layer, int rank, int64_t filters, const PerAxis& kernel_size,
           const ConvOptions& options);
  int64_t filters_ = 0;
  ConvOptions options_;
  Variable kernel_;  // (window..., in / groups, filters)
};

class ConvTransposeLayer : public ConvBase {
 public:
  void build(const Shape& input) override;
  Tensor convolve(const Tensor& x) override;

 protected:
  using ConvBase::ConvBase;
  void set(const char* layer, int rank, int64_t filters, const PerAxis& kernel_size,
           const ConvTransposeOptions& options);
  int64_t filters_ = 0;
  ConvTransposeOptions options_;
  std::vector<int64_t> output_padding_;
  Variable kernel_;  // (window..., filters, in)
};

class DepthwiseConvLayer : public ConvBase {
 public:
  void build(const Shape& input) override;
  Tensor convolve(const Tensor& x) override;

 protected:
  using ConvBase::ConvBase;
  void set(const char* layer, int rank, const PerAxis& kernel_size, const DepthwiseConvOptions& options);
  DepthwiseConvOptions options_;
  Variable kernel_;  // (window..., in, multiplier)
};

class SeparableConvLayer : public ConvBase {
 public:
  void build(const Shape& input) override;
  Tensor convolve(const Tensor& x) override;

 protected:
  using ConvBase::ConvBase;
  void set(const char* layer, int rank, int64_t filters, const PerAxis& kernel_size,
           const SeparableConvOptions& options);
  int64_t filters_ = 0;
  SeparableConvOptions options_;
  Variable depthwise_kernel_;  // (window..., in, multiplier)
  Variable pointwise_kernel_;  // (1..., in multiplier, filters)
};

}  // namespace detail

#define RW_KERAS_CONV(Name, Base, Options)                                          \
  class Name : public LayerOf<Name, detail::Base> {                                 \
   public:                                                                          \
    Name(int64_t filters, const PerAxis& kernel_size, const Options& options = {}); \
  };
RW_KERAS_CONV(Conv1D, ConvLayer, ConvOptions)
RW_KERAS_CONV(Conv2D, ConvLayer, ConvOptions)
RW_KERAS_CONV(Conv3D, ConvLayer, ConvOptions)
RW_KERAS_CONV(Conv1DTranspose, ConvTransposeLayer, ConvTransposeOptions)
RW_KERAS_CONV(Conv2DTranspose, ConvTransposeLayer, ConvTransposeOptions)
RW_KERAS_CONV(Conv3DTranspose, ConvTransposeLayer, ConvTransposeOptions)
RW_KERAS_CONV(SeparableConv1D, SeparableConvLayer, SeparableConvOptions)
RW_KERAS_CONV(SeparableConv2D, SeparableConvLayer, SeparableConvOptions)
#undef RW_KERAS_CONV

class DepthwiseConv1D : public LayerOf<DepthwiseConv1D, detail::DepthwiseConvLayer> {
 public:
  explicit DepthwiseConv1D(const PerAxis& kernel_size, const DepthwiseConvOptions& options = {});
};
class DepthwiseConv2D : public LayerOf<DepthwiseConv2D, detail::DepthwiseConvLayer> {
 public:
  explicit DepthwiseConv2D(const PerAxis& kernel_size, const DepthwiseConvOptions& options = {});
};

}  // namespace rw::keras
