// Gradients of convolutions, pools and resizing. A convolution and its two gradient ops form a closed set:
// each one's gradients are the other two.
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

// The shape of an input as a tensor; while it is not known in a trace, it is asked for when the graph runs.
Tensor sizes_of(GradContext& g, int i) { return input_dims(g, i, DType::kInt32); }

// Height and width.
Tensor image_size(GradContext& g) {
  const Shape& s = g.input_shape(0);
  if (s.fully_known()) return constant(std::vector<int32_t>{int32_t(s[1]), int32_t(s[2])});
  return part_of_vector(sizes_of(g, 0), 1, 3);
}

struct ConvNames {
  const char* forward;
  const char* to_input;
  const char* to_filter;
};

void register_conv(const ConvNames& names) {
  register_gradient(names.forward, kNeedsOtherInput, [names](GradContext& g) {
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

// Attributes of `from` that `to` has too.
Attrs shared_attrs(const Op& to, const Attrs& from) {
  std::vector<std::pair<std::string, AttrValue>> list;
  for (const auto& item : from)
    if (to.find_attr(item.first)) list.push_back(item);
  return Attrs(list);
}

struct MaxPoolNames {
  const char* forward;
  const char* grad;
  const char* grad_grad;
};

// The gradient goes to the largest element of each window; the second derivative picks from there.
void register_max_pool(const MaxPoolNames& names) {
  register_gradient(names.forward, kNeedsAll, [names](GradContext& g) {
    const Op& op = find_op(names.grad);
    g.set(0, apply_one(op, {&g.input(0), &g.output(0), &g.grad()}, shared_attrs(op, g.attrs())));
  });
  register_gradient(names.grad, needs_inputs({0, 1}), [names](GradContext& g) {
    const Op& op = find_op(names.grad_grad);
    if (g.wants(2))
      g.set(2, apply_one(op, {&g.input(0), &g.input(1), &g.grad()}, shared_attrs(op, g.attrs())));
  });
  register_gradient(names.grad_grad, needs_inputs({0, 1}), [names](GradContext& g) {
    const Op& op = find_op(names.grad);
    if (g.wants(2))
      g.set(2, apply_one(op, {&g.input(0), &g.input(1), &g.grad()}, shared_attrs(op, g.attrs())));
  });
}

void register_avg_pool(const char* forward, const char* grad) {
  register_gradient(forward, kNeedsNothing, [grad](GradContext& g) {
    const Tensor sizes = sizes_of(g, 0);
    g.set(0, apply_one(find_op(grad), {&sizes, &g.grad()}, g.attrs()));
  });
  register_gradient(grad, kNeedsNothing, [forward](GradContext& g) {
    if (g.wants(1)) g.set(1, apply_one(find_op(forward), {&g.grad()}, g.attrs()));
  });
}

void register_resize() {
  register_gradient("ResizeBilinear", kNeedsInputs, [](GradContext& g) {
    if (!is_floating(g.input_dtype(0))) return;
    g.set(0, apply_one(RW_OP("ResizeBilinearGrad"), {&g.grad(), &g.input(0)}, g.attrs()));
  });
  register_gradient("ResizeBilinearGrad", needs_inputs({0}), [](GradContext& g) {
    if (!g.wants(0)) return;
    const Tensor size = image_size(g);
    g.set(0, apply_one(RW_OP("ResizeBilinear"), {&g.grad(), &size}, g.attrs()));
  });
  for (const bool back : {false, true}) {
    const char* name = back ? "ResizeNearestNeighborGrad" : "ResizeNearestNeighbor";
    const char* other = back ? "ResizeNearestNeighbor" : "ResizeNearestNeighborGrad";
    register_gradient(name, kNeedsNothing, [other](GradContext& g) {
      if (!g.wants(0)) return;
      const Tensor size = image_size(g);
      g.set(0, apply_one(find_op(other), {&g.grad(), &size}, g.attrs()));
    });
  }
}

}  // namespace

void register_conv_gradients() {
  register_conv({"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"});
  register_conv({"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"});
  register_conv(
      {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"});
  register_max_pool({"MaxPool", "MaxPoolGrad", "MaxPoolGradGrad"});
  register_max_pool({"MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad"});
  register_gradient("MaxPoolWithArgmax", {0b1, 0b1}, [](GradContext& g) {
    const Op& op = RW_OP("MaxPoolGrad");
    g.set(0, apply_one(op, {&g.input(0), &g.output(0), &g.grad()}, shared_attrs(op, g.attrs())));
  });
  register_avg_pool("AvgPool", "AvgPoolGrad");
  register_avg_pool("AvgPool3D", "AvgPool3DGrad");
  register_resize();
}

}  // namespace rw
