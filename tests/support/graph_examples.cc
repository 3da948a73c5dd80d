#include "tests/support/graph_examples.h"

#include <cmath>
#include <complex>
#include <cstring>

#include "rewind/base/error.h"
#include "rewind/op/object.h"
#include "rewind/op/table.h"
#include "rewind/runtime/evaluate.h"
#include "rewind/runtime/variable_cell.h"

namespace rw::test {

template <class T>
HostTensor host(std::vector<int64_t> dims, std::vector<T> values) {
  auto owner = std::shared_ptr<T[]>(new T[values.size() + 1]);
  for (size_t i = 0; i < values.size(); ++i) owner[i] = values[i];
  return {dtype_of<T>, Shape(dims), std::shared_ptr<const void>(owner, owner.get())};
}
template HostTensor host(std::vector<int64_t>, std::vector<float>);
template HostTensor host(std::vector<int64_t>, std::vector<double>);
template HostTensor host(std::vector<int64_t>, std::vector<int32_t>);
template HostTensor host(std::vector<int64_t>, std::vector<int64_t>);
template HostTensor host(std::vector<int64_t>, std::vector<bool>);
template HostTensor host(std::vector<int64_t>, std::vector<std::string>);

namespace {

struct Builder {
  std::shared_ptr<Graph> g = std::make_shared<Graph>();

  explicit Builder(std::string name) { g->name = std::move(name); }
  ValueId arg(DType dtype, Shape shape, std::string name) { return g->add_argument(dtype, shape, name); }
  ValueId variable(DType dtype, Shape shape, std::string name) {
    const ValueId v = g->add_argument(DType::kResource, Shape(), name);
    g->value(v).variable = std::make_shared<VariableSpec>(VariableSpec{dtype, shape});
    return v;
  }
  const Node& node(const char* op, std::vector<ValueId> inputs, const Attrs& attrs = {}) {
    return g->node(g->add_node(find_op(op), attrs, inputs));
  }
  ValueId op(const char* name, std::vector<ValueId> inputs, const Attrs& attrs = {}) {
    return node(name, std::move(inputs), attrs).outputs[0];
  }
  ValueId c(const HostTensor& value) { return g->add_constant(value); }
  ValueId f(float v) { return c(host<float>({}, {v})); }
  ValueId i(int32_t v) { return c(host<int32_t>({}, {v})); }
  std::shared_ptr<Graph> done(std::vector<ValueId> outputs) {
    g->outputs = std::move(outputs);
    verify(*g);
    return g;
  }
};

using Floats = std::vector<float>;
using Types = std::vector<DType>;

std::shared_ptr<Graph> dense() {
  Builder b("dense");
  const ValueId x = b.arg(float32, {-1, 3}, "x");
  const ValueId w = b.c(host<float>({3, 2}, {1, -2, 3, 0.5f, -1, 0.1f}));
  const ValueId y = b.op("BiasAdd", {b.op("MatMul", {x, w}), b.c(host<float>({2}, {0.25f, -1}))});
  return b.done({b.op("Relu", {y}), b.op("LeakyRelu", {y}, {{"alpha", 0.1}}),
                 b.op("MatMul", {y, y}, {{"transpose_b", true}})});
}

std::shared_ptr<Graph> reductions() {
  Builder b("reductions");
  const ValueId x = b.arg(float32, {2, 3}, "x");
  const ValueId axis = b.c(host<int32_t>({1}, {1}));
  const ValueId sum = b.op("Sum", {x, axis}, {{"keep_dims", true}});
  return b.done({sum, b.op("Mean", {x, b.c(host<int32_t>({2}, {0, 1}))}),
                 b.op("ArgMax", {x, b.i(1)}, {{"output_type", int32}}), b.op("Max", {x, axis}),
                 b.op("Softmax", {x}), b.op("All", {b.op("Greater", {x, b.f(-5)}), axis})});
}

std::shared_ptr<Graph> shapes() {
  Builder b("shapes");
  const ValueId x = b.arg(float32, {2, -1}, "x");
  const ValueId y = b.op("ConcatV2", {x, x, x, b.i(0)});
  const ValueId p = b.op("Pack", {x, b.op("Neg", {x})}, {{"axis", 1}});
  const ValueId s = b.op("Shape", {y});
  const ValueId last =
      b.op("StridedSlice",
           {s, b.c(host<int32_t>({1}, {1})), b.c(host<int32_t>({1}, {2})), b.c(host<int32_t>({1}, {1}))},
           {{"shrink_axis_mask", 1}});
  return b.done({y, p, s, last, b.op("Reshape", {y, b.c(host<int32_t>({2}, {-1, 1}))}),
                 b.op("Transpose", {p, b.c(host<int32_t>({3}, {2, 0, 1}))}),
                 b.op("Cast", {b.op("Tile", {s, b.c(host<int32_t>({1}, {2}))})}, {{"DstT", float64}})});
}

std::shared_ptr<Graph> split() {
  Builder b("split");
  const ValueId x = b.arg(float32, {2, 6}, "x");
  const Node parts = b.node("Split", {b.i(1), x}, {{"num_split", 3}});
  const Node top = b.node("TopKV2", {x, b.i(2)});
  const Node rows = b.node("Unpack", {x}, {{"num", 2}});
  return b.done({parts.outputs[2], b.op("Sub", {parts.outputs[1], parts.outputs[0]}), top.outputs[1],
                 b.op("Mul", {rows.outputs[1], rows.outputs[0]})});
}

std::shared_ptr<Graph> strings() {
  Builder b("strings");
  const ValueId x = b.arg(DType::kString, {-1}, "words");
  const ValueId n = b.arg(int32, {}, "n");
  const ValueId join = b.op(
      "StringJoin", {x, b.op("AsString", {n}), b.c(host<std::string>({}, {std::string("\0\xff'\"\n", 5)}))},
      {{"separator", "-"}});
  return b.done({join, b.op("StringLength", {join}), b.c(host<std::string>({3}, {"a", "a", "a"}))});
}

std::shared_ptr<Graph> variable() {
  Builder b("variable");
  const ValueId v = b.variable(float32, {2}, "v");
  const ValueId w = b.variable(float32, {}, "w");
  const ValueId x = b.arg(float32, {2}, "x");
  const Attrs dtype{{"dtype", float32}};
  const ValueId before = b.op("ReadVariableOp", {v}, dtype);
  b.node("AssignAddVariableOp", {v, x}, dtype);
  const ValueId between = b.op("ReadVariableOp", {v}, dtype);
  const ValueId other = b.op("ReadVariableOp", {w}, dtype);
  b.node("AssignVariableOp", {v, b.op("Mul", {between, other})}, dtype);
  b.node("AssignSubVariableOp", {w, b.f(1)}, dtype);
  const ValueId after = b.op("ReadVariableOp", {v}, dtype);
  return b.done({before, between, after, b.op("ReadVariableOp", {w}, dtype)});
}

std::shared_ptr<Graph> branch(const char* name, const char* op, float value) {
  Builder b(name);
  const ValueId x = b.arg(float32, {2}, "x");
  const ValueId y = b.arg(float32, {2}, "y");
  return b.done({b.op(op, {x, b.f(value)}), y});
}

std::shared_ptr<Graph> stateless_if() {
  Builder b("stateless_if");
  const ValueId x = b.arg(float32, {2}, "x");
  const ValueId y = b.arg(float32, {2}, "y");
  const ValueId cond = b.op("Less", {b.op("Sum", {x, b.i(0)}), b.f(10)});
  const BodyRef then = branch("then", "Mul", 3), other = branch("else", "Sub", 0.5f);
  const Types types{float32, float32};
  const Node n =
      b.node("StatelessIf", {cond, x, y}, {{"Tout", types}, {"then_branch", then}, {"else_branch", other}});
  const Node again = b.node("StatelessIf", {b.op("LogicalNot", {cond}), n.outputs[0], n.outputs[1]},
                            {{"Tout", types}, {"then_branch", then}, {"else_branch", other}});
  return b.done({n.outputs[0], again.outputs[0], again.outputs[1]});
}

std::shared_ptr<Graph> updating_branch(const char* name, const char* op) {
  Builder b(name);
  const ValueId v = b.variable(float32, {2}, "v");
  const ValueId x = b.arg(float32, {2}, "x");
  b.node(op, {v, x}, {{"dtype", float32}});
  const ValueId read = b.op("ReadVariableOp", {v}, {{"dtype", float32}});
  b.node("AssignAddVariableOp", {v, read}, {{"dtype", float32}});
  return b.done({read});
}

std::shared_ptr<Graph> stateful_if() {
  Builder b("stateful_if");
  const ValueId v = b.variable(float32, {2}, "v");
  const ValueId x = b.arg(float32, {2}, "x");
  const Attrs dtype{{"dtype", float32}};
  b.node("AssignAddVariableOp", {v, x}, dtype);
  const ValueId cond = b.op("Less", {b.op("Sum", {x, b.i(0)}), b.f(10)});
  const ValueId y = b.op("If", {cond, v, x},
                         {{"Tout", Types{float32}},
                          {"then_branch", BodyRef(updating_branch("grow", "AssignAddVariableOp"))},
                          {"else_branch", BodyRef(updating_branch("shrink", "AssignSubVariableOp"))}});
  return b.done({y, b.op("ReadVariableOp", {v}, dtype)});
}

std::shared_ptr<Graph> stateless_while() {
  Builder cond("cond");
  const ValueId i = cond.arg(int32, {}, "i");
  cond.arg(float32, {2}, "x");
  cond.done({cond.op("Less", {i, cond.i(5)})});
  Builder body("body");
  const ValueId k = body.arg(int32, {}, "i");
  const ValueId x = body.arg(float32, {2}, "x");
  const ValueId step = body.op("Cast", {k}, {{"DstT", float32}});
  body.done({body.op("AddV2", {k, body.i(1)}), body.op("AddV2", {body.op("Mul", {x, body.f(0.5f)}), step})});
  Builder b("stateless_while");
  const ValueId start = b.arg(float32, {2}, "x");
  const Node n =
      b.node("StatelessWhile", {b.i(0), start}, {{"cond", BodyRef(cond.g)}, {"body", BodyRef(body.g)}});
  return b.done({n.outputs[0], n.outputs[1]});
}

std::shared_ptr<Graph> stateful_while() {
  Builder cond("count_down_cond");
  const ValueId n = cond.arg(int32, {}, "N/left");
  cond.variable(float32, {2}, "v");
  cond.done({cond.op("Greater", {n, cond.i(0)})});
  Builder body("count_down_body");
  const ValueId left = body.arg(int32, {}, "N/left");
  const ValueId v = body.variable(float32, {2}, "v");
  const ValueId read = body.op("ReadVariableOp", {v}, {{"dtype", float32}});
  body.node("AssignSubVariableOp", {v, body.op("Mul", {read, body.f(0.25f)})}, {{"dtype", float32}});
  body.done({body.op("Sub", {left, body.i(1)}), v});
  Builder b("stateful_while");
  const ValueId count = b.arg(int32, {}, "n");
  const ValueId w = b.variable(float32, {2}, "v");
  const Node loop = b.node("While", {count, w}, {{"cond", BodyRef(cond.g)}, {"body", BodyRef(body.g)}});
  return b.done({loop.outputs[0], b.op("ReadVariableOp", {w}, {{"dtype", float32}})});
}

std::shared_ptr<Graph> calls() {
  Builder inner("square");
  const ValueId x = inner.arg(float32, {2}, "x");
  inner.done({inner.op("Square", {x})});
  Builder middle("fourth_power");
  const ValueId y = middle.arg(float32, {2}, "x");
  const Attrs call{{"Tout", Types{float32}}, {"f", BodyRef(inner.g)}};
  middle.done({middle.op("PartitionedCall", {middle.op("PartitionedCall", {y}, call)}, call)});
  Builder b("calls");
  const ValueId z = b.arg(float32, {2}, "x");
  return b.done({b.op("PartitionedCall", {z}, {{"Tout", Types{float32}}, {"f", BodyRef(middle.g)}}),
                 b.op("PartitionedCall", {z}, call), z});
}

std::shared_ptr<Graph> cases() {
  std::vector<BodyRef> branches{branch("first", "AddV2", 1), branch("second", "Mul", 2),
                                branch("third", "Sub", 3)};
  Builder b("cases");
  const ValueId k = b.arg(int32, {}, "k");
  const ValueId x = b.arg(float32, {2}, "x");
  const Node n = b.node("StatelessCase", {k, x, x},
                        {{"Tout", Types{float32, float32}}, {"branches", std::move(branches)}});
  return b.done({n.outputs[0], n.outputs[1]});
}

HostTensor bytes(DType dtype, std::vector<int64_t> dims, std::string data) {
  auto owner = std::make_shared<std::string>(std::move(data));
  return {dtype, Shape(dims), std::shared_ptr<const void>(owner, owner->data())};
}

std::shared_ptr<Graph> constants() {
  Builder b("constants");
  std::vector<ValueId> all;
  for (const DType d :
       {DType::kFloat16, DType::kBfloat16, DType::kInt8, DType::kInt16, DType::kUint8, DType::kUint16,
        DType::kUint32, DType::kUint64, DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64}) {
    const size_t size = size_of(d);
    std::string mixed(4 * size, '\0'), equal;
    for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = char(40 + 11 * i);
    for (int i = 0; i < 6; ++i) equal += mixed.substr(0, size);
    all.push_back(b.c(bytes(d, {2, 2}, mixed)));
    all.push_back(b.c(bytes(d, {3, 2}, equal)));
    all.push_back(b.c(bytes(d, {}, mixed.substr(size, size))));
    all.push_back(b.c(bytes(d, {0, 3}, "")));
  }
  all.push_back(b.c(host<bool>({3}, {true, false, true})));
  all.push_back(b.c(host<bool>({3}, {true, true, true})));
  all.push_back(b.c(host<float>({4}, {-0.0f, -0.0f, -0.0f, -0.0f})));
  all.push_back(b.c(host<float>({2}, {INFINITY, -INFINITY})));
  all.push_back(b.c(bytes(DType::kFloat32, {}, std::string("\x01\x00\xc0\x7f", 4))));  // a NaN with a payload
  all.push_back(b.c(host<std::string>({2}, {"", "x"})));
  return b.done(all);
}

std::shared_ptr<Graph> effects() {
  Builder b("effects");
  const ValueId x = b.arg(float32, {2}, "x");
  const ValueId good = b.op("All", {b.op("Less", {x, b.f(1e9f)}), b.i(0)});
  b.node("Assert", {good, x}, {{"summarize", 2}});
  const ValueId checked = b.op("CheckNumerics", {x}, {{"message", "x"}});
  b.node("Assert", {good, b.c(host<std::string>({}, {"never"})), checked});
  return b.done({b.op("Exp", {checked})});
}

}  // namespace

const std::vector<GraphExample>& graph_examples() {
  static const HostTensor row = host<float>({2}, {1.5f, -2});
  static const HostTensor table = host<float>({2, 3}, {1, 2, 3, -4, 0.1f, 6});
  static const std::vector<GraphExample> all = {
      {"dense", dense, {table}},
      {"reductions", reductions, {table}},
      {"shapes", shapes, {table}},
      {"split", split, {host<float>({2, 6}, {1, 9, 2, 8, 3, 7, -1, -2, -3, 4, 5, 6})}},
      {"strings", strings, {host<std::string>({2}, {"ab", ""}), host<int32_t>({}, {-7})}},
      {"variable", variable, {row, host<float>({}, {4}), row}},
      {"stateless_if", stateless_if, {row, row}},
      {"stateful_if", stateful_if, {row, host<float>({2}, {100, 1})}},
      {"stateless_while", stateless_while, {row}},
      {"stateful_while", stateful_while, {host<int32_t>({}, {3}), row}},
      {"calls", calls, {row}},
      {"cases", cases, {host<int32_t>({}, {1}), row}},
      {"constants", constants, {}},
      {"effects", effects, {row}},
  };
  return all;
}

namespace {

Value to_value(const HostTensor& t) {
  Value v = Value::allocate(cpu_device(), t.dtype, t.shape);
  if (t.dtype == DType::kString) {
    for (int64_t i = 0; i < v.size; ++i)
      static_cast<std::string*>(v.data)[i] = static_cast<const std::string*>(t.data.get())[i];
  } else if (v.size) {
    std::memcpy(v.data, t.data.get(), size_t(v.size) * size_of(t.dtype));
  }
  return v;
}

HostTensor to_host(const Value& v) { return {v.dtype, v.shape, {std::make_shared<Value>(v), v.data}}; }

}  // namespace

std::vector<HostTensor> run_graph(const Graph& graph, const std::vector<HostTensor>& feeds,
                                  const GraphRun& run) {
  RW_CHECK(feeds.size() == graph.arguments.size());
  std::vector<Value> values;
  std::vector<VariableCell*> cells;
  for (size_t i = 0; i < feeds.size(); ++i) {
    values.push_back(to_value(feeds[i]));
    if (graph.value(graph.arguments[i]).dtype != DType::kResource) continue;
    auto* cell = new VariableCell("v" + std::to_string(i));
    cell->value = std::exchange(values.back(), Value::allocate(cpu_device(), DType::kResource, {}));
    *static_cast<Ref<Object>*>(values.back().data) = Ref<Object>::adopt(cell);
    cells.push_back(cell);
  }
  std::vector<const Value*> pointers;
  for (const Value& v : values) pointers.push_back(&v);
  std::vector<HostTensor> results;
  for (const Value& v : run ? run(pointers) : evaluate(graph, pointers))
    if (v.dtype != DType::kResource) results.push_back(to_host(v));
  for (VariableCell* cell : cells) results.push_back(to_host(cell->value));
  return results;
}

bool same_bits(const HostTensor& a, const HostTensor& b) {
  if (a.dtype != b.dtype || !(a.shape == b.shape)) return false;
  const auto n = size_t(a.shape.num_elements());
  if (a.dtype == DType::kString)
    return std::equal(static_cast<const std::string*>(a.data.get()),
                      static_cast<const std::string*>(a.data.get()) + n,
                      static_cast<const std::string*>(b.data.get()));
  return n == 0 || std::memcmp(a.data.get(), b.data.get(), n * size_of(a.dtype)) == 0;
}

HostTensor numbers(const Shape& shape, int64_t seed) {
  auto data = std::make_shared<std::vector<float>>(size_t(shape.num_elements()));
  for (size_t i = 0; i < data->size(); ++i)
    (*data)[i] = float((int64_t(i) * 7919 + seed * 104729) % 2003 - 1001) / 997;
  return {DType::kFloat32, shape, std::shared_ptr<const void>(data, data->data())};
}

}  // namespace rw::test
