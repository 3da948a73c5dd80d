// The linker takes no converted function of a header for the plain one of another file, nor the other way
// round.
#include <gtest/gtest.h>

#include "tests/autograph/mixed/calls.h"
#include "tests/support/expect_error.h"

namespace mixed {

using rw::constant;
using rw::Tensor;

TEST(AutographMixed, EachFileHasItsOwn) {
  const Calls plain = plain_calls(), converted = converted_calls();
  ASSERT_EQ(plain.size(), converted.size());
  for (const auto& [name, f] : plain) {
    SCOPED_TRACE(name);
    const auto staged = rw::function([&](Tensor x) { return converted.at(name)(x); });
    const auto traced = rw::function([&](Tensor x) { return f(x); });
    for (const double x : {3.0, -2.0}) {
      const float expected = x > 0 ? float(x - 1) : float(x * 2);
      EXPECT_EQ(f(constant(x)).item<float>(), expected);
      EXPECT_EQ(converted.at(name)(constant(x)).item<float>(), expected);
      EXPECT_EQ(staged(constant(x)).item<float>(), expected);
    }
    rw::expect_error<rw::Error>([&] { traced(constant(3.0)); }, "rewind_autograph(target)");
  }
}

TEST(AutographMixed, WhatIsNotConvertedIsOne) {
  EXPECT_EQ(plain_count(), 1);
  EXPECT_EQ(converted_count(), 2);
}

}  // namespace mixed
