// Windows that slide over the spatial axes: what convolutions and pools share. Sizes, strides, dilations and
// padding of a call, checked, with the output's sizes. Sizes may be unknown (-1) in a trace.
#pragma once

#include <string>

#include "rewind/op/op.h"

namespace rw {

// One spatial axis. Output o reads inputs o * stride - before + f * dilation for f in [0, filter).
struct WindowAxis {
  int64_t in = 1, filter = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // padding
  int64_t out = 1;

  int64_t reach() const {
    return (filter - 1) * dilation + 1;
  }  // inputs from the first to the last of a window
};

// A call over tensors of rank 4 (two spatial axes) or 5 (three).
struct WindowCall {
  int spatial = 2;
  bool channels_first = false;
  int64_t batch = 0, channels = 0;  // of the input
  WindowAxis axes[3];

  int batch_axis() const { return 0; }
  int channel_axis() const { return channels_first ? 1 : spatial + 1; }
  int spatial_axis(int i) const { return i + (channels_first ? 2 : 1); }
  // The shape of the output with this many channels.
  Shape output(int64_t out_channels) const;
  int64_t in_positions() const;  // product of the sizes
  int64_t out_positions() const;
  int64_t filter_positions() const;
};

// Reads a call's attributes: data_format, strides, dilations (where the op has them), padding,
// explicit_paddings. A rule that is broken is an InvalidArgumentError with the op's tag.
struct WindowReader {
  const Op& op;
  const Attrs& attrs;
  int spatial = 2;
  [[noreturn]] void fail(const std::string& message) const;

  bool channels_first() const;
  // A list of spatial + 2 numbers: the spatial ones; the batch and channel entries must be 1.
  IntVector spatial_list(std::string_view name) const;
  IntVector spatial_list(std::string_view name, const std::vector<int64_t>& values) const;
  // For an input of known rank and a window of these sizes along the spatial axes.
  WindowCall read(const Shape& input, const IntVector& filter) const;
  WindowCall read(const Shape& input, const IntVector& filter, const IntVector& strides) const;
};

// A convolution's call: checks input against filter (spatial..., in / groups, out).
struct ConvCall {
  WindowCall window;
  int64_t filter_in = 0, out_channels = 0;
  int64_t groups() const { return filter_in > 0 ? window.channels / filter_in : 1; }
  // Filter rows of a group: positions * filter_in.
  int64_t depth() const { return window.filter_positions() * filter_in; }
};
// `depthwise`: the filter is (height, width, in, multiplier), and out_channels is in * multiplier.
ConvCall read_conv(const WindowReader& reader, const Shape& input, const Shape& filter, bool depthwise);
// A pool's call: window sizes from the attribute ksize.
WindowCall read_pool(const WindowReader& reader, const Shape& input);

}  // namespace rw
