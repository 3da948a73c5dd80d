// Dropout and its relatives: they do something in training only.
#pragma once

#include "rewind/keras/layer.h"

namespace rw::keras {

struct DropoutOptions {
  std::vector<int64_t> noise_shape = {};  // of the mask, which broadcasts; -1: the input's size
  std::optional<int64_t> seed = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// Elements become 0 with probability `rate`; the others grow by 1 / (1 - rate).
class Dropout : public LayerOf<Dropout> {
 public:
  explicit Dropout(double rate, const DropoutOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs& args) override;
  bool supports_masking() const override { return true; }

 private:
  double rate_;
  std::vector<int64_t> noise_shape_;
  SeedGenerator random_;
};

struct SpatialDropoutOptions {
  std::string data_format = "channels_last";
  std::optional<int64_t> seed = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

namespace detail {
class SpatialDropoutLayer : public Layer {
 public:
  Tensor call(const Tensor& x, const CallArgs& args) override;
  bool supports_masking() const override { return true; }

 protected:
  SpatialDropoutLayer(std::string class_name, const LayerOptions& options)
      : Layer(std::move(class_name), options) {}
  void set(const char* layer, int rank, double rate, const SpatialDropoutOptions& options);
  double rate_ = 0;
  bool channels_first_ = false;
  SeedGenerator random_;
};
}  // namespace detail

// Whole channels are dropped.
#define RW_KERAS_SPATIAL_DROPOUT(Name)                                     \
  class Name : public LayerOf<Name, detail::SpatialDropoutLayer> {         \
   public:                                                                 \
    explicit Name(double rate, const SpatialDropoutOptions& options = {}); \
  };
RW_KERAS_SPATIAL_DROPOUT(SpatialDropout1D)
RW_KERAS_SPATIAL_DROPOUT(SpatialDropout2D)
RW_KERAS_SPATIAL_DROPOUT(SpatialDropout3D)
#undef RW_KERAS_SPATIAL_DROPOUT

struct NoiseOptions {
  std::optional<int64_t> seed = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// Adds normal noise.
class GaussianNoise : public LayerOf<GaussianNoise> {
 public:
  explicit GaussianNoise(double stddev, const NoiseOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs& args) override;
  bool supports_masking() const override { return true; }

 private:
  double stddev_;
  SeedGenerator random_;
};
// Multiplies by noise around 1 with variance rate / (1 - rate).
class GaussianDropout : public LayerOf<GaussianDropout> {
 public:
  explicit GaussianDropout(double rate, const NoiseOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs& args) override;
  bool supports_masking() const override { return true; }

 private:
  double rate_;
  SeedGenerator random_;
};

}  // namespace rw::keras
