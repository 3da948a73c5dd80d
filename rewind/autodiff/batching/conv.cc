// Batching rules of convolutions, pools and resizing. Images of all examples become one batch; where filters
// (or their gradients) differ from example to example, they join the output channels, and where images differ
// with them, examples are groups of channels.
#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/batching/fold.h"

namespace rw {
namespace {

// A list of sizes, whose length is known, with one of them multiplied.
Tensor scaled_size(const Tensor& sizes, int at, const Size& times) {
  if (value_known(sizes) && times.known()) {
    std::vector<int64_t> list = known_ints(sizes);
    list[size_t(at)] *= times.number();
    return constant(list, sizes.dtype());
  }
  Sizes factors(size_t(sizes.dim(0)), Size(1));
  factors[size_t(at)] = times;
  const Tensor by = dims_tensor(factors, sizes.dtype());
  return apply_one(RW_OP("Mul"), {&sizes, &by});
}

// Folds all inputs beside one of sizes (`sizes_at`) that is equal for all; `names_images`: its first number
// is the batch.
void fold_with_sizes(BatchContext& c, int sizes_at, bool names_images) {
  if (c.batched(sizes_at) || c.input(sizes_at).dim(0) < 0) return batch_by_loop(c);
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i != sizes_at) inputs.push_back(fold_first(c.with_batch(i)));
    else inputs.push_back(names_images ? scaled_size(c.input(i), 0, c.batch()) : c.input(i));
  }
  c.set(0, unfold_first(apply(c.op(), inputs, c.attrs())[0], c.batch()));
}

// Which axes of an element hold the channels.
struct Channels {
  int images;
  int filters;  // of the output; a depthwise filter has those of the input
  bool depthwise;

  explicit Channels(const BatchContext& c) {
    const auto format = c.attr<std::string>("data_format");
    const int rank = int(format.size());
    images = format.back() == 'C' ? rank - 1 : 1;
    depthwise = c.op().name[0] == 'D';
    filters = depthwise ? rank - 2 : rank - 1;
  }
};

// Whether each output channel reads all input channels: then filters of many examples may stand side by side.
bool one_group(const Channels& at, const Size& in, const Size& filter_in) {
  return !at.depthwise && in.known() && filter_in.is(in.number());
}

// Sizes of an element of an input.
Sizes conv_sizes(const BatchContext& c, int input) {
  Sizes sizes = sizes_of(c.input(input));
  if (c.batched(input)) sizes.erase(sizes.begin());
  return sizes;
}
Size size_at(const BatchContext& c, int input, int axis) { return conv_sizes(c, input)[size_t(axis)]; }

// From so many multiply-adds an example on, a convolution of its own is faster than a group.
constexpr int64_t kLargeExample = 8 << 20;

// Whether examples with filters of their own run as groups of one call.
bool as_groups(const BatchContext& c, const Channels& at, int images, const Sizes& filter) {
  Sizes places = conv_sizes(c, images);
  places.erase(places.begin() + at.images);
  const Size work = product(places) * product(filter);
  return at.depthwise || !work.known() || work.number() <= kLargeExample;
}

void conv(BatchContext& c) {
  const Channels at(c);
  if (!c.batched(1)) {
    const Tensor x = fold_first(c.input(0));
    return c.set(0, unfold_first(apply_one(c.op(), {&x, &c.input(1)}, c.attrs()), c.batch()));
  }
  const bool shared = !c.batched(0) && one_group(at, size_at(c, 0, at.images), size_at(c, 1, at.filters - 1));
  if (!shared && !as_groups(c, at, 0, conv_sizes(c, 1))) return batch_by_loop(c);
  const Tensor x = shared ? c.input(0) : fold_at(c.with_batch(0), at.images);
  const Tensor filters = fold_at(c.input(1), at.filters);
  c.set(0, unfold_at(apply_one(c.op(), {&x, &filters}, c.attrs()), at.images, c.batch()));
}

// The sizes of the images, also where only height and width were said.
Tensor image_sizes(const BatchContext& c, const Channels& at) {
  const Tensor& said = c.input(0);
  if (said.dim(0) != 2) return said;
  Sizes sizes{element_of(said, 0), element_of(said, 1)};
  sizes.insert(at.images == 1 ? sizes.begin() : sizes.end(), size_at(c, 1, 2));
  sizes.insert(sizes.begin(), size_at(c, 2, 0));
  return dims_tensor(sizes, said.dtype());
}

void conv_input_grad(BatchContext& c) {
  if (c.batched(0) || c.input(0).dim(0) < 0) return batch_by_loop(c);
  const Channels at(c);
  const Tensor said = image_sizes(c, at);
  if (!c.batched(1)) {
    const Tensor sizes = scaled_size(said, 0, c.batch());
    const Tensor grad = fold_first(c.input(2));
    return c.set(0, unfold_first(apply_one(c.op(), {&sizes, &c.input(1), &grad}, c.attrs()), c.batch()));
  }
  if (!as_groups(c, at, 2, conv_sizes(c, 1))) return batch_by_loop(c);
  const Tensor sizes = scaled_size(said, at.images, c.batch());
  const Tensor filters = fold_at(c.input(1), at.filters);
  const Tensor grad = fold_at(c.with_batch(2), at.images);
  const Tensor out = apply_one(c.op(), {&sizes, &filters, &grad}, c.attrs());
  c.set(0, unfold_at(out, at.images, c.batch()));
}

void conv_filter_grad(BatchContext& c) {
  if (c.batched(1) || c.input(1).dim(0) < 0) return batch_by_loop(c);
  const Channels at(c);
  Sizes filter;
  for (int i = 0; i < c.rank(0); ++i) filter.push_back(element_of(c.input(1), i));
  const bool shared =
      !c.batched(0) && one_group(at, size_at(c, 0, at.images), filter[size_t(at.filters) - 1]);
  if (!shared && !as_groups(c, at, 0, filter)) return batch_by_loop(c);
  const Tensor x = shared ? c.input(0) : fold_at(c.with_batch(0), at.images);
  const Tensor sizes = scaled_size(c.input(1), at.filters, c.batch());
  const Tensor grad = fold_at(c.with_batch(2), at.images);
  const Tensor out = apply_one(c.op(), {&x, &sizes, &grad}, c.attrs());
  c.set(0, unfold_at(out, at.filters, c.batch()));
}

void argmax_pool(BatchContext& c) {
  fold_all(c);
  if (!c.attr<bool>("include_batch_in_index")) return;
  // Places are counted from an example's first image, not from that of the whole batch.
  const Sizes sizes = sizes_of(c.input(0));
  const Tensor& places = c.outputs()[1];
  Sizes column(size_t(places.rank()), Size(1));
  column[0] = c.batch();
  const Tensor numbers = multiples_column(c.batch(), product(sizes, 1, sizes.size()));
  const Tensor first = reshape_sizes(cast_ints(numbers, places.dtype()), column);
  c.set(1, apply_one(RW_OP("Sub"), {&places, &first}));
}

}  // namespace

void register_conv_batching() {
  for (const char* op : {"Conv2D", "Conv3D", "DepthwiseConv2dNative"}) register_batching(op, conv);
  for (const char* op :
       {"Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput"})
    register_batching(op, conv_input_grad);
  for (const char* op :
       {"Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter"})
    register_batching(op, conv_filter_grad);
  for (const char* op : {"MaxPool", "MaxPoolGrad", "MaxPoolGradGrad", "AvgPool", "MaxPool3D", "MaxPool3DGrad",
                         "MaxPool3DGradGrad", "AvgPool3D", "ResizeBilinearGrad"})
    register_batching(op, fold_all);
  register_batching("MaxPoolWithArgmax", argmax_pool);
  for (const char* op : {"AvgPoolGrad", "AvgPool3DGrad"})
    register_batching(op, [](BatchContext& c) { fold_with_sizes(c, 0, true); });
  for (const char* op : {"ResizeBilinear", "ResizeNearestNeighbor", "ResizeNearestNeighborGrad"})
    register_batching(op, [](BatchContext& c) { fold_with_sizes(c, 1, false); });
}

}  // namespace rw
