// Convolutions, pools and image resizing, with TensorFlow's names and defaults.
//   nn::conv2d(x, filters, 1, "SAME")
//   nn::conv2d(x, filters, {2, 2}, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}, {.dilations = 2})
//   nn::max_pool(x, 2, 2, "VALID")
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rewind/tensor/operand.h"

namespace rw::nn {

// A number for every spatial axis, one number each, or a full list with the batch and channel entries.
class Spatial {
 public:
  Spatial(int value) : list_({value}) {}                          // NOLINT: written as they are
  Spatial(int64_t value) : list_({value}) {}                      // NOLINT
  Spatial(std::initializer_list<int64_t> list) : list_(list) {}   // NOLINT
  Spatial(std::vector<int64_t> list) : list_(std::move(list)) {}  // NOLINT
  const std::vector<int64_t>& list() const { return list_; }

 private:
  std::vector<int64_t> list_;
};

// "SAME", "VALID", or how much before and after every axis of the input.
class Padding {
 public:
  Padding(const char* name) : name_(name) {}                         // NOLINT
  Padding(const std::string& name) : name_(name) {}                  // NOLINT
  Padding(std::initializer_list<std::pair<int64_t, int64_t>> list);  // NOLINT
  Padding(const std::vector<std::pair<int64_t, int64_t>>& list);     // NOLINT
  const std::string& name() const { return name_; }                  // TensorFlow's attribute
  const std::vector<int64_t>& sizes() const { return sizes_; }

 private:
  std::string name_;
  std::vector<int64_t> sizes_;
};

struct ConvOptions {
  std::string data_format = "";  // empty: channels last
  Spatial dilations = 1;
};

// Filters are (spatial..., in / groups, out). Inputs may have several batch axes in front.
Tensor conv1d(const Operand& input, const Operand& filters, const Spatial& stride, const Padding& padding,
              const ConvOptions& options = {});
Tensor conv2d(const Operand& input, const Operand& filters, const Spatial& strides, const Padding& padding,
              const ConvOptions& options = {});
Tensor conv3d(const Operand& input, const Operand& filters, const Spatial& strides, const Padding& padding,
              const ConvOptions& options = {});
// As many spatial axes as the filters have.
Tensor convolution(const Operand& input, const Operand& filters, const Spatial& strides = 1,
                   const Padding& padding = "VALID", const ConvOptions& options = {});
Tensor atrous_conv2d(const Operand& value, const Operand& filters, int64_t rate, const Padding& padding);
// The filter is (height, width, in, multiplier).
Tensor depthwise_conv2d(const Operand& input, const Operand& filter, const Spatial& strides,
                        const Padding& padding, const ConvOptions& options = {});
Tensor separable_conv2d(const Operand& input, const Operand& depthwise_filter,
                        const Operand& pointwise_filter, const Spatial& strides, const Padding& padding,
                        const ConvOptions& options = {});

// The gradient of a convolution with regard to its input. Filters are (spatial..., out, in).
Tensor conv1d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Spatial& strides, const Padding& padding = "SAME",
                        const ConvOptions& options = {});
Tensor conv2d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Spatial& strides, const Padding& padding = "SAME",
                        const ConvOptions& options = {});
Tensor conv3d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Spatial& strides, const Padding& padding = "SAME",
                        const ConvOptions& options = {});

// Pools over the spatial axes of a tensor with one to three of them.
Tensor max_pool(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                const std::string& data_format = "");
Tensor max_pool1d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format = "");
Tensor max_pool2d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format = "");
Tensor max_pool3d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format = "");
Tensor avg_pool(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                const std::string& data_format = "");
Tensor avg_pool1d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format = "");
Tensor avg_pool2d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format = "");
Tensor avg_pool3d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format = "");

struct MaxPoolWithArgmaxOptions {
  DType output_dtype = DType::kInt64;
  bool include_batch_in_index = false;
};
struct MaxPoolWithArgmaxResult {
  Tensor output, argmax;
};
MaxPoolWithArgmaxResult max_pool_with_argmax(const Operand& input, const Spatial& ksize,
                                             const Spatial& strides, const Padding& padding,
                                             const MaxPoolWithArgmaxOptions& options = {});

}  // namespace rw::nn

namespace rw::image {

struct ResizeOptions {
  std::string method = "bilinear";  // or "nearest"
  bool preserve_aspect_ratio = false;
  bool antialias = false;  // only false is supported
};
// Images are (batch, height, width, channels) or (height, width, channels). Bilinear gives float32.
Tensor resize(const Operand& images, const std::vector<int64_t>& size, const ResizeOptions& options = {});

}  // namespace rw::image
