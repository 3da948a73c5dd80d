// Control flow inside vectorized_map and jacobian: the same results as element by element.
#include <gtest/gtest.h>

#include "rewind/function/control_flow.h"
#include "rewind/function/function.h"
#include "rewind/function/while_loop.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

using Floats = std::vector<float>;
using TensorProgram = std::function<Tensor(const Tensor&)>;

// vectorized_map of the program over the rows of x: eagerly, of a function, and inside a function; against
// one call per row.
void check(const TensorProgram& program, const Tensor& x) {
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < x.dim(0); ++i) rows.push_back(program(x[i]));
  const Floats expected = stack(rows).to_vector<float>();
  EXPECT_EQ(vectorized_map(program, x).to_vector<float>(), expected) << "eagerly";
  auto f = function(program);
  EXPECT_EQ(vectorized_map([&](const Tensor& t) { return f(t); }, x).to_vector<float>(), expected)
      << "of a function";
  auto inside = function([&](Tensor t) { return vectorized_map(program, t); });
  EXPECT_EQ(inside(x).to_vector<float>(), expected) << "inside a function";
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
  check([](const Tensor& t) { return cond(t > 1.5, [&] { return t * t; }, [&] { return constant(-1.0); }); },
        constant({1.0, 2.0, 3.0}));
  check(
      [](const Tensor& t) {
        return cond(reduce_sum(t) > 3.0, [&] { return t * 10.0; }, [&] { return t + 1.0; });
      },
      constant({{1.0, 2.0}, {3.0, 4.0}}));
  check(
      [](const Tensor& t) {
        return switch_case(cast(t, DType::kInt32), {[=] { return t; }, [=] { return t * 2.0; }},
                           [=] { return -t; });
      },
      constant({0.0, 1.0, 2.0, 7.0}));
}

TEST(ControlBatching, LoopsWithOneEnd) {
  check(
      [](const Tensor& t) {
        auto [i, y] = while_loop([](Tensor i, Tensor) { return i < 3; },
                                 [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * t + 1.0); },
                                 std::tuple(0, 1.0));
        return y;
      },
      constant({1.0, 2.0, 3.0}));
}

TEST(ControlBatching, LoopsThatEndApart) {
  check(
      [](const Tensor& t) {
        auto [i, y] =
            while_loop([](Tensor, Tensor y) { return y < 100.0; },
                       [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * y); }, std::tuple(0, t));
        return y + cast(i, DType::kFloat32);
      },
      constant({2.0, 3.0, 200.0}));
}

TEST(ControlBatching, NestedAndWithArrays) {
  check(
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
      constant({1.0, 2.0}));
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

}  // namespace
}  // namespace rw
