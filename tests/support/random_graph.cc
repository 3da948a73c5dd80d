#include "tests/support/random_graph.h"

#include <cmath>
#include <limits>

#include "rewind/base/dispatch.h"
#include "rewind/base/error.h"
#include "rewind/op/table.h"
#include "tests/support/graph_examples.h"

namespace rw::test {
namespace {

using Rng = std::mt19937_64;
constexpr int64_t kMostElements = 800;
// Complex types have no kernels on the CPU yet.
constexpr DType kTypes[] = {
    DType::kFloat32,  DType::kFloat32, DType::kFloat32, DType::kFloat64, DType::kFloat64, DType::kFloat16,
    DType::kBfloat16, DType::kInt32,   DType::kInt32,   DType::kInt64,   DType::kBool,    DType::kBool,
    DType::kInt8,     DType::kInt16,   DType::kUint8,   DType::kUint16,  DType::kUint32,  DType::kUint64};

// Pure elementwise rows without lists whose attributes all have defaults.
const std::vector<const Op*>& elementwise_ops() {
  static const std::vector<const Op*> ops = [] {
    std::vector<const Op*> found;
    for (const Op* op : op_table().all()) {
      bool suits = op->elementwise && op->simple && !op->stateful && !op->inputs.empty();
      for (const AttrDef& a : op->attrs) suits &= a.inferred || a.default_value.has_value();
      for (const ArgDef& a : op->inputs) suits &= a.dtype != DType::kString;
      if (suits) found.push_back(op);
    }
    return found;
  }();
  return ops;
}

// What most values of one graph look like: few types, and one shape with what broadcasts to it. Graphs of
// unrelated values would hardly ever combine them.
struct Palette {
  std::vector<DType> types;
  Shape shape;

  explicit Palette(Rng& rng) {
    for (int i = 0; i < 2; ++i) types.push_back(kTypes[rng() % std::size(kTypes)]);
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33};
    for (uint64_t r = 1 + rng() % 3; r > 0; --r) {
      const int64_t size = kSizes[rng() % std::size(kSizes)];
      shape.append(shape.num_elements() * size > kMostElements ? 2 : size);
    }
    if (rng() % 50 == 0) shape = Shape{20011};  // enough for several threads
  }
};

class Generator {
 public:
  Generator(Rng& rng, const Palette& palette, int depth, std::string name)
      : rng_(rng), palette_(palette), depth_(depth) {
    g_->name = std::move(name);
  }

  std::shared_ptr<Graph> graph() const { return g_; }
  std::vector<HostTensor> feeds;

  void add_arguments() {
    const int count = 1 + below(4);
    for (int i = 0; i < count; ++i) {
      const DType dtype = any_type();
      const Shape shape = any_shape();
      feeds.push_back(random_tensor(rng_, dtype, shape));
      values_.push_back(g_->add_argument(dtype, shape));
    }
    for (int i = below(3); i > 0; --i) {
      const DType dtype = any_type();
      const Shape shape = any_shape();
      feeds.push_back(random_tensor(rng_, dtype, shape));
      add_variable(dtype, shape);
    }
  }
  // An argument that looks like a value of the graph around.
  void add_argument_like(const GraphValue& v) {
    if (v.dtype == DType::kResource) add_variable(v.variable->dtype, v.variable->shape);
    else values_.push_back(g_->add_argument(v.dtype, v.shape));
  }
  void add_nodes(int count) {
    for (int i = 0; i < count; ++i) {
      try {
        add_something();
      } catch (const Error&) {}  // a call that the rules refuse
    }
  }
  // Mostly what nobody uses, so that little is dead; sometimes an argument, a constant, the same twice.
  void choose_outputs() {
    std::vector<bool> used(g_->num_values(), false);
    for (const Node& n : g_->nodes())
      for (const ValueId v : n.inputs) used[size_t(v)] = true;
    for (const ValueId v : values_)
      if (!used[size_t(v)] && g_->value(v).node >= 0 && chance(0.7)) g_->outputs.push_back(v);
    for (int i = below(3) + int(g_->outputs.empty()); i > 0; --i) g_->outputs.push_back(one_of(values_));
  }
  // A value of this type and shape: one that is there, or a new constant.
  ValueId like(DType dtype, const Shape& shape) {
    std::vector<ValueId> fitting;
    for (const ValueId v : values_)
      if (g_->value(v).dtype == dtype && g_->value(v).shape == shape) fitting.push_back(v);
    if (!fitting.empty()) return fitting[chance(0.7) ? fitting.size() - 1 : index(fitting.size())];
    return g_->add_constant(random_tensor(rng_, dtype, shape));
  }

 private:
  // ---- chance
  size_t index(size_t n) { return size_t(rng_() % n); }
  int below(int n) { return int(rng_() % uint64_t(n)); }
  bool chance(double p) { return double(rng_() % 10000) < p * 10000; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[index(list.size())];
  }
  DType any_type() { return chance(0.8) ? one_of(palette_.types) : kTypes[index(std::size(kTypes))]; }
  Shape any_shape() {
    if (chance(0.5)) return palette_.shape;
    Shape s = palette_.shape;
    if (chance(0.8)) {
      while (s.rank() > 0 && chance(0.3)) s.erase(0);
      for (int a = 0; a < s.rank(); ++a)
        if (chance(0.4)) s.set(a, 1);
      return s;
    }
    s = Shape();
    for (int r = below(5); r > 0; --r) {
      const int64_t size = chance(0.1) ? 0 : 1 + below(6);
      s.append(s.num_elements() * size > kMostElements ? 1 : size);
    }
    return s;
  }

  // ---- building
  void add_variable(DType dtype, const Shape& shape) {
    const ValueId v = g_->add_argument(DType::kResource, Shape());
    g_->value(v).variable = std::make_shared<VariableSpec>(VariableSpec{dtype, shape});
    variables_.push_back(v);
  }
  void node(const char* op, const std::vector<ValueId>& inputs, const Attrs& attrs = {}) {
    node(find_op(op), inputs, attrs);
  }
  void node(const Op& op, const std::vector<ValueId>& inputs, const Attrs& attrs = {}) {
    const NodeId id = g_->add_node(op, attrs, inputs);
    for (const ValueId v : g_->node(id).outputs) {
      const GraphValue& made = g_->value(v);
      if (made.dtype == DType::kResource || made.dtype == DType::kVariant || !made.shape.fully_known())
        continue;
      if (made.shape.num_elements() <= 4 * kMostElements || made.shape == Shape{20011}) values_.push_back(v);
    }
  }
  ValueId ints(const std::vector<int64_t>& list) {
    if (chance(0.5)) return g_->add_constant(host<int64_t>({int64_t(list.size())}, list));
    return g_->add_constant(host<int32_t>({int64_t(list.size())}, {list.begin(), list.end()}));
  }
  ValueId number(int64_t v) { return g_->add_constant(host<int32_t>({}, {int32_t(v)})); }
  ValueId any() {
    return values_[chance(0.5) ? values_.size() - 1 - index(std::min<size_t>(values_.size(), 5))
                               : index(values_.size())];
  }
  // Some value that the filter likes; throws when there is none.
  template <class Filter>
  ValueId any(Filter likes) {
    for (int i = 0; i < 20; ++i)
      if (const ValueId v = any(); likes(g_->value(v))) return v;
    throw InvalidArgumentError("no such value");
  }
  ValueId of_type(DType dtype) {
    if (chance(0.15))
      return g_->add_constant(random_tensor(rng_, dtype, chance(0.5) ? Shape() : any_shape()));
    return any([&](const GraphValue& v) { return v.dtype == dtype; });
  }
  // All elements alike: what algebra looks for.
  HostTensor splat(DType dtype, const Shape& shape, double number) {
    HostTensor t = random_tensor(rng_, dtype, shape);
    dispatch<kRealTypes | set_of(DType::kBool)>(dtype, [&]<class T>() {
      auto* data = static_cast<T*>(const_cast<void*>(t.data.get()));
      for (int64_t i = 0; i < shape.num_elements(); ++i) data[i] = T(Compute<T>(number));
    });
    return t;
  }
  const Shape& shape(ValueId v) const { return g_->value(v).shape; }
  DType dtype(ValueId v) const { return g_->value(v).dtype; }
  ValueId with_axes() {
    return any([](const GraphValue& v) { return v.shape.rank() > 0; });
  }
  std::vector<int64_t> some_axes(int rank) {
    std::vector<int64_t> axes;
    for (int a = 0; a < rank; ++a)
      if (chance(0.5)) axes.push_back(chance(0.3) ? a - rank : a);
    return axes;
  }

  void add_something() {
    const int kind = below(100);
    if (kind < 42) return add_elementwise();
    if (kind < 47) return node("Cast", {any()}, {{"DstT", any_type()}});
    if (kind < 55) return add_reduction();
    if (kind < 72) return add_movement();
    if (kind < 76) return add_product();
    if (kind < 84) return variables_.empty() ? add_elementwise() : add_state();
    if (kind < 87) return add_draw();
    if (kind < 90) return values_.push_back(g_->add_constant(random_tensor(rng_, any_type(), any_shape())));
    if (kind < 94) return repeat_node();
    if (depth_ < 2) return add_control();
    add_elementwise();
  }

  // With 0, 1, 2 or -1 on one side: what looks like nothing, and for -0 or a not-a-number may be something.
  void add_algebra() {
    static const std::vector<const char*> kOps = {"AddV2", "Sub", "Mul", "Div", "Maximum"};
    const ValueId x =
        any([](const GraphValue& v) { return v.dtype != DType::kBool && !is_host_only(v.dtype); });
    const ValueId c =
        g_->add_constant(splat(dtype(x), chance(0.5) ? Shape() : Shape(shape(x)), double(below(4) - 1)));
    const char* op = one_of(kOps);
    const bool left = op != kOps[3] && chance(0.4);
    node(op, left ? std::vector<ValueId>{c, x} : std::vector<ValueId>{x, c});
  }

  void add_elementwise() {
    if (chance(0.12)) return add_algebra();
    static const std::vector<const char*> kUsual = {
        "AddV2", "Sub",    "Mul", "Maximum", "Minimum", "RealDiv",  "Tanh",    "Exp",  "Neg",
        "Relu",  "Square", "Abs", "Less",    "Equal",   "SelectV2", "Sigmoid", "Floor"};
    const Op& op = chance(0.6) ? find_op(one_of(kUsual)) : *one_of(elementwise_ops());
    std::vector<ValueId> inputs;
    DType same = DType::kInvalid;
    for (const ArgDef& arg : op.inputs) {
      if (arg.dtype != DType::kInvalid) {
        inputs.push_back(of_type(arg.dtype));
      } else if (same == DType::kInvalid) {
        // True division and reciprocals of integers have rows and no kernels.
        const bool floats = op.name == "RealDiv" || op.name == "Reciprocal" || op.name == "Inv";
        inputs.push_back(any([&](const GraphValue& v) {
          const DTypeSet allowed = op.attrs[size_t(arg.type_attr)].allowed_types;
          return (allowed == 0 || contains(allowed, v.dtype)) && !(floats && !is_floating(v.dtype));
        }));
        same = dtype(inputs.back());
      } else {
        inputs.push_back(of_type(same));
      }
    }
    // Integers mostly by a number that divides and is a power: a graph that fails tests little.
    if (inputs.size() == 2 && same != DType::kInvalid && is_integer(same) && divides(op.name) &&
        chance(0.95)) {
      HostTensor by = random_tensor(rng_, same, {});
      dispatch<kIntTypes>(same, [&]<class T>() { by.data = std::make_shared<T>(T(1 + below(5))); });
      inputs[1] = g_->add_constant(by);
    }
    node(op, inputs);
  }
  static bool divides(std::string_view op) {
    for (const char* name : {"Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod", "Pow"})
      if (op == name) return true;
    return false;
  }

  void add_reduction() {
    static const std::vector<const char*> kOps = {"Sum", "Mean", "Prod", "Max", "Min", "Sum", "Mean", "Max"};
    const int kind = below(10);
    if (kind == 0) {
      const ValueId x = with_axes();
      return node("ArgMax", {x, number(below(shape(x).rank()))});
    }
    if (kind == 1) {
      const ValueId x = with_axes();
      return node(chance(0.5) ? "Cumsum" : "Cumprod", {x, number(below(shape(x).rank()))},
                  {{"exclusive", chance(0.5)}, {"reverse", chance(0.5)}});
    }
    if (kind == 2) return node(chance(0.5) ? "Softmax" : "LogSoftmax", {with_axes()});
    const bool logic = kind == 3;
    const ValueId x = logic ? of_type(DType::kBool) : any();
    node(logic ? (chance(0.5) ? "Any" : "All") : one_of(kOps), {x, ints(some_axes(shape(x).rank()))},
         {{"keep_dims", chance(0.5)}});
  }

  void add_movement() {
    const ValueId x = any();
    const Shape& s = shape(x);
    const int rank = s.rank();
    std::vector<int64_t> list(size_t(rank), 0);
    switch (below(16)) {
      case 0: {
        // Axes joined, or one more of size 1.
        list.assign(s.begin(), s.end());
        if (rank > 1 && chance(0.6)) list[1] *= list[0], list.erase(list.begin());
        else list.insert(list.begin() + below(rank + 1), 1);
        return node("Reshape", {x, ints(list)});
      }
      case 1: return node("Reshape", {x, ints({s.num_elements()})});
      case 2: {
        for (int a = 0; a < rank; ++a) list[size_t(a)] = a;
        std::shuffle(list.begin(), list.end(), rng_);
        return node("Transpose", {x, ints(list)});
      }
      case 3: return node("ExpandDims", {x, number(below(rank + 1))});
      case 4: return node("Squeeze", {x});
      case 5: {
        std::vector<int64_t> size;
        for (int a = 0; a < rank; ++a) {
          list[size_t(a)] = s[a] ? below(int(s[a])) : 0;
          size.push_back(chance(0.3) ? -1 : s[a] - list[size_t(a)] - (chance(0.3) && s[a] > list[size_t(a)]));
        }
        // Both of one type.
        return node("Slice", {x, g_->add_constant(host<int32_t>({rank}, {list.begin(), list.end()})),
                              g_->add_constant(host<int32_t>({rank}, {size.begin(), size.end()}))});
      }
      case 6: {
        std::vector<int32_t> begin, end, step;
        for (int a = 0; a < rank; ++a) {
          const bool back = chance(0.3);
          begin.push_back(back ? int32_t(s[a]) : below(2));
          end.push_back(back ? -int32_t(s[a]) - 1 : int32_t(s[a]));
          step.push_back((back ? -1 : 1) * (1 + below(2)));
        }
        return node(
            "StridedSlice",
            {x, g_->add_constant(host<int32_t>({rank}, begin)), g_->add_constant(host<int32_t>({rank}, end)),
             g_->add_constant(host<int32_t>({rank}, step))},
            {{"begin_mask", below(4)}, {"end_mask", below(4)}, {"shrink_axis_mask", chance(0.2) ? 1 : 0}});
      }
      case 7: {
        std::vector<ValueId> parts{x};
        for (int i = 1 + below(3); i > 0; --i) parts.push_back(of_type(dtype(x)));
        parts.push_back(number(rank ? below(rank) : 0));
        return node("ConcatV2", parts);
      }
      case 8: {
        std::vector<ValueId> parts{x};
        for (int i = below(3); i > 0; --i) parts.push_back(chance(0.5) ? x : like(dtype(x), Shape(s)));
        return node("Pack", parts, {{"axis", below(rank + 1)}});
      }
      case 9: {
        const int axis = rank ? below(rank) : 0;
        return node("Split", {number(axis), x},
                    {{"num_split", rank && s[axis] > 1 && s[axis] < 6 ? s[axis] : 1}});
      }
      case 10: {
        for (int64_t& m : list) m = 1 + below(2);
        return node("Tile", {x, ints(list)});
      }
      case 11: {
        std::vector<int32_t> pads;
        for (int a = 0; a < 2 * rank; ++a) pads.push_back(below(3));
        return node("PadV2", {x, g_->add_constant(host<int32_t>({rank, 2}, pads)),
                              g_->add_constant(random_tensor(rng_, dtype(x), {}))});
      }
      case 12: return node("ReverseV2", {x, ints(some_axes(rank))});
      case 13: {
        // Sizes of 1 grow, axes come in front.
        list.assign(s.begin(), s.end());
        for (int64_t& d : list)
          if (d == 1) d = 1 + below(4);
        if (chance(0.5)) list.insert(list.begin(), 1 + below(3));
        return node("BroadcastTo", {x, ints(list)});
      }
      case 14: {
        const int axis = rank ? below(rank) : 0;
        std::vector<int32_t> indices;
        for (int i = below(5); i > 0 && rank && s[axis]; --i) indices.push_back(below(int(s[axis])));
        return node("GatherV2",
                    {x, g_->add_constant(host<int32_t>({int64_t(indices.size())}, indices)), number(axis)});
      }
      default:
        if (chance(0.3)) return node("Shape", {x});
        if (chance(0.3)) return node("Fill", {ints({2, 3}), like(dtype(x), Shape())});
        return node(chance(0.5) ? "ZerosLike" : "OnesLike", {x});
    }
  }

  void add_product() {
    const ValueId a = any([](const GraphValue& v) { return v.shape.rank() >= 2 && v.dtype != DType::kBool; });
    const int rank = shape(a).rank();
    const bool flip = chance(0.3), turn = chance(0.3);
    const int64_t inner = shape(a)[flip ? rank - 2 : rank - 1];
    const int64_t outer = 1 + below(9);
    const ValueId b = like(dtype(a), turn ? Shape{outer, inner} : Shape{inner, outer});
    if (rank == 2) node("MatMul", {a, b}, {{"transpose_a", flip}, {"transpose_b", turn}});
    else node("BatchMatMulV2", {a, b}, {{"adj_x", flip}, {"adj_y", turn}});
    if (chance(0.5)) {
      const ValueId product = values_.back();
      const ValueId bias = like(dtype(a), Shape{outer});
      node(chance(0.5) ? "BiasAdd" : "AddV2", {product, bias});
      if (chance(0.5)) node("Relu", {values_.back()});
    }
  }

  void add_state() {
    const ValueId handle = one_of(variables_);
    const VariableSpec spec = *g_->value(handle).variable;
    const int kind = below(10);
    if (kind < 5) return node("ReadVariableOp", {handle}, {{"dtype", spec.dtype}});
    const ValueId value = like(spec.dtype, spec.shape);
    if (kind < 7 || spec.dtype == DType::kBool) return node("AssignVariableOp", {handle, value});
    if (kind == 9 && is_floating(spec.dtype))
      return node("ResourceApplyGradientDescent",
                  {handle, g_->add_constant(random_tensor(rng_, spec.dtype, {})), value});
    node(kind == 7 ? "AssignAddVariableOp" : "AssignSubVariableOp", {handle, value});
  }

  void add_draw() {
    const Shape s = any_shape();
    const ValueId dims = ints({s.begin(), s.end()});
    if (chance(0.4))
      return node("RandomUniform", {dims},
                  {{"dtype", DType::kFloat32}, {"seed", 7}, {"seed2", int64_t(1 + rng_() % 1000000)}});
    node(chance(0.5) ? "StatelessRandomUniform" : "StatelessRandomNormal", {dims, ints({below(5), below(5)})},
         {{"dtype", chance(0.5) ? DType::kFloat32 : DType::kFloat64}});
  }

  // The same node once more: a common subexpression, unless state lies between. Draws have a stream each:
  // one that is not needed must not change another.
  void repeat_node() {
    if (g_->nodes().empty()) return;
    const Node again = g_->nodes()[index(g_->nodes().size())];
    if (again.op->stateful && again.op->name != "ReadVariableOp") return;
    node(*again.op, {again.inputs.begin(), again.inputs.end()}, again.attrs);
  }

  // ---- control flow
  void add_control() {
    std::vector<ValueId> inputs;
    for (int i = 1 + below(4); i > 0; --i) inputs.push_back(any());
    const bool state = !variables_.empty() && chance(0.4);
    if (state) inputs.push_back(one_of(variables_));
    switch (below(4)) {
      case 0: return add_call(inputs, state);
      case 1: return add_while(inputs, state);
      default: return add_if(inputs, state);
    }
  }
  Generator inside(const std::vector<ValueId>& inputs, const char* name, bool counter = false) {
    Generator body(rng_, palette_, depth_ + 1, name);
    if (counter) body.values_.push_back(body.g_->add_argument(DType::kInt32, {}));
    for (const ValueId v : inputs) body.add_argument_like(g_->value(v));
    return body;
  }
  void add_call(const std::vector<ValueId>& inputs, bool state) {
    Generator body = inside(inputs, "called");
    body.add_nodes(1 + below(6));
    body.choose_outputs();
    node(state || effects(*body.g_) ? "StatefulPartitionedCall" : "PartitionedCall", inputs,
         {{"f", BodyRef(body.g_)}, {"Tout", body.g_->output_types()}});
  }
  void add_if(std::vector<ValueId> inputs, bool state) {
    Generator yes = inside(inputs, "yes"), no = inside(inputs, "no");
    yes.add_nodes(1 + below(6));
    no.add_nodes(1 + below(6));
    yes.choose_outputs();
    for (const ValueId v : yes.g_->outputs)
      no.g_->outputs.push_back(no.like(yes.dtype(v), Shape(yes.shape(v))));
    ValueId predicate;
    if (chance(0.2)) predicate = g_->add_constant(host<bool>({}, {chance(0.5)}));
    else predicate = like(DType::kBool, Shape());
    inputs.insert(inputs.begin(), predicate);
    node(state || effects(*yes.g_) || effects(*no.g_) ? "If" : "StatelessIf", inputs,
         {{"then_branch", BodyRef(yes.g_)},
          {"else_branch", BodyRef(no.g_)},
          {"Tout", yes.g_->output_types()}});
  }
  void add_while(std::vector<ValueId> inputs, bool state) {
    Generator test = inside(inputs, "test", true), body = inside(inputs, "body", true);
    const ValueId count = test.g_->arguments[0];
    const NodeId less =
        test.g_->add_node(find_op("Less"), {}, std::vector<ValueId>{count, test.number(below(4))});
    test.g_->outputs = {test.g_->node(less).outputs[0]};
    const ValueId counter = body.g_->arguments[0];
    body.add_nodes(1 + below(6));
    const NodeId next =
        body.g_->add_node(find_op("AddV2"), {}, std::vector<ValueId>{counter, body.number(1)});
    body.g_->outputs = {body.g_->node(next).outputs[0]};
    for (size_t i = 0; i < inputs.size(); ++i) {
      const GraphValue& v = g_->value(inputs[i]);
      body.g_->outputs.push_back(v.dtype == DType::kResource ? body.g_->arguments[i + 1]
                                                             : body.like(v.dtype, Shape(v.shape)));
    }
    inputs.insert(inputs.begin(), number(0));
    node(state || effects(*body.g_) ? "While" : "StatelessWhile", inputs,
         {{"cond", BodyRef(test.g_)}, {"body", BodyRef(body.g_)}});
  }
  static bool effects(const Graph& g) {
    for (const Node& n : g.nodes())
      if (n.op->stateful) return true;
    return false;
  }

  Rng& rng_;
  const Palette& palette_;
  int depth_;  // 0: the graph itself
  std::shared_ptr<Graph> g_ = std::make_shared<Graph>();
  std::vector<ValueId> values_, variables_;
};

template <class T>
T random_number(Rng& rng) {
  const int kind = int(rng() % 100);
  if constexpr (std::is_same_v<T, bool>) return kind % 2;
  else if constexpr (std::is_integral_v<T>)
    return kind < 2 ? T(rng()) : T(int(rng() % 12) - (std::is_signed_v<T> ? 4 : 0));
  else {
    static const double kSpecial[] = {0.0,   -0.0,   1.0,     -1.0,    INFINITY, -INFINITY, NAN,
                                      1e-40, -3e-39, 1.5e-38, -4e-310, 3e-308,   3e-7,      1e30};
    if (kind < 8) return T(kSpecial[rng() % std::size(kSpecial)]);
    if (kind < 12) return T(rng() % 2 ? -0.0 : 0.0);
    if (kind < 30) return T(double(int(rng() % 9) - 4));
    return T((double(rng() % 100001) / 50000 - 1) * 3);
  }
}

}  // namespace

HostTensor random_tensor(Rng& rng, DType dtype, const Shape& shape) {
  HostTensor t{dtype, shape, nullptr};
  const auto n = size_t(shape.num_elements());
  dispatch<kRealTypes | set_of(DType::kBool)>(dtype, [&]<class T>() {
    auto data = std::shared_ptr<T[]>(new T[n + 1]());
    for (size_t i = 0; i < n; ++i) {
      if constexpr (std::is_arithmetic_v<T>) data[i] = random_number<T>(rng);
      else data[i] = T(random_number<float>(rng));
    }
    t.data = std::shared_ptr<const void>(data, data.get());
  });
  if (!t.data) throw InvalidArgumentError("no numbers of this type");
  return t;
}

GraphCase random_graph(uint64_t seed) {
  Rng rng(seed * 0x9e3779b97f4a7c15u + 1);
  const Palette palette(rng);
  Generator gen(rng, palette, 0, "random" + std::to_string(seed));
  gen.add_arguments();
  gen.add_nodes(6 + int(rng() % 30));
  gen.choose_outputs();
  verify(*gen.graph());
  return {gen.graph(), gen.feeds};
}

std::shared_ptr<const Graph> without_sizes(const Graph& graph) {
  auto to = std::make_shared<Graph>();
  to->name = graph.name;
  std::vector<ValueId> map(graph.num_values(), -1);
  for (size_t i = 0; i < graph.arguments.size(); ++i) {
    const GraphValue& v = graph.value(graph.arguments[i]);
    const bool resource = v.dtype == DType::kResource;
    const Shape open(std::vector<int64_t>(size_t(v.shape.rank()), -1));
    const ValueId id = to->add_argument(v.dtype, resource ? v.shape : open, graph.argument_names[i]);
    to->value(id).variable = v.variable;
    map[size_t(graph.arguments[i])] = id;
  }
  for (const Node& n : graph.nodes()) {
    bool bodies = false;
    for_each_body(n.attrs, [&](const BodyRef&) { bodies = true; });
    if (bodies) return nullptr;
    NodeId id;
    if (n.op->name == "Const") {
      id = to->value(to->add_constant(attr_as<HostTensor>(*n.op, n.attrs, "value"))).node;
    } else {
      std::vector<ValueId> inputs;
      for (const ValueId v : n.inputs) inputs.push_back(map[size_t(v)]);
      id = to->add_node(*n.op, n.attrs, inputs);
    }
    for (size_t k = 0; k < n.outputs.size(); ++k) map[size_t(n.outputs[k])] = to->node(id).outputs[k];
  }
  for (const ValueId v : graph.outputs) to->outputs.push_back(map[size_t(v)]);
  verify(*to);
  return to;
}

}  // namespace rw::test
