// Functions of the host program in functions: they live as long as a graph that calls them, and have
// gradients.
#include <gtest/gtest.h>

#include "rewind/function/function.h"
#include "rewind/graph/graph_def.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

using Floats = std::vector<float>;
using Tensors1 = std::vector<Tensor>;

// 3 x^2 on the host.
Tensor on_host(const Tensor& x) {
  return host_function([](const Tensors1& in) { return Tensors1{in[0] * in[0] * 3.0}; }, {x}, {float32})[0];
}

TEST(HostFunction, RunsAtEveryCallOfAFunction) {
  int calls = 0;
  const auto f = function([&](const Tensor& x) {
    return host_function([&calls](const Tensors1& in) { return ++calls, Tensors1{in[0] + double(calls)}; },
                         {x}, {float32})[0];
  });
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(f(constant(10.0F)).item<float>(), float(10 + i));
  EXPECT_EQ(calls, 3);
}

TEST(HostFunction, LivesAsLongAsAGraphThatCallsIt) {
  std::weak_ptr<int> alive;
  std::shared_ptr<const ConcreteFunction> concrete;
  {
    const auto token = std::make_shared<int>(5);
    alive = token;
    const auto f = function([token](const Tensor& x) {
      return host_function([token](const Tensors1& in) { return Tensors1{in[0] * double(*token)}; }, {x},
                           {float32})[0];
    });
    const auto outer = function([f](const Tensor& x) { return f(x) + 1.0; });
    EXPECT_EQ(outer(constant(2.0F)).item<float>(), 11);
    concrete = outer.get_concrete_function(constant(2.0F));
  }
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ((*concrete)({constant(3.0F)})[0].item<float>(), 16);
  concrete.reset();
  EXPECT_TRUE(alive.expired());
}

TEST(HostFunction, ALoadedGraphFindsItInThisProcess) {
  std::string bytes;
  {
    const auto f = function([](const Tensor& x) { return on_host(x); });
    bytes = f.get_concrete_function(constant(1.0F))->graph().as_graph_def_binary();
  }
  const auto graph = from_graph_def(format::decode<format::GraphDef>(bytes));
  const auto loaded =
      std::make_shared<ConcreteFunction>(graph, 1, std::vector<Tensor>(), std::vector<Variable>());
  EXPECT_EQ((*loaded)({constant(2.0F)})[0].item<float>(), 12);
}

TEST(HostFunction, IsForgottenWithAnEagerCall) {
  std::weak_ptr<int> alive;
  {
    const auto token = std::make_shared<int>(2);
    alive = token;
    host_function([token](const Tensors1& in) { return in; }, {constant(1.0F)}, {float32});
  }
  EXPECT_TRUE(alive.expired());
}

TEST(HostFunction, HasAGradientEagerlyAndInFunctions) {
  const Tensor x = constant({2.0F, -1.0F});
  const auto gradient_of = [](const auto& f, const Tensor& at) {
    GradientTape tape;
    tape.watch(at);
    const Tensor y = f(at) * 2.0;
    return Tensor(tape.gradient(y, at));
  };
  const Floats expected{24, -12};
  const auto traced = function(on_host);
  EXPECT_EQ(gradient_of(on_host, x).to_vector<float>(), expected);
  EXPECT_EQ(gradient_of(traced, x).to_vector<float>(), expected);
  const auto inside = function([&](const Tensor& at) { return gradient_of(on_host, at); });
  EXPECT_EQ(inside(x).to_vector<float>(), expected);
  const auto both = function([&](const Tensor& at) { return gradient_of(traced, at); });
  EXPECT_EQ(both(x).to_vector<float>(), expected);
}

TEST(HostFunction, HasSecondGradients) {
  const Tensor x = constant(2.0F);
  const auto second = [](const auto& f, const Tensor& at) {
    GradientTape outer;
    outer.watch(at);
    GradientTape inner;
    inner.watch(at);
    const Tensor y = f(at) * at;  // 3 x^3
    const Tensor dy = inner.gradient(y, at);
    return Tensor(outer.gradient(dy, at));
  };
  EXPECT_EQ(second(on_host, x).item<float>(), 36);
  EXPECT_EQ(second(function(on_host), x).item<float>(), 36);
  EXPECT_EQ(function([&](const Tensor& at) { return second(on_host, at); })(x).item<float>(), 36);
}

TEST(HostFunction, GradientsOfSeveralInputsAndOutputs) {
  const auto f = [](const Tensor& a, const Tensor& n, const Tensor& b) {
    const auto out = host_function(
        [](const Tensors1& in) {
          const Tensor scale = cast(in[1], float32);
          return Tensors1{in[0] * scale, constant("text"), in[0] * in[2]};
        },
        {a, n, b}, {float32, string, float32});
    return out[0] + out[2];
  };
  const Tensor a = constant(2.0F), n = constant(7), b = constant(5.0F);
  for (const bool traced : {false, true}) {
    GradientTape tape;
    tape.watch(std::vector<Tensor>{a, b});
    const Tensor y = traced ? function(f)(a, n, b) : f(a, n, b);
    const auto d = tape.gradient(y, std::vector<Tensor>{a, b});
    EXPECT_EQ(Tensor(d[0]).item<float>(), 12);
    EXPECT_EQ(Tensor(d[1]).item<float>(), 2);
  }
}

TEST(HostFunction, GradientsInBranchesAndLoops) {
  const auto f = function([](const Tensor& x) {
    const Tensor y = cond(x > 0.0, [&] { return reshape(on_host(x), {}); }, [&] { return x; });
    auto [i, z] = while_loop(
        [](const Tensor& k, const Tensor&) { return k < 2; },
        [](const Tensor& k, const Tensor& v) {
          return std::tuple(
              k + 1, reshape(host_function([](const Tensors1& in) { return Tensors1{in[0] * in[0]}; }, {v},
                                           {float32})[0],
                             {}));
        },
        std::tuple(0, y));
    return z;  // (3 x^2)^4
  });
  const Tensor x = constant(1.0F);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  EXPECT_EQ(y.item<float>(), 81);
  EXPECT_EQ(Tensor(tape.gradient(y, x)).item<float>(), 4 * 27 * 6);
}

TEST(HostFunction, WhatLeavesTheLibraryHasNoGradientAndSaysSo) {
  const auto f = [](const Tensor& x) {
    return host_function([](const Tensors1& in) { return Tensors1{constant(in[0].item<float>() * 2)}; }, {x},
                         {float32})[0];
  };
  const Tensor x = constant(1.0F);
  for (const bool traced : {false, true}) {
    const auto differentiate = [&] {
      GradientTape tape;
      tape.watch(x);
      const Tensor y = traced ? function(f)(x) : f(x);
      (void)tape.gradient(y, x);
    };
    expect_error<FailedPreconditionError>(differentiate, "[host_function] the function has no gradient");
  }
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * stop_gradient(f(x));
  EXPECT_EQ(Tensor(tape.gradient(y, x)).item<float>(), 2);
}

TEST(HostFunction, TapesOutsideDoNotHearItsOps) {
  const Variable v(3.0F);
  GradientTape tape;
  const Tensor y =
      host_function([&](const Tensors1& in) { return Tensors1{in[0] * v}; }, {constant(2.0F)}, {float32})[0];
  EXPECT_TRUE(tape.watched_variables().empty());
  EXPECT_TRUE(tape.gradient(y, v).none());
}

}  // namespace
}  // namespace rw
