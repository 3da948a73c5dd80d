// Variables are handles: C++ copies are the same variable, copy() is another one.
#include <gtest/gtest.h>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

TEST(VariableCopy, HasStateOfItsOwn) {
  const Variable a({1., 2.});
  const Variable alias(a), other = a.copy();
  EXPECT_TRUE(same_variable(a, alias));
  EXPECT_FALSE(same_variable(a, other));
  a.assign_add({10., 20.});
  other.assign_sub({1., 1.});
  EXPECT_EQ(a.to_vector<float>(), (std::vector{11.f, 22.f}));
  EXPECT_EQ(alias.to_vector<float>(), (std::vector{11.f, 22.f}));
  EXPECT_EQ(other.to_vector<float>(), (std::vector{0.f, 1.f}));
}

TEST(VariableCopy, KeepsWhatTheVariableIs) {
  const Variable a(constant({1., 2.}, float64),
                   {.trainable = false, .name = "w", .shape = Shape{Shape::kUnknown}});
  Variable b;
  {
    const NameScope scope("outer");
    b = a.copy();
  }
  EXPECT_EQ(b.name(), "w:0");
  EXPECT_FALSE(b.trainable());
  EXPECT_EQ(b.dtype(), float64);
  EXPECT_EQ(b.shape(), (Shape{Shape::kUnknown}));
  b.assign(constant({1., 2., 3.}, float64));
  EXPECT_EQ(a.value().shape(), (Shape{2}));
  expect_error<FailedPreconditionError>([] { Variable().copy(); }, "undefined");
}

TEST(VariableCopy, IsFollowedByTapes) {
  const Variable a(3.0), b = a.copy();
  GradientTape tape;
  const Tensor y = a * b * b;
  const auto g = tape.gradient(y, {a, b});
  EXPECT_EQ(g[0].tensor().item<float>(), 9);
  EXPECT_EQ(g[1].tensor().item<float>(), 18);
}

TEST(VariableCopy, CopiesInAFunctionOnItsFirstCall) {
  const Variable a(3.0);
  Variable kept;
  const auto f = function([&](const Tensor& x) {
    if (!kept.defined()) kept = a.copy();
    kept.assign_add(x);
    return kept * 1.0;
  });
  EXPECT_EQ(f(Tensor(1.0)).item<float>(), 4);
  EXPECT_EQ(f(Tensor(1.0)).item<float>(), 5);
  EXPECT_EQ(a.item<float>(), 3);
}

}  // namespace
}  // namespace rw
