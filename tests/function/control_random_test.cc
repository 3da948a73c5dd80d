// Random programs of nested branches and loops: staged, with tapes around and inside, they give what they
// give eagerly.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "rewind/function/control_flow.h"
#include "rewind/function/function.h"
#include "rewind/function/while_loop.h"
#include "rewind/graph/graph.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

using State = std::vector<Tensor>;  // three vectors of two elements

// A statement changes one of the three: from others, by a branch, by a loop.
struct Statement {
  enum Kind { kOp, kBranch, kLoop, kRead, kUpdate };
  Kind kind = kOp;
  int to = 0, a = 0, b = 0, op = 0;
  float number = 0;
  int count = 0;
  bool by_data = false;
  std::vector<Statement> first, second;
};
using Statements = std::vector<Statement>;

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}
  Statements block(int depth) {
    Statements list;
    for (int n = below(3) + 1; n > 0; --n) list.push_back(statement(depth));
    return list;
  }

 private:
  int below(int n) { return int(random_() % uint32_t(n)); }
  Statement statement(int depth) {
    Statement s;
    s.to = below(3);
    s.a = below(3);
    s.b = below(3);
    s.op = below(5);
    s.number = float(below(9) - 4) / 4;
    s.count = below(4);
    s.by_data = below(3) == 0;
    const int kind = below(10);
    if (depth > 0 && kind < 3) s.kind = Statement::kBranch;
    else if (depth > 0 && kind < 6) s.kind = Statement::kLoop;
    else if (kind == 6) s.kind = Statement::kRead;
    else if (kind == 7) s.kind = Statement::kUpdate;
    if (s.kind == Statement::kBranch || s.kind == Statement::kLoop) s.first = block(depth - 1);
    if (s.kind == Statement::kBranch) s.second = block(depth - 1);
    return s;
  }
  std::mt19937 random_;
};

State run(const Statements& block, State state, Variable& v);

Tensor value_of(const Statement& s, const State& state) {
  const Tensor& a = state[size_t(s.a)];
  const Tensor& b = state[size_t(s.b)];
  switch (s.op) {
    case 0: return sin(a) * b;
    case 1: return tanh(a + b * double(s.number));
    case 2: return a * 0.5 - b * a * 0.25;
    case 3: return cos(a) + double(s.number);
    default: return sigmoid(b) * double(s.number) + a * 0.5;
  }
}

State run_one(const Statement& s, State state, Variable& v) {
  switch (s.kind) {
    case Statement::kOp: state[size_t(s.to)] = value_of(s, state); return state;
    case Statement::kRead: state[size_t(s.to)] = v * state[size_t(s.a)] * 0.5; return state;
    case Statement::kUpdate: v.assign(v * 0.5 + 0.25); return state;
    case Statement::kBranch:
      return cond(
          reduce_sum(state[size_t(s.a)]) > double(s.number), [&] { return run(s.first, state, v); },
          [&] { return run(s.second, state, v); });
    case Statement::kLoop: {
      auto [i, last] = while_loop(
          [&](const Tensor& i, const State& now) -> Tensor {
            const Tensor more = i < s.count;
            if (!s.by_data) return more;
            return logical_and(more, reduce_sum(now[size_t(s.a)]) < double(s.number) + 1.0);
          },
          [&](const Tensor& i, const State& now) { return std::tuple(i + 1, run(s.first, now, v)); },
          std::tuple(0, state));
      return last;
    }
  }
  return state;
}

State run(const Statements& block, State state, Variable& v) {
  for (const Statement& s : block) state = run_one(s, std::move(state), v);
  return state;
}

// The value, its gradients with respect to x and the variable, and second gradients of both.
std::vector<Tensor> derivatives(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, Variable& v) {
  v.assign({0.75, -0.5});
  const GradientOptions zeros{.unconnected_gradients = UnconnectedGradients::ZERO};
  GradientTape outer;
  outer.watch(x);
  outer.watch(v);
  Tensor value, dx, dv;
  {
    GradientTape inner({.persistent = false});
    inner.watch(x);
    inner.watch(v);
    value = f(x);
    const auto grads = inner.gradient(value, std::vector<Tensor>{x, v.handle()}, zeros);
    dx = grads[0].tensor();
    dv = grads[1].tensor();
  }
  const auto second =
      outer.gradient(reduce_sum(dx * dx) + reduce_sum(dv), std::vector<Tensor>{x, v.handle()}, zeros);
  return {value, dx, dv, second[0].tensor(), second[1].tensor(), v.value()};
}

void expect_near(const std::vector<Tensor>& want, const std::vector<Tensor>& got, const char* how) {
  const char* names[] = {"value", "dx", "dv", "second dx", "second dv", "the variable"};
  for (size_t k = 0; k < want.size(); ++k) {
    const auto a = want[k].to_vector<float>();
    const auto b = got[k].to_vector<float>();
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], 1e-4f * std::max(1.0f, std::abs(a[i]))) << how << ": " << names[k];
  }
}

TEST(RandomControlFlow, StagedAsEager) {
  const char* scale = std::getenv("REWIND_RANDOM_SCALE");
  const uint32_t count = scale && std::string_view(scale) == "1" ? 200 : 20;
  for (uint32_t seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Statements block = Generator(seed).block(3);
    Variable v(constant({0.75, -0.5}));
    auto program = [&](const Tensor& x) {
      const State last = run(block, {x, x * 0.5, sin(x)}, v);
      return reduce_sum(last[0] * last[1] + last[2]);
    };
    const Tensor x = constant({0.5, -1.25});
    const std::vector<Tensor> eager = derivatives(program, x, v);
    auto f = function(program);
    expect_near(eager, derivatives([&](const Tensor& t) { return f(t); }, x, v), "tapes around");
    auto inside = function([&](Tensor t) { return derivatives(program, t, v); });
    verify(inside.get_concrete_function(x)->graph().ir());
    expect_near(eager, inside(x), "tapes inside");
  }
}

}  // namespace
}  // namespace rw
