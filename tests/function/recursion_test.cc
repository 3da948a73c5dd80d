// Functions that call themselves while they are traced: C++ numbers end the recursion, or an error does.
#include <gtest/gtest.h>

#include <thread>

#include "rewind/function/function.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

// A function that can name itself.
struct Power {
  std::function<Tensor(const Tensor&, int)> self;
  Tensor operator()(const Tensor& x, int n) const { return n == 0 ? ones({}) : x * self(x, n - 1); }
};

TEST(Recursion, EndsAtTheNumberThatEndsIt) {
  auto power = function(Power(), {.name = "power"});
  power.callable().self = [power](const Tensor& x, int n) { return power(x, n); };
  const Tensor x = constant(2.0F);
  EXPECT_EQ(power(x, 5).item<float>(), 32);
  EXPECT_EQ(power.tracing_count(), 6);
  EXPECT_EQ(power(x, 3).item<float>(), 8);
  EXPECT_EQ(power.tracing_count(), 6);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = power(x, 4);
  EXPECT_EQ(Tensor(tape.gradient(y, x)).item<float>(), 32);
  power.callable().self = nullptr;
}

TEST(Recursion, TwoFunctionsThatCallEachOther) {
  std::function<Tensor(const Tensor&, int)> odd;
  const auto even = function([&](const Tensor& x, int n) { return n == 0 ? x : odd(x + 1.0, n - 1); });
  const auto odd_function =
      function([&](const Tensor& x, int n) { return n == 0 ? -x : even(x + 10.0, n - 1); });
  odd = [&](const Tensor& x, int n) { return odd_function(x, n); };
  EXPECT_EQ(even(zeros({}), 4).item<float>(), 22);
  EXPECT_EQ(even(zeros({}), 3).item<float>(), -12);
}

TEST(Recursion, OnShapesEndsToo) {
  std::function<Tensor(const Tensor&)> again;
  const auto sum =
      function([&](const Tensor& x) { return x.dim(0) == 1 ? x[0] : x[0] + again(x(Slice(1, none))); });
  again = [&](const Tensor& x) { return sum(x); };
  EXPECT_EQ(sum(constant({1.0, 2.0, 3.0, 4.0})).item<float>(), 10);
}

TEST(Recursion, WithoutAnEndIsAnError) {
  std::function<Tensor(const Tensor&, int)> again;
  const auto f = function([&](const Tensor& x, int n) { return again(x * 2.0, n + 1); }, {.name = "endless"});
  again = [&](const Tensor& x, int n) { return f(x, n); };
  const auto call = [&] { f(constant(1.0F), 0); };
  expect_error<FailedPreconditionError>(call, "[endless] the function calls itself while it is traced");
  const auto same = function([&](const Tensor& x) { return again(x, 7); }, {.name = "same"});
  again = [&](const Tensor& x, int) { return same(x - 1.0); };
  expect_error<FailedPreconditionError>(
      [&] { same(constant(1.0F)); }, "[same] the function calls itself while it is traced, with arguments");
  // The stack of a thread is smaller, and the next function works.
  again = [&](const Tensor& x, int n) { return f(x, n); };
  std::thread([&] { expect_error<FailedPreconditionError>(call, "[endless]"); }).join();
  EXPECT_EQ(function([](const Tensor& x) { return x + 1.0; })(constant(1.0F)).item<float>(), 2);
}

TEST(Recursion, HundredsOfLevels) {
  auto power = function(Power(), {.name = "deep"});
  power.callable().self = [power](const Tensor& x, int n) { return power(x, n); };
  testing::internal::CaptureStderr();
  EXPECT_EQ(power(constant(1.0F), 400).item<float>(), 1);
  testing::internal::GetCapturedStderr();
  power.callable().self = nullptr;
}

}  // namespace
}  // namespace rw
