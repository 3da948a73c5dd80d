// Gradients of batch normalisation. The gradient op itself is differentiated through its formula in
// elementary ops.
#include "rewind/autodiff/gradients/batch_norm.h"
#include "rewind/autodiff/gradient_tape.h"
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/reduce.h"

namespace rw {
namespace {

struct Layout {
  std::vector<int64_t> axes;  // all but the channels
  std::vector<int64_t> keep;  // a vector per channel, seen beside x
};
Layout layout_of(int rank, int64_t channels, const std::string& data_format) {
  Layout l;
  const int axis = data_format[1] == 'C' ? 1 : rank - 1;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) l.axes.push_back(i);
    l.keep.push_back(i == axis ? channels : 1);
  }
  return l;
}

// inputs: (y_backprop, x, scale, mean, variance) in float32. In training mean and variance are x's own.
std::vector<Tensor> composed_grad(const std::vector<Tensor>& in, const Layout& l, float epsilon,
                                  bool training) {
  const Tensor keep = constant(l.keep);
  const auto beside = [&](const Tensor& v) { return apply_one(RW_OP("Reshape"), {&v, &keep}); };
  const Tensor& dy = in[0];
  const Tensor mean = training ? reduce_mean(in[1], l.axes, true) : beside(in[3]);
  const Tensor centered = in[1] - mean;
  const Tensor variance = training ? reduce_mean(centered * centered, l.axes, true) : beside(in[4]);
  const Tensor shifted = variance + epsilon;
  const Tensor inverse = apply_one(RW_OP("Rsqrt"), {&shifted});
  const Tensor gain = beside(in[2]) * inverse;
  const Tensor dx = training
                        ? gain * (dy - reduce_mean(dy, l.axes, true) -
                                  centered * (inverse * inverse) * reduce_mean(dy * centered, l.axes, true))
                        : gain * dy;
  return {dx, reduce_sum(dy * centered * inverse, l.axes), reduce_sum(dy, l.axes)};
}

void batch_norm(GradContext& g) {
  const bool third = g.op().name == "FusedBatchNormV3";
  const char* name = third                               ? "FusedBatchNormGradV3"
                     : g.op().name == "FusedBatchNormV2" ? "FusedBatchNormGradV2"
                                                         : "FusedBatchNormGrad";
  const bool training = g.attr<bool>("is_training");
  const Attrs attrs{{"epsilon", double(g.attr<float>("epsilon"))},
                    {"data_format", g.attr<std::string>("data_format")},
                    {"is_training", training}};
  const Tensor scale = cast_to(g.input(1), DType::kFloat32);
  const Tensor mean = cast_to(training ? g.output(3) : g.input(3), DType::kFloat32);
  const Tensor variance = cast_to(training ? g.output(4) : g.input(4), DType::kFloat32);
  std::vector<Tensor> inputs{g.grad(), g.input(0), scale, mean, variance};
  if (third) inputs.push_back(cast_to(g.output(5), DType::kFloat32));
  const Tensors d = apply(find_op(name), inputs, attrs);
  for (int i = 0; i < 3; ++i)
    if (g.wants(i)) g.set(i, cast_to(d[size_t(i)], g.input_dtype(i)));
}

void batch_norm_grad(GradContext& g) {
  const bool training = g.attr<bool>("is_training");
  const Layout l =
      layout_of(g.input_shape(1).rank(), g.input_shape(2)[0], g.attr<std::string>("data_format"));
  std::vector<Tensor> sources;
  for (int i = 0; i < 5; ++i) sources.push_back(cast_to(g.input(i), DType::kFloat32));
  std::vector<Tensor> outer;
  for (int i = 0; i < 3; ++i) outer.push_back(cast_to(g.grad(i), DType::kFloat32));
  GradientTape tape;
  tape.watch(sources);
  const std::vector<Tensor> d = composed_grad(sources, l, g.attr<float>("epsilon"), training);
  const std::vector<Gradient> result = tape.flat_gradient(d, sources, {.output_gradients = outer});
  for (int i = 0; i < (training ? 3 : 5); ++i)
    if (g.wants(i) && result[size_t(i)]) g.set(i, cast_to(Tensor(result[size_t(i)]), g.input_dtype(i)));
}

}  // namespace

void register_batch_norm_gradients() {
  for (const char* op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
    register_gradient(op, {0b11011, 0b111000}, batch_norm);
  for (const char* op : {"FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"})
    register_gradient(op, {0b11111, 0}, batch_norm_grad);
}

}  // namespace rw
