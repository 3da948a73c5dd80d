// Errors that come of tracing, caught by the user's own handlers: the trace has failed all the same.
#include <gtest/gtest.h>

#include "rewind/function/function.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

// What user code does with an answer that it could not get.
template <class F>
auto or_else(F f, decltype(f()) otherwise) -> decltype(f()) {
  try {
    return f();
  } catch (const std::runtime_error&) { return otherwise; }
}

TEST(SwallowedErrors, ATensorAsBool) {
  const auto f = function(
      [](const Tensor& x) {
        const bool large = or_else([&] { return bool(x > 1.0); }, false);
        return large ? x : x * 2.0;
      },
      {.name = "doubled"});
  const Tensor x = constant(3.0F);
  for (int i = 0; i < 2; ++i)
    expect_error<FailedPreconditionError>([&] { f(x); }, "of the function doubled, has no value");
  EXPECT_EQ(f.tracing_count(), 0);
  run_functions_eagerly(true);
  EXPECT_EQ(f(x).item<float>(), 3);
  run_functions_eagerly(false);
}

TEST(SwallowedErrors, EveryWayToAskForAValue) {
  const auto refused = [](auto ask) {
    const auto f = function([&](const Tensor& x) {
      or_else([&] { return ask(x), 0; }, 0);
      return x + 1.0;
    });
    expect_error<FailedPreconditionError>([&] { f(ones({2, 2})); }, "while the function is traced");
  };
  refused([](const Tensor& x) { return reduce_sum(x).item<float>(); });
  refused([](const Tensor& x) { return x.to_vector<float>(); });
  refused([](const Tensor& x) { return x.data<float>(); });
  refused([](const Tensor& x) { return bool(reduce_all(x > 0.0)); });
}

TEST(SwallowedErrors, TheFirstErrorIsTheOneThrown) {
  const auto f = function(
      [](const Tensor& x) -> Tensor {
        try {
          if (x > 0.0) return x;
        } catch (const std::exception&) { throw std::logic_error("the model has no branch"); }
        return -x;
      },
      {.name = "step"});
  expect_error<FailedPreconditionError>([&] { f(constant(1.0F)); }, "C++ cannot branch on it");
}

TEST(SwallowedErrors, InFunctionsAndBranchesInside) {
  const auto inner = function([](const Tensor& x) { return x > 0.0 ? x : -x; });
  const auto outer = function([&](const Tensor& x) { return or_else([&] { return inner(x); }, x); });
  expect_error<FailedPreconditionError>([&] { outer(constant(1.0F)); }, "C++ cannot branch on it");
  const auto branches = function([&](const Tensor& x) {
    return cond(x > 0.0, [&] { return or_else([&] { return x * x.item<float>(); }, x); }, [&] { return x; });
  });
  expect_error<FailedPreconditionError>([&] { branches(constant(1.0F)); }, "has no value while");
  const auto loops = function([&](const Tensor& x) {
    return while_loop(
        [](const Tensor& y) { return y < 9.0; },
        [&](const Tensor& y) { return or_else([&] { return bool(y > 2.0) ? y : y * 2.0; }, y); }, x);
  });
  expect_error<FailedPreconditionError>([&] { loops(constant(1.0F)); }, "C++ cannot branch on it");
}

TEST(SwallowedErrors, ATensorOfAnotherTrace) {
  Tensor kept;
  const auto leaky = function([&](const Tensor& x) { return kept = x * 2.0; });
  leaky(constant(1.0F));
  const auto f = function([&](const Tensor& x) { return or_else([&] { return x + kept; }, x); });
  expect_error<FailedPreconditionError>([&] { f(constant(1.0F)); }, "outside the trace that made it");
}

TEST(SwallowedErrors, AVariableOnEveryCall) {
  const auto f = function(
      [](const Tensor& x) { return or_else([&] { return x * Variable(ones({}), {.name = "v"}); }, x); });
  expect_error<FailedPreconditionError>([&] { f(constant(1.0F)); }, "is created in a later trace");
  std::optional<Variable> v;
  const auto g = function([&](const Tensor& x) {
    if (!v) or_else([&] { return v.emplace(x), 0; }, 0);
    return x;
  });
  expect_error<FailedPreconditionError>([&] { g(constant(1.0F)); },
                                        "the initial value depends on an argument");
}

TEST(SwallowedErrors, UnderATapeAndInConcreteFunctions) {
  const auto f = function([](const Tensor& x) { return x * or_else([&] { return x.item<float>(); }, 1.0F); });
  const Tensor x = constant(3.0F);
  GradientTape tape;
  tape.watch(x);
  expect_error<FailedPreconditionError>([&] { f(x); }, "has no value while");
  expect_error<FailedPreconditionError>([&] { f.get_concrete_function(x); }, "has no value while");
  expect_error<FailedPreconditionError>([&] { f.memory_plan(x); }, "has no value while");
}

// What fails eagerly as well is the user's to handle, and what works is no failure.
TEST(SwallowedErrors, OtherErrorsMayBeHandled) {
  const auto f =
      function([](const Tensor& x) { return or_else([&] { return matmul(x, ones({7, 7})); }, x * 2.0); });
  EXPECT_EQ(f(ones({2, 2})).to_vector<float>(), (std::vector<float>{2, 2, 2, 2}));
  const auto known = function([](const Tensor& x) { return x * double(shape(x).to_vector<int32_t>()[0]); });
  EXPECT_EQ(known(ones({3})).to_vector<float>(), (std::vector<float>{3, 3, 3}));
}

// Element functions of datasets are tried in a trace first, and run as plain code where that fails.
TEST(SwallowedErrors, ElementFunctionsAreTriedInATraceOfTheirOwn) {
  auto halved = data::DatasetOf<Tensor>::range(4).map(
      [](const Tensor& x) { return or_else([&] { return x.item<int64_t>() % 2 == 0; }, false) ? x : -x; });
  std::vector<int64_t> all;
  for (const Tensor& x : halved) all.push_back(x.item<int64_t>());
  EXPECT_EQ(all, (std::vector<int64_t>{0, -1, 2, -3}));
}

}  // namespace
}  // namespace rw
