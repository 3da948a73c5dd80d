// Graphs through GraphDef and back: the same nodes, the same results; and every mistake a file can hold.
#include "rewind/graph/graph_def.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "rewind/base/error.h"
#include "rewind/graph/dot.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/op/table.h"
#include "tests/support/goldens.h"
#include "tests/support/graph_examples.h"

namespace rw {
namespace {

using format::GraphDef;
using format::NodeDef;
using test::GraphExample;
using test::run_graph;

GraphDef from_text(const std::string& text) { return format::from_text<GraphDef>(text); }

template <class E>
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) { return e.what(); } catch (const std::exception& e) {
    ADD_FAILURE() << "another error: " << e.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}
template <class E>
std::string import_error(const std::string& text, const GraphDefImport& options = {}) {
  return message_of<E>([&] { from_graph_def(from_text(text), options); });
}
void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

const GraphExample& example(const std::string& name) {
  for (const GraphExample& e : test::graph_examples())
    if (e.name == name) return e;
  throw NotFoundError(name);
}
const NodeDef& node(const GraphDef& def, const std::string& op, int skip = 0) {
  for (const NodeDef& n : def.node)
    if (n.op == op && skip-- == 0) return n;
  throw NotFoundError(op);
}

GraphDef golden_function() { return format::decode<GraphDef>(test::golden_bytes("graph_def/function.pb")); }

TEST(GraphDef, RoundTripsKeepNodesAndResults) {
  for (const GraphExample& e : test::graph_examples()) {
    SCOPED_TRACE(e.name);
    const auto graph = e.build();
    const GraphDef def = to_graph_def(*graph);
    const auto by_bytes = from_graph_def(format::decode<GraphDef>(format::encode(def)));
    verify(*by_bytes);
    const GraphDef again = to_graph_def(*by_bytes);
    EXPECT_EQ(format::to_text(again), format::to_text(def));
    const auto by_text = from_graph_def(from_text(format::to_text(def)));
    const auto want = run_graph(*graph, e.feeds);
    for (const auto& other : {by_bytes, by_text}) {
      const auto got = run_graph(*other, e.feeds);
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_TRUE(test::same_bits(got[i], want[i])) << "output " << i;
    }
  }
}

TEST(GraphDef, EveryAttributeIsWritten) {
  const GraphDef def = to_graph_def(*example("shapes").build());
  const NodeDef& concat = node(def, "ConcatV2");
  EXPECT_EQ(std::get<int64_t>(concat.attr.at("N").value), 3);
  EXPECT_EQ(int(std::get<format::DataType>(concat.attr.at("T").value)), 1);
  EXPECT_EQ(int(std::get<format::DataType>(concat.attr.at("Tidx").value)), 3);
  const NodeDef& slice = node(def, "StridedSlice");
  EXPECT_EQ(std::get<int64_t>(slice.attr.at("begin_mask").value), 0);
  EXPECT_EQ(std::get<int64_t>(slice.attr.at("shrink_axis_mask").value), 1);
  for (const NodeDef& n : def.node) {
    if (n.op == "Placeholder") continue;
    for (const AttrDef& a : find_op(n.op).attrs) EXPECT_TRUE(n.attr.count(a.name)) << n.op << " " << a.name;
  }
}

TEST(GraphDef, EffectsKeepTheirOrderByControlEdges) {
  const GraphDef def = to_graph_def(*example("variable").build());
  const auto control = [&](const NodeDef& n) {
    std::string list;
    for (const std::string& input : n.input)
      if (input[0] == '^') list += input;
    return list;
  };
  const NodeDef& read1 = node(def, "ReadVariableOp", 0);
  const NodeDef& add = node(def, "AssignAddVariableOp");
  const NodeDef& read2 = node(def, "ReadVariableOp", 1);
  const NodeDef& read_w = node(def, "ReadVariableOp", 2);
  const NodeDef& assign = node(def, "AssignVariableOp");
  const NodeDef& sub = node(def, "AssignSubVariableOp");
  const NodeDef& read3 = node(def, "ReadVariableOp", 3);
  EXPECT_EQ(control(read1), "");
  EXPECT_EQ(control(add), "^" + read1.name);
  EXPECT_EQ(control(read2), "^" + add.name);
  EXPECT_EQ(control(read_w), "");  // another variable
  EXPECT_EQ(control(assign), "^" + read2.name);
  EXPECT_EQ(control(sub), "^" + read_w.name);
  EXPECT_EQ(control(read3), "^" + assign.name);

  const GraphDef effects = to_graph_def(*example("effects").build());
  EXPECT_EQ(control(node(effects, "CheckNumerics")), "^" + node(effects, "Assert").name);
  EXPECT_EQ(control(node(effects, "Assert", 1)), "");  // it takes the checked value anyway
}

TEST(GraphDef, ControlEdgesGiveTheOrderBack) {
  GraphDef def = to_graph_def(*example("variable").build());
  std::reverse(def.node.begin(), def.node.end());
  const auto graph = from_graph_def(
      def, {.inputs = {"v", "w", "x"}, .outputs = {"Identity", "Identity_1", "Identity_2:0", "Identity_3"}});
  const auto want = run_graph(*example("variable").build(), example("variable").feeds);
  const auto got = run_graph(*graph, example("variable").feeds);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(test::same_bits(got[i], want[i])) << i;
}

TEST(GraphDef, FunctionsAreInTheLibraryOnce) {
  const GraphDef def = to_graph_def(*example("stateless_if").build());
  ASSERT_TRUE(def.library);
  ASSERT_EQ(def.library->function.size(), 2u);
  const format::FunctionDef& then = def.library->function[0];
  EXPECT_EQ(then.signature->name, "then");
  EXPECT_EQ(then.signature->input_arg[1].name, "y");
  EXPECT_EQ(then.ret.at("output_0"), then.node_def[1].name + ":z:0");
  EXPECT_EQ(then.ret.at("output_1"), "Identity:output:0");
  EXPECT_FALSE(then.signature->is_stateful);
  EXPECT_TRUE(then.control_ret.empty());
}

TEST(GraphDef, EffectsOfFunctionsAreControlOutputs) {
  const GraphDef def = to_graph_def(*example("stateful_if").build());
  const format::FunctionDef& grow = def.library->function[0];
  EXPECT_TRUE(grow.signature->is_stateful);
  ASSERT_EQ(grow.signature->control_output.size(), 2u);
  EXPECT_EQ(grow.control_ret.at(grow.signature->control_output[0]), grow.node_def[0].name);
  EXPECT_EQ(int(grow.signature->input_arg[0].handle_data.at(0).dtype), 1);
  const auto graph = from_graph_def(def);
  const Graph* body = nullptr;
  for (const Node& n : graph->nodes())
    if (n.op->name == "If") body = graph_attr(n, "then_branch").get();
  ASSERT_TRUE(body);
  ASSERT_TRUE(body->value(body->arguments[0]).variable);
  EXPECT_EQ(body->value(body->arguments[0]).variable->shape, Shape({2}));
  EXPECT_EQ(body->value(body->outputs[0]).shape, Shape({2}));
}

TEST(GraphDef, ALibraryHoldsWholeGraphs) {
  const auto graph = example("calls").build();
  FunctionLibraryWriter writer;
  EXPECT_EQ(writer.add(*graph, "__inference_f_7"), "__inference_f_7");
  EXPECT_EQ(writer.add(*graph), "__inference_f_7");
  const auto other = example("dense").build();
  expect_contains(message_of<AlreadyExistsError>([&] { writer.add(*other, "__inference_f_7"); }),
                  "__inference_f_7");
  const format::FunctionDefLibrary library = writer.take();
  ASSERT_EQ(library.function.size(), 3u);  // square, fourth_power, f
  FunctionLibraryReader reader(library);
  const auto back = reader.get("__inference_f_7");
  EXPECT_EQ(back, reader.get("__inference_f_7"));
  const auto want = run_graph(*graph, example("calls").feeds), got = run_graph(*back, example("calls").feeds);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(test::same_bits(got[i], want[i])) << i;
}

TEST(GraphDef, TensorFlowsOwnFunctionIsRead) {
  const auto graph = from_graph_def(golden_function(), {.outputs = {"Identity", "Identity_1", "Identity_2"}});
  verify(*graph);
  EXPECT_EQ(graph->arguments.size(), 3u);  // x, n and the captured variable
  EXPECT_EQ(graph->outputs.size(), 3u);
  EXPECT_EQ(graph->value(graph->arguments[0]).shape, Shape({-1, 2}));
  EXPECT_GT(from_graph_def(to_graph_def(*graph))->nodes().size(), 20u);
}

TEST(GraphDef, ConstantsByLists) {
  const auto read = [](const std::string& text) {
    return from_tensor_proto(format::from_text<format::TensorProto>(text), 1 << 20);
  };
  // The last value repeats, an empty list is zeros, and more than enough is cut.
  const std::string three = " tensor_shape { dim { size: 3 } } ";
  EXPECT_TRUE(
      test::same_bits(read("dtype: DT_FLOAT float_val: [1, 2]" + three), test::host<float>({3}, {1, 2, 2})));
  EXPECT_TRUE(test::same_bits(read("dtype: DT_INT64" + three), test::host<int64_t>({3}, {0, 0, 0})));
  EXPECT_TRUE(test::same_bits(read("dtype: DT_INT32 int_val: [1, 2, 3, 4]" + three),
                              test::host<int32_t>({3}, {1, 2, 3})));
  EXPECT_TRUE(test::same_bits(read("dtype: DT_STRING string_val: ['a', 'b']" + three),
                              test::host<std::string>({3}, {"a", "b", "b"})));
  EXPECT_TRUE(test::same_bits(read("dtype: DT_STRING tensor_content: '\\001\\000\\002abc'" + three),
                              test::host<std::string>({3}, {"a", "", "bc"})));
  EXPECT_TRUE(test::same_bits(read("dtype: DT_BOOL tensor_content: '\\001\\000\\007'" + three),
                              test::host<bool>({3}, {true, false, true})));
  const HostTensor half = read("dtype: DT_HALF half_val: 15360" + three);
  EXPECT_EQ(static_cast<const uint16_t*>(half.data.get())[2], 0x3c00);
  const HostTensor complex = read("dtype: DT_COMPLEX64 scomplex_val: [1, 2, 3, 4]" + three);
  const auto* parts = static_cast<const float*>(complex.data.get());
  EXPECT_EQ(std::vector<float>(parts, parts + 6), (std::vector<float>{1, 2, 3, 4, 3, 4}));
  EXPECT_TRUE(test::same_bits(from_tensor_proto(to_tensor_proto(complex), 1 << 20), complex));
  EXPECT_THROW(read("dtype: DT_STRING tensor_content: '\\005ab'"), InvalidArgumentError);
  EXPECT_THROW(read("dtype: DT_RESOURCE"), UnimplementedError);
  EXPECT_THROW(read("dtype: DT_FLOAT_REF"), UnimplementedError);
}

constexpr const char* kX =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n";

TEST(GraphDef, DefaultsAreNotStored) {
  const auto g = from_graph_def(from_text(std::string(kX) +
                                          "node { name: 'm' op: 'MatMul' input: 'x' input: 'x' attr { key: "
                                          "'T' value { type: DT_FLOAT } } attr { key: "
                                          "'transpose_a' value { b: false } } attr { key: 'transpose_b' "
                                          "value { b: true } } attr { key: '_note' value { i: 1 } } }"));
  EXPECT_EQ(g->nodes()[0].attrs.size(), 1u);
  EXPECT_EQ(g->name_of(0), "m");
  EXPECT_FALSE(g->value(g->arguments[0]).shape.has_rank());
}

TEST(GraphDef, PruningRunsWhatASessionRuns) {
  const std::string text =
      std::string(kX) +
      "node { name: 'y' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }"
      "node { name: 'a' op: 'Neg' input: 'x' input: '^c' }"
      "node { name: 'b' op: 'Exp' input: 'y' }"
      "node { name: 'c' op: 'NoOp' input: '^d' }"
      "node { name: 'd' op: 'Abs' input: 'x' }";
  const auto all = from_graph_def(from_text(text));
  EXPECT_EQ(all->nodes().size(), 4u);
  EXPECT_EQ(all->outputs.size(), 3u);  // a, b and d: nobody takes a value from them
  const auto some = from_graph_def(from_text(text), {.outputs = {"a:0"}, .prune = true});
  EXPECT_EQ(some->nodes().size(), 3u);
  EXPECT_EQ(some->arguments.size(), 1u);
  EXPECT_EQ(some->name_of(0), "d");  // before c, before a
  const auto target = from_graph_def(from_text(text), {.targets = {"b"}, .prune = true});
  EXPECT_EQ(target->nodes().size(), 1u);
  EXPECT_TRUE(target->outputs.empty());
}

TEST(GraphDef, MistakesAreNamed) {
  const std::string x = kX;
  const std::string unknown =
      import_error<NotFoundError>(x + "node { name: 'q' op: 'Frobnicate' input: 'x' }");
  expect_contains(unknown, "Frobnicate");
  expect_contains(unknown, "'q'");
  expect_contains(import_error<InvalidArgumentError>(x + "node { name: 'a' op: 'Neg' input: 'z' }"),
                  "takes 'z'");
  expect_contains(import_error<InvalidArgumentError>(x + "node { name: 'a' op: 'Neg' input: 'x:1' }"),
                  "'x:1'");
  expect_contains(import_error<InvalidArgumentError>(x + "node { name: 'a' op: 'Neg' input: 'x:-1' }"),
                  "'x:-1'");
  expect_contains(import_error<InvalidArgumentError>(x + x), "two nodes are called 'x'");
  expect_contains(import_error<InvalidArgumentError>(x + "node { name: 'a' op: 'Add' input: 'x' input: 'b' }"
                                                         "node { name: 'b' op: 'Neg' input: 'a' }"),
                  "circle");
  expect_contains(
      import_error<InvalidArgumentError>(x + "node { name: 'a' op: 'Neg' input: 'x' attr { key: 'T' value { "
                                             "type: DT_HALF } } }"),
      "the inputs say float32");
  expect_contains(
      import_error<InvalidArgumentError>(x + "node { name: 'a' op: 'Neg' input: 'x' attr { key: 'U' value { "
                                             "b: true } } }"),
      "no attribute U");
  expect_contains(
      import_error<InvalidArgumentError>(x + "node { name: 'a' op: 'MatMul' input: 'x' input: 'x' attr { "
                                             "key: 'transpose_a' value { i: 1 } } }"),
      "must hold a bool");
  expect_contains(import_error<InvalidArgumentError>("node { name: 'x' op: 'Placeholder' }"), "no dtype");
  expect_contains(import_error<NotFoundError>(x, {.inputs = {"nobody"}}), "nobody");
  expect_contains(import_error<InvalidArgumentError>(x, {.outputs = {"nobody"}}), "nobody");
  const std::string call =
      "node { name: 'c' op: 'PartitionedCall' input: 'x' attr { key: 'f' value { func { name: 'f' } } } "
      "attr { key: 'Tout' value { list { type: DT_FLOAT } } } }";
  const std::string missing = import_error<NotFoundError>(x + call);
  expect_contains(missing, "no function f");
  expect_contains(missing, "'c'");
  const std::string recursive =
      "library { function { signature { name: 'f' input_arg { name: 'x' type: DT_FLOAT } output_arg { name: "
      "'y' type: "
      "DT_FLOAT } } node_def { name: 'c' op: 'PartitionedCall' input: 'x' attr { key: 'f' value { func { "
      "name: 'f' } } } "
      "attr { key: 'Tout' value { list { type: DT_FLOAT } } } } ret { key: 'y' value: 'c:output:0' } } }";
  expect_contains(import_error<UnimplementedError>(x + call + recursive), "calls itself");
  const auto constant = [](const std::string& tensor) {
    return "node { name: 'k' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' "
           "value { tensor { "
           "dtype: DT_FLOAT " +
           tensor + " } } } }";
  };
  expect_contains(
      import_error<InvalidArgumentError>(constant("tensor_shape { dim { size: 2 } } tensor_content: 'abc'")),
      "8 bytes: got 3");
  expect_contains(import_error<InvalidArgumentError>(constant("tensor_shape { dim { size: -7 } }")), "-7");
  expect_contains(import_error<InvalidArgumentError>(constant(
                      "tensor_shape { dim { size: 4000000000 } dim { size: 4000000000 } } float_val: 1")),
                  "too many elements");
  expect_contains(import_error<ResourceExhaustedError>(
                      constant("tensor_shape { dim { size: 4000000000 } } float_val: 1")),
                  "limit");
  const auto wide = [](const std::string& name, const std::string& dims) {
    return "node { name: '" + name +
           "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' "
           "value { shape { " +
           dims + " } } } }";
  };
  expect_contains(
      import_error<InvalidArgumentError>(wide("a", "dim { size: 1 } dim { size: 8000000000000000000 }") +
                                         wide("b", "dim { size: 8000000000000000000 } dim { size: 1 }") +
                                         "node { name: 'c' op: 'AddV2' input: 'a' input: 'b' }"),
      "too many elements");
}

TEST(GraphDef, AFunctionIsCalledByItsName) {
  const auto g =
      from_graph_def(from_text(std::string(kX) + "node { name: 'c' op: 'twice' input: 'x' } library { "
                                                 "function { signature { name: 'twice' input_arg { name: 'x' "
                                                 "type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } } "
                                                 "node_def { name: 'c' op: 'Add' input: 'x' input: 'x' } "
                                                 "ret { key: 'y' value: 'c:z:0' } } }"));
  const auto result = run_graph(*g, {test::host<float>({}, {21})});
  EXPECT_EQ(*static_cast<const float*>(result.at(0).data.get()), 42);
}

TEST(GraphDef, ADrawingHasClusters) {
  const std::string dot = to_dot(*example("stateful_if").build());
  expect_contains(dot, "subgraph cluster_f0_ {");
  expect_contains(dot, "then_branch: grow");
  expect_contains(dot, "float32(2,)");
  expect_contains(dot, "[style=dashed]");
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
}

TEST(GraphDef, SizesStayUnknownWhileTheGraphGrows) {
  Graph g;
  const ValueId x = g.add_argument(float32, {-1, 3}, "x");
  for (int i = 0; i < 100; ++i) {
    const ValueId shape = g.node(g.add_node(find_op("Shape"), {}, {{x}})).outputs[0];
    EXPECT_FALSE(g.value(shape).known->data);
    EXPECT_EQ(g.value(shape).shape, Shape({2}));
  }
}

TEST(GraphDef, ALoopsShapesFitItsVariables) {
  GraphDef def = to_graph_def(*example("stateless_while").build());
  for (NodeDef& n : def.node)
    if (n.op == "StatelessWhile")
      n.attr["output_shapes"].value = format::Box<format::ListValue>(format::ListValue{.shape = {{}}});
  expect_contains(message_of<InvalidArgumentError>([&] { from_graph_def(def); }), "output_shapes");
}

}  // namespace
}  // namespace rw
