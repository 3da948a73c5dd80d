#include "rewind/tensor/ops/conv.h"

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/sizes.h"

namespace rw::nn {
namespace {

bool channels_first(std::string_view tag, const std::string& data_format) {
  if (data_format.empty()) return false;
  if (data_format.size() > 2 && data_format[0] == 'N') {
    if (data_format[1] == 'C') return true;
    if (data_format.back() == 'C') return false;
  }
  fail_invalid(tag, "data_format must be N...C or NC...: got " + data_format);
}

const char* format_name(int spatial, bool first) {
  if (spatial == 3) return first ? "NCDHW" : "NDHWC";
  return first ? "NCHW" : "NHWC";
}

// The full list of the attribute: spatial + 2 numbers.
std::vector<int64_t> full_list(std::string_view tag, std::string_view what, const Spatial& given, int spatial,
                               bool first) {
  std::vector<int64_t> list = given.list();
  if (int(list.size()) == spatial + 2) return list;
  if (list.size() == 1) list.assign(size_t(spatial), list[0]);
  if (int(list.size()) != spatial)
    fail_invalid(tag, std::string(what) + " must have 1, " + std::to_string(spatial) + " or " +
                          std::to_string(spatial + 2) + " numbers: got " +
                          std::to_string(given.list().size()));
  list.insert(list.begin(), 1);
  list.insert(first ? list.begin() + 1 : list.end(), 1);
  return list;
}

Tensor expand(const Tensor& x, int axis) {
  const Tensor at = constant(axis);
  return apply_one(RW_OP("ExpandDims"), {&x, &at});
}
Tensor squeeze(const Tensor& x, int axis) {
  return apply_one(RW_OP("Squeeze"), {&x}, {{"squeeze_dims", std::vector<int64_t>{axis}}});
}

Attrs window_attrs(std::string_view tag, int spatial, const Spatial& strides, const Padding& padding,
                   const ConvOptions& options) {
  const bool first = channels_first(tag, options.data_format);
  std::vector<std::pair<std::string, AttrValue>> list;
  list.emplace_back("strides", full_list(tag, "strides", strides, spatial, first));
  list.emplace_back("padding", padding.name());
  list.emplace_back("data_format", format_name(spatial, first));
  list.emplace_back("dilations", full_list(tag, "dilations", options.dilations, spatial, first));
  if (!padding.sizes().empty()) list.emplace_back("explicit_paddings", padding.sizes());
  return Attrs(list);
}

// Folds the batch axes in front into one, and unfolds them in the result.
template <class F>
Tensor over_batches(const Tensor& x, int rank, F f) {
  if (!x.shape().has_rank() || x.rank() <= rank) return f(x);
  const Sizes sizes = sizes_of(x);
  const std::ptrdiff_t extra = x.rank() - rank + 1;
  Sizes folded(sizes.begin() + extra, sizes.end());
  folded.insert(folded.begin(), product(sizes, 0, size_t(extra)));
  const Tensor y = f(reshape_sizes(x, folded));
  Sizes unfolded = sizes_of(y);
  unfolded.erase(unfolded.begin());
  unfolded.insert(unfolded.begin(), sizes.begin(), sizes.begin() + extra);
  return reshape_sizes(y, unfolded);
}

Tensor conv(const Op& op, int spatial, const Operand& input, const Operand& filters, const Spatial& strides,
            const Padding& padding, const ConvOptions& options) {
  const OperandPair p = unify(input, filters);
  const Attrs attrs = window_attrs(op.tag, spatial, strides, padding, options);
  return over_batches(p.a, spatial + 2, [&](const Tensor& x) { return apply_one(op, {&x, &p.b}, attrs); });
}

// An axis of size 1 in front of the only spatial one.
std::vector<int64_t> lifted(std::string_view tag, std::string_view what, const Spatial& given, bool first) {
  std::vector<int64_t> list = full_list(tag, what, given, 1, first);
  list.insert(list.begin() + (first ? 2 : 1), 1);
  return list;
}
Padding lifted(const Padding& padding, bool first) {
  if (padding.sizes().empty()) return padding;
  std::vector<std::pair<int64_t, int64_t>> list;
  for (size_t i = 0; i + 1 < padding.sizes().size(); i += 2)
    list.emplace_back(padding.sizes()[i], padding.sizes()[i + 1]);
  list.insert(list.begin() + (first ? 2 : 1), {0, 0});
  return list;
}

Tensor conv_transpose(const Op& op, int spatial, const Operand& input, const Operand& filters,
                      const Tensor& sizes, const Spatial& strides, const Padding& padding,
                      const ConvOptions& options, const char* tag) {
  const OperandPair p = unify(input, filters);
  return apply_one(op, {&sizes, &p.b, &p.a}, window_attrs(tag, spatial, strides, padding, options));
}

Tensor int32_sizes(const Operand& shape) {
  const Tensor& t = shape.tensor(DType::kInt32);
  if (t.dtype() == DType::kInt32) return t;
  return apply_one(RW_OP("Cast"), {&t}, {{"DstT", DType::kInt32}});
}

Tensor pool(const Op& op, int spatial, const Operand& input, const Spatial& ksize, const Spatial& strides,
            const Padding& padding, const std::string& data_format) {
  const bool first = channels_first(op.tag, data_format);
  std::vector<std::pair<std::string, AttrValue>> list;
  list.emplace_back("ksize", full_list(op.tag, "ksize", ksize, spatial, first));
  list.emplace_back("strides", full_list(op.tag, "strides", strides, spatial, first));
  list.emplace_back("padding", padding.name());
  list.emplace_back("data_format", format_name(spatial, first));
  if (!padding.sizes().empty()) list.emplace_back("explicit_paddings", padding.sizes());
  return apply_one(op, {&input.tensor(DType::kFloat32)}, Attrs(list));
}

Tensor pool1d(const Op& op, const char* tag, const Operand& input, const Spatial& ksize,
              const Spatial& strides, const Padding& padding, const std::string& data_format) {
  const bool first = channels_first(tag, data_format);
  const int axis = first ? 2 : 1;
  const Tensor& x = input.tensor(DType::kFloat32);
  if (x.shape().has_rank() && x.rank() != 3)
    fail_invalid(tag, "the input must have 3 axes: got " + x.shape().to_string());
  const Tensor lifted_x = expand(x, axis);
  return squeeze(
      pool(op, 2, lifted_x, lifted(tag, "ksize", ksize, first), lifted(tag, "strides", strides, first),
           lifted(padding, first), first ? "NCHW" : "NHWC"),
      axis);
}

[[noreturn]] void fail_rank(const char* tag, const Tensor& x) {
  fail_invalid(tag, "the input must have 3 to 5 axes: got " + x.shape().to_string());
}

}  // namespace

Padding::Padding(std::initializer_list<std::pair<int64_t, int64_t>> list)
    : Padding(std::vector<std::pair<int64_t, int64_t>>(list)) {}
Padding::Padding(const std::vector<std::pair<int64_t, int64_t>>& list) : name_("EXPLICIT") {
  for (const auto& [before, after] : list) {
    sizes_.push_back(before);
    sizes_.push_back(after);
  }
}

Tensor conv1d(const Operand& input, const Operand& filters, const Spatial& stride, const Padding& padding,
              const ConvOptions& options) {
  const OperandPair p = unify(input, filters);
  const bool first = channels_first("conv1d", options.data_format);
  const bool flat = p.a.shape().has_rank() && p.a.rank() < 3;
  if (flat || (p.b.shape().has_rank() && p.b.rank() != 3))
    fail_invalid("conv1d", "input and filters must have 3 axes: input is " + p.a.shape().to_string() +
                               ", filters are " + p.b.shape().to_string());
  const int batches = p.a.shape().has_rank() ? p.a.rank() - 3 : 0;
  const int axis = batches + (first ? 2 : 1);
  const Tensor x = expand(p.a, axis);
  const Tensor w = expand(p.b, 0);
  return squeeze(conv2d(x, w, lifted("conv1d", "stride", stride, first), lifted(padding, first),
                        {.data_format = first ? "NCHW" : "NHWC",
                         .dilations = lifted("conv1d", "dilations", options.dilations, first)}),
                 axis);
}

Tensor conv2d(const Operand& input, const Operand& filters, const Spatial& strides, const Padding& padding,
              const ConvOptions& options) {
  return conv(RW_OP("Conv2D"), 2, input, filters, strides, padding, options);
}

Tensor conv3d(const Operand& input, const Operand& filters, const Spatial& strides, const Padding& padding,
              const ConvOptions& options) {
  return conv(RW_OP("Conv3D"), 3, input, filters, strides, padding, options);
}

Tensor convolution(const Operand& input, const Operand& filters, const Spatial& strides,
                   const Padding& padding, const ConvOptions& options) {
  switch (filters.tensor(DType::kFloat32).rank()) {
    case 3: return conv1d(input, filters, strides, padding, options);
    case 4: return conv2d(input, filters, strides, padding, options);
    case 5: return conv3d(input, filters, strides, padding, options);
    default:
      fail_invalid("convolution",
                   "filters must have 3 to 5 axes: got " + filters.tensor().shape().to_string());
  }
}

Tensor atrous_conv2d(const Operand& value, const Operand& filters, int64_t rate, const Padding& padding) {
  return conv2d(value, filters, 1, padding, {.dilations = rate});
}

Tensor depthwise_conv2d(const Operand& input, const Operand& filter, const Spatial& strides,
                        const Padding& padding, const ConvOptions& options) {
  return conv(RW_OP("DepthwiseConv2dNative"), 2, input, filter, strides, padding, options);
}

Tensor separable_conv2d(const Operand& input, const Operand& depthwise_filter,
                        const Operand& pointwise_filter, const Spatial& strides, const Padding& padding,
                        const ConvOptions& options) {
  const Tensor deep = depthwise_conv2d(input, depthwise_filter, strides, padding, options);
  return conv2d(deep, pointwise_filter, 1, "VALID", {.data_format = options.data_format});
}

Tensor conv1d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Spatial& strides, const Padding& padding, const ConvOptions& options) {
  const bool first = channels_first("conv1d_transpose", options.data_format);
  const int axis = first ? 2 : 1;
  const OperandPair p = unify(input, filters);
  const Tensor x = expand(p.a, axis);
  const Tensor w = expand(p.b, 0);
  const Tensor sizes = int32_sizes(output_shape);
  const Tensor size = constant(std::vector<int32_t>{axis, 3 - axis});
  const Tensor along = constant(0);
  const Tensors halves = apply(RW_OP("SplitV"), {&sizes, &size, &along}, {{"num_split", 2}});
  const Tensor one = constant(std::vector<int32_t>{1});
  const Tensor full = apply_one(RW_OP("ConcatV2"), {&halves[0], &one, &halves[1], &along});
  return squeeze(
      conv_transpose(RW_OP("Conv2DBackpropInput"), 2, x, w, full,
                     lifted("conv1d_transpose", "strides", strides, first), lifted(padding, first),
                     {.data_format = first ? "NCHW" : "NHWC",
                      .dilations = lifted("conv1d_transpose", "dilations", options.dilations, first)},
                     "conv1d_transpose"),
      axis);
}

Tensor conv2d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Spatial& strides, const Padding& padding, const ConvOptions& options) {
  return conv_transpose(RW_OP("Conv2DBackpropInput"), 2, input, filters, int32_sizes(output_shape), strides,
                        padding, options, "conv2d_transpose");
}

Tensor conv3d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Spatial& strides, const Padding& padding, const ConvOptions& options) {
  return conv_transpose(RW_OP("Conv3DBackpropInputV2"), 3, input, filters, int32_sizes(output_shape), strides,
                        padding, options, "conv3d_transpose");
}

Tensor max_pool(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                const std::string& data_format) {
  switch (input.tensor(DType::kFloat32).rank()) {
    case 3: return max_pool1d(input, ksize, strides, padding, data_format);
    case 4: return max_pool2d(input, ksize, strides, padding, data_format);
    case 5: return max_pool3d(input, ksize, strides, padding, data_format);
    default: fail_rank("max_pool", input.tensor());
  }
}
Tensor max_pool1d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format) {
  return pool1d(RW_OP("MaxPool"), "max_pool1d", input, ksize, strides, padding, data_format);
}
Tensor max_pool2d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format) {
  return pool(RW_OP("MaxPool"), 2, input, ksize, strides, padding, data_format);
}
Tensor max_pool3d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format) {
  return pool(RW_OP("MaxPool3D"), 3, input, ksize, strides, padding, data_format);
}
Tensor avg_pool(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                const std::string& data_format) {
  switch (input.tensor(DType::kFloat32).rank()) {
    case 3: return avg_pool1d(input, ksize, strides, padding, data_format);
    case 4: return avg_pool2d(input, ksize, strides, padding, data_format);
    case 5: return avg_pool3d(input, ksize, strides, padding, data_format);
    default: fail_rank("avg_pool", input.tensor());
  }
}
Tensor avg_pool1d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format) {
  return pool1d(RW_OP("AvgPool"), "avg_pool1d", input, ksize, strides, padding, data_format);
}
Tensor avg_pool2d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format) {
  return pool(RW_OP("AvgPool"), 2, input, ksize, strides, padding, data_format);
}
Tensor avg_pool3d(const Operand& input, const Spatial& ksize, const Spatial& strides, const Padding& padding,
                  const std::string& data_format) {
  return pool(RW_OP("AvgPool3D"), 3, input, ksize, strides, padding, data_format);
}

MaxPoolWithArgmaxResult max_pool_with_argmax(const Operand& input, const Spatial& ksize,
                                             const Spatial& strides, const Padding& padding,
                                             const MaxPoolWithArgmaxOptions& options) {
  const char* tag = "max_pool_with_argmax";
  const Tensors out = apply(RW_OP("MaxPoolWithArgmax"), {&input.tensor(DType::kFloat32)},
                            {{"ksize", full_list(tag, "ksize", ksize, 2, false)},
                             {"strides", full_list(tag, "strides", strides, 2, false)},
                             {"padding", padding.name()},
                             {"Targmax", options.output_dtype},
                             {"include_batch_in_index", options.include_batch_in_index}});
  return {out[0], out[1]};
}

}  // namespace rw::nn
