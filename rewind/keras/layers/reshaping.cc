#include "rewind/keras/layers/reshaping.h"

#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/conv.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras {
namespace {

// Also where nothing moves: a mask belongs to its tensor, and the result has none.
Tensor another(const Tensor& y, const Tensor& x) { return y.impl() == x.impl() ? identity(y) : y; }

// ---- configs

struct FlattenArguments {
  using Made = Flatten;
  LayerOptions options = {};
  Flatten make() const { return Flatten(options); }
};
void fields(ConfigFields& f, FlattenArguments&) { f.only("data_format", "channels_last"); }
struct ReshapeArguments {
  using Made = Reshape;
  Shape target_shape = {};
  LayerOptions options = {};
  Reshape make() const { return Reshape(target_shape, options); }
};
// The open size is -1, not null.
void fields(ConfigFields& f, ReshapeArguments& a) {
  std::vector<int64_t> sizes(a.target_shape.begin(), a.target_shape.end());
  if (f.is_reading()) f("target_shape", a.target_shape);
  else f("target_shape", sizes);
}
struct PermuteArguments {
  using Made = Permute;
  std::vector<int64_t> dims;
  LayerOptions options = {};
  Permute make() const { return Permute(dims, options); }
};
void fields(ConfigFields& f, PermuteArguments& a) { f("dims", a.dims); }
struct RepeatVectorArguments {
  using Made = RepeatVector;
  int64_t n = 1;
  LayerOptions options = {};
  RepeatVector make() const { return RepeatVector(n, options); }
};
void fields(ConfigFields& f, RepeatVectorArguments& a) { f("n", a.n); }

// A pair for each axis; of one axis the two numbers alone.
template <class L>
struct EdgeArguments {
  using Made = L;
  SpatialPairs amounts = 1;
  SpatialOptions options = {};
  L make() const { return L(amounts, options); }
};
template <class L>
void fields(ConfigFields& f, EdgeArguments<L>& a) {
  const char* const name = std::is_base_of_v<detail::CroppingLayer, L> ? "cropping" : "padding";
  if (const auto& list = a.amounts.list(); f.object() && list.size() == 1)
    f.set(name, Config::Array{list[0].first, list[0].second});
  else f(name, a.amounts);
  if (f.is_reading() || !std::is_same_v<L, Cropping1D>) f("data_format", a.options.data_format);
}

// UpSampling1D has one number, and the interpolation is an option of images alone.
template <class L>
struct UpSamplingArguments {
  using Made = L;
  PerAxis size = 2;
  UpSamplingOptions options = {};
  L make() const { return L(size, options); }
};
template <class L>
void fields(ConfigFields& f, UpSamplingArguments<L>& a) {
  if (std::is_same_v<L, UpSampling1D> && f.object()) return f.set("size", a.size.list()[0]);
  f("size", a.size);
  f("data_format", a.options.data_format);
  if (f.is_reading() || std::is_same_v<L, UpSampling2D>) f("interpolation", a.options.interpolation);
}

}  // namespace

void add_reshaping_classes(ClassRegistry& r) {
  add_class<FlattenArguments>(r.layers);
  add_class<ReshapeArguments>(r.layers);
  add_class<PermuteArguments>(r.layers);
  add_class<RepeatVectorArguments>(r.layers);
  add_class<EdgeArguments<ZeroPadding1D>>(r.layers);
  add_class<EdgeArguments<ZeroPadding2D>>(r.layers);
  add_class<EdgeArguments<ZeroPadding3D>>(r.layers);
  add_class<EdgeArguments<Cropping1D>>(r.layers);
  add_class<EdgeArguments<Cropping2D>>(r.layers);
  add_class<EdgeArguments<Cropping3D>>(r.layers);
  add_class<UpSamplingArguments<UpSampling1D>>(r.layers);
  add_class<UpSamplingArguments<UpSampling2D>>(r.layers);
  add_class<UpSamplingArguments<UpSampling3D>>(r.layers);
}

Flatten::Flatten(const LayerOptions& options) : LayerOf(options) {
  set_origin(origin_of(FlattenArguments{options}));
  set_input_spec({.min_ndim = 1});
  set_built();
}

Tensor Flatten::call(const Tensor& x, const CallArgs&) {
  if (x.rank() == 1) return expand_dims(x, 1);
  const Sizes sizes = sizes_of(x);
  return another(reshape_sizes(x, {sizes[0], product(sizes, 1, sizes.size())}), x);
}

Reshape::Reshape(const Shape& target_shape, const LayerOptions& options)
    : LayerOf(options), target_(target_shape) {
  set_origin(origin_of(ReshapeArguments{target_shape, options}));
  set_built();
}

Tensor Reshape::call(const Tensor& x, const CallArgs&) {
  const Sizes sizes = sizes_of(x);
  const Size rest = product(sizes, 1, sizes.size());
  int64_t fixed = 1;
  int open = -1;
  for (int i = 0; i < target_.rank(); ++i) {
    if (target_[i] < 0) open = i;
    else fixed *= target_[i];
  }
  if (rest.known() && (open < 0 ? fixed != rest.number() : fixed == 0 || rest.number() % fixed != 0))
    fail_invalid(name(), "The total size of the tensor must be unchanged. Layer \"" + name() +
                             "\" reshapes to " + target_.to_string() + " and received input with shape " +
                             x.shape().to_string());
  Sizes out{sizes[0]};
  for (int i = 0; i < target_.rank(); ++i) out.push_back(i == open ? rest / Size(fixed) : Size(target_[i]));
  return another(reshape_sizes(x, out), x);
}

Permute::Permute(const std::vector<int64_t>& dims, const LayerOptions& options)
    : LayerOf(options), dims_(dims) {
  set_origin(origin_of(PermuteArguments{dims, options}));
  std::vector<int64_t> sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int64_t(i) + 1)
      fail_invalid("Permute", "dims must be a permutation of 1 to " + std::to_string(dims.size()) + ": got " +
                                  Shape(dims).to_string());
  set_input_spec({.ndim = int(dims.size()) + 1});
  set_built();
}

Tensor Permute::call(const Tensor& x, const CallArgs&) {
  std::vector<int64_t> perm{0};
  perm.insert(perm.end(), dims_.begin(), dims_.end());
  return transpose(x, perm);
}

RepeatVector::RepeatVector(int64_t n, const LayerOptions& options) : LayerOf(options), n_(n) {
  set_origin(origin_of(RepeatVectorArguments{n, options}));
  set_input_spec({.ndim = 2});
  set_built();
}

Tensor RepeatVector::call(const Tensor& x, const CallArgs&) {
  const Sizes sizes = sizes_of(x);
  return broadcast_sizes(expand_dims(x, 1), {sizes[0], Size(n_), sizes[1]});
}

SpatialPairs::SpatialPairs(std::initializer_list<int64_t> amounts) {
  for (const int64_t a : amounts) list_.push_back({a, a});
}

std::vector<std::pair<int64_t, int64_t>> SpatialPairs::for_axes(const char* layer, size_t axes) const {
  if (list_.size() == axes) return list_;
  // Of one axis, two numbers are before and after it.
  if (axes == 1 && list_.size() == 2) return {{list_[0].first, list_[1].first}};
  if (list_.size() == 1) return std::vector(axes, list_[0]);
  fail_invalid(layer,
               "expected amounts for " + std::to_string(axes) + " axes, got " + std::to_string(list_.size()));
}

namespace detail {

void EdgeLayer::set(const char* layer, const SpatialPairs& amounts, size_t axes,
                    const std::string& data_format) {
  amounts_ = amounts.for_axes(layer, axes);
  channels_first_ = data_format == "channels_first";
  set_input_spec({.ndim = int(axes) + 2});
  set_built();
}

Tensor ZeroPaddingLayer::call(const Tensor& x, const CallArgs&) {
  std::vector<std::pair<int64_t, int64_t>> all(size_t(x.rank()), {0, 0});
  std::copy(amounts_.begin(), amounts_.end(), all.begin() + long(first_axis()));
  return pad(x, all);
}

Tensor CroppingLayer::call(const Tensor& x, const CallArgs&) {
  std::vector<Index> cut(first_axis(), Slice());
  for (size_t i = 0; i < amounts_.size(); ++i) {
    const auto [before, after] = amounts_[i];
    const int64_t size = x.shape()[int(first_axis() + i)];
    if (size >= 0 && before + after >= size)
      fail_invalid(name(), "`cropping` of layer \"" + name() + "\" takes " + std::to_string(before + after) +
                               " off axis " + std::to_string(first_axis() + i) +
                               ", and the input has shape " + x.shape().to_string());
    cut.push_back(after == 0 ? Slice(before, none) : Slice(before, -after));
  }
  return x.index(cut);
}

void UpSamplingLayer::set(const char* layer, const std::vector<int64_t>& size, size_t axes,
                          const std::string& data_format, const std::string& interpolation) {
  size_ = size;
  interpolation_ = interpolation;
  channels_first_ = data_format == "channels_first";
  const bool known = interpolation == "nearest" || (axes == 2 && interpolation == "bilinear");
  if (!known) fail_unimplemented(layer, "interpolation \"" + interpolation + "\" is not supported");
  set_input_spec({.ndim = int(axes) + 2});
  set_built();
}

// Nearest neighbours: an axis of size n becomes (n, 1), is broadcast to (n, times) and joined again.
Tensor UpSamplingLayer::call(const Tensor& x, const CallArgs&) {
  const int first = channels_first_ ? 2 : 1;
  if (interpolation_ == "bilinear") {
    const Tensor last = channels_first_ ? transpose(x, {0, 2, 3, 1}) : x;
    const Shape& s = last.shape();
    if (s[1] < 0 || s[2] < 0)
      fail_invalid(name(), "layer \"" + name() +
                               "\" resizes bilinearly, which needs a known height and width: " +
                               "the input has shape " + x.shape().to_string());
    const Tensor y = cast(image::resize(last, {s[1] * size_[0], s[2] * size_[1]}), x.dtype());
    return channels_first_ ? transpose(y, {0, 3, 1, 2}) : y;
  }
  const Sizes sizes = sizes_of(x);
  Sizes with_ones, spread, joined;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool spatial = int(i) >= first && i - size_t(first) < size_.size();
    const int64_t times = spatial ? size_[i - size_t(first)] : 1;
    with_ones.push_back(sizes[i]);
    spread.push_back(sizes[i]);
    if (times > 1) {
      with_ones.push_back(1);
      spread.push_back(times);
    }
    joined.push_back(sizes[i] * Size(times));
  }
  return another(reshape_sizes(broadcast_sizes(reshape_sizes(x, with_ones), spread), joined), x);
}

}  // namespace detail
#define RW_KERAS_EDGE_LAYER(Name, axes)                                                                      \
  Name::Name(const SpatialPairs& amounts, const SpatialOptions& options) : LayerOf(layer_options(options)) { \
    set(#Name, amounts, axes, options.data_format);                                                          \
    set_origin(origin_of(EdgeArguments<Name>{amounts_, options}));                                           \
  }
RW_KERAS_EDGE_LAYER(ZeroPadding1D, 1)
RW_KERAS_EDGE_LAYER(ZeroPadding2D, 2)
RW_KERAS_EDGE_LAYER(ZeroPadding3D, 3)
RW_KERAS_EDGE_LAYER(Cropping1D, 1)
RW_KERAS_EDGE_LAYER(Cropping2D, 2)
RW_KERAS_EDGE_LAYER(Cropping3D, 3)
#undef RW_KERAS_EDGE_LAYER

#define RW_KERAS_UP_SAMPLING(Name, axes)                                                                \
  Name::Name(const PerAxis& size, const UpSamplingOptions& options) : LayerOf(layer_options(options)) { \
    set(#Name, size.for_axes(#Name, "size", axes), axes, options.data_format, options.interpolation);   \
    set_origin(origin_of(UpSamplingArguments<Name>{size_, options}));                                   \
  }
RW_KERAS_UP_SAMPLING(UpSampling1D, 1)
RW_KERAS_UP_SAMPLING(UpSampling2D, 2)
RW_KERAS_UP_SAMPLING(UpSampling3D, 3)
#undef RW_KERAS_UP_SAMPLING

}  // namespace rw::keras
