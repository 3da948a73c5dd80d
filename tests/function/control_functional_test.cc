// map_fn, scan, foldl and foldr: staged as eagerly, their gradients, and what they refuse.
#include <gtest/gtest.h>

#include "rewind/function/functional.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

// The program's result and the gradient of its sum of squares, eagerly and staged.
void check(const std::function<Tensor(const Tensor&)>& program, const Tensor& x, const Floats& expected) {
  auto with_gradient = [&](const Tensor& t) {
    GradientTape tape;
    tape.watch(t);
    const Tensor y = program(t);
    return std::vector<Tensor>{y, tape.gradient(reduce_sum(y * y), t).tensor()};
  };
  const auto eager = with_gradient(x);
  EXPECT_EQ(eager[0].to_vector<float>(), expected);
  auto staged = function(with_gradient);
  const auto r = staged(x);
  EXPECT_EQ(r[0].to_vector<float>(), expected);
  EXPECT_EQ(r[0].shape(), eager[0].shape());
  EXPECT_EQ(r[1].to_vector<float>(), eager[1].to_vector<float>());
  auto open = function(with_gradient, {.input_signature = {{TensorSpec{Shape::unknown_of_rank(x.rank())}}}});
  const auto o = open(x);
  EXPECT_EQ(o[0].to_vector<float>(), expected);
  EXPECT_EQ(o[1].to_vector<float>(), eager[1].to_vector<float>());
}

TEST(MapFn, OneTensor) {
  check([](const Tensor& x) { return map_fn([](Tensor e) { return e * e + 1.0; }, x); },
        constant({1.0, 2.0, 3.0}), {2, 5, 10});
  check([](const Tensor& x) { return map_fn([](Tensor e) { return reduce_sum(e * 2.0); }, x); },
        constant({{1.0, 2.0}, {3.0, 4.0}}), {6, 14});
}

TEST(MapFn, StructuresAndSignatures) {
  auto f = function([](Tensor a, Tensor b) {
    return map_fn([](Tensor x, Tensor y) { return std::tuple(x * y, x + y); }, std::tuple(a, b));
  });
  auto [p, s] = f(constant({1.0, 2.0}), constant({3.0, 4.0}));
  EXPECT_EQ(p.to_vector<float>(), (Floats{3, 8}));
  EXPECT_EQ(s.to_vector<float>(), (Floats{4, 6}));
  auto types = function([](Tensor a) {
    return map_fn([](Tensor x) { return cast(x, DType::kInt32) + 1; }, a,
                  {.fn_output_signature = {{.dtype = DType::kInt32}}});
  });
  EXPECT_EQ(types(constant({1.5, 2.5})).to_vector<int>(), (std::vector<int>{2, 3}));
  auto two = function([](Tensor a) {
    return map_fn([](Tensor x) { return std::pair(x, x > 1.0); }, a,
                  {.fn_output_signature = {{}, {.dtype = DType::kBool}}});
  });
  EXPECT_EQ(two(constant({0.0, 2.0})).second.to_vector<bool>(), (std::vector<bool>{false, true}));
}

TEST(MapFn, NoElements) {
  const Tensor none = zeros({0, 3});
  EXPECT_EQ(map_fn([](Tensor x) { return x * 2.0; }, none).shape(), (Shape{0, 3}));
  auto f = function([](Tensor x) { return map_fn([](Tensor e) { return reduce_sum(e); }, x); });
  EXPECT_EQ(f(none).shape(), (Shape{0}));
}

TEST(MapFn, Refuses) {
  const Tensor x = constant({1.0, 2.0});
  expect_error<InvalidArgumentError>([&] { map_fn([](Tensor e) { return cast(e, DType::kInt32); }, x); },
                                     "result 0 is int32, and float32 is expected");
  expect_error<InvalidArgumentError>([&] { map_fn([](Tensor e) { return std::pair(e, e); }, x); },
                                     "2 tensors");
  expect_error<InvalidArgumentError>([&] { map_fn([](Tensor e) { return e; }, constant(1.0)); }, "scalar");
  expect_error<InvalidArgumentError>(
      [&] { map_fn([](Tensor a, Tensor) { return a; }, std::tuple(x, constant({1.0}))); }, "same first size");
}

TEST(Scan, WithAndWithoutInitializer) {
  auto add = [](const Tensor& a, const Tensor& x) { return a + x; };
  const Tensor x = constant({1.0, 2.0, 3.0, 4.0});
  check([&](const Tensor& t) { return scan(add, t); }, x, {1, 3, 6, 10});
  check([&](const Tensor& t) { return scan(add, t, 10.0); }, x, {11, 13, 16, 20});
  check([&](const Tensor& t) { return scan(add, t, {.reverse = true}); }, x, {10, 9, 7, 4});
  check([&](const Tensor& t) { return scan(add, t, 10.0, {.reverse = true}); }, x, {20, 19, 17, 14});
}

TEST(Scan, StatesOfAnotherStructure) {
  auto f = function([](Tensor x) {
    return scan([](const std::pair<Tensor, Tensor>& s,
                   const Tensor& e) { return std::pair(s.second, s.first + s.second * e); },
                x, std::pair(0.0, 1.0));
  });
  EXPECT_EQ(f(ones({5})).second.to_vector<float>(), (Floats{1, 2, 3, 5, 8}));
}

TEST(Fold, LeftAndRight) {
  auto mix = [](const Tensor& a, const Tensor& x) { return a * 2.0 + x; };
  const Tensor x = constant({1.0, 2.0, 3.0});
  check([&](const Tensor& t) { return foldl(mix, t); }, x, {11});
  check([&](const Tensor& t) { return foldr(mix, t); }, x, {17});
  check([&](const Tensor& t) { return foldl(mix, t, 1.0); }, x, {19});
  check([&](const Tensor& t) { return foldr(mix, t, 1.0); }, x, {25});
}

}  // namespace
}  // namespace rw
