// What functions refuse, and what they say.
#include <gtest/gtest.h>

#include "rewind/function/function.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

TEST(FunctionErrors, ArgumentsThatDoNotFitPrintBothSignatures) {
  const auto f =
      function([](Tensor x) { return x; },
               {.name = "step", .input_signature = std::vector<TensorSpec>{{Shape{-1, 2}, float32}}});
  f(ones({3, 2}));
  const auto wrong = [&] { f(ones({3, 4})); };
  expect_error<InvalidArgumentError>(wrong, "[step]");
  expect_error<InvalidArgumentError>(wrong, "TensorSpec(shape=(None, 2), dtype=float32)");
  expect_error<InvalidArgumentError>(wrong, "TensorSpec(shape=(3, 4), dtype=float32)");
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(FunctionErrors, TracedTensorAfterItsTrace) {
  Tensor kept;
  const auto f = function([&](Tensor x) {
    kept = x * 2.0;
    return kept;
  });
  f(constant(1.0f));
  expect_error<Error>([&] { kept + 1.0; }, "Mul");
}

TEST(FunctionErrors, TracedTensorAsBool) {
  const auto f = function([](Tensor x) { return x > 0.0 ? x : -x; });
  expect_error<Error>([&] { f(constant(1.0f)); }, "rw::cond");
}

TEST(FunctionErrors, Recursion) {
  std::function<Tensor(Tensor)> again;
  const auto f = function([&](Tensor x) { return again(x - 1.0); }, {.name = "countdown"});
  again = [&](Tensor x) { return f(x); };
  expect_error<FailedPreconditionError>([&] { f(constant(3.0f)); }, "[countdown] the function calls itself");
}

TEST(FunctionErrors, RetracingIsToldOnceAndNamesTheArgument) {
  const auto f = function([](Tensor x, int n) { return x * double(n); }, {.name = "scaled"});
  testing::internal::CaptureStderr();
  for (int i = 0; i < 12; ++i) f(constant(1.0f), i);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("scaled"), std::string::npos) << text;
  EXPECT_NE(text.find("argument 1"), std::string::npos) << text;
  EXPECT_EQ(text.find("argument 0"), std::string::npos) << text;
  EXPECT_EQ(text.find("was traced"), text.rfind("was traced")) << text;
}

}  // namespace
}  // namespace rw
