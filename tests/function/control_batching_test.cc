// Control flow inside vectorized_map and jacobian: the same results as element by element.
#include <gtest/gtest.h>

#include <set>

#include "rewind/function/control_flow.h"
#include "rewind/function/function.h"
#include "rewind/function/while_loop.h"
#include "rewind/graph/graph.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

using Floats = std::vector<float>;
using TensorProgram = std::function<Tensor(const Tensor&)>;

// vectorized_map of the program over the rows of x: eagerly, of a function, inside a function, and inside one
// that does not know the number of rows (lists need to); against one call per row.
void check_batching(const TensorProgram& program, const Tensor& x, bool lists = false) {
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < x.dim(0); ++i) rows.push_back(program(x[i]));
  const Floats expected = stack(rows).to_vector<float>();
  EXPECT_EQ(vectorized_map(program, x).to_vector<float>(), expected) << "eagerly";
  auto f = function(program);
  EXPECT_EQ(vectorized_map([&](const Tensor& t) { return f(t); }, x).to_vector<float>(), expected)
      << "of a function";
  auto inside = function([&](Tensor t) { return vectorized_map(program, t); });
  EXPECT_EQ(inside(x).to_vector<float>(), expected) << "inside a function";
  if (lists) return;
  Shape open = x.shape();
  open.set(0, Shape::kUnknown);
  auto any_number = function([&](Tensor t) { return vectorized_map(program, t); },
                             {.input_signature = std::vector<TensorSpec>{{open, x.dtype()}}});
  EXPECT_EQ(any_number(x).to_vector<float>(), expected) << "over an open number of rows";
}

TEST(ControlBatching, OneChoiceForAll) {
  const Tensor flag = constant(1.0);
  auto f = function([](Tensor x, Tensor flag) {
    return vectorized_map(
        [&](const Tensor& t) { return cond(flag > 0.0, [&] { return t * t; }, [&] { return -t; }); }, x);
  });
  EXPECT_EQ(f(constant({1.0, 2.0}), constant(1.0)).to_vector<float>(), (Floats{1, 4}));
  EXPECT_EQ(f(constant({1.0, 2.0}), constant(-1.0)).to_vector<float>(), (Floats{-1, -2}));
}

TEST(ControlBatching, ChoicesThatDiffer) {
  check_batching(
      [](const Tensor& t) { return cond(t > 1.5, [&] { return t * t; }, [&] { return constant(-1.0); }); },
      constant({1.0, 2.0, 3.0}));
  check_batching(
      [](const Tensor& t) {
        return cond(reduce_sum(t) > 3.0, [&] { return t * 10.0; }, [&] { return t + 1.0; });
      },
      constant({{1.0, 2.0}, {3.0, 4.0}}));
  check_batching(
      [](const Tensor& t) {
        return switch_case(cast(t, DType::kInt32), {[=] { return t; }, [=] { return t * 2.0; }},
                           [=] { return -t; });
      },
      constant({0.0, 1.0, 2.0, 7.0}));
}

TEST(ControlBatching, LoopsWithOneEnd) {
  check_batching(
      [](const Tensor& t) {
        auto [i, y] = while_loop([](Tensor i, Tensor) { return i < 3; },
                                 [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * t + 1.0); },
                                 std::tuple(0, 1.0));
        return y;
      },
      constant({1.0, 2.0, 3.0}));
}

TEST(ControlBatching, LoopsThatEndApart) {
  check_batching(
      [](const Tensor& t) {
        auto [i, y] =
            while_loop([](Tensor, Tensor y) { return y < 100.0; },
                       [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * y); }, std::tuple(0, t));
        return y + cast(i, DType::kFloat32);
      },
      constant({2.0, 3.0, 200.0}));
}

TEST(ControlBatching, NestedAndWithArrays) {
  check_batching(
      [](const Tensor& t) {
        auto [i, rows] =
            while_loop([](Tensor i, const TensorArray&) { return i < 2; },
                       [&](Tensor i, const TensorArray& rows) {
                         const Tensor y =
                             cond(t > 1.5, [&] { return t * cast(i, DType::kFloat32); }, [&] { return -t; });
                         return std::tuple(i + 1, rows.write(i, y));
                       },
                       std::tuple(0, TensorArray(DType::kFloat32, {.size = 2, .element_shape = {}})));
        return rows.stack();
      },
      constant({1.0, 2.0}), /*lists=*/true);
}

TEST(ControlBatching, JacobiansThroughLoops) {
  auto program = [](const Tensor& x) {
    auto [i, y] = while_loop([](Tensor i, Tensor) { return i < 3; },
                             [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * x + reverse(y, {0})); },
                             std::tuple(0, x));
    return cond(reduce_sum(y) > 0.0, [&, y = y] { return y * y; }, [&, y = y] { return y; });
  };
  auto jacobian = [&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = program(x);
    return tape.jacobian(y, x).tensor();
  };
  const Tensor x = constant({0.5, -1.0, 2.0});
  const Tensor eager = jacobian(x);
  auto f = function(jacobian);
  const Tensor staged = f(x);
  ASSERT_EQ(staged.shape(), (Shape{3, 3}));
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(eager.to_vector<float>()[i], staged.to_vector<float>()[i], 1e-4);
}

TEST(ControlBatching, BranchesThatReadVariablesAndDiffer) {
  const Variable w(3.0);
  check_batching([&](const Tensor& t) { return cond(t > 1.5, [&] { return t * w; }, [&] { return w - t; }); },
                 constant({1.0, 2.0, 3.0}));
}

// Where has no rule: one call per element, a few as they are and many as one loop.
TEST(ControlBatching, OpsWithoutARule) {
  const auto places = [](const Tensor& row) {
    return reduce_sum(cast(raw_op("Where", {row})[0], float32)) + reduce_max(row);
  };
  check_batching(places, constant({{1.0, 0.0, 2.0}, {0.0, 5.0, 6.0}}));
  check_batching(places, eye(40));
  auto many = function([&](Tensor t) { return vectorized_map(places, t); });
  EXPECT_LT(many.get_concrete_function(eye(40))->graph().ir().nodes().size(), 20u);
}

TEST(ControlBatching, OpsWithoutARuleInAnOpenBatchHaveGradients) {
  // A batch of axes' places: the slice has no rule for them.
  const auto piece = [](const Tensor& row) {
    return reduce_sum(slice(row, cast(reshape(row[0], {1}), DType::kInt32), {2}) * row[3]);
  };
  auto slopes = [&](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = vectorized_map(piece, x);
    return tape.gradient(y, x).tensor();
  };
  const Tensor x = constant({{1.0, 2.0, 3.0, 4.0}, {2.0, 5.0, 6.0, 7.0}});
  auto f = function(slopes, {.input_signature = std::vector<TensorSpec>{{Shape{-1, 4}, float32}}});
  EXPECT_EQ(f(x).to_vector<float>(), slopes(x).to_vector<float>());
  EXPECT_EQ(f(x).to_vector<float>(), (Floats{0, 4, 4, 5, 0, 0, 7, 20}));
}

int distinct(const Tensor& t) {
  const Floats all = t.to_vector<float>();
  return int(std::set<float>(all.begin(), all.end()).size());
}

TEST(ControlBatching, DrawsDifferFromElementToElement) {
  const auto draw = [](const Tensor& t) { return t + random::uniform({2}); };
  const Tensor x = zeros({4, 2});
  EXPECT_EQ(distinct(vectorized_map(draw, x)), 8);
  auto f = function([&](Tensor t) { return draw(t); });
  EXPECT_EQ(distinct(vectorized_map([&](const Tensor& t) { return f(t); }, x)), 8);
  auto inside = function([&](Tensor t) { return vectorized_map(draw, t); });
  EXPECT_EQ(distinct(inside(x)), 8);
  auto open = function([&](Tensor t) { return vectorized_map(draw, t); },
                       {.input_signature = std::vector<TensorSpec>{{Shape{-1, 2}, float32}}});
  EXPECT_EQ(distinct(open(x)), 8);
}

TEST(ControlBatching, DrawsInBranchesAndLoopsDifferToo) {
  auto branch = function([](Tensor x, Tensor flag) {
    return vectorized_map(
        [&](const Tensor& t) {
          return t + cond(flag > 0.0, [] { return random::normal({}); }, [] { return constant(0.0); });
        },
        x);
  });
  EXPECT_EQ(distinct(branch(zeros({5}), constant(1.0))), 5);
  EXPECT_EQ(distinct(branch(zeros({5}), constant(-1.0))), 1);
  auto loop = function([](Tensor x, Tensor n) {
    return vectorized_map(
        [&](const Tensor& t) {
          auto [i, sum] =
              while_loop([&](Tensor i, Tensor) { return i < n; },
                         [](Tensor i, Tensor sum) { return std::tuple(i + 1, sum + random::normal({})); },
                         std::tuple(0, 0.0));
          return t + sum;
        },
        x);
  });
  EXPECT_EQ(distinct(loop(zeros({5}), constant(3))), 5);
}

}  // namespace
}  // namespace rw
