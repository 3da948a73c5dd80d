// Arithmetic on what tape.gradient gives.
#include <gtest/gtest.h>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

TEST(GradientOperators, DenseOnesAreTensorsInExpressions) {
  const Variable w(constant({1.0, 2.0}));
  GradientTape tape;
  const Tensor y = reduce_sum(square(w));
  const Gradient g = tape.gradient(y, w);  // 2 4
  EXPECT_EQ((g * 0.5).to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ((0.5 * g).to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ((g + g).to_vector<float>(), (std::vector<float>{4, 8}));
  EXPECT_EQ((g - w).to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ((w - g).to_vector<float>(), (std::vector<float>{-1, -2}));
  EXPECT_EQ((constant({8.0, 8.0}) / g).to_vector<float>(), (std::vector<float>{4, 2}));
  EXPECT_EQ((-g).to_vector<float>(), (std::vector<float>{-2, -4}));
  w.assign_sub(g * 0.25);
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{0.5, 1}));
}

TEST(GradientOperators, SparseOnesAreSummedIntoPlace) {
  const Variable w(zeros({3, 1}));
  GradientTape tape;
  const Tensor y = reduce_sum(gather(w, constant({2, 0, 2})));
  const Gradient g = tape.gradient(y, w);
  ASSERT_NE(g.slices(), nullptr);
  EXPECT_EQ((g * 3.0).to_vector<float>(), (std::vector<float>{3, 0, 6}));
}

TEST(GradientOperators, NoneIsRefused) {
  const Variable w(1.0), other(2.0);
  GradientTape tape;
  const Tensor y = square(w);
  const Gradient g = tape.gradient(y, other);
  expect_error<FailedPreconditionError>([&] { g * 2.0; }, "a gradient that is none");
}

TEST(GradientOperators, InAFunctionToo) {
  const Variable w(3.0);
  const auto step = function([&] {
    GradientTape tape;
    const Tensor y = square(w);
    w.assign_sub(tape.gradient(y, w) * 0.1);
  });
  step();
  EXPECT_NEAR(w.item<float>(), 2.4, 1e-6);
}

}  // namespace
}  // namespace rw
