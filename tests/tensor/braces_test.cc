// Braces where tensors are taken: as deep as they are nested, at every function, by both compilers.
#include <gtest/gtest.h>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

struct Case {
  const char* what;
  Tensor got;
  DType dtype;
  Shape shape;
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(c.got.dtype(), c.dtype) << c.what;
    EXPECT_EQ(c.got.shape(), c.shape) << c.what << " " << c.got.shape().to_string();
  }
}
#define RW_CASE(call, dtype, ...)             \
  {                                           \
    #call, call, dtype, Shape { __VA_ARGS__ } \
  }

TEST(Braces, AreListsAsDeepAsTheyAreNested) {
  check({
      RW_CASE(identity({}), float32, 0),
      RW_CASE(identity({{}}), float32, 1, 0),
      RW_CASE(identity({{}, {}}), float32, 2, 0),
      RW_CASE(identity({{{}}}), float32, 1, 1, 0),
      RW_CASE(identity({1}), int32, 1),
      RW_CASE(identity({{1}}), int32, 1, 1),
      RW_CASE(identity({{{1}}}), int32, 1, 1, 1),
      RW_CASE(identity({1, 2}), int32, 2),
      RW_CASE(identity({{1, 2}}), int32, 1, 2),
      RW_CASE(identity({{1}, {2}}), int32, 2, 1),
      RW_CASE(identity({{1, 2}, {3, 4}, {5, 6}}), int32, 3, 2),
      RW_CASE(identity({{{1, 2}}}), int32, 1, 1, 2),
      RW_CASE(identity({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}), int32, 2, 2, 2),
      RW_CASE(identity({{{{1, 2}}}}), int32, 1, 1, 1, 2),
      RW_CASE(identity({"a"}), string, 1),
      RW_CASE(identity({{"a"}}), string, 1, 1),
      RW_CASE(identity({"a", "b"}), string, 2),
      RW_CASE(identity({{"a", "b"}}), string, 1, 2),
      RW_CASE(identity({{"a", "b"}, {"c", "d"}}), string, 2, 2),
      RW_CASE(identity({{{"a", "b"}}}), string, 1, 1, 2),
      RW_CASE(identity({{std::string("a"), "b"}}), string, 1, 2),
      RW_CASE(identity({std::string("a")}), string, 1),
      RW_CASE(identity({true}), bool_, 1),
      RW_CASE(identity({{true, false}}), bool_, 1, 2),
      RW_CASE(identity({{1.0, 2.0}}), float32, 1, 2),
      RW_CASE(identity({{1.0f, 2.0f}}), float32, 1, 2),
      RW_CASE(identity({{1, 2.5}}), float32, 1, 2),
      RW_CASE(identity({{int64_t{1}, int64_t{2}}}), int64, 1, 2),
      RW_CASE(identity({{uint8_t{1}, uint8_t{2}}}), uint8, 1, 2),
      RW_CASE(identity({{Half(1.0f), Half(2.0f)}}), float16, 1, 2),
  });
}

TEST(Braces, GiveConstantsTheSameWay) {
  check({
      RW_CASE(constant({}), float32, 0),
      RW_CASE(constant({{}}), float32, 1, 0),
      RW_CASE(constant({"a", "b"}), string, 2),
      RW_CASE(constant({{"a", "b"}}), string, 1, 2),
      RW_CASE(constant({std::string("a")}), string, 1),
      RW_CASE(constant({1, 2.5}), float32, 2),
      RW_CASE(constant({{1, 2}}, int64), int64, 1, 2),
      RW_CASE(constant({{{{{1, 2}}}}}), int32, 1, 1, 1, 1, 2),
      RW_CASE(constant(std::vector<std::vector<double>>{{1, 2}, {3, 4}}), float64, 2, 2),
      RW_CASE(constant(std::vector<std::vector<std::vector<bool>>>{{{true}}}), bool_, 1, 1, 1),
      RW_CASE(constant(std::vector<std::vector<std::string>>{{"a", "b"}}), string, 1, 2),
      RW_CASE(convert_to_tensor({1, 2, 3}), int32, 3),
      RW_CASE(convert_to_tensor({{1., 2.}, {3., 4.}}), float32, 2, 2),
      RW_CASE(convert_to_tensor({1, 2, 3}, float64), float64, 3),
      RW_CASE(convert_to_tensor({}), float32, 0),
      RW_CASE(convert_to_tensor(1.5), float32, ),
      RW_CASE(convert_to_tensor("a"), string, ),
      RW_CASE(convert_to_tensor(std::vector<double>{1, 2}), float64, 2),
      RW_CASE(convert_to_tensor(Variable({1., 2.})), float32, 2),
  });
  EXPECT_EQ(convert_to_tensor({1, 2, 3}).to_vector<int>(), (std::vector{1, 2, 3}));
  EXPECT_EQ(convert_to_tensor(IndexedSlices{constant({{5.}, {6.}}), constant({0, 0}), constant({2, 1})})
                .to_vector<float>(),
            (std::vector{11.f, 0.f}));
  expect_error<InvalidArgumentError>([] { convert_to_tensor(constant(1.0), float64); }, "rw::cast");
}

// Each function beside the call that says the shape in full.
TEST(Braces, WorkAtEveryFunction) {
  const Tensor t = constant({{1., 2.}, {3., 4.}});
  const Variable v({{1., 2.}, {3., 4.}});
  check({
      RW_CASE(gather_nd(t, {{1, 0}}), float32, 1),
      RW_CASE(gather_nd(t, {1, 0}), float32, ),
      RW_CASE(gather_nd(t, {{{1, 0}}, {{0, 1}}}), float32, 2, 1),
      RW_CASE(gather(t, {{0, 1}}), float32, 1, 2, 2),
      RW_CASE(gather(t, {{0}, {1}}), float32, 2, 1, 2),
      RW_CASE(matmul({{1., 2.}}, t), float32, 1, 2),
      RW_CASE(matmul({{1., 2.}}, v), float32, 1, 2),
      RW_CASE(matmul({{1., 2.}, {3., 4.}}, {{1.}, {2.}}), float32, 2, 1),
      RW_CASE(strings::upper({{"a", "b"}}), string, 1, 2),
      RW_CASE(strings::length({"a", "b", "c"}), int32, 3),
      RW_CASE(strings::join({"a", "b"}), string, ),
      RW_CASE(strings::join({{"a", "b"}, {"c", "d"}}), string, 2),
      RW_CASE(add(t, {{1, 2}}), float32, 2, 2),
      RW_CASE(t + Tensor(1.0), float32, 2, 2),
      RW_CASE(where({{true, false}}, t, 0.0), float32, 2, 2),
      RW_CASE(reduce_sum({{1., 2.}, {3., 4.}}, 0), float32, 2),
      RW_CASE(nn::softmax({{1., 2.}}), float32, 1, 2),
      RW_CASE(one_hot({{0, 1}}, 3), float32, 1, 2, 3),
      RW_CASE(transpose({{1, 2}}), int32, 2, 1),
      RW_CASE(expand_dims({{1, 2}}, 0), int32, 1, 1, 2),
      RW_CASE(tensor_scatter_nd_update(t, {{0, 0}}, {9.}), float32, 2, 2),
      RW_CASE(scatter_nd({{1}}, {{5., 6.}}, {2, 2}), float32, 2, 2),
      RW_CASE(nn::embedding_lookup(v, {{0, 1}}), float32, 1, 2, 2),
      RW_CASE(nn::embedding_lookup({{1., 2.}}, {{0}}), float32, 1, 1, 2),
      RW_CASE(linalg::inv({{2., 0.}, {0., 2.}}), float32, 2, 2),
      RW_CASE(math::segment_sum({{1, 2}, {3, 4}}, {0, 0}), int32, 1, 2),
      RW_CASE(cast({{1, 2}}, float64), float64, 1, 2),
      RW_CASE(zeros_like({{1, 2}}), int32, 1, 2),
      RW_CASE(stack({{1, 2}}), int32, 1, 2),
      RW_CASE(stack({{1}, {2}}), int32, 2, 1),
      RW_CASE(stack({1, 2}), int32, 2),
      RW_CASE(stack({t, {{5., 6.}, {7., 8.}}}), float32, 2, 2, 2),
      RW_CASE(concat({{1, 2}, {3}}, 0), int32, 3),
      RW_CASE(concat({t, {{1, 2}}}, 0), float32, 3, 2),
      RW_CASE(concat({t, v}, 1), float32, 2, 4),
      RW_CASE(add_n({{1., 2.}, {3., 4.}}), float32, 2),
      RW_CASE(einsum("ij,jk", {{{1., 2.}}, t}), float32, 1, 2),
      RW_CASE(identity_n({{{1, 2}}, "a"})[0], int32, 1, 2),
      RW_CASE(meshgrid({{1, 2, 3}, {4, 5}})[0], int32, 2, 3),
  });
  EXPECT_EQ(gather_nd(t, {{1, 0}}).to_vector<float>(), std::vector{3.f});
  EXPECT_EQ(matmul({{1., 2.}}, t).to_vector<float>(), (std::vector{7.f, 10.f}));
  EXPECT_EQ(strings::upper({{"a", "b"}}).to_vector<std::string>(), (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(strings::join({"a", "b"}, "-").item<std::string>(), "a-b");
  v.assign({{5., 6.}, {7., 8.}});
  EXPECT_EQ(v.to_vector<float>(), (std::vector{5.f, 6.f, 7.f, 8.f}));
  v.scatter_update({{1}}, {{{0., 0.}}});
  EXPECT_EQ(v.to_vector<float>(), (std::vector{5.f, 6.f, 0.f, 0.f}));
}

TEST(Braces, WithTensorsAmongThemStackThem) {
  const Tensor a = constant({1., 2.}), b = constant({3., 4.}), i = constant(1);
  const Variable v({5., 6.});
  check({
      RW_CASE(identity({a}), float32, 1, 2),
      RW_CASE(identity({a, b, v}), float32, 3, 2),
      RW_CASE(identity({{a, b}}), float32, 1, 2, 2),
      RW_CASE(identity({{a, b}, {v, {7., 8.}}}), float32, 2, 2, 2),
      RW_CASE(gather(a, {i}), float32, 1),
      RW_CASE(gather_nd(constant({{1., 2.}, {3., 4.}}), {{i, 0}}), float32, 1),
      RW_CASE(stack({{a, b}}), float32, 1, 2, 2),
      RW_CASE(add(cast(a, float64), {constant(1.0, float64), 2}), float64, 2),
  });
  EXPECT_EQ(identity({a, v}).to_vector<float>(), (std::vector{1.f, 2.f, 5.f, 6.f}));
}

TEST(Braces, MakeVariables) {
  const auto value = [](const Variable& v) { return v.value(); };
  const Tensor t = constant({1., 2.});
  check({
      RW_CASE(value(Variable({5.0})), float32, 1),
      RW_CASE(value(Variable({1., 2.})), float32, 2),
      RW_CASE(value(Variable({{1., 2.}})), float32, 1, 2),
      RW_CASE(value(Variable({{1.}, {2.}})), float32, 2, 1),
      RW_CASE(value(Variable({{1}, {2}}, {.name = "w"})), int32, 2, 1),
      RW_CASE(value(Variable({{1}, {2}}, {.dtype = float64})), float64, 2, 1),
      RW_CASE(value(Variable({{{1.}, {2.}}})), float32, 1, 2, 1),
      RW_CASE(value(Variable({{{{1.}, {2.}}}})), float32, 1, 1, 2, 1),
      RW_CASE(value(Variable("abc")), string, ),
      RW_CASE(value(Variable({"a", "b"})), string, 2),
      RW_CASE(value(Variable({{"a", "b"}})), string, 1, 2),
      RW_CASE(value(Variable({{true}, {false}})), bool_, 2, 1),
      // The braces of a definition are not part of the value.
      RW_CASE(value(Variable{3.0}), float32, ),
      RW_CASE(value(Variable{3.0, {.name = "w"}}), float32, ),
      RW_CASE(value(Variable{t}), float32, 2),
      RW_CASE(value(Variable{{1., 2.}, {.name = "w"}}), float32, 2),
  });
}

TEST(Braces, OfNumbersTakeTheOtherSidesType) {
  const Tensor d = constant({1.0, 2.0}, float64);
  EXPECT_EQ(add(d, {{0.1, 0.2}}).dtype(), float64);
  EXPECT_EQ(multiply(ones({2}, float64), {0.1, 0.2}).to_vector<double>(), (std::vector{0.1, 0.2}));
  EXPECT_EQ(add(constant({1, 2}, uint8), {{3, 4}}).dtype(), uint8);
  EXPECT_EQ(add(constant({1, 2}, float16), {{3, 4}}).dtype(), float16);
  EXPECT_EQ(add(constant({1}), {}).dtype(), int32);
  expect_error<InvalidArgumentError>([] { add(constant({1, 2}), {{1.5, 2.5}}); },
                                     "real numbers do not convert to int32");
  expect_error<InvalidArgumentError>([] { add(constant({1, 2}, uint8), {300, 1}); },
                                     "300 does not fit a uint8");
}

TEST(Braces, OfUnequalRowsAreRefused) {
  expect_error<InvalidArgumentError>([] { identity({{1, 2}, {3}}); },
                                     "rows of nested lists must be equally long: got 2 and 1 elements");
  expect_error<InvalidArgumentError>([] { identity({{{1}, {2}}, {{3}}}); }, "equally long");
  expect_error<InvalidArgumentError>([] { identity({{"a", "b"}, {"c"}}); }, "equally long");
  expect_error<InvalidArgumentError>([] { constant({{"a", "b"}, {"c"}}); }, "equally long");
  expect_error<InvalidArgumentError>([] { constant(std::vector<std::vector<int>>{{1, 2}, {3}}); },
                                     "equally long");
  expect_error<InvalidArgumentError>([] { identity({1, {2}}); }, "equally deep");
  expect_error<InvalidArgumentError>([] { identity({{1}, {{2}}}); }, "equally deep");
  expect_error<InvalidArgumentError>([] { identity({{}, 1}); }, "equally deep");
  expect_error<InvalidArgumentError>([] { identity({1, "a"}); }, "all numbers, all bools or all strings");
  expect_error<InvalidArgumentError>([] { identity({{true, 1}}); }, "got bool beside int32");
}

// Two pointers are not a string, and not a range of characters.
TEST(Braces, OfStringsAreTensorsInListsToo) {
  const std::vector<Tensor> list{"a", "b"};
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].item<std::string>(), "b");
  const std::vector<Tensor> joined = raw_op("StringJoin", {"a", std::string("b")});
  EXPECT_EQ(joined[0].item<std::string>(), "ab");
  EXPECT_EQ(strings::format("{} {}", {"a", {{1, 2}}}).item<std::string>(), "\"a\" [[1 2]]");
  debugging::Assert(true, {"message", 1, 1.5, {{1, 2}}});
}

static_assert(!std::is_constructible_v<Literal, Tensor>);
static_assert(!std::is_constructible_v<Literal, std::nullptr_t>);
static_assert(!std::is_convertible_v<std::vector<int>, Literal>);
static_assert(std::is_trivially_destructible_v<Literal>);

}  // namespace
}  // namespace rw
