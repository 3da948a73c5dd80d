// Batching rules of convolutions, pools and resizing. Images of all examples become one batch; a batch of
// filters (or of their gradients) joins the output channels. Where both come in batches, examples run one by
// one.
#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/batching/fold.h"

namespace rw {
namespace {

bool channels_last(const BatchContext& c) {
  return !c.op().find_attr("data_format") || c.attr<std::string>("data_format").back() == 'C';
}

// A host tensor of sizes with one of them multiplied.
Tensor scaled_size(const Tensor& sizes, size_t at, int64_t times) {
  const bool wide = sizes.dtype() == DType::kInt64;
  std::vector<int64_t> list;
  if (wide) list = sizes.to_vector<int64_t>();
  else
    for (const int32_t v : sizes.data<int32_t>()) list.push_back(v);
  list[at == size_t(-1) ? list.size() - 1 : at] *= times;
  if (wide) return constant(list);
  return constant(std::vector<int32_t>(list.begin(), list.end()));
}

// Every input's first axis takes the batch in.
void fold_all(BatchContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(fold_first(c.with_batch(i)));
  const Tensors out = apply(c.op(), inputs, c.attrs());
  for (int i = 0; i < c.num_outputs(); ++i) c.set(i, unfold_first(out[size_t(i)], c.batch_size()));
}

// The same, beside an input of sizes (`sizes_at`) that is equal for all; `names_images`: its first number is
// the batch.
void fold_with_sizes(BatchContext& c, int sizes_at, bool names_images) {
  if (c.batched(sizes_at)) return batch_by_loop(c);
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i != sizes_at) inputs.push_back(fold_first(c.with_batch(i)));
    else inputs.push_back(names_images ? scaled_size(c.input(i), 0, c.batch_size()) : c.input(i));
  }
  c.set(0, unfold_first(apply(c.op(), inputs, c.attrs())[0], c.batch_size()));
}

void conv(BatchContext& c) {
  if (!c.batched(1)) {
    const Tensor x = fold_first(c.input(0));
    return c.set(0, unfold_first(apply_one(c.op(), {&x, &c.input(1)}, c.attrs()), c.batch_size()));
  }
  // Groups would be cut by the joined channels.
  const bool grouped = c.input(0).dim(-1) != c.input(1).dim(-2);
  if (c.batched(0) || !channels_last(c) || grouped) return batch_by_loop(c);
  const Tensor filters = fold_last(c.input(1));
  c.set(0, unfold_last(apply_one(c.op(), {&c.input(0), &filters}, c.attrs()), c.batch_size()));
}

void conv_input_grad(BatchContext& c) {
  if (c.batched(0) || c.batched(1) || c.input(0).size() == 2) return batch_by_loop(c);
  const Tensor sizes = scaled_size(c.input(0), 0, c.batch_size());
  const Tensor grad = fold_first(c.input(2));
  c.set(0, unfold_first(apply_one(c.op(), {&sizes, &c.input(1), &grad}, c.attrs()), c.batch_size()));
}

void conv_filter_grad(BatchContext& c) {
  if (c.batched(0) || c.batched(1) || !channels_last(c)) return batch_by_loop(c);
  const std::vector<int32_t> filter = c.input(1).to_vector<int32_t>();
  if (filter[filter.size() - 2] != c.input(0).dim(-1)) return batch_by_loop(c);
  const Tensor sizes = scaled_size(c.input(1), size_t(-1), c.batch_size());
  const Tensor grad = fold_last(c.input(2));
  c.set(0, unfold_last(apply_one(c.op(), {&c.input(0), &sizes, &grad}, c.attrs()), c.batch_size()));
}

// A depthwise filter's channels are the input's: nothing to join.
void depthwise(BatchContext& c) {
  if (c.batched(1)) return batch_by_loop(c);
  conv(c);
}

}  // namespace

void register_conv_batching() {
  for (const char* op : {"Conv2D", "Conv3D"}) register_batching(op, conv);
  for (const char* op :
       {"Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput"})
    register_batching(op, conv_input_grad);
  for (const char* op : {"Conv2DBackpropFilter", "Conv3DBackpropFilterV2"})
    register_batching(op, conv_filter_grad);
  register_batching("DepthwiseConv2dNative", depthwise);
  for (const char* op : {"MaxPool", "MaxPoolGrad", "MaxPoolGradGrad", "AvgPool", "MaxPool3D", "MaxPool3DGrad",
                         "MaxPool3DGradGrad", "AvgPool3D", "ResizeBilinearGrad"})
    register_batching(op, fold_all);
  for (const char* op : {"AvgPoolGrad", "AvgPool3DGrad"})
    register_batching(op, [](BatchContext& c) { fold_with_sizes(c, 0, true); });
  for (const char* op : {"ResizeBilinear", "ResizeNearestNeighbor", "ResizeNearestNeighborGrad"})
    register_batching(op, [](BatchContext& c) { fold_with_sizes(c, 1, false); });
}

}  // namespace rw
