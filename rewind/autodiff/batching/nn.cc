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
  if (b.rank() == 3 && !(a.shape() == b.shape())) return batch_by_loop(c);  // broadcast inside an example
  const Tensor rows = fold_first(a);
  const Tensor labels = fold_first(b);
  const Tensors out = apply(c.op(), {&rows, &labels}, c.attrs());
  for (int i = 0; i < 2; ++i) c.set(i, unfold_first(out[size_t(i)], c.batch_size()));
}

bool channels_first(const BatchContext& c) {
  return c.op().find_attr("data_format") && c.attr<std::string>("data_format") == "NCHW";
}

void bias_add(BatchContext& c) {
  if (!c.batched(1)) {
    const Tensor value = fold_first(c.input(0));
    return c.set(0, unfold_first(apply_one(c.op(), {&value, &c.input(1)}, c.attrs()), c.batch_size()));
  }
  // A bias per example: it broadcasts along all axes but the batch and the channels.
  const Tensor value = c.with_batch(0);
  std::vector<int64_t> sizes(size_t(value.rank()), 1);
  sizes[0] = c.batch_size();
  sizes[size_t(channels_first(c) ? 2 : value.rank() - 1)] = c.input(1).dim(-1);
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
  bool known = c.batch_size() > 0;
  for (int i = 0; i < c.num_inputs(); ++i) known &= c.input(i).shape().fully_known();
  if (!known) return batch_by_loop(c);
  const bool channels_first = c.attr<std::string>("data_format")[1] == 'C';
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Tensor t = c.with_batch(i);
    if (i >= images) {
      inputs.push_back(fold_first(t));
    } else if (channels_first) {
      const Tensor moved = move_axis(t, 0, 1);
      std::vector<int64_t> sizes = dims_of(moved);
      sizes[1] *= sizes[2];
      sizes.erase(sizes.begin() + 2);
      inputs.push_back(reshape_sizes(moved, sizes));
    } else {
      inputs.push_back(fold_last(t));
    }
  }
  const Tensors out = apply(c.op(), inputs, c.attrs());
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Tensor& t = out[size_t(i)];
    if (t.rank() == 0) {
      const Tensor count = constant(std::vector<int64_t>{c.batch_size()});
      c.set(i, apply_one(RW_OP("BroadcastTo"), {&t, &count}));
    } else if (t.rank() == 1) {
      c.set(i, unfold_first(t, c.batch_size()));
    } else if (channels_first) {
      std::vector<int64_t> sizes = dims_of(t);
      sizes[1] /= c.batch_size();
      sizes.insert(sizes.begin() + 1, c.batch_size());
      c.set(i, move_axis(reshape_sizes(t, sizes), 1, 0));
    } else {
      c.set(i, unfold_last(t, c.batch_size()));
    }
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
  const auto fold_images = [](BatchContext& c) {
    std::vector<Tensor> inputs;
    for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(fold_first(c.with_batch(i)));
    c.set(0, unfold_first(apply(c.op(), inputs, c.attrs())[0], c.batch_size()));
  };
  register_batching("LRN", fold_images);
  register_batching("LRNGrad", fold_images);
}

}  // namespace rw
