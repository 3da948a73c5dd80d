// Layers that move elements: Flatten, Reshape, Permute, RepeatVector, zero padding, cropping, up-sampling.
#pragma once

#include "rewind/keras/layer.h"
#include "rewind/keras/layers/per_axis.h"

namespace rw::keras {

// (batch, ...) -> (batch, product of the others).
class Flatten : public LayerOf<Flatten> {
 public:
  explicit Flatten(const LayerOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override;
};

// (batch, ...) -> (batch, target...). One size of the target may be -1.
class Reshape : public LayerOf<Reshape> {
 public:
  explicit Reshape(const Shape& target_shape, const LayerOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override;

 private:
  Shape target_;
};

// Axis i of the result is axis dims[i] of the input; axes count from 1, the batch stays.
class Permute : public LayerOf<Permute> {
 public:
  explicit Permute(const std::vector<int64_t>& dims, const LayerOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override;

 private:
  std::vector<int64_t> dims_;
};

// (batch, features) -> (batch, n, features).
class RepeatVector : public LayerOf<RepeatVector> {
 public:
  explicit RepeatVector(int64_t n, const LayerOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override;

 private:
  int64_t n_;
};

// Amounts for each spatial axis: one number for all, one number an axis, or a pair (before, after) an axis.
class SpatialPairs {
 public:
  SpatialPairs(int amount) : list_({{amount, amount}}) {}                                    // NOLINT
  SpatialPairs(std::initializer_list<int64_t> amounts);                                      // NOLINT
  SpatialPairs(std::initializer_list<std::pair<int64_t, int64_t>> pairs) : list_(pairs) {}   // NOLINT
  SpatialPairs(std::vector<std::pair<int64_t, int64_t>> pairs) : list_(std::move(pairs)) {}  // NOLINT
  // One pair an axis; throws InvalidArgumentError for another number of axes.
  std::vector<std::pair<int64_t, int64_t>> for_axes(const char* layer, size_t axes) const;
  const std::vector<std::pair<int64_t, int64_t>>& list() const { return list_; }

 private:
  std::vector<std::pair<int64_t, int64_t>> list_;
};

struct SpatialOptions {
  std::string data_format = "channels_last";
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

namespace detail {

// What pads or cuts the spatial axes.
class EdgeLayer : public Layer {
 protected:
  EdgeLayer(std::string class_name, const LayerOptions& options) : Layer(std::move(class_name), options) {}
  void set(const char* layer, const SpatialPairs& amounts, size_t axes, const std::string& data_format);
  size_t first_axis() const { return channels_first_ ? 2 : 1; }
  std::vector<std::pair<int64_t, int64_t>> amounts_;
  bool channels_first_ = false;
};
class ZeroPaddingLayer : public EdgeLayer {
 public:
  Tensor call(const Tensor& x, const CallArgs&) override;

 protected:
  using EdgeLayer::EdgeLayer;
};
class CroppingLayer : public EdgeLayer {
 public:
  Tensor call(const Tensor& x, const CallArgs&) override;

 protected:
  using EdgeLayer::EdgeLayer;
};
class UpSamplingLayer : public Layer {
 public:
  Tensor call(const Tensor& x, const CallArgs&) override;

 protected:
  UpSamplingLayer(std::string class_name, const LayerOptions& options)
      : Layer(std::move(class_name), options) {}
  void set(const char* layer, const std::vector<int64_t>& size, size_t axes, const std::string& data_format,
           const std::string& interpolation);
  std::vector<int64_t> size_;
  std::string interpolation_;
  bool channels_first_ = false;
};

}  // namespace detail

#define RW_KERAS_EDGE_LAYER(Name, Base, amount)                                              \
  class Name : public LayerOf<Name, detail::Base> {                                          \
   public:                                                                                   \
    explicit Name(const SpatialPairs& amounts = amount, const SpatialOptions& options = {}); \
  };
RW_KERAS_EDGE_LAYER(ZeroPadding1D, ZeroPaddingLayer, 1)
RW_KERAS_EDGE_LAYER(ZeroPadding2D, ZeroPaddingLayer, 1)
RW_KERAS_EDGE_LAYER(ZeroPadding3D, ZeroPaddingLayer, 1)
RW_KERAS_EDGE_LAYER(Cropping1D, CroppingLayer, 1)
RW_KERAS_EDGE_LAYER(Cropping2D, CroppingLayer, 0)
RW_KERAS_EDGE_LAYER(Cropping3D, CroppingLayer, 1)
#undef RW_KERAS_EDGE_LAYER

struct UpSamplingOptions {
  std::string data_format = "channels_last";
  std::string interpolation = "nearest";  // or "bilinear"; of two axes only
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

#define RW_KERAS_UP_SAMPLING(Name)                                                 \
  class Name : public LayerOf<Name, detail::UpSamplingLayer> {                     \
   public:                                                                         \
    explicit Name(const PerAxis& size = 2, const UpSamplingOptions& options = {}); \
  };
RW_KERAS_UP_SAMPLING(UpSampling1D)
RW_KERAS_UP_SAMPLING(UpSampling2D)
RW_KERAS_UP_SAMPLING(UpSampling3D)
#undef RW_KERAS_UP_SAMPLING

}  // namespace rw::keras
