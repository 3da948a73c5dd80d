#include "rewind/keras/layers/pooling.h"

#include "rewind/base/error.h"
#include "rewind/keras/layers/channels.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/conv.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras::detail {

void PoolingLayer::set(const char* layer, int rank, bool maximum, const PerAxis& pool_size,
                       const PoolingOptions& options) {
  maximum_ = maximum;
  pool_size_ = pool_size.for_axes(layer, "pool_size", size_t(rank));
  strides_ = options.strides.empty() ? pool_size_ : options.strides.for_axes(layer, "strides", size_t(rank));
  channels_first_ = channels_first(layer, options.data_format);
  if (options.padding == "valid" || options.padding == "VALID") padding_ = "VALID";
  else if (options.padding == "same" || options.padding == "SAME") padding_ = "SAME";
  else fail_invalid(layer, "padding must be \"valid\" or \"same\": got \"" + options.padding + "\"");
  set_input_spec({.ndim = rank + 2});
  set_built();
}

Tensor PoolingLayer::call(const Tensor& x, const CallArgs&) {
  const Tensor in = channels_first_ ? channels_to_end(x) : x;
  const Tensor y = maximum_ ? nn::max_pool(in, pool_size_, strides_, padding_)
                            : nn::avg_pool(in, pool_size_, strides_, padding_);
  return channels_first_ ? channels_to_front(y) : y;
}

void GlobalPoolingLayer::set(const char* layer, int rank, bool maximum, const GlobalPoolingOptions& options) {
  rank_ = rank;
  maximum_ = maximum;
  keepdims_ = options.keepdims;
  channels_first_ = channels_first(layer, options.data_format);
  set_input_spec({.ndim = rank + 2});
  set_built();
}

Tensor GlobalPoolingLayer::call(const Tensor& x, const CallArgs& args) {
  std::vector<int64_t> axes;
  for (int i = 0; i < rank_; ++i) axes.push_back(i + (channels_first_ ? 2 : 1));
  if (maximum_) return reduce_max(x, axes, keepdims_);
  if (rank_ == 1 && args.mask.defined()) {
    const Tensor counts = expand_dims(cast(args.mask, x.dtype()), channels_first_ ? 1 : 2);
    return reduce_sum(x * counts, axes, keepdims_) / reduce_sum(counts, axes, keepdims_);
  }
  return reduce_mean(x, axes, keepdims_);
}

}  // namespace rw::keras::detail

namespace rw::keras {

#define RW_KERAS_POOLING(Name, rank, maximum)                                                             \
  Name::Name(const PerAxis& pool_size, const PoolingOptions& options) : LayerOf(layer_options(options)) { \
    set(#Name, rank, maximum, pool_size, options);                                                        \
  }                                                                                                       \
  Global##Name::Global##Name(const GlobalPoolingOptions& options) : LayerOf(layer_options(options)) {     \
    set("Global" #Name, rank, maximum, options);                                                          \
  }
RW_KERAS_POOLING(MaxPooling1D, 1, true)
RW_KERAS_POOLING(MaxPooling2D, 2, true)
RW_KERAS_POOLING(MaxPooling3D, 3, true)
RW_KERAS_POOLING(AveragePooling1D, 1, false)
RW_KERAS_POOLING(AveragePooling2D, 2, false)
RW_KERAS_POOLING(AveragePooling3D, 3, false)
#undef RW_KERAS_POOLING

}  // namespace rw::keras
