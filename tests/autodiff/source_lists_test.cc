// Sources in braces mean what a list means in TensorFlow: variables are followed, not read.
#include <gtest/gtest.h>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

using List = std::vector<Gradient>;
using Lists = std::vector<List>;

float number(const Gradient& g) { return g.none() ? -1.0f : reduce_sum(g.tensor()).item<float>(); }
std::vector<float> numbers(const List& list) {
  std::vector<float> out;
  for (const Gradient& g : list) out.push_back(number(g));
  return out;
}
using Floats = std::vector<float>;

struct SourceLists : testing::Test {
  Variable w{2.0}, b{3.0};
  const Variable c{5.0};
  Tensor x = 7.0;
  GradientTape tape{{.persistent = true}};
  Tensor y;
  void SetUp() override {
    tape.watch(x);
    y = w * b * c * x;  // 210
  }
};

TEST_F(SourceLists, OfVariablesAndTensorsSideBySide) {
  EXPECT_EQ(numbers(tape.gradient(y, {w, b})), (Floats{105, 70}));
  EXPECT_EQ(numbers(tape.gradient(y, {w})), (Floats{105}));
  EXPECT_EQ(numbers(tape.gradient(y, {x})), (Floats{30}));
  EXPECT_EQ(numbers(tape.gradient(y, {w, x, c})), (Floats{105, 30, 42}));
  EXPECT_EQ(numbers(tape.gradient(y, {x, x, w, w})), (Floats{30, 30, 105, 105}));
  EXPECT_EQ(numbers(tape.gradient(y, {w, b}, {.output_gradients = {2.0}})), (Floats{210, 140}));
  EXPECT_EQ(numbers(tape.gradient({y, y}, {w, x})), (Floats{210, 60}));
  EXPECT_EQ(numbers(tape.gradient({y, w}, {w, x})), (Floats{106, 30}));
  EXPECT_TRUE(tape.gradient(y, {}).empty());
  EXPECT_EQ(numbers(tape.gradient(y, std::vector{w, b})), (Floats{105, 70}));
}

TEST_F(SourceLists, OfListsKeepTheirNesting) {
  static_assert(std::is_same_v<decltype(tape.gradient(y, {{w}})), Lists>);
  static_assert(std::is_same_v<decltype(tape.gradient(y, {w})), List>);
  static_assert(std::is_same_v<decltype(tape.gradient(y, {{w}, {x}})), Lists>);
  static_assert(std::is_same_v<decltype(tape.gradient({y, y}, {{w, x}})), Lists>);
  static_assert(std::is_same_v<decltype(tape.jacobian(y, {{w}, {x}})), Lists>);
  const Lists two = tape.gradient(y, {{w, b}, {x}});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(numbers(two[0]), (Floats{105, 70}));
  EXPECT_EQ(numbers(two[1]), (Floats{30}));
  const Lists one = tape.gradient(y, {{w, x}});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(numbers(one[0]), (Floats{105, 30}));
  EXPECT_EQ(numbers(tape.gradient({y, y}, {{w}, {x}})[1]), (Floats{60}));
}

TEST_F(SourceLists, OfWhatIsUnconnected) {
  const Variable other({1., 2.});
  const Tensor z = constant({1., 2., 3.});
  EXPECT_TRUE(tape.gradient(y, {other, z})[0].none());
  const List zeros = tape.gradient(y, {other, z}, {.unconnected_gradients = UnconnectedGradients::ZERO});
  EXPECT_EQ(zeros[0].tensor().shape(), (Shape{2}));
  EXPECT_EQ(zeros[1].tensor().shape(), (Shape{3}));
  expect_error<InvalidArgumentError>([&] { tape.gradient(y, {w, Tensor()}); },
                                     "a source is an undefined tensor");
}

TEST_F(SourceLists, OfVariablesInFunctions) {
  const auto f = function([&](const Tensor& t) {
    GradientTape inner;
    const Tensor z = w * w * b * t;
    const auto g = inner.gradient(z, {w, b});
    return std::tuple{g[0].tensor(), g[1].tensor()};
  });
  const auto [dw, db] = f(Tensor(1.0));
  EXPECT_EQ(dw.item<float>(), 12);
  EXPECT_EQ(db.item<float>(), 4);
}

TEST(SourceListsOf, Jacobians) {
  const Variable w({1., 2.}), b({3., 4.});
  GradientTape tape({.persistent = true});
  const Tensor x = constant({5., 6.});
  tape.watch(x);
  const Tensor y = w * b * x;
  const List j = tape.jacobian(y, {w, x});
  EXPECT_EQ(j[0].tensor().to_vector<float>(), (Floats{15, 0, 0, 24}));
  EXPECT_EQ(j[1].tensor().to_vector<float>(), (Floats{3, 0, 0, 8}));
  EXPECT_EQ(tape.jacobian(y, {{w}, {x}})[1][0].tensor().shape(), (Shape{2, 2}));
  EXPECT_EQ(tape.jacobian(y, w).tensor().to_vector<float>(), (Floats{15, 0, 0, 24}));
}

TEST(SourceListsOf, BatchJacobians) {
  const Variable w({{1., 2.}, {3., 4.}});
  GradientTape tape({.persistent = true});
  const Tensor y = w * w;
  const Gradient j = tape.batch_jacobian(y, w);
  ASSERT_FALSE(j.none());
  EXPECT_EQ(j.tensor().shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(j.tensor().to_vector<float>(), (Floats{2, 0, 0, 4, 6, 0, 0, 8}));
  const Variable other({{1.}, {2.}});
  EXPECT_TRUE(tape.batch_jacobian(y, other).none());
  EXPECT_EQ(tape.batch_jacobian(y, other, UnconnectedGradients::ZERO).tensor().shape(), (Shape{2, 2, 1}));
  expect_error<InvalidArgumentError>([&] { tape.batch_jacobian(y, Variable({1., 2., 3.})); },
                                     "same first size");
  expect_error<InvalidArgumentError>([&] { tape.batch_jacobian(y, Tensor()); },
                                     "source is an undefined tensor");
}

TEST(SourceListsOf, Watching) {
  const Variable w(2.0), b(3.0);
  const Tensor x = 4.0, z = 5.0;
  GradientTape tape({.persistent = true, .watch_accessed_variables = false});
  tape.watch({w, x});
  tape.watch({{b}, {z}});
  tape.watch({});
  const Tensor y = w * b * x * z;
  EXPECT_EQ(numbers(tape.gradient(y, {w, b, x, z})), (Floats{60, 40, 30, 24}));
  EXPECT_EQ(tape.watched_variables().size(), 2u);
  GradientTape one({.watch_accessed_variables = false});
  one.watch({w});
  const Tensor u = w * b;
  EXPECT_EQ(numbers(one.gradient(u, {w, b})), (Floats{3, -1}));
}

TEST(SourceListsOf, ForwardAccumulators) {
  const Variable w(2.0), b(3.0);
  const Tensor x = 4.0, one = 1.0;
  {
    const ForwardAccumulator both({w, b}, {one, one});
    EXPECT_EQ(number(both.jvp(w * b)), 5);
  }
  {
    const ForwardAccumulator mixed({w, x}, {1.0, 2.0});
    EXPECT_EQ(number(mixed.jvp(w * x)), 8);
  }
  {
    const ForwardAccumulator single({w}, {one});
    EXPECT_EQ(number(single.jvp(w * b)), 3);
  }
  {
    const ForwardAccumulator tensor({x}, {one});
    EXPECT_EQ(number(tensor.jvp(x * b)), 3);
  }
  {
    const ForwardAccumulator plain(w, one);
    EXPECT_EQ(number(plain.jvp(w * b)), 3);
  }
  {
    const ForwardAccumulator list(std::vector<Variable>{w, b}, {one, one});
    EXPECT_EQ(number(list.jvp(w * b)), 5);
  }
  expect_error<InvalidArgumentError>([&] { ForwardAccumulator({w, x}, {one}); }, "one tangent per primal");
  expect_error<InvalidArgumentError>([&] { ForwardAccumulator({w, x}, {one, constant({1., 2.})}); },
                                     "a tangent must look like its primal");
}

}  // namespace
}  // namespace rw
