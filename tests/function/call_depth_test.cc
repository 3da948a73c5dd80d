// Functions that call each other several times per level: a program of 30 short functions stands for 2^30
// nodes. Every way in ends, with the result or with an error that names the limit.
#include <gtest/gtest.h>

#include <cmath>

#include "rewind/format/message.h"
#include "rewind/function/function.h"
#include "rewind/graph/dot.h"
#include "rewind/graph/graph.h"
#include "rewind/graph/graph_def.h"
#include "rewind/op/table.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

using Body = std::shared_ptr<const Graph>;

HostTensor number(float x) { return {float32, {}, std::make_shared<float>(x)}; }

std::vector<ValueId> add(Graph& g, const char* op, const Attrs& attrs, std::vector<ValueId> inputs) {
  const Node& n = g.node(g.add_node(find_op(op), attrs, inputs));
  return {n.outputs.begin(), n.outputs.end()};
}

ValueId call(Graph& g, const Body& f, ValueId x) {
  return add(g, "StatefulPartitionedCall", {{"Tout", f->output_types()}, {"f", BodyRef(f)}}, {x})[0];
}

// x + 1, of no particular shape, as GraphDefs often have it.
Body leaf(const Shape& shape) {
  auto g = std::make_shared<Graph>();
  g->name = "leaf";
  const ValueId x = g->add_argument(float32, shape);
  g->outputs = {add(*g, "AddV2", {}, {x, g->add_constant(number(1.0F))})[0]};
  return g;
}

// `levels` functions, each made of the one before.
template <class Level>
Body tower(Body f, int levels, const Shape& shape, Level level) {
  for (int k = 1; k <= levels; ++k) {
    auto g = std::make_shared<Graph>();
    g->name = "level_" + std::to_string(k);
    const ValueId x = g->add_argument(float32, shape);
    g->outputs = {level(*g, f, x)};
    f = std::move(g);
  }
  return f;
}
ValueId twice_in_a_row(Graph& g, const Body& f, ValueId x) { return call(g, f, call(g, f, x)); }
ValueId sum_of_two(Graph& g, const Body& f, ValueId x) {
  return add(g, "AddV2", {}, {call(g, f, x), call(g, f, x)})[0];
}

// Out to a GraphDef and back, as a loaded file is.
std::shared_ptr<const ConcreteFunction> loaded(const Body& g) {
  const format::GraphDef def =
      format::decode<format::GraphDef>(format::encode(to_graph_def(*g, {.output_names = {"y"}})));
  GraphDefImport options;
  options.outputs = {"y"};
  return std::make_shared<ConcreteFunction>(from_graph_def(def, options), 1, std::vector<Tensor>(),
                                            std::vector<Variable>());
}

const Shape kOpen = Shape::unknown_rank();
const Shape kVector{3};

TEST(CallDepth, CallsOnTheSameValueAreOneCall) {
  for (const Shape& shape : {kOpen, kVector}) {
    const auto f = loaded(tower(leaf(shape), 30, shape, sum_of_two));
    const float y = 2.0F * float(1 << 30);  // (1 + 1) 2^30
    EXPECT_EQ((*f)({ones({3})})[0].to_vector<float>(), (std::vector<float>{y, y, y}));
  }
}

TEST(CallDepth, MoreNodesThanAGraphMayHoldRunAsCalls) {
  for (const Shape& shape : {kOpen, kVector}) {
    const auto f = loaded(tower(leaf(shape), 19, shape, twice_in_a_row));
    EXPECT_EQ((*f)({zeros({3})})[0].to_vector<float>(), std::vector<float>(3, float(1 << 19)));
  }
}

TEST(CallDepth, MoreNodesThanARunMayTakeAreRefused) {
  for (const int levels : {30, 100}) {
    const auto f = loaded(tower(leaf(kVector), levels, kVector, twice_in_a_row));
    const auto run = [&] { (*f)({zeros({3})}); };
    expect_error<ResourceExhaustedError>(run, "a run may take at most 16777216 nodes");
    expect_error<ResourceExhaustedError>(run, levels == 30 ? "got 2147483649" : "got more than");
  }
}

TEST(CallDepth, TwoFunctionsThatCallEachOthersLevels) {
  Body f = leaf(kVector), g = leaf(kVector);
  for (int k = 0; k < 40; ++k) {
    auto make = [&](const Body& a, const Body& b) {
      return tower(a, 1, kVector, [&](Graph& to, const Body&, ValueId x) {
        return add(to, "Maximum", {}, {call(to, a, x), call(to, b, x)})[0];
      });
    };
    const Body next_f = make(f, g), next_g = make(g, f);
    f = next_f, g = next_g;
  }
  const auto run = [&] { (*loaded(f))({zeros({3})}); };
  expect_error<ResourceExhaustedError>(run, "a run may take at most");
}

TEST(CallDepth, EffectsHappenInOrderAndAsOften) {
  const Variable v(zeros({}));
  auto g = std::make_shared<Graph>();
  const ValueId handle = g->add_argument(DType::kResource, {});
  g->value(handle).variable = std::make_shared<VariableSpec>(VariableSpec{float32, Shape{}});
  // v = 0.75 v + 1 does not commute with v = v + 2 at the top.
  const ValueId now = add(*g, "ReadVariableOp", {{"dtype", float32}}, {handle})[0];
  const ValueId scaled = add(*g, "Mul", {}, {now, g->add_constant(number(0.75F))})[0];
  const ValueId next = add(*g, "AddV2", {}, {scaled, g->add_constant(number(1.0F))})[0];
  add(*g, "AssignVariableOp", {}, {handle, next});
  Body f = g;
  for (int k = 0; k < 20; ++k) {
    auto level = std::make_shared<Graph>();
    level->name = "level_" + std::to_string(k);
    const ValueId h = level->add_argument(DType::kResource, {});
    level->value(h).variable = std::make_shared<VariableSpec>(VariableSpec{float32, Shape{}});
    const auto run = [&] {
      add(*level, "StatefulPartitionedCall", {{"Tout", std::vector<DType>()}, {"f", BodyRef(f)}}, {h});
    };
    run();
    if (k == 19) add(*level, "AssignAddVariableOp", {}, {h, level->add_constant(number(2.0F))});
    run();
    if (k == 19) level->outputs = {add(*level, "ReadVariableOp", {{"dtype", float32}}, {h})[0]};
    f = level;
  }
  const auto concrete = loaded(f);
  float expected = 0;
  for (int i = 0; i < (1 << 20); ++i) {
    if (i == (1 << 19)) expected += 2;
    expected = expected * 0.75F + 1;
  }
  EXPECT_EQ((*concrete)({v.handle()})[0].item<float>(), expected);
  EXPECT_EQ(v.item<float>(), expected);
}

TEST(CallDepth, NestedBranchesRunTheirOwn) {
  auto twice = [](Graph& g, const Body& f, ValueId x) {
    const ValueId positive = add(g, "Greater", {}, {x, g.add_constant(number(0.0F))})[0];
    const ValueId y = add(g, "AddV2", {}, {x, g.add_constant(number(1.0F))})[0];
    return add(g, "StatelessIf",
               {{"Tout", f->output_types()}, {"then_branch", BodyRef(f)}, {"else_branch", BodyRef(f)}},
               {positive, y})[0];
  };
  const auto f = loaded(tower(leaf({}), 40, {}, twice));
  EXPECT_EQ((*f)({constant(-10.0F)})[0].item<float>(), 31);
}

TEST(CallDepth, DerivativesPlansAndBatchesAreRefusedInstead) {
  const auto f = loaded(tower(leaf(kVector), 30, kVector, twice_in_a_row));
  const Tensor x = zeros({3});
  const auto under_tape = [&] {
    GradientTape tape;
    tape.watch(x);
    (void)(*f)({x});
  };
  expect_error<ResourceExhaustedError>(under_tape, "nodes can be differentiated, batched or written out");
  const auto batched = [&] {
    vectorized_map([&](const Tensor& row) { return (*f)({row})[0]; }, zeros({2, 3}));
  };
  expect_error<ResourceExhaustedError>(batched, "nodes can be differentiated, batched or written out");
  expect_error<ResourceExhaustedError>([&] { (void)f->memory_plan(std::vector<Tensor>{x}); }, "at most");
  const auto planned = loaded(tower(leaf(kVector), 22, kVector, twice_in_a_row));
  expect_error<ResourceExhaustedError>([&] { (void)planned->memory_plan(std::vector<Tensor>{x}); },
                                       "memory is planned for at most");
}

TEST(CallDepth, FunctionsInFunctionsAndTheirDrawings) {
  std::function<Tensor(const Tensor&)> f = [](const Tensor& x) { return x * 0.5; };
  for (int k = 0; k < 40; ++k) {
    auto next = function([f](const Tensor& x) { return f(x) + f(x); }, {.name = "f" + std::to_string(k)});
    f = [next](const Tensor& x) { return next(x); };
  }
  const auto top = function([f](const Tensor& x) { return f(x); });
  EXPECT_EQ(top(ones({2})).to_vector<float>(), std::vector<float>(2, std::ldexp(1.0F, 39)));
  const auto graph = top.get_concrete_function(ones({2}))->graph();
  EXPECT_LT(graph.as_dot().size(), 100'000u);
  EXPECT_LT(graph.as_graph_def_binary().size(), 100'000u);
  verify(graph.ir());
}

}  // namespace
}  // namespace rw
