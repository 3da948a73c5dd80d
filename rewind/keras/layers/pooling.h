// Pooling over the spatial axes: maximum or average of windows, or of all.
//   MaxPooling2D(), AveragePooling2D(3, {.strides = 1, .padding = "same"}), GlobalMaxPooling1D()
#pragma once

#include "rewind/keras/layer.h"
#include "rewind/keras/layers/per_axis.h"

namespace rw::keras {

struct PoolingOptions {
  PerAxis strides = std::vector<int64_t>{};  // empty: as the window
  std::string padding = "valid";
  std::string data_format = "channels_last";
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

struct GlobalPoolingOptions {
  std::string data_format = "channels_last";
  bool keepdims = false;
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

namespace detail {

class PoolingLayer : public Layer {
 public:
  Tensor call(const Tensor& x, const CallArgs&) override;

 protected:
  PoolingLayer(std::string class_name, const LayerOptions& options) : Layer(std::move(class_name), options) {}
  void set(const char* layer, int rank, bool maximum, const PerAxis& pool_size,
           const PoolingOptions& options);
  bool maximum_ = true;
  bool channels_first_ = false;
  std::vector<int64_t> pool_size_, strides_;
  std::string padding_;
};

class GlobalPoolingLayer : public Layer {
 public:
  Tensor call(const Tensor& x, const CallArgs& args) override;
  // Averages over time leave out what is masked.
  bool supports_masking() const override { return !maximum_ && rank_ == 1; }
  Tensor compute_mask(const std::vector<Tensor>&, const std::vector<Tensor>&) override { return {}; }

 protected:
  GlobalPoolingLayer(std::string class_name, const LayerOptions& options)
      : Layer(std::move(class_name), options) {}
  void set(const char* layer, int rank, bool maximum, const GlobalPoolingOptions& options);
  bool maximum_ = true;
  bool channels_first_ = false;
  bool keepdims_ = false;
  int rank_ = 0;
};

}  // namespace detail

#define RW_KERAS_POOLING(Name)                                                       \
  class Name : public LayerOf<Name, detail::PoolingLayer> {                          \
   public:                                                                           \
    explicit Name(const PerAxis& pool_size = 2, const PoolingOptions& options = {}); \
  };
RW_KERAS_POOLING(MaxPooling1D)
RW_KERAS_POOLING(MaxPooling2D)
RW_KERAS_POOLING(MaxPooling3D)
RW_KERAS_POOLING(AveragePooling1D)
RW_KERAS_POOLING(AveragePooling2D)
RW_KERAS_POOLING(AveragePooling3D)
#undef RW_KERAS_POOLING

#define RW_KERAS_GLOBAL_POOLING(Name)                             \
  class Name : public LayerOf<Name, detail::GlobalPoolingLayer> { \
   public:                                                        \
    explicit Name(const GlobalPoolingOptions& options = {});      \
  };
RW_KERAS_GLOBAL_POOLING(GlobalMaxPooling1D)
RW_KERAS_GLOBAL_POOLING(GlobalMaxPooling2D)
RW_KERAS_GLOBAL_POOLING(GlobalMaxPooling3D)
RW_KERAS_GLOBAL_POOLING(GlobalAveragePooling1D)
RW_KERAS_GLOBAL_POOLING(GlobalAveragePooling2D)
RW_KERAS_GLOBAL_POOLING(GlobalAveragePooling3D)
#undef RW_KERAS_GLOBAL_POOLING

}  // namespace rw::keras
