// If and While on tensors: eager equals traced, values and gradients; graphs as those of cond and while_loop;
// what bodies may not do is refused with the variable's name.
#include "rewind/function/autograph.h"

#include <gtest/gtest.h>

#include "rewind/autodiff/gradient_tape.h"
#include "rewind/graph/graph.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

using autograph::If;
using autograph::state;
using autograph::While;

// f eagerly and as a function, on each input: the same value and gradient.
template <class F>
void check(F f, const std::vector<Tensor>& inputs) {
  const auto staged = function(f);
  for (const Tensor& x : inputs) {
    const auto value_and_gradient = [&](const auto& call) {
      GradientTape tape;
      tape.watch(x);
      const Tensor y = call(x);
      return std::pair{y,
                       tape.gradient(y, x, {.unconnected_gradients = UnconnectedGradients::ZERO}).tensor()};
    };
    const auto [y, dy] = value_and_gradient(f);
    const auto [z, dz] = value_and_gradient(staged);
    EXPECT_TRUE(bool(reduce_all(equal(y, z)))) << y << " " << z;
    EXPECT_TRUE(bool(reduce_all(equal(dy, dz)))) << dy << " " << dz;
  }
  EXPECT_EQ(staged.tracing_count(), 1);
}

Tensor branch(Tensor x) {
  Tensor y = x;
  for (If s(x > 0.0, state(x, y), "x, y"); s.next();)
    if (s.branch()) x = x * 2.0;
    else {
      x = x - 1.0;
      y = x * x;
    }
  return x + y;
}

TEST(Autograph, IfTakesOneBranch) { check(branch, {constant(3.0), constant(-2.0), constant(0.0)}); }

Tensor halvings(Tensor n) {
  Tensor k = constant(0.0);
  for (While s(state(n, k), "n, k"); s.open() && s.condition(n > 1.0); s.step()) {
    n = n / 2.0;
    k = k + n;
  }
  return k;
}

TEST(Autograph, WhileRunsUntilItsConditionIsFalse) {
  check(halvings, {constant(100.0), constant(1.0), constant(3.5)});
}

// Collatz with branches in a loop.
Tensor collatz(Tensor n) {
  Tensor steps = constant(0);
  for (While s(state(n, steps)); s.open() && s.condition(n > 1); s.step()) {
    for (If t(equal(n % 2, 0), state(n)); t.next();)
      if (t.branch()) n = math::floordiv(n, 2);
      else n = n * 3 + 1;
    steps = steps + 1;
  }
  return steps;
}

TEST(Autograph, NestedControlFlow) {
  const auto staged = function(collatz);
  for (const int n : {1, 6, 27, 6171})
    EXPECT_EQ(staged(constant(n)).item<int>(), collatz(constant(n)).item<int>()) << n;
  EXPECT_EQ(staged(constant(27)).item<int>(), 111);
}

TEST(Autograph, GraphsAreThoseOfCondAndWhileLoop) {
  const auto by_hand = function([](Tensor n) {
    return std::get<1>(while_loop([](Tensor n, Tensor) { return n > 1.0; },
                                  [](Tensor n, Tensor k) {
                                    const Tensor half = n / 2.0;
                                    return std::tuple{half, k + half};
                                  },
                                  std::tuple{n, constant(0.0)}));
  });
  const TensorSpec spec(Shape(), float32);
  const auto nodes = [&](const auto& f) {
    std::string text;
    const auto concrete = f.get_concrete_function(spec);
    for (const auto& node : concrete->graph().ir().nodes()) {
      text += node.op->name + " ";
      for (const char* body : {"cond", "body"})
        if (node.op->name.ends_with("While"))
          for (const auto& inner : graph_of(*attr_as<BodyRef>(*node.op, node.attrs, body)).nodes())
            text += inner.op->name + " ";
    }
    return text;
  };
  EXPECT_EQ(nodes(function(halvings)), nodes(by_hand));
}

TEST(Autograph, WhatALoopLeavesAloneIsNoLoopVariable) {
  const auto f = function([](Tensor x, Tensor factor) {
    Tensor count = constant(0);
    for (While s(state(x, factor, count)); s.open() && s.condition(x < 100.0); s.step()) x = x * factor;
    return x + cast(count, float32);
  });
  EXPECT_EQ(f(constant(1.0), constant(3.0)).item<float>(), 243);
  const auto concrete = f.get_concrete_function(TensorSpec(Shape(), float32), TensorSpec(Shape(), float32));
  for (const auto& node : concrete->graph().ir().nodes())
    if (node.op->name.ends_with("While")) EXPECT_EQ(node.inputs.size(), 2u);  // x, and factor as it is
}

TEST(Autograph, ConditionsThatAssign) {
  const auto f = [](Tensor x) {
    Tensor y = constant(0.0);
    for (While s(state(x, y)); s.open() && s.condition((x = x - 1.0) > 0.0); s.step()) y = y + x;
    return y * 1000.0 + x;
  };
  check(f, {constant(5.0), constant(0.5), constant(1.0)});
  const auto with_the_host = [](Tensor x) {
    Tensor y = constant(0.0);
    for (While s(state(x, y));
         s.open() && s.condition(autograph::and_((x = x - 1.0) > 0.0, [] { return 3 > 2; })); s.step())
      y = y + x;
    return y * 1000.0 + x;
  };
  check(with_the_host, {constant(5.0), constant(0.5), constant(1.0)});
  const auto counted = [](Tensor x) {
    autograph::Local<int> k = 5;
    for (If s(x > 1.0, state(k)); s.next();)
      if (s.branch()) k = 3;
    for (While s(state(x, k)); s.open() && s.condition(k-- > 0); s.step()) x = x * 2.0;
    return x + k;
  };
  check(counted, {constant(5.0), constant(0.5)});
}

TEST(Autograph, ConditionsOfTheHostAreOrdinary) {
  for (const bool flag : {true, false}) {
    const auto f = function([flag](Tensor x) {
      for (If s(flag, state(x)); s.next();)
        if (s.branch()) x = x * 2.0;
      return x;
    });
    EXPECT_EQ(f(constant(3.0)).item<float>(), flag ? 6 : 3);
    const auto concrete = f.get_concrete_function(TensorSpec(Shape(), float32));
    for (const auto& node : concrete->graph().ir().nodes()) EXPECT_FALSE(node.op->name.ends_with("If"));
  }
}

TEST(Autograph, Structures) {
  const auto f = [](Tensor x) {
    std::vector<Tensor> pair{x, x * 2.0};
    std::tuple<Tensor, Tensor> other{x, x};
    for (While s(state(pair, other)); s.open() && s.condition(pair[0] < 10.0); s.step()) {
      std::swap(pair[0], pair[1]);
      pair[0] = pair[0] + std::get<0>(other);
      std::get<1>(other) = pair[1];
    }
    return pair[0] * 100.0 + pair[1] * 10.0 + std::get<1>(other);
  };
  check(f, {constant(1.0), constant(2000.0)});
}

TEST(Autograph, BatchesOfConditions) {
  const Tensor xs = constant({3.0, -2.0, 0.5, 40.0});
  const Tensor branches = vectorized_map(branch, xs), loops = vectorized_map(halvings, xs);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(branches[i].item<float>(), branch(xs[i]).item<float>());
    EXPECT_EQ(loops[i].item<float>(), halvings(xs[i]).item<float>());
  }
}

template <class F>
void refused(F f, const std::string& message) {
  expect_error<InvalidArgumentError>([&] { function(f)(constant(1.0)); }, message);
}

TEST(Autograph, Refusals) {
  refused(
      [](Tensor x) {
        Tensor y;
        for (If s(x > 0.0, state(x, y), "x, y"); s.next();)
          if (s.branch()) y = x;
        return x;
      },
      "\"y\" is set in one branch only");
  refused(
      [](Tensor x) {
        for (If s(x > 0.0, state(x), "x"); s.next();)
          if (s.branch()) x = cast(x, int32);
        return x;
      },
      "\"x\" with one dtype: it is int32 after the first and float32 after the second");
  refused(
      [](Tensor x) {
        Tensor y;
        for (While s(state(x, y), "x, y"); s.open() && s.condition(x < 9.0); s.step()) x = x + 1.0, y = x;
        return y;
      },
      "\"y\" must have a value before the loop");
  refused(
      [](Tensor x) {
        for (While s(state(x), "x"); s.open() && s.condition(reduce_sum(x) < 9.0); s.step())
          x = stack(std::vector<Tensor>{x, x});
        return x;
      },
      "\"x\" enters the loop with shape () and has shape (2,) after one iteration");
  refused(
      [](Tensor x) {
        std::vector<Tensor> list{x};
        for (While s(state(list), "list"); s.open() && s.condition(list[0] < 9.0); s.step())
          list.push_back(x);
        return list[0];
      },
      "\"list\" in the structure that it has before the loop");
}

TEST(Autograph, AnExceptionLeavesTheVariablesAsTheyWere) {
  for (const int construct : {0, 1, 2}) {
    const auto f = function([construct](Tensor x) {
      const Tensor before = x;
      Tensor y = x * 2.0;
      const Tensor before_y = y;
      try {
        if (construct == 0)
          for (If s(x > 0.0, state(x, y)); s.next();)
            if (s.branch()) y = y + 1.0;
            else throw std::runtime_error("stop");
        else
          for (While s(state(x, y)); s.open() && s.condition(x > 0.0); s.step()) {
            y = y + 1.0;
            throw std::runtime_error("stop");
          }
      } catch (const std::runtime_error&) {
        EXPECT_EQ(x.impl(), before.impl());
        EXPECT_EQ(y.impl(), before_y.impl());
      }
      return x + y;
    });
    EXPECT_EQ(f(constant(2.0)).item<float>(), 6);
  }
}

TEST(Autograph, EffectsHappenAsOftenAsTheyShould) {
  const auto run = [](bool traced) {
    Variable count(0.0);
    const auto body = [&](Tensor x) {
      for (While s(state(x)); s.open() && s.condition(count.assign_add(1.0) * 0.0 + x > 1.0); s.step()) {
        x = x / 2.0;
        for (If t(x > 3.0, state(x)); t.next();)
          if (t.branch()) count.assign_add(10.0);
      }
      return x;
    };
    if (traced) function(body)(constant(16.0));
    else body(constant(16.0));
    return count.value().item<float>();
  };
  EXPECT_EQ(run(true), run(false));
}

}  // namespace
}  // namespace rw
