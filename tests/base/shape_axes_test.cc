// Axes of shapes from outside: negative ones count from the end, others that are not there throw.
#include <gtest/gtest.h>

#include "rewind/base/error.h"
#include "rewind/base/shape.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

TEST(ShapeAxes, CountFromTheEndWhenNegative) {
  const Shape s{3, 2, 4, 5};
  EXPECT_EQ(s[-1], 5);
  EXPECT_EQ(s[-4], 3);
  EXPECT_EQ(s[0], 3);
  EXPECT_EQ(s.back(), 5);
  const Shape heap{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(heap[-1], 6);
  EXPECT_EQ(heap[-6], 1);
  EXPECT_EQ((Shape{2, -1}[-1]), Shape::kUnknown);
  Shape w = s;
  w.set(-1, 9);
  w.erase(-3);
  w.insert(0, 7);
  w.insert(4, 8);
  EXPECT_EQ(w.to_string(), "(7, 3, 4, 9, 8)");
}

TEST(ShapeAxes, ThatAreNotThereThrow) {
  const Shape s{3, 2, 4, 5}, heap{1, 2, 3, 4, 5, 6};
  for (const int axis : {4, 7, -5, 1 << 30, -(1 << 30)}) {
    expect_error<OutOfRangeError>([&] { (void)s[axis]; },
                                  "got " + std::to_string(axis) + " for shape (3, 2, 4, 5)");
    expect_error<OutOfRangeError>([&] { Shape(s).set(axis, 1); }, "[-4, 4)");
    expect_error<OutOfRangeError>([&] { Shape(s).erase(axis); }, "[-4, 4)");
  }
  for (const int axis : {6, -7}) expect_error<OutOfRangeError>([&] { (void)heap[axis]; }, "[-6, 6)");
  expect_error<OutOfRangeError>([&] { (void)Shape()[0]; }, "for shape ()");
  expect_error<OutOfRangeError>([&] { (void)Shape()[-1]; }, "for shape ()");
  expect_error<OutOfRangeError>([&] { (void)Shape().back(); }, "for shape ()");
  expect_error<OutOfRangeError>([&] { Shape(s).insert(5, 1); }, "got 5 for shape (3, 2, 4, 5)");
  expect_error<OutOfRangeError>([&] { Shape::unknown_rank().insert(0, 1); }, "<unknown>");
  for (const int axis : {0, -1, 1})
    expect_error<OutOfRangeError>([&] { (void)Shape::unknown_rank()[axis]; }, "unknown rank");
  expect_error<OutOfRangeError>([&] { Shape::unknown_rank().append(1); }, "unknown rank");
}

}  // namespace
}  // namespace rw
