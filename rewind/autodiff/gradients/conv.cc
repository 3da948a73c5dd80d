// Gradients of convolutions, pools and resizing. A convolution and its two gradient ops form a closed set:
// each one's gradients are the other two.
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

// The shape of an input as a tensor; while it is not known in a trace, it is asked for when the graph runs.
Tensor sizes_of(GradContext& g, int i) {
  const Shape& shape = g.input_shape(i);
  if (shape.fully_known()) return constant(std::vector<int32_t>(shape.begin(), shape.end()));
  return apply_one(RW_OP("Shape"), {&g.input(i)}, {{"out_type", DType::kInt32}});
}

struct ConvNames {
  const char* forward;
  const char* to_input;
  const char* to_filter;
};

void register_conv(const ConvNames& names) {
  register_gradient(names.forward, kNeedsInputs, [names](GradContext& g) {
    if (g.wants(0)) {
      const Tensor sizes = sizes_of(g, 0);
      g.set(0, apply_one(find_op(names.to_input), {&sizes, &g.input(1), &g.grad()}, g.attrs()));
    }
    if (g.wants(1)) {
      const Tensor sizes = sizes_of(g, 1);
      g.set(1, apply_one(find_op(names.to_filter), {&g.input(0), &sizes, &g.grad()}, g.attrs()));
    }
  });
  register_gradient(names.to_input, needs_inputs({1, 2}), [names](GradContext& g) {
    if (g.wants(1)) {
      const Tensor sizes = sizes_of(g, 1);
      g.set(1, apply_one(find_op(names.to_filter), {&g.grad(), &sizes, &g.input(2)}, g.attrs()));
    }
    if (g.wants(2)) g.set(2, apply_one(find_op(names.forward), {&g.grad(), &g.input(1)}, g.attrs()));
  });
  register_gradient(names.to_filter, needs_inputs({0, 2}), [names](GradContext& g) {
    if (g.wants(0)) {
      const Tensor sizes = sizes_of(g, 0);
      g.set(0, apply_one(find_op(names.to_input), {&sizes, &g.grad(), &g.input(2)}, g.attrs()));
    }
    if (g.wants(2)) g.set(2, apply_one(find_op(names.forward), {&g.input(0), &g.grad()}, g.attrs()));
  });
}

}  // namespace

void register_conv_gradients() {
  register_conv({"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"});
  register_conv({"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"});
  register_conv(
      {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"});
}

}  // namespace rw
