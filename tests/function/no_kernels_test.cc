// Functions in which nothing has to be computed: memory plans and budgets of no steps at all.
#include <gtest/gtest.h>

#include "rewind/function/function.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

// A plan, a run under a budget, and one under a tape; both results are x's elements in some shape.
template <class F>
void expect_plan_and_run(F f, const Tensor& x) {
  const auto plain = function(f);
  const MemoryReport plan = plain.memory_plan(x);
  EXPECT_EQ(plan.second_runs, 0);
  EXPECT_EQ(plan.arena, 0);
  const auto tight = function(f, {.memory_budget = int64_t(1) << 30});
  EXPECT_EQ(tight.memory_plan(x).second_runs, 0);
  EXPECT_EQ(tight(x).template to_vector<float>(), x.to_vector<float>());
  for (const auto& step : {plain, tight}) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = step(x);
    EXPECT_EQ(Tensor(tape.gradient(y, x)).to_vector<float>(), std::vector<float>(size_t(x.size()), 1.0F));
  }
}

TEST(NoKernels, IdentityAndReshapeHaveAPlan) {
  const Tensor x = constant({1.0F, -2.0F, 3.0F, 4.0F});
  expect_plan_and_run([](const Tensor& t) { return t; }, x);
  expect_plan_and_run([](const Tensor& t) { return identity(t); }, x);
  expect_plan_and_run([](const Tensor& t) { return reshape(t, {2, 2}); }, x);
  expect_plan_and_run([](const Tensor& t) { return expand_dims(reshape(t, {2, 2}), 0); }, x);
}

TEST(NoKernels, AConstantHasAPlan) {
  const auto f = [](const Tensor&) { return constant(2.5F); };
  const Tensor x = ones({3});
  EXPECT_EQ(function(f).memory_plan(x).second_runs, 0);
  const auto tight = function(f, {.memory_budget = int64_t(1) << 30});
  EXPECT_EQ(tight(x).item<float>(), 2.5F);
  EXPECT_EQ(tight.memory_plan(x).largest_live, 0);
}

TEST(NoKernels, NothingHasAPlan) {
  const auto f = [](const Tensor&) {};
  const Tensor x = ones({3});
  (void)function(f).memory_plan(x);
  const auto tight = function(f, {.memory_budget = int64_t(1) << 30});
  tight(x);
  (void)tight.memory_plan(x);
  const auto no_arguments = function([] {}, {.memory_budget = int64_t(1) << 30});
  no_arguments();
  (void)no_arguments.memory_plan();
}

TEST(NoKernels, AGradientThatIsItsInputHasAPlan) {
  const auto f = [](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor loss = nn::l2_loss(x);
    return Tensor(tape.gradient(loss, x));
  };
  const Tensor x = constant({1.0F, 2.0F});
  EXPECT_EQ(function(f).memory_plan(x).second_runs, 0);
  EXPECT_EQ(function(f, {.memory_budget = int64_t(1) << 30})(x).to_vector<float>(), x.to_vector<float>());
}

TEST(NoKernels, UnderTheDevicesBudget) {
  const Tensor x = ones({4});
  memory::set_budget("CPU:0", int64_t(1) << 30);
  const Tensor y = function([](const Tensor& t) { return reshape(t, {2, 2}); })(x);
  function([](const Tensor&) {})(x);
  memory::set_budget("CPU:0", 0);
  EXPECT_EQ(y.shape(), Shape({2, 2}));
}

TEST(NoKernels, EmptyTensorsHaveAPlan) {
  const auto f = [](const Tensor& x) { return x * 2.0 + 1.0; };
  const Tensor x = zeros({0, 3});
  (void)function(f).memory_plan(x);
  EXPECT_EQ(function(f, {.memory_budget = int64_t(1) << 30})(x).shape(), Shape({0, 3}));
}

}  // namespace
}  // namespace rw
