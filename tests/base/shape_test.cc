#include "rewind/base/shape.h"

#include <gtest/gtest.h>

#include "rewind/base/half.h"
#include "rewind/base/small_vector.h"

namespace rw {
namespace {

TEST(Shape, KeepsItsSizesBeyondTheInlineOnes) {
  Shape s{2, 3};
  for (int i = 0; i < 10; ++i) s.append(i);
  Shape copy = s;
  Shape moved = std::move(s);
  EXPECT_EQ(copy, moved);
  EXPECT_EQ(copy.rank(), 12);
  copy.erase(0);
  copy.insert(2, 99);
  EXPECT_EQ(copy.to_string(), "(3, 0, 99, 1, 2, 3, 4, 5, 6, 7, 8, 9)");
  while (copy.rank() > 2) copy.erase(copy.rank() - 1);
  EXPECT_EQ(copy, (Shape{3, 0}));
}

TEST(Shape, PrintsAsPython) {
  EXPECT_EQ(Shape().to_string(), "()");
  EXPECT_EQ((Shape{5}).to_string(), "(5,)");
  EXPECT_EQ((Shape{2, -1}).to_string(), "(2, None)");
  EXPECT_EQ(Shape::unknown_rank().to_string(), "<unknown>");
}

TEST(Shape, BroadcastsAsNumpy) {
  Shape r;
  EXPECT_TRUE(broadcast_shapes({2, 1, 3}, {4, 1}, &r));
  EXPECT_EQ(r, (Shape{2, 4, 3}));
  EXPECT_TRUE(broadcast_shapes({0}, {1}, &r));
  EXPECT_EQ(r, (Shape{0}));
  EXPECT_FALSE(broadcast_shapes({2}, {3}, &r));
  EXPECT_TRUE(broadcast_shapes({-1, 3}, {4, 1}, &r));
  EXPECT_EQ(r, (Shape{4, 3}));
}

TEST(Shape, CountsWithAnOverflowTest) {
  int64_t n = 0;
  EXPECT_TRUE((Shape{3, 4}).checked_num_elements(&n));
  EXPECT_EQ(n, 12);
  EXPECT_FALSE((Shape{int64_t{1} << 40, int64_t{1} << 40}).checked_num_elements(&n));
}

TEST(Half, EveryValueRoundTripsAndRoundsToEven) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Half h = Half::from_bits(uint16_t(bits));
    const float f = h;
    if (f != f) continue;
    EXPECT_EQ(Half(f).bits, bits);
  }
  EXPECT_EQ(Half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(0x1p-25f).bits, 0);
  EXPECT_EQ(Half(0x1.8p-25f).bits, 1);
  EXPECT_EQ(Bfloat16(1.00390625f).bits, 0x3f80);
  EXPECT_EQ(Bfloat16(1.01171875f).bits, 0x3f82);
}

TEST(SmallVector, GrowsMovesAndErases) {
  SmallVector<std::string, 2> v{"a", "b"};
  v.push_back("c");
  SmallVector<std::string, 2> w = std::move(v);
  w.insert(w.begin() + 1, "x");
  w.erase(w.begin());
  EXPECT_EQ(w, (SmallVector<std::string, 2>{"x", "b", "c"}));
}

}  // namespace
}  // namespace rw
