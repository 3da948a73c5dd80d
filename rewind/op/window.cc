#include "rewind/op/window.h"

#include "rewind/base/error.h"

namespace rw {
namespace {

std::string text(const std::vector<int64_t>& values) { return Shape(values).to_string(); }

// The output's size and SAME's padding. Unknown sizes stay unknown.
void place(const WindowReader& reader, const std::string& padding, int axis, WindowAxis* a) {
  constexpr int64_t kLargest = int64_t{1} << 31;  // keeps every product of two of them in range
  for (const int64_t v : {a->in, a->filter, a->stride, a->dilation, a->before, a->after})
    if (v > kLargest)
      reader.fail("sizes, strides, dilations and padding must be below 2^31: got " + std::to_string(v));
  if (a->stride <= 0) reader.fail("strides must be positive: got " + std::to_string(a->stride));
  if (a->dilation <= 0) reader.fail("dilations must be positive: got " + std::to_string(a->dilation));
  if (a->in < 0 || a->filter < 0) {
    a->out = a->in >= 0 && padding == "SAME" ? (a->in + a->stride - 1) / a->stride : -1;
    return;
  }
  if (padding == "SAME") {
    a->out = (a->in + a->stride - 1) / a->stride;
    const int64_t total = std::max<int64_t>(0, (a->out - 1) * a->stride + a->reach() - a->in);
    a->before = total / 2;
    a->after = total - a->before;
    return;
  }
  const int64_t room = a->in + a->before + a->after - a->reach() + a->stride;
  if (room < 0)
    reader.fail("the window must fit into the padded input: spatial axis " + std::to_string(axis) + " has " +
                std::to_string(a->in) + " elements and " + std::to_string(a->before + a->after) +
                " of padding, the window reaches over " + std::to_string(a->reach()) +
                "; is padding=\"SAME\" meant?");
  a->out = room / a->stride;
}

}  // namespace

Shape WindowCall::output(int64_t out_channels) const {
  Shape s = Shape::unknown_of_rank(spatial + 2);
  s.set(0, batch);
  s.set(channel_axis(), out_channels);
  for (int i = 0; i < spatial; ++i) s.set(spatial_axis(i), axes[i].out);
  return s;
}
int64_t WindowCall::in_positions() const { return axes[0].in * axes[1].in * axes[2].in; }
int64_t WindowCall::out_positions() const { return axes[0].out * axes[1].out * axes[2].out; }
int64_t WindowCall::filter_positions() const { return axes[0].filter * axes[1].filter * axes[2].filter; }

void WindowReader::fail(const std::string& message) const { fail_invalid(op.tag, message); }

bool WindowReader::channels_first() const {
  if (!op.find_attr("data_format")) return false;
  const auto format = attr_as<std::string>(op, attrs, "data_format");
  if (format == "NCHW_VECT_C")
    fail_unimplemented(op.tag, "data_format NCHW_VECT_C is not supported; use NHWC or NCHW");
  return format[1] == 'C';
}

IntVector WindowReader::spatial_list(std::string_view name) const {
  return spatial_list(name, attr_as<std::vector<int64_t>>(op, attrs, name));
}

IntVector WindowReader::spatial_list(std::string_view name, const std::vector<int64_t>& values) const {
  if (int(values.size()) != spatial + 2)
    fail(std::string(name) + " must have " + std::to_string(spatial + 2) + " numbers: got " + text(values));
  const bool first = channels_first();
  if (values[0] != 1 || values[size_t(first ? 1 : spatial + 1)] != 1)
    fail(std::string(name) + " must be 1 along the batch and channel axes: got " + text(values));
  const auto* begin = values.data() + (first ? 2 : 1);
  return IntVector(begin, begin + spatial);
}

WindowCall WindowReader::read(const Shape& input, const IntVector& filter) const {
  return read(input, filter, spatial_list("strides"));
}

WindowCall WindowReader::read(const Shape& input, const IntVector& filter, const IntVector& strides) const {
  WindowCall call;
  call.spatial = spatial;
  call.channels_first = channels_first();
  call.batch = input[0];
  call.channels = input[call.channel_axis()];
  const IntVector dilations =
      op.find_attr("dilations") ? spatial_list("dilations") : IntVector(size_t(spatial), 1);
  const auto padding = attr_as<std::string>(op, attrs, "padding");
  std::vector<int64_t> pads;
  if (op.find_attr("explicit_paddings")) pads = attr_as<std::vector<int64_t>>(op, attrs, "explicit_paddings");
  if (padding == "EXPLICIT") {
    if (int(pads.size()) != 2 * (spatial + 2))
      fail("explicit_paddings must have " + std::to_string(2 * (spatial + 2)) + " numbers: got " +
           text(pads));
    for (const int axis : {0, call.channel_axis()})
      if (pads[2 * size_t(axis)] != 0 || pads[2 * size_t(axis) + 1] != 0)
        fail("explicit_paddings must be 0 along the batch and channel axes: got " + text(pads));
    for (const int64_t p : pads)
      if (p < 0) fail("explicit_paddings must not be negative: got " + text(pads));
  } else if (!pads.empty()) {
    fail("explicit_paddings must be empty when padding is " + padding + ": got " + text(pads));
  }
  for (int i = 0; i < spatial; ++i) {
    WindowAxis& a = call.axes[i];
    const int axis = call.spatial_axis(i);
    a.in = input[axis];
    a.filter = filter[size_t(i)];
    a.stride = strides[size_t(i)];
    a.dilation = dilations[size_t(i)];
    if (padding == "EXPLICIT") {
      a.before = pads[2 * size_t(axis)];
      a.after = pads[2 * size_t(axis) + 1];
    }
    place(*this, padding, i, &a);
  }
  return call;
}

ConvCall read_conv(const WindowReader& reader, const Shape& input, const Shape& filter, bool depthwise) {
  const int rank = reader.spatial + 2;
  if (input.rank() != rank || filter.rank() != rank)
    reader.fail("input and filter must have " + std::to_string(rank) + " axes: input is " +
                input.to_string() + ", filter is " + filter.to_string());
  IntVector sizes;
  for (int i = 0; i < reader.spatial; ++i) sizes.push_back(filter[i]);
  ConvCall call;
  call.window = reader.read(input, sizes);
  const int64_t in = call.window.channels;
  call.filter_in = filter[rank - 2];
  call.out_channels = filter[rank - 1];
  const std::string both = "input is " + input.to_string() + ", filter is " + filter.to_string();
  if (depthwise) {
    if (in >= 0 && call.filter_in >= 0 && in != call.filter_in)
      reader.fail("the filter must have as many input channels as the input: " + both);
    const int64_t channels = std::max(in, call.filter_in);
    call.out_channels = channels >= 0 && call.out_channels >= 0 ? channels * call.out_channels : -1;
    return call;
  }
  if (call.filter_in == 0) reader.fail("the filter's input channels must not be 0: " + both);
  if (in < 0 || call.filter_in < 0) return call;
  if (in % call.filter_in != 0)
    reader.fail("the input's channels must be a multiple of the filter's input channels (axis " +
                std::to_string(rank - 2) + "): " + both);
  if (in > 0 && call.out_channels >= 0 && call.out_channels % call.groups() != 0)
    reader.fail("the filter's output channels must be a multiple of the groups (" +
                std::to_string(call.groups()) + "): " + both);
  return call;
}

WindowCall read_pool(const WindowReader& reader, const Shape& input) {
  if (input.rank() != reader.spatial + 2)
    reader.fail("the input must have " + std::to_string(reader.spatial + 2) + " axes: got " +
                input.to_string());
  const IntVector sizes = reader.spatial_list("ksize");
  for (const int64_t s : sizes)
    if (s <= 0) reader.fail("ksize must be positive: got " + std::to_string(s));
  return reader.read(input, sizes);
}

}  // namespace rw
