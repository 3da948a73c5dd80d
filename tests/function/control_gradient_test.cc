// Derivatives through staged control flow: the same program gives the same values and gradients, of first and
// second order, eagerly, with the tape around the function and with the tape inside it.
#include <gtest/gtest.h>

#include "rewind/function/control_flow.h"
#include "rewind/function/function.h"
#include "rewind/function/while_loop.h"
#include "rewind/graph/graph.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

using TensorProgram = std::function<Tensor(const Tensor&)>;  // a vector to a scalar

struct Derivatives {
  Tensor value, first, second, forward;
};

// The value, the gradient, and the gradient of the gradient's weighted sum.
Derivatives derivatives(const TensorProgram& f, const Tensor& x) {
  Derivatives d;
  std::vector<float> numbers;
  for (int64_t i = 0; i < x.dim(0); ++i) numbers.push_back(float(i) + 1);
  const Tensor weights = constant(numbers);
  GradientTape outer;
  outer.watch(x);
  {
    GradientTape inner;
    inner.watch(x);
    d.value = f(x);
    d.first = inner.gradient(d.value, x, {.unconnected_gradients = UnconnectedGradients::ZERO});
  }
  d.second =
      outer.gradient(reduce_sum(d.first * weights), x, {.unconnected_gradients = UnconnectedGradients::ZERO});
  {
    const ForwardAccumulator along(x, weights);
    d.forward = along.jvp(f(x), UnconnectedGradients::ZERO);
  }
  return d;
}

void expect_same(const Tensor& a, const Tensor& b, const char* what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  const auto x = a.to_vector<float>();
  const auto y = b.to_vector<float>();
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(x[i], y[i], 2e-5f * std::max(1.0f, std::abs(x[i]))) << what << ", element " << i;
}

void check(const TensorProgram& program, std::vector<float> at, bool second = true) {
  const Tensor x = constant(at);
  const Derivatives eager = derivatives(program, x);
  auto f = function(program);
  auto compare = [&](const Derivatives& d, const char* how) {
    SCOPED_TRACE(how);
    expect_same(eager.value, d.value, "value");
    expect_same(eager.first, d.first, "gradient");
    if (second) expect_same(eager.second, d.second, "second gradient");
    expect_same(eager.forward, d.forward, "forward mode");
  };
  compare(derivatives([&](const Tensor& t) { return f(t); }, x), "tape around the function");
  auto inside = function([&](Tensor t) {
    const Derivatives d = derivatives(program, t);
    return std::vector<Tensor>{d.value, d.first, d.second, d.forward};
  });
  verify(inside.get_concrete_function(x)->graph().ir());
  const std::vector<Tensor> r = inside(x);
  compare({r[0], r[1], r[2], r[3]}, "tape inside the function");
}

Tensor to_float(const Tensor& t) { return cast(t, DType::kFloat32); }

TEST(ControlGradients, Cond) {
  const TensorProgram f = [](const Tensor& x) {
    return cond(x[0] > 0.0, [&] { return reduce_sum(x * x * x); }, [&] { return reduce_sum(sin(x)) * x[0]; });
  };
  check(f, {1, 2, 3});
  check(f, {-1, 2, 3});
}

TEST(ControlGradients, ABranchThatDoesNotUseAnInput) {
  const TensorProgram f = [](const Tensor& x) {
    const Tensor a = x[0] * x[1];
    const Tensor b = exp(x[2]);
    return cond(a > 0.0, [&] { return a * a; }, [&] { return b * b * b; });
  };
  check(f, {1, 2, 0.5});
  check(f, {-1, 2, 0.5});
  check(
      [](const Tensor& x) {
        return cond(x[0] > 0.0, [&] { return constant(3.0); }, [&] { return reduce_sum(x * x); });
      },
      {1, 2});
}

TEST(ControlGradients, NestedConds) {
  const TensorProgram f = [](const Tensor& x) {
    return cond(
        x[0] > 0.0,
        [&] {
          const Tensor y = x * x;
          return cond(x[1] > 0.0, [&] { return reduce_sum(y * x); }, [&] { return reduce_sum(exp(y)); });
        },
        [&] { return reduce_prod(x); });
  };
  check(f, {0.5, 0.25});
  check(f, {0.5, -0.25});
  check(f, {-0.5, -0.25});
}

TEST(ControlGradients, SwitchCase) {
  const TensorProgram f = [](const Tensor& x) {
    return switch_case(cast(x[0], DType::kInt32),
                       {[&] { return reduce_sum(x * x); }, [&] { return reduce_sum(x * x * x); }},
                       [&] { return reduce_sum(cos(x)); });
  };
  check(f, {0.5, 2});
  check(f, {1.5, 2});
  check(f, {2.5, 2});
}

TEST(ControlGradients, WhileWithAKnownCount) {
  check(
      [](const Tensor& x) {
        auto [i, y] = while_loop([](Tensor i, Tensor) { return i < 4; },
                                 [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * sin(x) + x); },
                                 std::tuple(0, x));
        return reduce_sum(y);
      },
      {0.5, -1, 2});
}

TEST(ControlGradients, WhileUntilTheDataSaysSo) {
  const TensorProgram f = [](const Tensor& x) {
    return reduce_sum(
        while_loop([](Tensor y) { return reduce_max(y) < 100.0; }, [](Tensor y) { return y * y + 1.0; }, x));
  };
  check(f, {0.5, 1, 2});
  check(f, {500, 1, 2});  // no iteration
}

TEST(ControlGradients, OuterValuesAndSwappedVariables) {
  check(
      [](const Tensor& x) {
        const Tensor scale = exp(x * 0.1);
        auto [i, a, b] = while_loop(
            [](Tensor i, Tensor, Tensor) { return i < 5; },
            [&](Tensor i, Tensor a, Tensor b) { return std::tuple(i + 1, b * scale, a + to_float(i)); },
            std::tuple(0, x, x * x));
        return reduce_sum(a * b);
      },
      {0.5, -1});
}

TEST(ControlGradients, WhileInIfInWhile) {
  const TensorProgram f = [](const Tensor& x) {
    auto [i, y] =
        while_loop([](Tensor i, Tensor) { return i < 3; },
                   [&](Tensor i, Tensor y) {
                     const Tensor z = cond(
                         reduce_sum(y) > 1.0,
                         [&] {
                           return std::get<1>(while_loop(
                               [&](Tensor j, Tensor) { return j < i + 1; },
                               [&](Tensor j, Tensor t) { return std::tuple(j + 1, t * 0.5 + sin(y) * x); },
                               std::tuple(0, y)));
                         },
                         [&] { return y * y + x; });
                     return std::tuple(i + 1, z);
                   },
                   std::tuple(0, x));
    return reduce_sum(y * y);
  };
  check(f, {0.3, 0.4});
  check(f, {1.3, 0.4});
}

TEST(ControlGradients, TensorArraysInLoops) {
  check(
      [](const Tensor& x) {
        auto [i, rows] =
            while_loop([](Tensor i, const TensorArray&) { return i < 3; },
                       [&](Tensor i, const TensorArray& rows) {
                         return std::tuple(i + 1, rows.write(i, x * x * (to_float(i) + 1.0)));
                       },
                       std::tuple(0, TensorArray(DType::kFloat32, {.size = 3, .element_shape = {2}})));
        return reduce_sum(rows.stack() * rows.stack());
      },
      {0.5, -1});
}

TEST(ControlGradients, ReadingATensorArrayInALoop) {
  check(
      [](const Tensor& x) {
        const TensorArray rows =
            TensorArray(DType::kFloat32, {.size = 3, .clear_after_read = false}).unstack(x * x);
        auto [i, sum] = while_loop(
            [](Tensor i, Tensor) { return i < 3; },
            [&](Tensor i, Tensor s) { return std::tuple(i + 1, s * rows.read(i) + s); }, std::tuple(0, 1.0));
        return sum;
      },
      {0.5, -1, 2});
}

TEST(ControlGradients, ShapesThatGrow) {
  check(
      [](const Tensor& x) {
        auto [i, y] = while_loop([](Tensor i, Tensor) { return i < 3; },
                                 [&](Tensor i, Tensor y) { return std::tuple(i + 1, concat({y * y, x}, 0)); },
                                 std::tuple(0, x), {.shape_invariants = {{}, {Shape::kUnknown}}});
        return reduce_sum(y * y);
      },
      {0.5, -1});
}

// With variables the sources are handles.
std::vector<Tensor> variable_gradients(Variable& v, const std::function<Tensor()>& f) {
  GradientTape outer;
  Tensor first, value;
  {
    GradientTape inner;
    value = f();
    first = inner.gradient(value, v);
  }
  return {value, first, outer.gradient(reduce_sum(first), v).tensor()};
}

void check_variable(Variable& v, const std::function<Tensor()>& f) {
  const Tensor before = v.value();
  const std::vector<Tensor> eager = variable_gradients(v, f);
  const Tensor after = v.value();
  v.assign(before);
  auto staged = function(f);
  const std::vector<Tensor> around = variable_gradients(v, [&] { return staged(); });
  expect_same(after, v.value(), "the variable");
  v.assign(before);
  auto inside = function([&] { return variable_gradients(v, f); });
  const std::vector<Tensor> in = inside();
  expect_same(after, v.value(), "the variable");
  v.assign(before);
  const char* names[] = {"value", "gradient", "second gradient"};
  for (size_t i = 0; i < 3; ++i) {
    expect_same(eager[i], around[i], names[i]);
    expect_same(eager[i], in[i], names[i]);
  }
}

TEST(ControlGradients, VariablesReadInsideBodies) {
  Variable v(constant({0.5, -0.25}));
  check_variable(v, [&] {
    auto [i, y] = while_loop([](Tensor i, Tensor) { return i < 3; },
                             [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * v + sin(v.value())); },
                             std::tuple(0, constant({1.0, 2.0})));
    return reduce_sum(y);
  });
  check_variable(v, [&] {
    return cond(
        reduce_sum(v.value()) > 0.0, [&] { return reduce_sum(v * v * v); },
        [&] { return reduce_sum(v.value()); });
  });
}

TEST(ControlGradients, VariablesReadInNestedBodies) {
  Variable v(constant({0.5, -0.25}));
  check_variable(v, [&] {
    auto [i, y] = while_loop(
        [](Tensor i, Tensor) { return i < 3; },
        [&](Tensor i, Tensor y) {
          const Tensor z = cond(
              i > 0,
              [&] {
                return std::get<1>(while_loop(
                    [](Tensor j, Tensor) { return j < 2; },
                    [&](Tensor j, Tensor t) { return std::tuple(j + 1, t * v + v * v); }, std::tuple(0, y)));
              },
              [&] { return y * v; });
          return std::tuple(i + 1, z);
        },
        std::tuple(0, constant({1.0, 2.0})));
    return reduce_sum(y * y);
  });
}

TEST(ControlGradients, UpdatesHappenOnceAndValuesAreThoseOfTheirTime) {
  Variable v(constant({0.5, -0.25}));
  Variable count(constant(0));
  auto f = [&](const Tensor& x) {
    auto [i, y] = while_loop([](Tensor i, Tensor) { return i < 3; },
                             [&](Tensor i, Tensor y) {
                               count.assign_add(1);
                               const Tensor z = y * v;
                               v.assign(v + 1.0);
                               return std::tuple(i + 1, z * x);
                             },
                             std::tuple(0, x));
    return reduce_sum(y);
  };
  auto run = [&](const std::function<Tensor(const Tensor&)>& g) {
    v.assign({0.5, -0.25});
    count.assign(0);
    const Tensor x = constant({2.0, 3.0});
    GradientTape tape;
    tape.watch(x);
    const Tensor y = g(x);
    const Tensor dx = tape.gradient(y, x);
    EXPECT_EQ(count.item<int>(), 3);
    return std::pair(y, dx);
  };
  const auto [y, dx] = run(f);
  auto staged = function(f);
  const auto [sy, sdx] = run([&](const Tensor& x) { return staged(x); });
  expect_same(y, sy, "value");
  expect_same(dx, sdx, "gradient");
  auto inside = function([&](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = f(x);
    return std::pair(y, tape.gradient(y, x).tensor());
  });
  v.assign({0.5, -0.25});
  count.assign(0);
  const auto [iy, idx] = inside(constant({2.0, 3.0}));
  EXPECT_EQ(count.item<int>(), 3);
  expect_same(y, iy, "value");
  expect_same(dx, idx, "gradient");
}

TEST(ControlGradients, RandomDrawsAreNotRepeated) {
  // y = prod of (r_i * x): dy/dx * x / n == y for whatever was drawn, if backward sees the same draws.
  auto f = function([](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    auto [i, y] = while_loop(
        [](Tensor i, Tensor) { return i < 4; },
        [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * x * random::uniform({}, 0.5, 1.5)); },
        std::tuple(0, 1.0));
    const Tensor z =
        cond(x > 0.0, [&, y = y] { return y * random::uniform({}, 0.5, 1.5); }, [&, y = y] { return y; });
    return std::pair(z, tape.gradient(z, x).tensor());
  });
  for (int k = 0; k < 5; ++k) {
    const auto [y, dx] = f(constant(2.0));
    EXPECT_NEAR(dx.item<float>() * 2.0f / 4.0f, y.item<float>(), 1e-4f * y.item<float>());
  }
}

TEST(ControlGradients, SmallTensorsThatATapeFollowsAreCaptured) {
  const Tensor w = constant(3.0);
  GradientTape tape({.persistent = true});
  tape.watch(w);
  auto f = function([&](Tensor x) { return cond(x > 0.0, [&] { return w * w; }, [&] { return x; }); });
  EXPECT_EQ(Tensor(tape.gradient(f(constant(1.0)), w)).item<float>(), 6);
  const Tensor y = vectorized_map(
      [&](const Tensor& t) { return cond(t > 1.5, [&] { return t * w; }, [&] { return w * w; }); },
      constant({1.0, 2.0}));
  EXPECT_EQ(Tensor(tape.gradient(reduce_sum(y), w)).item<float>(), 8);
}

// A call of the function as a node: what graphs from elsewhere have.
Tensor call_node(const ConcreteFunction& f, const Tensor& x, const char* op) {
  const Graph& g = f.graph().ir();
  std::vector<Tensor> inputs{x};
  for (const Tensor& t : f.captured_inputs()) inputs.push_back(t);
  return raw_op(op, inputs, {{"Tout", g.output_types()}, {"f", BodyRef(std::make_shared<Graph>(g))}})[0];
}

TEST(ControlGradients, Calls) {
  auto cube = function([](Tensor x) { return reduce_sum(x * x * x); });
  const auto f = cube.get_concrete_function(constant({1.0, 2.0}));
  check([&](const Tensor& x) { return call_node(*f, x, "PartitionedCall") * reduce_sum(x); }, {0.5, -1});
}

TEST(ControlGradients, CallsThatReadVariables) {
  Variable v(constant({0.5, -0.25}));
  auto product = function([&](Tensor x) { return reduce_sum(x * v * v); });
  const Tensor x = constant({2.0, 3.0});
  const auto f = product.get_concrete_function(x);
  auto gradient = function([&](Tensor t) {
    GradientTape tape;
    tape.watch(v);
    const Tensor y = call_node(*f, t, "StatefulPartitionedCall");
    return tape.gradient(y, v).tensor();
  });
  EXPECT_EQ(gradient(x).to_vector<float>(), (std::vector<float>{2, -1.5}));
}

TEST(ControlGradients, EffectsOutsideAFunctionAreNotRepeated) {
  Variable v(constant(2.0));
  auto branch = function([&](Tensor x) { return cond(x > 0.0, [&] { return x * v; }, [&] { return x; }); });
  const Tensor x = constant(3.0);
  const auto concrete = branch.get_concrete_function(x);
  for (const Node& n : concrete->graph().ir().nodes()) {
    if (n.op->name != "If") continue;
    GradientTape tape;
    tape.watch(x);
    std::vector<Tensor> inputs{constant(true)};
    for (const DType t : attr_as<BodyRef>(*n.op, n.attrs, "then_branch")->input_types())
      inputs.push_back(t == DType::kResource ? v.handle() : x);
    const Tensor y = raw_op("If", inputs, n.attrs)[0];
    expect_error<UnimplementedError>([&] { tape.gradient(y, x); }, "would repeat their effects");
    return;
  }
  FAIL() << "no branch in the graph";
}

TEST(ControlGradients, RawOpsRunEagerly) {
  auto body = function([](Tensor x) {
    return while_loop([](Tensor y) { return y < 50.0; }, [](Tensor y) { return y * y; }, x);
  });
  const auto concrete = body.get_concrete_function(constant(3.0));
  const Tensor x = constant(3.0);
  GradientTape tape;
  tape.watch(x);
  const Graph& g = concrete->graph().ir();
  for (const Node& n : g.nodes()) {
    if (n.op->name != "StatelessWhile") continue;
    const Tensor y = raw_op(n.op->name, {x}, n.attrs)[0];
    EXPECT_EQ(y.item<float>(), 81);
    EXPECT_NEAR(Tensor(tape.gradient(y, x)).item<float>(), 4 * 27, 1e-3);
    return;
  }
  FAIL() << "no loop in the graph";
}

}  // namespace
}  // namespace rw
