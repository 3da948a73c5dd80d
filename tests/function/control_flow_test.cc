// cond, switch_case, case_ and while_loop: the same values staged as eagerly, and what they refuse.
#include <gtest/gtest.h>

#include "rewind/function/control_flow.h"
#include "rewind/function/function.h"
#include "rewind/function/while_loop.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

bool has_op(const ConcreteFunction& f, const std::string& type) {
  for (const auto& op : f.graph().operations())
    if (op.type == type) return true;
  return false;
}

TEST(Cond, StagesBothBranches) {
  auto f = function(
      [](Tensor x) { return cond(reduce_sum(x) > 0.0, [&] { return x * 2.0; }, [&] { return 1.0 - x; }); });
  EXPECT_EQ(f(constant({1.0, 2.0})).to_vector<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(f(constant({-1.0, -2.0})).to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(f.tracing_count(), 1);
  EXPECT_TRUE(has_op(*f.get_concrete_function(constant({1.0, 2.0})), "StatelessIf"));
}

TEST(Cond, StructuresAndNumbers) {
  struct Pair {
    Tensor a;
    std::vector<Tensor> rest;
  };
  auto f = function([](Tensor x) {
    return cond(x > 0.0, [&] { return Pair{x, {x + 1.0, x + 2.0}}; }, [&] { return Pair{-x, {x, x}}; });
  });
  EXPECT_EQ(f(constant(3.0)).rest[1].item<float>(), 5);
  EXPECT_EQ(f(constant(-3.0)).a.item<float>(), 3);
  auto g = function([](Tensor x) { return cond(x > 0.0, [] { return 1.0; }, [&] { return x; }); });
  EXPECT_EQ(g(constant(3.0)).item<float>(), 1);
  EXPECT_EQ(g(constant(-3.0)).item<float>(), -3);
  auto t = function([](Tensor x) {
    auto [a, b] = cond(x > 0.0, [&] { return std::tuple(x, 7); }, [&] { return std::tuple(-x, 8); });
    return a + cast(b, DType::kFloat32);
  });
  EXPECT_EQ(t(constant(-3.0)).item<float>(), 11);
}

TEST(Cond, KnownPredicatesAndEagerOnesTakeOneBranch) {
  int runs = 0;
  auto count = [&] {
    ++runs;
    return constant(1.0);
  };
  cond(true, count, [] { return constant(2.0); });
  cond(constant(false), count, [] { return constant(2.0); });
  EXPECT_EQ(runs, 1);
  auto f = function([&](Tensor x) { return cond(x.rank() == 1, count, [&] { return x; }); });
  f(constant({1.0}));
  EXPECT_FALSE(has_op(*f.get_concrete_function(constant({1.0})), "StatelessIf"));
}

TEST(Cond, EffectsOfTheTakenBranchOnly) {
  Variable v(constant(0.0));
  auto f = function([&](Tensor x) {
    cond(x > 0.0, [&] { v.assign_add(x); }, [&] { v.assign_sub(1.0); });
    return v.value();
  });
  EXPECT_EQ(f(constant(5.0)).item<float>(), 5);
  EXPECT_EQ(f(constant(-5.0)).item<float>(), 4);
  EXPECT_TRUE(has_op(*f.get_concrete_function(constant(1.0)), "If"));
}

TEST(Cond, RefusesBranchesThatDiffer) {
  const Tensor x = constant(1.0);
  auto types =
      function([](Tensor t) { return cond(t > 0.0, [&] { return t; }, [] { return constant(1); }); });
  expect_error<InvalidArgumentError>([&] { types(x); },
                                     "output 0 is float32 in branch 0 and int32 in branch 1");
  auto counts = function([](Tensor t) {
    return cond(t > 0.0, [&] { return std::vector<Tensor>{t}; }, [&] { return std::vector<Tensor>{t, t}; });
  });
  expect_error<InvalidArgumentError>([&] { counts(x); }, "same structure");
  auto shape = function([](Tensor t) { return cond(t > 0.0, [&] { return t; }, [&] { return t; }); });
  expect_error<InvalidArgumentError>([&] { shape(constant({1.0, 2.0})); }, "must be one value");
}

TEST(SwitchCase, OutsideIsTheDefault) {
  auto f = function([](Tensor i, Tensor x) {
    return switch_case(i, {[=] { return x + 1.0; }, [=] { return x * 10.0; }}, [=] { return -x; });
  });
  const Tensor x = constant(2.0);
  EXPECT_EQ(f(constant(0), x).item<float>(), 3);
  EXPECT_EQ(f(constant(1), x).item<float>(), 20);
  EXPECT_EQ(f(constant(2), x).item<float>(), -2);
  EXPECT_EQ(f(constant(-7), x).item<float>(), -2);
  EXPECT_EQ(switch_case(5, {[=] { return x; }, [=] { return x * 2.0; }}).item<float>(), 4);
}

TEST(Case, FirstTruePredicateWins) {
  auto f = function([](Tensor x) {
    return case_({{x < 0.0, [=] { return -x; }}, {x < 10.0, [=] { return x * 2.0; }}}, [=] { return x; });
  });
  EXPECT_EQ(f(constant(-1.0)).item<float>(), 1);
  EXPECT_EQ(f(constant(4.0)).item<float>(), 8);
  EXPECT_EQ(f(constant(40.0)).item<float>(), 40);
  auto bare =
      function([](Tensor x) { return case_({{x < 0.0, [=] { return -x; }}, {x > 5.0, [=] { return x; }}}); });
  EXPECT_EQ(bare(constant(7.0)).item<float>(), 7);
  EXPECT_THROW(bare(constant(2.0)), InvalidArgumentError);
  auto one = function([](Tensor x) {
    return case_({{x > 0.0, [=] { return -x; }}, {x > 5.0, [=] { return x; }}}, [=] { return x; },
                 {.exclusive = true});
  });
  EXPECT_EQ(one(constant(3.0)).item<float>(), -3);
  EXPECT_THROW(one(constant(7.0)), InvalidArgumentError);
}

TEST(WhileLoop, RunsStagedAsEagerly) {
  auto power = [](Tensor x, Tensor n) {
    auto [i, y] =
        while_loop([&](Tensor i, Tensor) { return i < n; },
                   [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * x); }, std::tuple(0, 1.0));
    return y;
  };
  auto f = function(power);
  const Tensor x = constant(2.0);
  for (int n : {0, 1, 7}) {
    EXPECT_EQ(f(x, constant(n)).item<float>(), float(1 << n));
    EXPECT_EQ(power(x, constant(n)).item<float>(), float(1 << n));
  }
  EXPECT_EQ(f.tracing_count(), 1);
  EXPECT_TRUE(has_op(*f.get_concrete_function(x, constant(1)), "StatelessWhile"));
}

TEST(WhileLoop, OneTensorAListAndAMap) {
  auto f = function([](Tensor x) {
    return while_loop([](Tensor t) { return t < 100.0; }, [](Tensor t) { return t * 2.0; }, x);
  });
  EXPECT_EQ(f(constant(3.0)).item<float>(), 192);
  auto list = function([](Tensor x) {
    return while_loop(
        [](const std::vector<Tensor>& v) { return v[0] < 3.0; },
        [](const std::vector<Tensor>& v) { return std::vector<Tensor>{v[0] + 1.0, v[1] + v[0]}; },
        std::vector<Tensor>{x, x});
  });
  EXPECT_EQ(list(constant(0.0))[1].item<float>(), 3);
  using Map = std::map<std::string, Tensor>;
  auto map = function([](Tensor x) {
    return while_loop([](const Map& m) { return m.at("i") < 4; },
                      [](const Map& m) { return Map{{"i", m.at("i") + 1}, {"x", m.at("x") * 3.0}}; },
                      Map{{"i", constant(0)}, {"x", x}});
  });
  EXPECT_EQ(map(constant(1.0)).at("x").item<float>(), 81);
}

TEST(WhileLoop, MaximumIterations) {
  auto loop = [](Tensor x, Tensor most) {
    return while_loop([](Tensor t) { return t < 100.0; }, [](Tensor t) { return t * 2.0; }, x,
                      {.maximum_iterations = most});
  };
  auto f = function(loop);
  for (int n : {0, 2, 50}) {
    EXPECT_EQ(f(constant(3.0), constant(n)).item<float>(), loop(constant(3.0), constant(n)).item<float>());
  }
  EXPECT_EQ(f(constant(3.0), constant(2)).item<float>(), 12);
}

TEST(WhileLoop, ConstantsOfTheBodyTakeTheVariablesType) {
  auto f = function([](Tensor n) {
    auto [i, x] = while_loop([&](Tensor i, Tensor) { return i < n; },
                             [](Tensor i, Tensor) { return std::tuple(i + 1, 2.5); },
                             std::tuple(0, constant(1.0, DType::kFloat64)));
    return x;
  });
  EXPECT_EQ(f(constant(3)).item<double>(), 2.5);
  EXPECT_EQ(f(constant(0)).item<double>(), 1.0);
}

TEST(WhileLoop, ShapesThatChangeNeedAnInvariant) {
  auto grow = [](Tensor n, std::vector<Shape> invariants) {
    auto [i, x] =
        while_loop([&](Tensor i, Tensor) { return i < n; },
                   [](Tensor i, Tensor x) { return std::tuple(i + 1, concat({x, x}, 0)); },
                   std::tuple(0, constant({1.0, 2.0})), {.shape_invariants = std::move(invariants)});
    return x;
  };
  auto f = function([&](Tensor n) { return grow(n, {{}, {Shape::kUnknown}}); });
  EXPECT_EQ(f(constant(2)).to_vector<float>(), (std::vector<float>{1, 2, 1, 2, 1, 2, 1, 2}));
  auto bare = function([&](Tensor n) { return grow(n, {}); });
  expect_error<InvalidArgumentError>([&] { bare(constant(2)); },
                                     "loop variable 1 enters the loop with shape (2,) and has shape (4,)");
  auto type = function([](Tensor n) {
    return while_loop([](Tensor t) { return t < 3; }, [](Tensor t) { return cast(t, DType::kFloat32); }, n);
  });
  expect_error<InvalidArgumentError>([&] { type(constant(2)); }, "enters the loop as int32 and is float32");
  auto excluded = function([&](Tensor n) { return grow(n, {{}, {3}}); });
  expect_error<InvalidArgumentError>([&] { excluded(constant(2)); }, "which its invariant (3,) excludes");
}

TEST(WhileLoop, VariablesInProgramOrder) {
  Variable v(constant(1.0));
  auto f = function([&](Tensor n) {
    const Tensor last = while_loop([&](Tensor i) { return i < n; },
                                   [&](Tensor i) {
                                     v.assign(v * 2.0);
                                     cond(v.value() > 10.0, [&] { v.assign_sub(10.0); }, [] {});
                                     return i + 1;
                                   },
                                   constant(0));
    return std::pair(last, v.value());
  });
  EXPECT_EQ(f(constant(5)).second.item<float>(), 2);
  EXPECT_EQ(v.item<float>(), 2);
  EXPECT_TRUE(has_op(*f.get_concrete_function(constant(5)), "While"));
}

TEST(WhileLoop, TensorArraysAndNestedLoops) {
  auto f = function([](Tensor n) {
    auto [i, rows] = while_loop(
        [&](Tensor i, const TensorArray&) { return i < n; },
        [](Tensor i, const TensorArray& rows) {
          const Tensor sum = std::get<1>(while_loop(
              [&](Tensor j, Tensor) { return j <= i; },
              [&](Tensor j, Tensor s) { return std::tuple(j + 1, s + cast(i * j, DType::kFloat32)); },
              std::tuple(0, 0.0)));
          return std::tuple(i + 1, rows.write(i, sum));
        },
        std::tuple(0, TensorArray(DType::kFloat32, {.size = n})));
    return rows.stack();
  });
  EXPECT_EQ(f(constant(4)).to_vector<float>(), (std::vector<float>{0, 1, 6, 18}));
}

}  // namespace
}  // namespace rw
