// A function called in a function: a call node in the graph, nothing of it in the program; equal to plain
// code.
#include <gtest/gtest.h>

#include <algorithm>

#include "rewind/function/function.h"
#include "rewind/graph/graph.h"
#include "rewind/graph/graph_def.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

std::vector<std::string> types_of(const ConcreteFunction& f) {
  std::vector<std::string> types;
  for (const auto& op : f.graph().operations()) types.push_back(op.type);
  return types;
}
size_t count(const std::vector<std::string>& list, const std::string& what) {
  return size_t(std::count(list.begin(), list.end(), what));
}

TEST(CallNodes, AFunctionInAFunctionIsOneNode) {
  auto inner = function([](const Tensor& x) { return tanh(x) * 2.0; }, {.name = "inner"});
  auto outer = function([&](const Tensor& x) { return inner(x) + inner(x * 3.0); }, {.name = "outer"});
  const Tensor x = constant({0.5, -1.0});
  EXPECT_EQ(outer(x).to_vector<float>(), (tanh(x) * 2.0 + tanh(x * 3.0) * 2.0).to_vector<float>());
  const auto concrete = outer.get_concrete_function(x);
  EXPECT_EQ(count(types_of(*concrete), "PartitionedCall"), 2u);
  EXPECT_EQ(count(types_of(*concrete), "Tanh"), 0u);
  // Both calls name one function of the library.
  const format::GraphDef def = format::decode<format::GraphDef>(concrete->graph().as_graph_def_binary());
  ASSERT_TRUE(def.library.has_value());
  EXPECT_EQ(def.library->function.size(), 1u);
  const auto back = from_graph_def(def);
  EXPECT_EQ(back->output_types(), concrete->graph().ir().output_types());
}

TEST(CallNodes, StateInsideIsAStatefulCallInOrder) {
  Variable v(1.0);
  auto add = function([&](const Tensor& x) {
    v.assign_add(x);
    return v.value();
  });
  auto outer = function([&](const Tensor& x) {
    const Tensor a = add(x);
    v.assign(v * 10.0);
    const Tensor b = add(x);
    return std::pair(a, b);
  });
  const auto [a, b] = outer(constant(2.0));
  EXPECT_EQ(a.item<float>(), 3);
  EXPECT_EQ(b.item<float>(), 32);
  EXPECT_EQ(v.item<float>(), 32);
  const auto concrete = outer.get_concrete_function(constant(2.0));
  EXPECT_EQ(count(types_of(*concrete), "StatefulPartitionedCall"), 2u);
  ASSERT_EQ(concrete->variables().size(), 1u);
  EXPECT_EQ(concrete->variables()[0].id(), v.id());
}

TEST(CallNodes, GradientsUnderATapeInsideAndOutsideEqualEager) {
  Variable w(constant({{1.0, -2.0}, {0.5, 3.0}}));
  const auto model = [&](const Tensor& x) { return reduce_sum(tanh(matmul(x, w)) * x); };
  auto inner = function(model);
  auto middle = function([&](const Tensor& x) { return inner(x) * 2.0 + inner(x * x); });
  const auto plain = [&](const Tensor& x) { return model(x) * 2.0 + model(x * x); };
  const Tensor x = constant({{0.3, 0.7}, {-0.2, 0.1}});

  const auto gradients = [&](const auto& f) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = f(x);
    const auto g = tape.gradient(y, std::vector<Tensor>{x, w.handle()});
    return std::pair(g[0].tensor().to_vector<float>(), g[1].tensor().to_vector<float>());
  };
  const auto want = gradients(plain);
  EXPECT_EQ(count(types_of(*middle.get_concrete_function(x)), "StatefulPartitionedCall"), 2u);
  const auto expect_near = [](const Floats& a, const Floats& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5f);
  };
  const auto outside = gradients(middle);
  expect_near(outside.first, want.first);
  expect_near(outside.second, want.second);

  auto step = function([&](const Tensor& t) {
    GradientTape tape;
    tape.watch(t);
    const Tensor y = middle(t);
    return tape.gradient(y, std::vector<Tensor>{t, w.handle()});
  });
  const auto inside = step(x);
  expect_near(inside[0].tensor().to_vector<float>(), want.first);
  expect_near(inside[1].tensor().to_vector<float>(), want.second);
}

TEST(CallNodes, SecondOrderThroughACall) {
  auto cube = function([](const Tensor& x) { return x * x * x; });
  auto outer = function([&](const Tensor& x) { return cube(x) * 2.0; });
  const Tensor x = constant(2.0);
  GradientTape second;
  second.watch(x);
  Tensor first;
  {
    GradientTape tape;
    tape.watch(x);
    first = tape.gradient(outer(x), x);
  }
  EXPECT_EQ(first.item<float>(), 24);
  EXPECT_EQ(Tensor(second.gradient(first, x)).item<float>(), 24);
}

TEST(CallNodes, ShapesAndKnownValuesComeThroughTheCall) {
  auto sizes = function([](const Tensor& x) { return std::pair(rw::shape(x), x * 2.0); });
  auto outer = function([&](const Tensor& x) {
    const auto [s, y] = sizes(x);
    return reshape(y, concat({s, constant({1})}, 0));
  });
  const auto concrete = outer.get_concrete_function(ones({2, 3}));
  EXPECT_EQ(concrete->outputs()[0].shape, Shape({2, 3, 1}));
  EXPECT_EQ(outer(ones({2, 3})).shape(), Shape({2, 3, 1}));
}

TEST(CallNodes, OpenSizesInsideTakeTheOnesOutside) {
  auto rows = function([](const Tensor& x) { return reduce_sum(x, 1); },
                       {.input_signature = {{{{-1, -1}, float32}}}});
  auto known = function([&](const Tensor& x) { return rows(x); });
  EXPECT_EQ(known.get_concrete_function(ones({4, 2}))->outputs()[0].shape, Shape({4}));
  auto open =
      function([&](const Tensor& x) { return rows(x) * 2.0; }, {.input_signature = {{{{-1, -1}, float32}}}});
  const auto concrete = open.get_concrete_function(ones({4, 2}));
  EXPECT_EQ(count(types_of(*concrete), "PartitionedCall"), 1u);
  EXPECT_EQ(open(ones({2, 3})).to_vector<float>(), (Floats{6, 6}));
  EXPECT_EQ(open(ones({1, 5})).to_vector<float>(), (Floats{10}));
}

TEST(CallNodes, InBranchesAndLoopsAndInFunctionsOfThose) {
  auto half = function([](const Tensor& n) { return math::floordiv(n, 2); });
  auto next = function(
      [&](const Tensor& n) { return cond(n % 2 == 0, [&] { return half(n); }, [&] { return 3 * n + 1; }); });
  auto wrapped = function([&](const Tensor& n) { return next(n); });
  auto collatz = function([&](const Tensor& n) {
    auto [steps, last] =
        while_loop([](const Tensor&, const Tensor& k) { return k > 1; },
                   [&](const Tensor& s, const Tensor& k) { return std::tuple(s + 1, wrapped(k)); },
                   std::tuple(constant(0), n));
    return steps;
  });
  EXPECT_EQ(collatz(constant(6171)).item<int32_t>(), 261);
  auto twice = function([&](const Tensor& n) { return wrapped(wrapped(n)); });
  EXPECT_EQ(twice(constant(7)).item<int32_t>(), 11);
}

TEST(CallNodes, ForwardModeBatchesAndCustomGradientsHearWhatIsInside) {
  auto square_of = function([](const Tensor& x) { return x * x; });
  auto outer = function([&](const Tensor& x) { return square_of(x) + x; });
  auto mapped =
      function([&](const Tensor& x) { return vectorized_map([&](const Tensor& e) { return outer(e); }, x); });
  EXPECT_EQ(mapped(constant({1.0, 2.0, 3.0})).to_vector<float>(), (Floats{2, 6, 12}));
  const auto clipped = custom_gradient(
      [](const Tensor& x) { return with_gradient(x * 1.0, [](const Tensor& dy) { return dy * 100.0; }); });
  auto inner = function([&](const Tensor& x) -> Tensor { return clipped(x); });
  auto around = function([&](const Tensor& x) { return inner(x) * 2.0; });
  const Tensor x = constant(1.0);
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(Tensor(tape.gradient(around(x), x)).item<float>(), 200);
  EXPECT_EQ(around.get_concrete_function(x)->graph().as_graph_def().find("_CustomGradient"),
            std::string::npos);
}

}  // namespace
}  // namespace rw
