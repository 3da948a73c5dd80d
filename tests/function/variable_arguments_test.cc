// Variables and generators as arguments, and variables as results.
#include <gtest/gtest.h>

#include "rewind/function/function.h"
#include "rewind/keras/optimizers.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

TEST(VariableArguments, OneTraceForVariablesOfAKind) {
  const auto doubled = function([](const Variable& v) { return v * 2.0; });
  for (const float x : {1.0F, 2.0F, 3.0F})
    EXPECT_EQ(doubled(Variable(x, {.name = "v" + std::to_string(int(x))})).item<float>(), 2 * x);
  EXPECT_EQ(doubled.tracing_count(), 1);
  doubled(Variable(1.0F, {.trainable = false}));
  EXPECT_EQ(doubled.tracing_count(), 2);
  doubled(Variable(ones({2})));
  EXPECT_EQ(doubled.tracing_count(), 3);
  doubled(Variable(constant(1.0)));  // float32 again
  EXPECT_EQ(doubled.tracing_count(), 3);
  doubled(Variable(constant(1.0F), {.dtype = float32, .shape = Shape::unknown_rank()}));
  EXPECT_EQ(doubled.tracing_count(), 3);
}

TEST(VariableArguments, StateGoesToTheVariableThatIsPassed) {
  const auto add = function([](const Variable& v, const Tensor& x) {
    v.assign_add(x);
    return v * 1.0;
  });
  const Variable a(1.0F), b(10.0F);
  EXPECT_EQ(add(a, constant(2.0F)).item<float>(), 3);
  EXPECT_EQ(add(b, constant(2.0F)).item<float>(), 12);
  EXPECT_EQ(add(a, constant(5.0F)).item<float>(), 8);
  EXPECT_EQ(a.item<float>(), 8);
  EXPECT_EQ(b.item<float>(), 12);
  EXPECT_EQ(add.tracing_count(), 1);
}

TEST(VariableArguments, WhichOfThemAreOneIsPartOfTheKind) {
  const auto f = function([](const Variable& a, const Variable& b) {
    a.assign_add(1.0F);
    return a + b;
  });
  const Variable a(1.0F), b(10.0F);
  EXPECT_EQ(f(a, b).item<float>(), 12);
  EXPECT_EQ(f(a, a).item<float>(), 6);
  EXPECT_EQ(f(b, b).item<float>(), 22);
  EXPECT_EQ(f(b, a).item<float>(), 15);
  EXPECT_EQ(f.tracing_count(), 2);
}

TEST(VariableArguments, AVariableThatTheFunctionUsesAnyway) {
  const Variable c(1.0F), d(5.0F);
  const auto f = function([&](const Variable& a) {
    const Tensor before = c + 0.0F;
    a.assign_add(1.0F);
    return before * 100.0F + c;
  });
  EXPECT_EQ(f(d).item<float>(), 101);
  EXPECT_EQ(f(c).item<float>(), 102);  // c reads as 1, then as 2
  EXPECT_EQ(f(d).item<float>(), 202);
  const Variable e(5.0F);
  EXPECT_EQ(f(e).item<float>(), 202);
  EXPECT_EQ(f(c).item<float>(), 203);
  EXPECT_EQ(f.tracing_count(), 2);
  const auto g = function([&](const Variable& a) { return a * 10.0F + c; });
  EXPECT_EQ(g(c).item<float>(), 33);
  EXPECT_EQ(g(d).item<float>(), 73);  // not c's trace, in which both are c
}

struct Parameters {
  Variable w, b;
  std::vector<Variable> more;
};

TEST(VariableArguments, InStructures) {
  const auto f = function([](const Parameters& p, const Tensor& x) {
    Tensor y = x * p.w + p.b;
    for (const Variable& v : p.more) y = y + v;
    return y;
  });
  const auto parameters = [](float w) { return Parameters{Variable(w), Variable(1.0F), {Variable(w)}}; };
  EXPECT_EQ(f(parameters(2), constant(3.0F)).item<float>(), 9);
  EXPECT_EQ(f(parameters(4), constant(3.0F)).item<float>(), 17);
  EXPECT_EQ(f.tracing_count(), 1);
  Parameters tied = parameters(5);
  tied.more[0] = tied.w;
  EXPECT_EQ(f(tied, constant(3.0F)).item<float>(), 21);
  EXPECT_EQ(f.tracing_count(), 2);
  EXPECT_EQ(f(Parameters{tied.w, tied.b, {}}, constant(3.0F)).item<float>(), 16);
}

TEST(VariableArguments, TapesOutsideFollowWhatIsPassed) {
  const auto f = function([](const Variable& v) { return v * v; });
  const Variable a(3.0F), b(5.0F);
  for (const Variable& v : {a, b, a}) {
    GradientTape tape;
    const Tensor y = f(v);
    EXPECT_EQ(tape.watched_variables().size(), 1u);
    EXPECT_EQ(Tensor(tape.gradient(y, v)).item<float>(), 2 * v.item<float>());
  }
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(VariableArguments, TapesInsideFollowThem) {
  const auto step = function([](const Variable& v, const Tensor& rate) {
    GradientTape tape;
    const Tensor loss = v * v;
    v.assign_sub(Tensor(tape.gradient(loss, v)) * rate);
    return loss;
  });
  const Variable a(1.0F), b(2.0F);
  for (int i = 0; i < 2; ++i) step(a, constant(0.25F)), step(b, constant(0.25F));
  EXPECT_EQ(a.item<float>(), 0.25F);
  EXPECT_EQ(b.item<float>(), 0.5F);
  EXPECT_EQ(step.tracing_count(), 1);
}

TEST(VariableArguments, InFunctionsInFunctions) {
  const auto inner = function([](const Variable& v, const Tensor& x) {
    v.assign_add(x);
    return v * 1.0F;
  });
  const Variable kept(100.0F);
  const auto outer = function([&](const Variable& v) {
    const Tensor first = inner(v, constant(1.0F));
    return first + inner(kept, v * 1.0F);
  });
  const Variable a(1.0F), b(10.0F);
  EXPECT_EQ(outer(a).item<float>(), 104);
  EXPECT_EQ(outer(b).item<float>(), 124);
  EXPECT_EQ(kept.item<float>(), 113);
  EXPECT_EQ(inner.tracing_count(), 1);
  EXPECT_EQ(outer.tracing_count(), 1);
}

TEST(VariableArguments, InBranchesAndLoops) {
  const auto f = function([](const Variable& v, const Tensor& n) {
    while_loop([&](const Tensor& i) { return i < n; },
               [&](const Tensor& i) {
                 cond(
                     i % 2 == 0, [&] { return v.assign_add(1.0F), v * 1.0F; },
                     [&] { return v.assign(v * 2.0F), v * 1.0F; });
                 return i + 1;
               },
               constant(0));
    return v * 1.0F;
  });
  const Variable a(1.0F), b(2.0F);
  EXPECT_EQ(f(a, constant(3)).item<float>(), 5);
  EXPECT_EQ(f(b, constant(3)).item<float>(), 7);
  EXPECT_EQ(f.tracing_count(), 1);
}

// An optimizer keeps state per variable: such a trace is one for the variables that it was made for.
TEST(VariableArguments, OptimizersKnowWhichVariableItIs) {
  std::map<const void*, keras::optimizers::SGD> optimizers;
  const auto step = function([&](const Variable& v) {
    const auto at =
        optimizers.try_emplace(v.id(), keras::optimizers::SGDOptions{.learning_rate = 0.5, .momentum = 0.5})
            .first;
    GradientTape tape;
    const Tensor loss = v * v;
    at->second.apply_gradients({tape.gradient(loss, v)}, {v});
    return loss;
  });
  const Variable a(4.0F), b(4.0F);
  step(a);
  EXPECT_EQ(a.item<float>(), 0);
  step(a);
  EXPECT_EQ(a.item<float>(), -2);
  step(b);
  EXPECT_EQ(b.item<float>(), 0);
  EXPECT_EQ(step.tracing_count(), 2);
}

TEST(VariableArguments, SignaturesAreOfTheTensors) {
  const auto f = function([](const Variable& v, const Tensor& x) { return v * x; },
                          {.input_signature = {{{{-1}, float32}}}});
  EXPECT_EQ(f(Variable(2.0F), ones({3})).to_vector<float>(), (Floats{2, 2, 2}));
  EXPECT_EQ(f(Variable(3.0F), ones({2})).to_vector<float>(), (Floats{3, 3}));
  EXPECT_EQ(f.tracing_count(), 1);
  EXPECT_EQ(f.memory_plan(Variable(3.0F), ones({2})).second_runs, 0);
}

TEST(VariableResults, AreTheirValuesThen) {
  const Variable v(1.0F);
  const auto f = function([&] {
    v.assign_add(1.0F);
    return v;
  });
  const Tensor a = f(), b = f();
  EXPECT_EQ(a.item<float>(), 2);
  EXPECT_EQ(b.item<float>(), 3);
  const auto g = function([&](const Variable& w) {
    v.assign_add(1.0F);
    return std::tuple(v, std::vector<Variable>{w, v}, std::map<std::string, Variable>{{"v", v}},
                      std::optional<Variable>(), std::pair(w, 7));
  });
  const auto [one, list, map, none, pair] = g(Variable(9.0F));
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(one)>, Tensor>);
  EXPECT_EQ(one.item<float>(), 4);
  EXPECT_EQ(list[0].item<float>(), 9);
  EXPECT_EQ(list[1].item<float>(), 4);
  EXPECT_EQ(map.at("v").item<float>(), 4);
  EXPECT_FALSE(none.has_value());
  EXPECT_EQ(pair.first.item<float>(), 9);
  EXPECT_EQ(pair.second, 7);
  run_functions_eagerly(true);
  const Tensor eager = f();
  v.assign(0.0F);
  run_functions_eagerly(false);
  EXPECT_EQ(eager.item<float>(), 5);
}

TEST(VariableResults, HaveGradients) {
  const Variable v(3.0F);
  const auto f = function([&] { return v; });
  GradientTape tape;
  const Tensor y = f() * f();
  EXPECT_EQ(Tensor(tape.gradient(y, v)).item<float>(), 6);
}

TEST(GeneratorArguments, AnotherGeneratorIsAnotherTrace) {
  const auto draw = function([](const random::Generator& g) { return g.uniform({}); });
  std::vector<float> drawn, expected;
  for (int64_t seed = 0; seed < 20; ++seed) {
    drawn.push_back(draw(random::Generator::from_seed(seed)).item<float>());  // at one place after the other
    expected.push_back(random::Generator::from_seed(seed).uniform({}).item<float>());
  }
  EXPECT_EQ(drawn, expected);
  EXPECT_EQ(draw.tracing_count(), 20);
  const random::Generator kept = random::Generator::from_seed(1);
  EXPECT_EQ(draw(kept).item<float>(), expected[1]);
  EXPECT_NE(draw(kept).item<float>(), expected[1]);
  EXPECT_EQ(draw.tracing_count(), 21);
}

TEST(ObjectArguments, SharedObjectsAreNotMixedUpWithLaterOnes) {
  struct Scale {
    explicit Scale(double by) : by(by) {}
    double by;
  };
  const auto f = function([](const std::shared_ptr<Scale>& s) { return constant(1.0F) * s->by; });
  for (const double by : {2.0, 3.0, 4.0, 5.0, 6.0})
    EXPECT_EQ(f(std::make_shared<Scale>(by)).item<float>(), float(by));
}

}  // namespace
}  // namespace rw
