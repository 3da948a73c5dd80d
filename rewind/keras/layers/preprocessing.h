// Layers that prepare data: Rescaling, Normalization; RandomFlip, RandomRotation, RandomCrop, which change
// images in training, and when nobody says whether it is training.
#pragma once

#include "rewind/keras/layer.h"

namespace rw::keras {

struct RescalingOptions {
  double offset = 0.0;
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// x * scale + offset, in the layer's type.
class Rescaling : public LayerOf<Rescaling> {
 public:
  explicit Rescaling(double scale, const RescalingOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return true; }

 private:
  double scale_, offset_;
};

struct NormalizationOptions {
  std::vector<int> axis = {-1};  // axes whose places have statistics of their own; empty: one for all
  Tensor mean = {};              // known ones, both or none
  Tensor variance = {};
  bool invert = false;
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// (x - mean) / sqrt(variance), with statistics that adapt() takes from data.
class Normalization : public LayerOf<Normalization> {
 public:
  explicit Normalization(const NormalizationOptions& options = {});
  void build(const Shape& input) override;
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return true; }
  void adapt(const Tensor& data) const;
  // Batches of it.
  void adapt(const std::vector<Tensor>& batches) const;

 private:
  std::vector<int64_t> kept_axes(const Shape& shape) const;
  Tensor aligned(const Tensor& statistics, const Shape& input) const;
  NormalizationOptions options_;
  Variable mean_, variance_, count_;
};

struct RandomFlipOptions {
  std::string mode = "horizontal_and_vertical";  // "horizontal", "vertical"
  std::optional<int64_t> seed = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// Images (batch, height, width, channels): each is turned over with probability 1/2.
class RandomFlip : public LayerOf<RandomFlip> {
 public:
  explicit RandomFlip(const RandomFlipOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs& args) override;
  bool trains_unless_told() const override { return true; }

 private:
  RandomFlipOptions options_;
  SeedGenerator random_;
};

struct RandomRotationOptions {
  std::string fill_mode = "reflect";       // "constant", "nearest", "wrap": what lies outside the image
  std::string interpolation = "bilinear";  // "nearest"
  double fill_value = 0.0;
  std::optional<int64_t> seed = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// Each image is turned by its own angle, drawn between the factors (of full turns).
class RandomRotation : public LayerOf<RandomRotation> {
 public:
  explicit RandomRotation(double factor, const RandomRotationOptions& options = {})
      : RandomRotation(-factor, factor, options) {}
  RandomRotation(double low, double high, const RandomRotationOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs& args) override;
  bool trains_unless_told() const override { return true; }

 private:
  double low_, high_;
  RandomRotationOptions options_;
  SeedGenerator random_;
};

struct RandomCropOptions {
  std::optional<int64_t> seed = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// A window of this size, the same for the whole batch, at a random place.
class RandomCrop : public LayerOf<RandomCrop> {
 public:
  RandomCrop(int64_t height, int64_t width, const RandomCropOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs& args) override;
  bool trains_unless_told() const override { return true; }

 private:
  int64_t height_, width_;
  SeedGenerator random_;
};

// Images (batch, height, width, channels) turned by these angles in radians, (batch), about their middle.
// Positive angles turn counter-clockwise.
Tensor rotate_images(const Tensor& images, const Tensor& angles, const std::string& fill_mode,
                     const std::string& interpolation, double fill_value);

}  // namespace rw::keras
