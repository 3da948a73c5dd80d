// The operations of keras.ops that graphs of functional models may hold, as Keras computes them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "rewind/base/error.h"
#include "rewind/keras/activations.h"
#include "rewind/keras/operation.h"
#include "rewind/tensor/indexing.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/linalg.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

using Values = std::vector<Tensor>;
using Extra = Config::Array;

// ---- options ----------------------------------------------------------------------------------------------

bool is_none(const Config& options, const char* name) {
  const Config* c = options.find(name);
  return !c || c->is_null();
}
template <class T>
T option(const Config& options, const char* name, T usual) {
  if (!is_none(options, name)) from_config(*options.find(name), &usual);
  return usual;
}
int64_t axis_option(const Config& options, int64_t usual) { return option(options, "axis", usual); }
// Null or none: all axes.
Axes axes_option(const Config& options) {
  if (is_none(options, "axis")) return {};
  return option(options, "axis", std::vector<int64_t>());
}
bool keepdims(const Config& options) { return option(options, "keepdims", false); }
// Keras computes on float32 where integers have no such function.
Tensor real(const Tensor& x) { return is_floating(x.dtype()) ? x : cast(x, DType::kFloat32); }

// ---- types ------------------------------------------------------------------------------------------------

int rank_of(DType dtype) {
  return dtype == DType::kBool ? 0 : is_floating(dtype) ? 2 : is_integer(dtype) ? 1 : 3;
}
// Of two types the one that holds both: floating before integer before bool, wider before narrower.
DType joined(DType a, DType b) {
  if (a == b) return a;
  if (rank_of(a) != rank_of(b)) return rank_of(a) > rank_of(b) ? a : b;
  if (size_of(a) == size_of(b)) return is_floating(a) ? DType::kFloat32 : a;
  return size_of(a) > size_of(b) ? a : b;
}
Values same_types(const Values& x) {
  DType dtype = x.at(0).dtype();
  for (const Tensor& t : x) dtype = joined(dtype, t.dtype());
  Values out;
  for (const Tensor& t : x) out.push_back(t.dtype() == dtype ? t : cast(t, dtype));
  return out;
}
Tensor as_bool(const Tensor& x) { return x.dtype() == DType::kBool ? x : x != zeros_like(x); }

// ---- shapes -----------------------------------------------------------------------------------------------

// A size of null is that of the input at the same axis where another one is to be found.
Tensor reshaped(const Tensor& x, const Config& options) {
  const Config* shape = options.find("newshape");
  if (!shape || !shape->list()) fail_config("newshape as a list of sizes", options);
  std::vector<Tensor> sizes;
  std::vector<int64_t> known;
  bool open = false;
  for (const Config& c : *shape->list()) open |= c.integer() && *c.integer() == -1;
  for (const Config& c : *shape->list()) {
    int64_t n = -1;
    if (!c.is_null()) from_config(c, &n);
    const size_t axis = known.size();
    known.push_back(n);
    const bool dynamic = c.is_null() && open && int(axis) < x.rank();
    sizes.push_back(dynamic ? rw::shape(x)[int64_t(axis)] : constant(int32_t(n)));
    open |= c.is_null();
  }
  if (std::count(known.begin(), known.end(), -1) < 2) return reshape(x, known);
  return reshape(x, stack(sizes));
}

SliceBound bound(const Config* c) {
  if (!c || c->is_null()) return none;
  int64_t at = 0;
  from_config(*c, &at);
  return at;
}
Index index_of(const Config& c) {
  const Config* kind = c.find("class_name");
  const std::string* name = kind ? kind->text() : nullptr;
  if (name && *name == "__slice__") {
    const Config* config = c.find("config");
    if (!config) fail_config("a slice", c);
    return Slice(bound(config->find("start")), bound(config->find("stop")), bound(config->find("step")));
  }
  if (name && *name == "__ellipsis__") return ellipsis;
  if (c.is_null()) return newaxis;
  int64_t at = 0;
  if (!c.integer())
    fail_unimplemented("from_config", "an index of GetItem that is no number or slice: got " + to_text(c));
  from_config(c, &at);
  return at;
}
Tensor item_of(const Tensor& x, const Extra& extra) {
  if (extra.size() != 1) fail_invalid("from_config", "operation GetItem takes an index");
  std::vector<Index> indices;
  const Extra one{extra[0]};
  for (const Config& c : extra[0].list() ? *extra[0].list() : one) indices.push_back(index_of(c));
  return x.index(indices);
}

std::vector<int64_t> swapped_axes(int rank, int64_t a, int64_t b) {
  std::vector<int64_t> perm(size_t(rank), 0);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm.at(size_t(a < 0 ? a + rank : a)), perm.at(size_t(b < 0 ? b + rank : b)));
  return perm;
}
std::vector<int64_t> moved_axes(int rank, const Config& options) {
  auto from = option(options, "source", std::vector<int64_t>());
  auto to = option(options, "destination", std::vector<int64_t>());
  if (from.size() != to.size() || from.size() > size_t(rank))
    fail_config("as many sources as destinations", options);
  std::vector<int64_t> perm(size_t(rank), -1), rest;
  for (int64_t& a : from) a += a < 0 ? rank : 0;
  for (size_t i = 0; i < to.size(); ++i) perm.at(size_t(to[i] < 0 ? to[i] + rank : to[i])) = from[i];
  for (int64_t a = 0; a < rank; ++a)
    if (std::find(from.begin(), from.end(), a) == from.end()) rest.push_back(a);
  size_t next = 0;
  for (int64_t& p : perm)
    if (p < 0) p = rest.at(next++);
  return perm;
}

Values parts_of(const Tensor& x, const Config& options) {
  const auto axis = int(axis_option(options, 0));
  const Config* where = options.find("indices_or_sections");
  if (where && where->integer()) return split(x, int(*where->integer()), axis);
  const auto at = option(options, "indices_or_sections", std::vector<int64_t>());
  const int64_t whole = x.dim(axis);
  if (whole < 0) fail_unimplemented("from_config", "Split at indices along an axis of unknown size");
  std::vector<int64_t> sizes;
  int64_t before = 0;
  for (const int64_t end : at) {
    const int64_t place = std::clamp(end < 0 ? end + whole : end, before, whole);
    sizes.push_back(place - before);
    before = place;
  }
  sizes.push_back(whole - before);
  return split(x, sizes, axis);
}

Tensor padded(const Tensor& x, const Config& options) {
  const std::string mode = option(options, "mode", std::string("constant"));
  std::vector<std::pair<int64_t, int64_t>> pairs;
  const Config* width = options.find("pad_width");
  if (!width || !width->list()) fail_config("pad_width as a list of pairs", options);
  for (const Config& c : *width->list()) {
    std::vector<int64_t> pair;
    from_config(c, &pair);
    if (pair.size() != 2) fail_config("pad_width as a list of pairs", options);
    pairs.emplace_back(pair[0], pair[1]);
  }
  if (mode != "constant" && mode != "reflect" && mode != "symmetric")
    fail_unimplemented("from_config", "Pad with mode \"" + mode + "\"");
  return pad(x, pairs, mode == "constant" ? "CONSTANT" : mode == "reflect" ? "REFLECT" : "SYMMETRIC");
}

Tensor normalize(const Tensor& x, const Config& o) {
  if (option(o, "order", 2.0) != 2) fail_unimplemented("from_config", "Normalize of another order than 2");
  const Tensor sum = reduce_sum(square(x), axes_option(o), true);
  return x * math::rsqrt(maximum(sum, std::pow(option(o, "epsilon", 1e-7), 2)));
}

Tensor norm_of(const Tensor& x, const Config& o) {
  if (const Config* order = o.find("ord"); order && !order->is_null() && !(*order == Config(2)))
    fail_unimplemented("from_config", "Norm of another order than 2");
  return sqrt(reduce_sum(square(x), axes_option(o), keepdims(o)));
}

Tensor extreme(const Tensor& x, const Config& o, bool largest) {
  const bool whole = is_none(o, "axis");
  const Tensor flat = whole ? reshape(x, {-1}) : x;
  const auto axis = int(axis_option(o, 0));
  const Tensor at = largest ? argmax(flat, axis, DType::kInt32) : argmin(flat, axis, DType::kInt32);
  return keepdims(o) && !whole ? expand_dims(at, axis) : at;
}

// k: the diagonal from which on, or up to which, elements stay.
Tensor triangle(const Tensor& x, const Config& o, bool upper) {
  const int64_t k = option(o, "k", int64_t{0});
  const Tensor rows = expand_dims(range(rw::shape(x)[-2]), 1),
               columns = expand_dims(range(rw::shape(x)[-1]), 0);
  const Tensor d = columns - rows;
  return where(upper ? d >= int32_t(k) : d <= int32_t(k), x, zeros_like(x));
}

Tensor moments(const Tensor& x, const Config& o, bool variance) {
  return variance ? reduce_variance(real(x), axes_option(o), keepdims(o))
                  : reduce_mean(real(x), axes_option(o), keepdims(o));
}

constexpr const char* kNumpy = "keras.src.ops.numpy";
constexpr const char* kNN = "keras.src.ops.nn";
constexpr const char* kMath = "keras.src.ops.math";
constexpr const char* kCore = "keras.src.ops.core";
constexpr const char* kLinalg = "keras.src.ops.linalg";

#define RW_CALL(expression)                                            \
  [](const Values& x, const Config& o, const Extra& extra) -> Values { \
    return (void)o, (void)extra, Values{expression};                   \
  }
#define RW_MANY(expression)                                            \
  [](const Values& x, const Config& o, const Extra& extra) -> Values { \
    return (void)o, (void)extra, expression;                           \
  }
#define RW_UNARY(Name, module, f) {Name, module, 1, RW_CALL(f(x[0]))}
#define RW_REAL(Name, module, f) {Name, module, 1, RW_CALL(f(real(x[0])))}
#define RW_BINARY(Name, f)                                                       \
  {Name, kNumpy, 2, [](const Values& x, const Config&, const Extra&) -> Values { \
     const Values y = same_types(x);                                             \
     return {f(y[0], y[1])};                                                     \
   }}
#define RW_REDUCTION(Name, f) {Name, kNumpy, 1, RW_CALL(f(x[0], axes_option(o), keepdims(o)))}

constexpr OperationRow kRows[] = {
    // between two
    RW_BINARY("Add", add),
    RW_BINARY("Subtract", subtract),
    RW_BINARY("Multiply", multiply),
    RW_BINARY("TrueDivide", truediv),
    RW_BINARY("Divide", truediv),
    RW_BINARY("FloorDivide", math::floordiv),
    RW_BINARY("Mod", math::floormod),
    RW_BINARY("Power", pow),
    RW_BINARY("Maximum", maximum),
    RW_BINARY("Minimum", minimum),
    RW_BINARY("Matmul", matmul),
    RW_BINARY("Arctan2", atan2),
    RW_BINARY("Equal", equal),
    RW_BINARY("NotEqual", not_equal),
    RW_BINARY("Less", less),
    RW_BINARY("LessEqual", less_equal),
    RW_BINARY("Greater", greater),
    RW_BINARY("GreaterEqual", greater_equal),
    {"LogicalAnd", kNumpy, 2, RW_CALL(logical_and(as_bool(x[0]), as_bool(x[1])))},
    {"LogicalOr", kNumpy, 2, RW_CALL(logical_or(as_bool(x[0]), as_bool(x[1])))},
    {"LogicalNot", kNumpy, 1, RW_CALL(logical_not(as_bool(x[0])))},
    {"Where", kNumpy, 3, [](const Values& x, const Config&, const Extra&) -> Values {
       const Values y = same_types({x[1], x[2]});
       return {where(as_bool(x[0]), y[0], y[1])};
     }},
    // of each element
    RW_UNARY("Negative", kNumpy, negative),
    RW_UNARY("Absolute", kNumpy, abs),
    RW_UNARY("Abs", kNumpy, abs),
    RW_UNARY("Sign", kNumpy, sign),
    RW_UNARY("Square", kNumpy, square),
    RW_UNARY("Floor", kNumpy, floor),
    RW_UNARY("Ceil", kNumpy, math::ceil),
    {"Round", kNumpy, 1, [](const Values& x, const Config& o, const Extra&) -> Values {
       const double scale = std::pow(10.0, option(o, "decimals", 0));
       return {scale == 1 ? rw::round(x[0]) : rw::round(x[0] * scale) / scale};
     }},
    RW_REAL("Exp", kNumpy, exp),
    RW_REAL("Expm1", kNumpy, math::expm1),
    RW_REAL("Log", kNumpy, math::log),
    RW_REAL("Log1p", kNumpy, math::log1p),
    {"Log2", kNumpy, 1, RW_CALL(math::log(real(x[0])) / std::log(2.0))},
    {"Log10", kNumpy, 1, RW_CALL(math::log(real(x[0])) / std::log(10.0))},
    RW_REAL("Sqrt", kNumpy, sqrt),
    RW_REAL("Rsqrt", kMath, math::rsqrt),
    RW_REAL("Reciprocal", kNumpy, math::reciprocal),
    RW_REAL("Erf", kMath, math::erf),
    RW_REAL("Sin", kNumpy, sin),
    RW_REAL("Cos", kNumpy, cos),
    RW_REAL("Tan", kNumpy, tan),
    RW_REAL("Arcsin", kNumpy, asin),
    RW_REAL("Arccos", kNumpy, acos),
    RW_REAL("Arctan", kNumpy, atan),
    RW_REAL("Sinh", kNumpy, sinh),
    RW_REAL("Cosh", kNumpy, cosh),
    RW_REAL("Tanh", kNumpy, rw::tanh),
    RW_UNARY("Isnan", kNumpy, math::is_nan),
    RW_UNARY("Isinf", kNumpy, math::is_inf),
    RW_UNARY("Isfinite", kNumpy, math::is_finite),
    RW_UNARY("StopGradient", kCore, stop_gradient),
    RW_UNARY("Identity", kCore, identity),
    {"Cast", kCore, 1, RW_CALL(cast(x[0], option(o, "dtype", DType::kFloat32)))},
    {"Clip", kNumpy, 1, RW_CALL(clip_by_value(x[0], option(o, "x_min", 0.0), option(o, "x_max", 0.0)))},
    {"ZerosLike", kNumpy, 1, RW_CALL(zeros_like(x[0], option(o, "dtype", x[0].dtype())))},
    {"OnesLike", kNumpy, 1, RW_CALL(ones_like(x[0], option(o, "dtype", x[0].dtype())))},
    {"FullLike", kNumpy, 2, RW_CALL(fill(rw::shape(x[0]), cast(x[1], option(o, "dtype", x[0].dtype()))))},
    // activations
    RW_UNARY("Relu", kNN, activations::relu),
    RW_UNARY("Relu6", kNN, activations::relu6),
    RW_UNARY("Sigmoid", kNN, activations::sigmoid),
    RW_UNARY("LogSigmoid", kNN, activations::log_sigmoid),
    RW_UNARY("Silu", kNN, activations::silu),
    RW_UNARY("Selu", kNN, activations::selu),
    RW_UNARY("Softplus", kNN, activations::softplus),
    RW_UNARY("Softsign", kNN, activations::softsign),
    RW_UNARY("HardSigmoid", kNN, activations::hard_sigmoid),
    RW_UNARY("HardSilu", kNN, activations::hard_silu),
    RW_UNARY("HardTanh", kNN, activations::hard_tanh),
    {"Gelu", kNN, 1, RW_CALL(activations::gelu(x[0], option(o, "approximate", true)))},
    {"Elu", kNN, 1, RW_CALL(activations::elu(x[0], option(o, "alpha", 1.0)))},
    {"Celu", kNN, 1, RW_CALL(activations::celu(x[0], option(o, "alpha", 1.0)))},
    {"Glu", kNN, 1, RW_CALL(activations::glu(x[0], int(axis_option(o, -1))))},
    {"LeakyRelu", kNN, 1, RW_CALL(activations::leaky_relu(x[0], option(o, "negative_slope", 0.2)))},
    {"Softmax", kNN, 1, RW_CALL(activations::softmax(x[0], int(axis_option(o, -1))))},
    {"LogSoftmax", kNN, 1, RW_CALL(activations::log_softmax(x[0], int(axis_option(o, -1))))},
    // reductions
    {"Mean", kNumpy, 1, RW_CALL(moments(x[0], o, false))},
    {"Var", kNumpy, 1, RW_CALL(moments(x[0], o, true))},
    {"Std", kNumpy, 1, RW_CALL(sqrt(moments(x[0], o, true)))},
    {"Sum", kNumpy, 1,
     RW_CALL(reduce_sum(x[0].dtype() == DType::kBool ? cast(x[0], DType::kInt32) : x[0], axes_option(o), keepdims(o)))},
    RW_REDUCTION("Max", reduce_max),
    RW_REDUCTION("Min", reduce_min),
    RW_REDUCTION("Prod", reduce_prod),
    {"Any", kNumpy, 1, RW_CALL(reduce_any(as_bool(x[0]), axes_option(o), keepdims(o)))},
    {"All", kNumpy, 1, RW_CALL(reduce_all(as_bool(x[0]), axes_option(o), keepdims(o)))},
    {"CountNonzero", kNumpy, 1, RW_CALL(reduce_sum(cast(as_bool(x[0]), DType::kInt32), axes_option(o)))},
    {"Argmax", kNumpy, 1, RW_CALL(extreme(x[0], o, true))},
    {"Argmin", kNumpy, 1, RW_CALL(extreme(x[0], o, false))},
    {"Logsumexp", kMath, 1, RW_CALL(reduce_logsumexp(x[0], axes_option(o), keepdims(o)))},
    {"Norm", kLinalg, 1, RW_CALL(norm_of(x[0], o))},
    {"Normalize", kNN, 1, RW_CALL(normalize(x[0], o))},
    {"Cumsum", kNumpy, 1,
     RW_CALL(is_none(o, "axis") ? cumsum(reshape(x[0], {-1})) : cumsum(x[0], int(axis_option(o, 0))))},
    {"Sort", kNumpy, 1, RW_CALL(sort(x[0], axis_option(o, -1)))},
    // moving elements
    {"GetItem", kNumpy, 1, RW_CALL(item_of(x[0], extra))},
    {"Reshape", kNumpy, 1, RW_CALL(reshaped(x[0], o))},
    {"Ravel", kNumpy, 1, RW_CALL(reshape(x[0], {-1}))},
    {"Transpose", kNumpy, 1,
     RW_CALL(is_none(o, "axes") ? transpose(x[0]) : transpose(x[0], option(o, "axes", std::vector<int64_t>())))},
    {"Swapaxes", kNumpy, 1,
     RW_CALL(transpose(x[0], swapped_axes(x[0].rank(), option(o, "axis1", 0), option(o, "axis2", 0))))},
    {"Moveaxis", kNumpy, 1, RW_CALL(transpose(x[0], moved_axes(x[0].rank(), o)))},
    {"ExpandDims", kNumpy, 1, [](const Values& x, const Config& o, const Extra&) -> Values {
       auto axes = option(o, "axis", std::vector<int64_t>());
       const int64_t rank = x[0].rank() + int64_t(axes.size());
       for (int64_t& a : axes) a += a < 0 ? rank : 0;
       std::sort(axes.begin(), axes.end());
       Tensor y = x[0];
       for (const int64_t a : axes) y = expand_dims(y, a);
       return {y};
     }},
    {"Squeeze", kNumpy, 1, RW_CALL(squeeze(x[0], option(o, "axis", std::vector<int64_t>())))},
    {"Flip", kNumpy, 1, [](const Values& x, const Config& o, const Extra&) -> Values {
       std::vector<int64_t> axes(size_t(x[0].rank()));
       std::iota(axes.begin(), axes.end(), 0);
       return {reverse(x[0], option(o, "axis", axes))};
     }},
    {"Roll", kNumpy, 1, [](const Values& x, const Config& o, const Extra&) -> Values {
       const auto shift = option(o, "shift", std::vector<int64_t>());
       if (!is_none(o, "axis")) return {roll(x[0], shift, option(o, "axis", std::vector<int64_t>()))};
       return {reshape(roll(reshape(x[0], {-1}), shift, std::vector<int64_t>{0}), rw::shape(x[0]))};
     }},
    {"Repeat", kNumpy, 1, [](const Values& x, const Config& o, const Extra&) -> Values {
       const int64_t times = option(o, "repeats", int64_t{1});
       if (is_none(o, "axis")) return {repeat(x[0], times)};
       return {repeat(x[0], times, int(axis_option(o, 0)))};
     }},
    {"Tile", kNumpy, 1, RW_CALL(tile(x[0], option(o, "repeats", std::vector<int64_t>())))},
    {"Pad", kNumpy, 1, RW_CALL(padded(x[0], o))},
    {"BroadcastTo", kNumpy, 1, RW_CALL(broadcast_to(x[0], option(o, "shape", std::vector<int64_t>())))},
    {"Take", kNumpy, 2, RW_CALL(gather(x[0], cast(x[1], DType::kInt32), axis_option(o, 0)))},
    {"Triu", kNumpy, 1, RW_CALL(triangle(x[0], o, true))},
    {"Tril", kNumpy, 1, RW_CALL(triangle(x[0], o, false))},
    {"OneHot", kNN, 1,
     RW_CALL(one_hot(x[0], option(o, "num_classes", int32_t{0}),
                     {.axis = int(axis_option(o, -1)), .dtype = option(o, "dtype", DType::kFloat32)}))},
    // several
    {"Concatenate", kNumpy, 0, RW_CALL(concat(same_types(x), axis_option(o, 0)))},
    {"Stack", kNumpy, 0, RW_CALL(stack(same_types(x), int(axis_option(o, 0))))},
    {"Einsum", kNumpy, 0, RW_CALL(einsum(option(o, "subscripts", std::string()), Operands(same_types(x))))},
    {"Split", kNumpy, 1, RW_MANY(parts_of(x[0], o))},
    {"Unstack", kCore, 1, RW_MANY(unstack(x[0], int(axis_option(o, 0))))},
};

}  // namespace

const OperationRow* Operation::find(const std::string& class_name) {
  for (const OperationRow& row : kRows)
    if (class_name == row.name) return &row;
  return nullptr;
}

}  // namespace rw::keras
