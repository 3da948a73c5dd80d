#include "rewind/keras/layers/pooling.h"

#include "rewind/base/ascii.h"
#include "rewind/base/error.h"
#include "rewind/keras/layers/channels.h"
#include "rewind/keras/registry.h"
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
namespace {

template <class L>
struct PoolingArguments {
  using Made = L;
  PerAxis pool_size = 2;
  PoolingOptions options = {};
  L make() const { return L(pool_size, options); }
};
template <class L>
void fields(ConfigFields& f, PoolingArguments<L>& a) {
  f("pool_size", a.pool_size);
  f("padding", a.options.padding);
  f("strides", a.options.strides);
  f("data_format", a.options.data_format);
}
template <class L>
struct GlobalPoolingArguments {
  using Made = L;
  GlobalPoolingOptions options = {};
  L make() const { return L(options); }
};
template <class L>
void fields(ConfigFields& f, GlobalPoolingArguments<L>& a) {
  f("data_format", a.options.data_format);
  f("keepdims", a.options.keepdims);
}

// As Keras writes them: one number for each axis, words in small letters.
PoolingOptions spelled_out(PoolingOptions o, const std::vector<int64_t>& strides) {
  o.strides = strides;
  o.padding = ascii::to_lower(o.padding);
  return o;
}

template <class... L>
void add_poolings(ClassRegistry& r) {
  (add_class<PoolingArguments<L>>(r.layers), ...);
}
template <class... L>
void add_global_poolings(ClassRegistry& r) {
  (add_class<GlobalPoolingArguments<L>>(r.layers), ...);
}

}  // namespace

void add_pooling_classes(ClassRegistry& r) {
  add_poolings<MaxPooling1D, MaxPooling2D, MaxPooling3D, AveragePooling1D, AveragePooling2D,
               AveragePooling3D>(r);
  add_global_poolings<GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D, GlobalAveragePooling1D,
                      GlobalAveragePooling2D, GlobalAveragePooling3D>(r);
}

#define RW_KERAS_POOLING(Name, rank, maximum)                                                             \
  Name::Name(const PerAxis& pool_size, const PoolingOptions& options) : LayerOf(layer_options(options)) { \
    set(#Name, rank, maximum, pool_size, options);                                                        \
    set_origin(origin_of(PoolingArguments<Name>{pool_size_, spelled_out(options, strides_)}));            \
  }                                                                                                       \
  Global##Name::Global##Name(const GlobalPoolingOptions& options) : LayerOf(layer_options(options)) {     \
    set("Global" #Name, rank, maximum, options);                                                          \
    set_origin(origin_of(GlobalPoolingArguments<Global##Name>{options}));                                 \
  }
RW_KERAS_POOLING(MaxPooling1D, 1, true)
RW_KERAS_POOLING(MaxPooling2D, 2, true)
RW_KERAS_POOLING(MaxPooling3D, 3, true)
RW_KERAS_POOLING(AveragePooling1D, 1, false)
RW_KERAS_POOLING(AveragePooling2D, 2, false)
RW_KERAS_POOLING(AveragePooling3D, 3, false)
#undef RW_KERAS_POOLING

}  // namespace rw::keras
