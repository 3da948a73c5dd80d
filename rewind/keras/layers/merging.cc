#include "rewind/keras/layers/merging.h"

#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras {
namespace {

template <class L>
struct MergeArguments {
  using Made = L;
  LayerOptions options = {};
  L make() const { return L(options); }
};
template <class L>
void fields(ConfigFields&, MergeArguments<L>&) {}

struct ConcatenateArguments {
  using Made = Concatenate;
  ConcatenateOptions options = {};
  Concatenate make() const { return Concatenate(options); }
};
void fields(ConfigFields& f, ConcatenateArguments& a) { f("axis", a.options.axis); }

struct DotArguments {
  using Made = Dot;
  std::vector<int> axes;
  DotOptions options = {};
  Dot make() const { return axes.size() == 1 ? Dot(axes[0], options) : Dot(axes, options); }
};
// One number for both inputs stands alone.
void fields(ConfigFields& f, DotArguments& a) {
  f.one_or_list("axes", a.axes);
  f("normalize", a.options.normalize);
}

std::string list_of(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& s : shapes) text += (text.empty() ? "" : ", ") + s.to_string();
  return text;
}

void need_several(const Layer& layer, size_t count) {
  if (count < 2)
    fail_invalid(layer.name(), "A merge layer should be called on a list of at least 2 inputs. Layer \"" +
                                   layer.name() + "\" received " + std::to_string(count));
}

Tensor same_rank(const Tensor& x, int rank) {
  if (x.rank() == rank) return x;
  Sizes sizes = sizes_of(x);
  while (int(sizes.size()) < rank) sizes.insert(sizes.begin() + 1, Size(1));
  return reshape_sizes(x, sizes);
}

}  // namespace

namespace detail {

void MergeLayer::build_many(const std::vector<Shape>& inputs) {
  need_several(*this, inputs.size());
  Shape all = inputs[0];
  all.erase(0);
  for (Shape s : inputs) {
    s.erase(0);
    Shape joined;
    if (!broadcast_shapes(all, s, &joined))
      fail_invalid(name(), "Inputs have incompatible shapes. Layer \"" + name() + "\" received shapes " +
                               list_of(inputs));
    all = joined;
  }
}

std::vector<Tensor> MergeLayer::call_many(const std::vector<Tensor>& inputs, const CallArgs& args) {
  need_several(*this, inputs.size());
  int rank = 0;
  for (const Tensor& x : inputs) rank = std::max(rank, x.rank());
  std::vector<Tensor> fitted, masks;
  for (size_t i = 0; i < inputs.size(); ++i) {
    fitted.push_back(same_rank(inputs[i], rank));
    masks.push_back(inputs[i].rank() == rank ? args.mask_of(i) : Tensor());
  }
  return {merge(fitted, masks)};
}

// Where any of the masks says so; unmasked inputs say nothing.
Tensor MergeLayer::compute_mask(const std::vector<Tensor>&, const std::vector<Tensor>& masks) {
  Tensor all;
  for (const Tensor& m : masks) {
    if (!m.defined()) return {};
    all = all.defined() ? logical_or(all, m) : m;
  }
  return all;
}

}  // namespace detail

namespace {
template <class F>
Tensor fold(const std::vector<Tensor>& inputs, F f) {
  Tensor y = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) y = f(y, inputs[i]);
  return y;
}

// A mask of examples and steps beside values with features.
Tensor feature_mask(const Tensor& mask) {
  return expand_dims(mask.dtype() == DType::kBool ? mask : cast(mask, DType::kBool), -1);
}

// Keras' rule for what has no neutral element: of two values a masked one takes the other's.
template <class F>
Tensor fold_unmasked(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks, F f) {
  Tensor y = inputs[0], of_y = masks[0].defined() ? feature_mask(masks[0]) : Tensor();
  for (size_t i = 1; i < inputs.size(); ++i) {
    Tensor x = inputs[i];
    const Tensor mask = masks[i].defined() ? feature_mask(masks[i]) : Tensor();
    if (mask.defined()) x = where(mask, x, y);
    if (of_y.defined()) y = where(of_y, y, x);
    of_y = mask.defined() && of_y.defined() ? logical_or(of_y, mask) : Tensor();
    y = f(y, x);
  }
  return y;
}
}  // namespace

Tensor Add::merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>&) {
  return fold(inputs, [](const Tensor& a, const Tensor& b) { return a + b; });
}
Tensor Subtract::merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>&) {
  if (inputs.size() != 2)
    fail_invalid(name(), "A `Subtract` layer should be called on exactly 2 inputs: layer \"" + name() +
                             "\" received " + std::to_string(inputs.size()));
  return inputs[0] - inputs[1];
}
// A masked factor counts as 1; where all are masked the product is 0.
Tensor Multiply::merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) {
  Tensor product, any;
  bool all_masked = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor x = inputs[i];
    all_masked &= masks[i].defined();
    if (masks[i].defined()) {
      const Tensor mask = feature_mask(masks[i]);
      x = where(mask, x, scalar_tensor(1.0, x.dtype()));
      any = any.defined() ? logical_or(any, mask) : mask;
    }
    product = product.defined() ? product * x : x;
  }
  return all_masked ? where(any, product, scalar_tensor(0.0, product.dtype())) : product;
}
Tensor Average::merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>&) {
  return fold(inputs, [](const Tensor& a, const Tensor& b) { return a + b; }) / double(inputs.size());
}
Tensor Maximum::merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) {
  return fold_unmasked(inputs, masks, [](const Tensor& a, const Tensor& b) { return maximum(a, b); });
}
Tensor Minimum::merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) {
  return fold_unmasked(inputs, masks, [](const Tensor& a, const Tensor& b) { return minimum(a, b); });
}

Concatenate::Concatenate(const ConcatenateOptions& options)
    : LayerOf(layer_options(options)), axis_(options.axis) {
  set_origin(origin_of(ConcatenateArguments{options}));
}

void Concatenate::build_many(const std::vector<Shape>& inputs) {
  if (inputs.empty()) need_several(*this, 0);
  const int rank = inputs[0].rank();
  for (const Shape& s : inputs) {
    bool fits = s.rank() == rank;
    for (int i = 0; fits && i < rank; ++i)
      fits = i == (axis_ < 0 ? axis_ + rank : axis_) || s[i] < 0 || inputs[0][i] < 0 || s[i] == inputs[0][i];
    if (!fits)
      fail_invalid(
          name(),
          "A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. "
          "Layer \"" +
              name() + "\" received shapes " + list_of(inputs));
  }
}

std::vector<Tensor> Concatenate::call_many(const std::vector<Tensor>& inputs, const CallArgs&) {
  return {concat(inputs, axis_)};
}

Tensor Concatenate::compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) {
  if (std::none_of(masks.begin(), masks.end(), [](const Tensor& m) { return m.defined(); })) return {};
  std::vector<Tensor> parts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!masks[i].defined()) {
      parts.push_back(ones_like(inputs[i], DType::kBool));
    } else {
      const Tensor wide = masks[i].rank() < inputs[i].rank() ? expand_dims(masks[i], -1) : masks[i];
      parts.push_back(broadcast_to(wide, rw::shape(inputs[i])));
    }
  }
  return reduce_any(concat(parts, axis_), -1);
}

Dot::Dot(int axes, const DotOptions& options) : Dot(std::vector<int>{axes, axes}, options) {
  set_origin(origin_of(DotArguments{{axes}, options}));
}

Dot::Dot(const std::vector<int>& axes, const DotOptions& options)
    : LayerOf(layer_options(options)), axes_(axes), normalize_(options.normalize) {
  if (axes.size() != 2) fail_invalid("Dot", "axes must be one number or two");
  set_origin(origin_of(DotArguments{axes, options}));
}

void Dot::build_many(const std::vector<Shape>& inputs) {
  if (inputs.size() != 2)
    fail_invalid(name(), "A `Dot` layer should be called on a list of 2 inputs: layer \"" + name() +
                             "\" received " + std::to_string(inputs.size()));
  int64_t sizes[2];
  for (int i = 0; i < 2; ++i) {
    int& axis = axes_[size_t(i)];
    const Shape& s = inputs[size_t(i)];
    if (axis < 0) axis += s.rank();
    if (axis <= 0 || axis >= s.rank())
      fail_invalid(name(), "axis " + std::to_string(axis) + " of layer \"" + name() +
                               "\" is not in the input's shape " + s.to_string());
    sizes[i] = s[axis];
  }
  if (sizes[0] >= 0 && sizes[1] >= 0 && sizes[0] != sizes[1])
    fail_invalid(name(), "Incompatible input shapes: axis values " + std::to_string(sizes[0]) + " (at axis " +
                             std::to_string(axes_[0]) + ") != " + std::to_string(sizes[1]) + " (at axis " +
                             std::to_string(axes_[1]) + "). Layer \"" + name() + "\" received shapes " +
                             list_of(inputs));
}

// einsum with one letter an axis: the batch is shared, the named axes are summed.
std::vector<Tensor> Dot::call_many(const std::vector<Tensor>& inputs, const CallArgs&) {
  Tensor a = inputs[0], b = inputs[1];
  if (normalize_) {
    a = nn::l2_normalize(a, axes_[0]);
    b = nn::l2_normalize(b, axes_[1]);
  }
  std::string left = "z", right = "z", out = "z";
  char letter = 'a';
  for (int i = 1; i < a.rank(); ++i) {
    left += i == axes_[0] ? 's' : letter;
    if (i != axes_[0]) out += letter++;
  }
  for (int i = 1; i < b.rank(); ++i) {
    right += i == axes_[1] ? 's' : letter;
    if (i != axes_[1]) out += letter++;
  }
  const Tensor y = einsum(left + "," + right + "->" + out, a, b);
  return {y.rank() == 1 ? expand_dims(y, 1) : y};
}

#define RW_KERAS_MERGE(Name)                                   \
  Name::Name(const LayerOptions& options) : LayerOf(options) { \
    set_origin(origin_of(MergeArguments<Name>{options}));      \
  }
RW_KERAS_MERGE(Add)
RW_KERAS_MERGE(Subtract)
RW_KERAS_MERGE(Multiply)
RW_KERAS_MERGE(Average)
RW_KERAS_MERGE(Maximum)
RW_KERAS_MERGE(Minimum)
#undef RW_KERAS_MERGE

void add_merging_classes(ClassRegistry& r) {
  add_class<MergeArguments<Add>>(r.layers);
  add_class<MergeArguments<Subtract>>(r.layers);
  add_class<MergeArguments<Multiply>>(r.layers);
  add_class<MergeArguments<Average>>(r.layers);
  add_class<MergeArguments<Maximum>>(r.layers);
  add_class<MergeArguments<Minimum>>(r.layers);
  add_class<ConcatenateArguments>(r.layers);
  add_class<DotArguments>(r.layers);
}

}  // namespace rw::keras
