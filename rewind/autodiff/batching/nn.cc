// Batching rules of softmax, cross entropy and biases: the batch is one more axis of rows.
#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/batching/fold.h"
#include "rewind/tensor/ops/binary.h"

namespace rw {
namespace {

void same_op(BatchContext& c) { c.set(0, apply_one(c.op(), {&c.input(0)}, c.attrs())); }

// Rows of all examples follow each other.
void fold_rows(BatchContext& c) {
  const Tensor a = c.with_batch(0);
  const Tensor b = c.with_batch(1);
  if (b.rank() == 3 && !a.shape().compatible_with(b.shape()))
    return batch_by_loop(c);  // broadcast inside an example
  const Tensor rows = fold_first(a);
  const Tensor labels = fold_first(b);
  const Tensors out = apply(c.op(), {&rows, &labels}, c.attrs());
  for (int i = 0; i < 2; ++i) c.set(i, unfold_first(out[size_t(i)], c.batch()));
}

bool channels_first(const BatchContext& c) {
  return c.op().find_attr("data_format") && c.attr<std::string>("data_format") == "NCHW";
}

void bias_add(BatchContext& c) {
  if (!c.batched(1)) {
    const Tensor value = fold_first(c.input(0));
    return c.set(0, unfold_first(apply_one(c.op(), {&value, &c.input(1)}, c.attrs()), c.batch()));
  }
  // A bias per example: it broadcasts along all axes but the batch and the channels.
  const Tensor value = c.with_batch(0);
  Sizes sizes(size_t(value.rank()), Size(1));
  sizes[0] = c.batch();
  sizes[size_t(channels_first(c) ? 2 : value.rank() - 1)] = sizes_of(c.input(1))[1];
  c.set(0, value + reshape_sizes(c.input(1), sizes));
}

Tensor sum_over(const Tensor& x, const std::vector<int32_t>& axes) {
  const Tensor list = constant(axes);
  return apply_one(RW_OP("Sum"), {&x, &list});
}

void bias_add_grad(BatchContext& c) {
  const Tensor& grad = c.input(0);
  const int channels = channels_first(c) ? 2 : grad.rank() - 1;
  std::vector<int32_t> axes;
  for (int i = 1; i < grad.rank(); ++i)
    if (i != channels) axes.push_back(i);
  c.set(0, sum_over(grad, axes));
}

void l2_loss(BatchContext& c) {
  const Tensor& t = c.input(0);
  std::vector<int32_t> axes;
  for (int i = 1; i < t.rank(); ++i) axes.push_back(i);
  c.set(0, sum_over(t * t, axes) * 0.5);
}

// Channels do not meet in batch normalisation, so a batch is more channels. The first `images` inputs come in
// data_format, the others have an element a channel, like all results but the first.
void more_channels(BatchContext& c, int images) {
  if (c.batch_size() == 0) return batch_by_loop(c);
  const auto format = c.attr<std::string>("data_format");
  const int channels = format[1] == 'C' ? 1 : int(format.size()) - 1;
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i)
    inputs.push_back(fold_at(c.with_batch(i), i < images ? channels : 0));
  const Tensors out = apply(c.op(), inputs, c.attrs());
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Tensor& t = out[size_t(i)];
    if (t.rank() == 0) c.set(i, broadcast_sizes(t, {c.batch()}));
    else c.set(i, unfold_at(t, t.rank() == 1 ? 0 : channels, c.batch()));
  }
}

}  // namespace

void register_nn_batching() {
  for (const char* version : {"", "V2", "V3"}) {
    register_batching(std::string("FusedBatchNorm") + version, [](BatchContext& c) { more_channels(c, 1); });
    register_batching(std::string("FusedBatchNormGrad") + version,
                      [](BatchContext& c) { more_channels(c, 2); });
  }
  register_batching("Softmax", same_op);
  register_batching("LogSoftmax", same_op);
  register_batching("SoftmaxCrossEntropyWithLogits", fold_rows);
  register_batching("SparseSoftmaxCrossEntropyWithLogits", fold_rows);
  register_batching("BiasAdd", bias_add);
  register_batching("BiasAddV1", bias_add);
  register_batching("BiasAddGrad", bias_add_grad);
  register_batching("L2Loss", l2_loss);
  register_batching("LRN", fold_all);
  register_batching("LRNGrad", fold_all);
}

}  // namespace rw
