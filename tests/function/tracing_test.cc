// When functions trace, and how one trace serves more: signatures, specs, sizes that change, functions in
// functions.
#include <gtest/gtest.h>

#include "rewind/function/function.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

TEST(Tracing, EachFunctionOwnsItsTraces) {
  int traces = 0;
  const auto body = [&](const Tensor& x) {
    ++traces;
    return x + 1.0;
  };
  auto f = function(body);
  auto g = function(body);
  f(constant(1.0));
  g(constant(1.0));
  f(constant(1.0));
  EXPECT_EQ(traces, 2);
  const auto copy = f;  // the same function
  copy(constant(1.0));
  EXPECT_EQ(traces, 2);
}

TEST(Tracing, ReduceRetracingOpensWhatChanges) {
  auto f = function([](const Tensor& x) { return reduce_sum(x); }, {.reduce_retracing = true});
  for (int rows = 1; rows < 6; ++rows) EXPECT_EQ(f(ones({rows, 2})).item<float>(), float(2 * rows));
  EXPECT_EQ(f.tracing_count(), 2);
  f(ones({3, 4}));  // (None, None)
  EXPECT_EQ(f.tracing_count(), 3);
  f(ones({7, 9}));
  EXPECT_EQ(f.tracing_count(), 3);
  f(ones({7}));  // another rank
  EXPECT_EQ(f.tracing_count(), 4);
  EXPECT_EQ(f(ones({2, 2, 2})).item<float>(), 8);
  EXPECT_EQ(f.tracing_count(), 4);
  f(ones({2}, float64));  // another dtype is another trace
  EXPECT_EQ(f.tracing_count(), 5);
}

TEST(Tracing, ASignatureMakesOneTraceAndRefusesTheRest) {
  auto f = function([](const Tensor& x, const Tensor& y) { return reduce_sum(x) * y; },
                    {.name = "weigh", .input_signature = {{{{-1, 2}, float32, "x"}, {{}, float32, "y"}}}});
  EXPECT_EQ(f(ones({1, 2}), constant(2.0)).item<float>(), 4);
  EXPECT_EQ(f(ones({5, 2}), constant(2.0)).item<float>(), 20);
  EXPECT_EQ(f.tracing_count(), 1);
  EXPECT_EQ(f.pretty_printed_concrete_signatures(),
            "weigh(TensorSpec(shape=(None, 2), dtype=float32, name='x'), TensorSpec(shape=(), dtype=float32, "
            "name='y')) -> (TensorSpec(shape=(), dtype=float32))");
  for (const Tensor& bad : {ones({2}), ones({1, 3}), ones({1, 2}, float64)}) {
    const auto call = [&] { f(bad, constant(2.0)); };
    expect_error<InvalidArgumentError>(call,
                                       "expected (TensorSpec(shape=(None, 2), dtype=float32, name='x')");
    expect_error<InvalidArgumentError>(call, "got (TensorSpec(shape=" + bad.shape().to_string());
  }
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(Tracing, ASignatureOfUnknownRank) {
  auto f = function([](const Tensor& x) { return reduce_sum(x); },
                    {.input_signature = {{{Shape::unknown_rank(), float32}}}});
  EXPECT_EQ(f(ones({3})).item<float>(), 3);
  EXPECT_EQ(f(ones({3, 2})).item<float>(), 6);
  EXPECT_EQ(f(constant(5.0)).item<float>(), 5);
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(Tracing, ConcreteFunctionsBySpecsAndValues) {
  struct Args {
    Tensor x;
    int times = 1;
  };
  auto f = function([](const Args& a, bool negate) {
    Tensor y = a.x;
    for (int i = 0; i < a.times; ++i) y = y * 2.0;
    return negate ? -y : y;
  });
  const auto concrete = f.get_concrete_function(Args{constant(1.0), 3}, true);
  EXPECT_EQ((*concrete)({constant(1.0)})[0].item<float>(), -8);
  EXPECT_EQ(f.tracing_count(), 1);
  EXPECT_EQ(f(Args{constant(2.0), 3}, true).item<float>(), -16);
  EXPECT_EQ(f.tracing_count(), 1);

  auto g = function([](const std::vector<Tensor>& list, const Tensor& k) { return list[0] * k + list[1]; });
  const auto open = g.get_concrete_function(std::vector<TensorSpec>{{{-1}, float32, "a"}, {{}, float32, "b"}},
                                            TensorSpec{{}, float32, "k"});
  EXPECT_EQ((*open)({constant({1.0, 2.0}), constant(3.0), constant(10.0)})[0].to_vector<float>(),
            (Floats{13, 23}));
  EXPECT_EQ(open->inputs()[1].name, "b");
}

TEST(Tracing, RunEagerlyForDebuggers) {
  int runs = 0;
  auto f = function([&](const Tensor& x) {
    ++runs;
    return bool(x > 0.0) ? x : -x;
  });
  auto outer = function([&](const Tensor& x) { return f(x) * 2.0; });
  run_functions_eagerly(true);
  EXPECT_TRUE(functions_run_eagerly());
  EXPECT_EQ(outer(constant(-3.0)).item<float>(), 6);
  EXPECT_EQ(outer(constant(3.0)).item<float>(), 6);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(f.tracing_count() + outer.tracing_count(), 0);
  run_functions_eagerly(false);
  EXPECT_THROW(outer(constant(-3.0)), FailedPreconditionError);
}

struct Counter {
  std::optional<Variable> count;
  int runs = 0;
  Tensor operator()(const Tensor& x) {
    ++runs;
    const bool fresh = !count;
    if (fresh) count.emplace(zeros({}));
    count->assign_add(x);
    return *count * (fresh ? 1000.0 : 1.0);
  }
};

TEST(Tracing, AVariableOfTheFirstCallIsThereOnAll) {
  auto f = function(Counter());
  EXPECT_EQ(f(constant(1.0)).item<float>(), 1);  // what later calls do, as in TensorFlow
  EXPECT_EQ(f(constant(2.0)).item<float>(), 3);
  EXPECT_EQ(f.callable().runs, 2);
  EXPECT_EQ(f.tracing_count(), 1);
  EXPECT_EQ(f(ones({})).item<float>(), 4);
}

TEST(Tracing, AVariableOfEveryCallIsRefused) {
  auto f = function([](const Tensor& x) { return x * Variable(1.0, {.name = "v"}); });
  for (int i = 0; i < 2; ++i)
    expect_error<FailedPreconditionError>([&] { f(constant(1.0)); }, "first call only");
  EXPECT_EQ(f.tracing_count(), 0);
  auto branch = function(
      [](const Tensor& x) { return cond(x > 0.0, [&] { return x * Variable(1.0); }, [&] { return x; }); });
  expect_error<FailedPreconditionError>([&] { branch(constant(1.0)); }, "first call only");
  std::vector<Variable> made;
  auto late = function([&](const Tensor& x, bool more) {
    if (made.empty() || more) made.emplace_back(2.0);
    return x * made.back();
  });
  EXPECT_EQ(late(constant(1.0), false).item<float>(), 2);
  expect_error<FailedPreconditionError>([&] { late(constant(1.0), true); }, "first call only");
}

TEST(Tracing, AFunctionInAFunctionMayMakeVariablesOnce) {
  std::optional<Variable> v;
  auto inner = function([&](const Tensor& x) {
    if (!v) v.emplace(3.0);
    return x * *v;
  });
  auto outer = function([&](const Tensor& x) { return inner(x) + inner(x * 2.0); });
  EXPECT_EQ(outer(constant(1.0)).item<float>(), 9);
  v->assign(1.0);
  EXPECT_EQ(outer(constant(1.0)).item<float>(), 3);
  auto careless = function([&](const Tensor& x) {
    auto made_anew = function([](const Tensor& y) { return y * Variable(1.0); });
    return made_anew(x);
  });
  EXPECT_THROW(careless(constant(1.0)), FailedPreconditionError);
}

TEST(Tracing, FunctionsOfFunctionsShareTracesWithTheOutside) {
  int traces = 0;
  auto inner = function([&](const Tensor& x, int k) {
    ++traces;
    return x * double(k);
  });
  auto outer = function([&](const Tensor& x) { return inner(x, 2) + inner(x, 3) + inner(x, 2); });
  EXPECT_EQ(outer(constant(1.0)).item<float>(), 7);
  EXPECT_EQ(traces, 2);
  inner(constant(4.0), 3);
  EXPECT_EQ(traces, 2);
}

TEST(Tracing, RecursionGoesOnToASignatureSeenBefore) {
  std::function<Tensor(const Tensor&, int)> again;
  auto f =
      function([&](const Tensor& x, int n) { return n == 0 ? x : again(x * 2.0, n - 1); }, {.name = "power"});
  again = [&](const Tensor& x, int n) { return f(x, n); };
  EXPECT_EQ(f(constant(1.0), 0).item<float>(), 1);
  EXPECT_EQ(f(constant(1.0), 1).item<float>(), 2);
  EXPECT_EQ(f.tracing_count(), 2);
  EXPECT_EQ(f(constant(3.0), 0).item<float>(), 3);
  auto g = function([&](const Tensor& x) { return again(x, 5); });
  auto loop = function([&](const Tensor& x) { return g(x); });
  EXPECT_EQ(loop(constant(1.0)).item<float>(), 32);
}

TEST(Tracing, TheWarningSaysWhatChanged) {
  const auto text_of = [](auto call) {
    testing::internal::CaptureStderr();
    for (int i = 0; i < 8; ++i) call(i);
    return testing::internal::GetCapturedStderr();
  };
  auto shapes =
      function([](const Tensor& x, const Tensor& y) { return reduce_sum(x) + y; }, {.name = "shapes"});
  const std::string a = text_of([&](int i) { shapes(ones({i + 1, 2}), constant(1.0)); });
  EXPECT_NE(a.find("argument 0 was float32(5, 2) and is now float32(6, 2)"), std::string::npos) << a;
  auto texts = function([](const Tensor& x, const std::string&) { return x; }, {.name = "texts"});
  const std::string b = text_of([&](int i) { texts(constant(1.0), "t" + std::to_string(i)); });
  EXPECT_NE(b.find("argument 1 was \"t4\" and is now \"t5\""), std::string::npos) << b;
  EXPECT_NE(b.find("function texts was traced 6 times"), std::string::npos) << b;
  auto structs = function([](const std::vector<Tensor>& list) { return list[0]; }, {.name = "structs"});
  const std::string c = text_of([&](int i) { structs(std::vector<Tensor>(size_t(i + 1), constant(1.0))); });
  EXPECT_NE(c.find("argument 0"), std::string::npos) << c;
}

}  // namespace
}  // namespace rw
