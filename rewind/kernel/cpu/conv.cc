// Kernels of the convolutions and their gradients: reads the call, stages the arrays, picks the way.
#include "rewind/kernel/cpu/conv.h"

#include <algorithm>
#include <cstring>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/pool.h"
#include "rewind/kernel/cpu/staging.h"

namespace rw {

#ifndef REWIND_ONEDNN
bool conv_onednn(const ConvArgs&) { return false; }
#endif

namespace {

constexpr DTypeSet kConvTypes = kFloatTypes | set_of(DType::kInt32);

struct Variant {
  ConvPass pass;
  int spatial;
  bool depthwise;
};

// Which views are the input, the filter and the output (or its gradient).
struct Parts {
  const View& input;
  const View& filter;
  const View& output;
};
Parts parts_of(KernelContext& ctx, ConvPass pass) {
  switch (pass) {
    case ConvPass::kForward: return {ctx.in(0), ctx.in(1), ctx.out(0)};
    case ConvPass::kInputGrad: return {ctx.out(0), ctx.in(1), ctx.in(2)};
    default: return {ctx.in(0), ctx.out(0), ctx.in(2)};
  }
}

// All rows, at the end.
void report_rows(KernelContext& ctx, const View& result) {
  const int64_t row = result.shape->back();
  parallel_for(result.size / row, std::max<int64_t>(1, 16384 / row),
               [&](int64_t begin, int64_t end) { ctx.rows_done(begin, end); });
}

void conv(KernelContext& ctx) {
  const Variant& variant = ctx.data<Variant>();
  const View& result = ctx.out(0);
  if (!contains(kConvTypes, result.dtype)) ctx.fail_dtype(result.dtype);
  const Parts parts = parts_of(ctx, variant.pass);
  const WindowReader reader{ctx.op(), ctx.attrs(), variant.spatial};
  const ConvCall call = read_conv(reader, *parts.input.shape, *parts.filter.shape, variant.depthwise);
  if (result.size == 0) return;
  if (parts.input.size == 0 || parts.filter.size == 0 || parts.output.size == 0) {
    std::memset(result.data, 0, size_t(result.size) * size_of(result.dtype));
    return report_rows(ctx, result);
  }
  const Staging staging(ctx, result.dtype, call.window.channels_first, true);
  const bool to_filter = variant.pass == ConvPass::kFilterGrad;
  const bool to_input = variant.pass == ConvPass::kInputGrad;
  const void* a = staging.input(to_input ? parts.output : parts.input);
  const void* b = to_filter ? staging.input(parts.output) : staging.plain_input(parts.filter);
  void* out = to_filter ? staging.plain_output(result) : staging.output(result);
  const ConvArgs args{ctx, variant.pass, call, a, b, out};
  bool reported = false;
  if (variant.depthwise) conv_depthwise(staging.dtype(), args);
  else if (staging.dtype() == DType::kFloat32) reported = conv_winograd(args) || conv_onednn(args);
  if (!reported && !variant.depthwise) conv_plain(staging.dtype(), args);
  if (to_filter) staging.plain_finish(result, out);
  else staging.finish(result, out);
  if (!reported && !to_filter) report_rows(ctx, result);
}

bool reports_rows(const Op& op, const Attrs& attrs, DType dtype) {
  return dtype == DType::kFloat32 && attr_as<std::string>(op, attrs, "data_format").back() == 'C';
}

}  // namespace

void register_conv_cpu_kernels() {
  struct Row {
    const char* op;
    Variant variant;
  };
  static constexpr Row kRows[] = {
      {"Conv2D", {ConvPass::kForward, 2, false}},
      {"Conv2DBackpropInput", {ConvPass::kInputGrad, 2, false}},
      {"Conv2DBackpropFilter", {ConvPass::kFilterGrad, 2, false}},
      {"Conv3D", {ConvPass::kForward, 3, false}},
      {"Conv3DBackpropInputV2", {ConvPass::kInputGrad, 3, false}},
      {"Conv3DBackpropFilterV2", {ConvPass::kFilterGrad, 3, false}},
      {"DepthwiseConv2dNative", {ConvPass::kForward, 2, true}},
      {"DepthwiseConv2dNativeBackpropInput", {ConvPass::kInputGrad, 2, true}},
      {"DepthwiseConv2dNativeBackpropFilter", {ConvPass::kFilterGrad, 2, true}},
  };
  for (const Row& row : kRows) {
    const bool rows = row.variant.pass != ConvPass::kFilterGrad;
    register_kernel(row.op, DeviceType::kCpu, {conv, &row.variant, rows ? reports_rows : nullptr});
  }
  register_pool_cpu_kernels();
  register_resize_cpu_kernels();
}

}  // namespace rw
