// Operators and public binary functions: TensorFlow's rules for C++ numbers, division, comparison,
// broadcasting.
#include "rewind/tensor/ops/binary.h"

#include <gtest/gtest.h>

#include "rewind/rewind.h"

namespace rw {
namespace {

const Tensor kInts = constant({7, -7});

TEST(Operators, NumbersTakeTheTensorsType) {
  EXPECT_EQ((kInts + 1).dtype(), int32);
  EXPECT_EQ((2 * constant({1.0})).dtype(), float32);
  EXPECT_EQ((constant(std::vector<double>{1.0}) - 1).dtype(), float64);
  EXPECT_THROW(kInts + 1.5, InvalidArgumentError);
  EXPECT_THROW(constant(std::vector<int8_t>{1}) + 300, InvalidArgumentError);
  EXPECT_THROW(kInts + constant({1.0, 2.0}), InvalidArgumentError);  // tensors do not convert
}

TEST(Operators, DivisionIsTrueDivision) {
  const Tensor q = kInts / 2;
  EXPECT_EQ(q.dtype(), float64);
  EXPECT_EQ(q.to_vector<double>(), (std::vector<double>{3.5, -3.5}));
  EXPECT_EQ((constant(std::vector<int16_t>{1}) / 2).dtype(), float32);
  EXPECT_EQ((kInts % 4).to_vector<int32_t>(), (std::vector<int32_t>{3, 1}));
  EXPECT_EQ(math::floordiv(kInts, 2).to_vector<int32_t>(), (std::vector<int32_t>{3, -4}));
  EXPECT_EQ(truncatediv(kInts, 2).to_vector<int32_t>(), (std::vector<int32_t>{3, -3}));
  EXPECT_THROW(kInts % 0, InvalidArgumentError);
  EXPECT_THROW(math::floordiv(kInts, 0), InvalidArgumentError);
  EXPECT_THROW(pow(kInts, -1), InvalidArgumentError);
  EXPECT_EQ(math::floordiv(constant({INT32_MIN}), -1).item<int32_t>(), INT32_MIN);
}

TEST(Operators, ComparisonOfShapesThatDoNotFit) {
  const Tensor a = constant({1, 2, 3});
  EXPECT_EQ((a == constant({1, 5, 3})).to_vector<bool>(), (std::vector<bool>{true, false, true}));
  const Tensor differ = a == constant({1, 2});
  EXPECT_EQ(differ.shape(), Shape());
  EXPECT_FALSE(differ.item<bool>());
  EXPECT_TRUE((a != constant({1, 2})).item<bool>());
  EXPECT_THROW(equal(a, constant({1, 2})), InvalidArgumentError);
  EXPECT_THROW(a < constant({1, 2}), InvalidArgumentError);
}

TEST(Operators, LogicAndBits) {
  const Tensor t = constant(std::vector<bool>{true, false});
  EXPECT_EQ((t & true).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ((t | true).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_EQ((t ^ true).to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ((~t).to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ((constant({6}) & 3).item<int32_t>(), 2);
  EXPECT_EQ((constant({6}) ^ 3).item<int32_t>(), 5);
  EXPECT_EQ((~constant({6})).item<int32_t>(), -7);
}

TEST(Operators, CompoundAssignmentLeavesOtherHandles) {
  Tensor a = constant({1.0, 2.0});
  const Tensor before = a;
  a += 1;
  a *= a;
  a -= constant({1.0, 1.0});
  a /= 2;
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{1.5f, 4.0f}));
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Operators, VariablesReadAsTheirValue) {
  const Variable v(constant({1.0, 2.0}));
  EXPECT_EQ((v * 2 + v).to_vector<float>(), (std::vector<float>{3, 6}));
  EXPECT_EQ((-v).to_vector<float>(), (std::vector<float>{-1, -2}));
}

TEST(Binary, StringsAreJoined) {
  EXPECT_EQ(add(constant("a"), "b").item<std::string>(), "ab");
  EXPECT_EQ((constant("a") + constant("b")).item<std::string>(), "ab");
}

TEST(Binary, WhereBroadcastsAndTakesNumbers) {
  const Tensor c = constant(std::vector<bool>{true, false});
  EXPECT_EQ(where(c, constant({{1.0, 2.0}, {3.0, 4.0}}), 0).to_vector<float>(),
            (std::vector<float>{1, 0, 3, 0}));
}

TEST(Binary, ClipByValueKeepsTheShape) {
  EXPECT_EQ(clip_by_value(constant({-2.0, 0.5, 9.0}), -1, 1).to_vector<float>(),
            (std::vector<float>{-1, 0.5f, 1}));
  EXPECT_THROW(clip_by_value(constant({1.0}), constant({0.0, 0.0}), 1), InvalidArgumentError);
}

TEST(Binary, AddN) {
  const Tensor a = constant({1.0, 2.0});
  EXPECT_EQ(add_n({a, a, a}).to_vector<float>(), (std::vector<float>{3, 6}));
  EXPECT_THROW(add_n({}), InvalidArgumentError);
  EXPECT_THROW(add_n({a, constant({1.0})}), InvalidArgumentError);
}

TEST(Binary, ErrorsSayWhatWasGot) {
  try {
    (void)(constant({1.0, 2.0}) + constant({1.0, 2.0, 3.0}));
    FAIL() << "no error";
  } catch (const InvalidArgumentError& e) {
    EXPECT_STREQ(e.what(), "[add] shapes must broadcast together: x is float32(2,), y is float32(3,)");
  }
}

// Rows of every length around the limits where kernels change their way.
TEST(Binary, BroadcastOfManySizes) {
  for (const int64_t rows : {1, 2, 7, 300}) {
    for (const int64_t inner : {1, 2, 3, 23, 24, 25, 1000}) {
      const size_t width = size_t(inner);
      std::vector<float> x(size_t(rows) * width, 0.0f), y(width, 0.0f), z(size_t(rows), 0.0f);
      for (size_t i = 0; i < x.size(); ++i) x[i] = float(i % 1009);
      for (size_t i = 0; i < y.size(); ++i) y[i] = float(i) * 3;
      for (size_t i = 0; i < z.size(); ++i) z[i] = float(i) * 5;
      const auto sum = (constant(x, {rows, inner}) - constant(y) * constant(z, {rows, 1})).to_vector<float>();
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(sum[i], x[i] - y[i % width] * z[i / width]) << rows << " x " << inner << " at " << i;
    }
  }
}

}  // namespace
}  // namespace rw
