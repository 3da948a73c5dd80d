#include "rewind/keras/layers/attention.h"

#include <cmath>

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

struct MultiHeadAttentionArguments {
  using Made = MultiHeadAttention;
  int64_t num_heads = 0, key_dim = 0;
  MultiHeadAttentionOptions options = {};
  MultiHeadAttention make() const { return MultiHeadAttention(num_heads, key_dim, options); }
};
// Inputs are (batch, t, features): attention is along axis 1.
void attention_axes_field(ConfigFields& f) {
  f.set("attention_axes", nullptr);
  const Config* c = f.take("attention_axes");
  if (!c || c->is_null()) return;
  std::vector<int64_t> axes;
  f.read("attention_axes", [&] { from_config(*c, &axes); });
  if (axes != std::vector<int64_t>{1} && axes != std::vector<int64_t>{-2})
    fail_unimplemented("from_config",
                       "MultiHeadAttention: attention_axes must be null or 1: got " + to_text(*c));
}
// The sizes of the result are a list of axes, of which there is one here.
void output_shape_field(ConfigFields& f, int64_t& features) {
  std::vector<int64_t> shape;
  if (features > 0) shape = {features};
  f.list_or_null("output_shape", shape);
  if (!f.is_reading() || !f.find("output_shape")) return;
  if (shape.size() > 1) fail_config("an output_shape of one axis", *f.find("output_shape"));
  features = shape.empty() ? 0 : shape[0];
}
void fields(ConfigFields& f, MultiHeadAttentionArguments& a) {
  MultiHeadAttentionOptions& o = a.options;
  f("num_heads", a.num_heads);
  f("key_dim", a.key_dim);
  f("value_dim", o.value_dim);
  f("dropout", o.dropout);
  f("use_bias", o.use_bias);
  f.only("use_gate", false);
  output_shape_field(f, o.output_shape);
  attention_axes_field(f);
  f.only("sliding_window", nullptr);
  f("kernel_initializer", o.kernel_initializer);
  f("bias_initializer", o.bias_initializer);
  f("kernel_regularizer", o.kernel_regularizer);
  f("bias_regularizer", o.bias_regularizer);
  f("activity_regularizer", o.activity_regularizer);
  f("kernel_constraint", o.kernel_constraint);
  f("bias_constraint", o.bias_constraint);
  f("seed", o.seed);
  f.ignore("flash_attention");
  for (const char* name : {"query_shape", "value_shape", "key_shape"}) f.ignore(name);  // of Keras 2
}

}  // namespace

void add_attention_classes(ClassRegistry& r) { add_class<MultiHeadAttentionArguments>(r.layers); }

MultiHeadAttention::MultiHeadAttention(int64_t num_heads, int64_t key_dim,
                                       const MultiHeadAttentionOptions& options)
    : LayerOf(layer_options(options)), heads_(num_heads), key_dim_(key_dim), options_(options) {
  if (options_.value_dim == 0) options_.value_dim = key_dim;
  set_activity_regularizer(options.activity_regularizer);
  set_origin(origin_of(MultiHeadAttentionArguments{num_heads, key_dim, options_}));
  if (options.dropout > 0) random_ = add_seed_generator(options.seed);
}

Config MultiHeadAttention::get_config() const {
  Config config = Layer::get_config();
  if (built()) config["attention_axes"] = Config::Array{1};
  return config;
}

MultiHeadAttention::Projection MultiHeadAttention::add_projection(const std::string& name,
                                                                  const Shape& kernel, const Shape& bias) {
  Projection p;
  p.kernel = add_weight({.name = name + "/kernel",
                         .shape = kernel,
                         .initializer = options_.kernel_initializer.clone(),
                         .regularizer = options_.kernel_regularizer,
                         .constraint = options_.kernel_constraint});
  if (options_.use_bias)
    p.bias = add_weight({.name = name + "/bias",
                         .shape = bias,
                         .initializer = options_.bias_initializer.clone(),
                         .regularizer = options_.bias_regularizer,
                         .constraint = options_.bias_constraint});
  return p;
}

void MultiHeadAttention::build_many(const std::vector<Shape>& inputs) {
  if (inputs.size() < 2 || inputs.size() > 3)
    fail_invalid(name(), "layer \"" + name() +
                             "\" takes query and value, and a key if it is another: it received " +
                             std::to_string(inputs.size()) + " inputs");
  for (size_t i = 0; i < inputs.size(); ++i) InputSpec{.ndim = 3}.check(name(), i, inputs[i]);
  const Shape& query = inputs[0];
  const Shape& value = inputs[1];
  const Shape& key = inputs.size() > 2 ? inputs[2] : value;
  const int64_t out = options_.output_shape > 0 ? options_.output_shape : query.back();
  query_ = add_projection("query", {query.back(), heads_, key_dim_}, {heads_, key_dim_});
  key_ = add_projection("key", {key.back(), heads_, key_dim_}, {heads_, key_dim_});
  value_ = add_projection("value", {value.back(), heads_, options_.value_dim}, {heads_, options_.value_dim});
  output_ = add_projection("attention_output", {heads_, options_.value_dim, out}, {out});
}

Tensor MultiHeadAttention::project(const Tensor& x, const Projection& p) const {
  const Shape& k = p.kernel.shape();
  Tensor y = tensordot(x, reshape(value_of(p.kernel), {k[0], k[1] * k[2]}), 1);
  if (p.bias.defined()) y = y + reshape(value_of(p.bias), {k[1] * k[2]});
  const Sizes sizes = sizes_of(x);
  return transpose(reshape_sizes(y, {sizes[0], sizes[1], Size(k[1]), Size(k[2])}), {0, 2, 1, 3});
}

Tensor MultiHeadAttention::mask_for(const std::vector<Tensor>& inputs, const CallArgs& args) const {
  Tensor all;
  auto add = [&](const Tensor& m) { all = all.defined() ? logical_and(all, m) : m; };
  auto as_bool = [](const Tensor& m) { return m.dtype() == DType::kBool ? m : cast(m, DType::kBool); };
  if (args.mask_of(0).defined()) add(expand_dims(as_bool(args.mask_of(0)), -1));
  if (args.mask_of(1).defined()) add(expand_dims(as_bool(args.mask_of(1)), -2));
  if (inputs.size() > 2 && args.mask_of(2).defined()) add(expand_dims(as_bool(args.mask_of(2)), -2));
  if (args.attention_mask.defined()) {
    Tensor m = as_bool(args.attention_mask);
    if (m.rank() == 4) {
      if (all.defined()) all = expand_dims(all, 1);
      add(m);
      return all;
    }
    add(m);
  }
  return all.defined() && all.rank() == 3 ? expand_dims(all, 1) : all;
}

std::vector<Tensor> MultiHeadAttention::call_many(const std::vector<Tensor>& inputs, const CallArgs& args) {
  const Tensor q = project(inputs[0], query_);
  const Tensor v = project(inputs[1], value_);
  const Tensor k = project(inputs.size() > 2 ? inputs[2] : inputs[1], key_);
  Tensor mask = mask_for(inputs, args);
  const double scale = 1 / std::sqrt(double(key_dim_));
  const bool drops = args.is_training() && options_.dropout > 0;
  Tensor y, weights;
  if (!drops && !args.return_attention_scores) {
    y = nn::scaled_dot_product_attention(q, k, v,
                                         {.mask = mask, .causal = args.use_causal_mask, .scale = scale});
  } else {
    if (args.use_causal_mask) {
      const Tensor rows = range(sizes_of(q)[2].tensor(DType::kInt32)),
                   columns = range(sizes_of(k)[2].tensor(DType::kInt32));
      const Tensor visible = expand_dims(rows, 1) >= columns;
      mask = mask.defined() ? logical_and(mask, visible) : visible;
    }
    Tensor scores = matmul(q * scale, k, {.transpose_b = true});
    if (mask.defined())
      scores =
          scores + (1.0 - cast(mask, scores.dtype())) * (scores.dtype() == DType::kFloat16 ? -3e4 : -1e9);
    weights = nn::softmax(scores);
    if (mask.defined()) weights = weights * cast(mask, weights.dtype());
    y = matmul(drops ? random_.dropout(weights, options_.dropout) : weights, v);
  }
  const Sizes sizes = sizes_of(inputs[0]);
  const Shape& o = output_.kernel.shape();
  y = reshape_sizes(transpose(y, {0, 2, 1, 3}), {sizes[0], sizes[1], Size(o[0] * o[1])});
  y = tensordot(y, reshape(value_of(output_.kernel), {o[0] * o[1], o[2]}), 1);
  if (output_.bias.defined()) y = y + value_of(output_.bias);
  if (args.return_attention_scores) return {y, weights};
  return {y};
}

}  // namespace rw::keras
