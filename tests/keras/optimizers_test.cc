#include "rewind/keras/optimizers.h"

#include <gtest/gtest.h>

#include <limits>

#include "rewind/compiler/llvm/compile.h"
#include "rewind/keras/constraints.h"
#include "rewind/keras/loss_scale_optimizer.h"
#include "rewind/rewind.h"

namespace rw::keras {
namespace {

const char* const kAll[] = {"sgd",     "adam",    "adamw",    "adamax", "nadam",
                            "rmsprop", "adagrad", "adadelta", "ftrl",   "lion"};

std::vector<std::string> names(const std::vector<Variable>& list) {
  std::vector<std::string> out;
  for (const Variable& v : list) out.push_back(v.name());
  return out;
}

// Five steps of (w - target)^2; returns the weights.
std::vector<float> train(const Optimizer& optimizer, bool in_function) {
  const Variable w(constant({1.0, -2.0, 3.0}), {.name = "w"});
  const Variable b(constant(0.5), {.name = "b"});
  auto step = [&](const Tensor& target) {
    optimizer.minimize([&] { return reduce_sum(square(w * b - target)); }, {w, b});
  };
  const auto traced = function(step);
  for (int i = 0; i < 5; ++i) {
    if (in_function) traced(constant({0.1, 0.2, 0.3}));
    else step(constant({0.1, 0.2, 0.3}));
  }
  EXPECT_EQ(optimizer.iterations().item<int64_t>(), 5);
  std::vector<float> out = w.to_vector<float>();
  out.push_back(b.item<float>());
  return out;
}

TEST(Optimizers, GiveTheSameBitsEagerlyAndInAFunction) {
  for (const char* name : kAll) EXPECT_EQ(train(name, false), train(name, true)) << name;
  const SGDOptions momentum{.momentum = 0.9, .nesterov = true};
  EXPECT_EQ(train(SGD(momentum), false), train(SGD(momentum), true));
  const RMSpropOptions centered{.momentum = 0.9, .centered = true};
  EXPECT_EQ(train(RMSprop(centered), false), train(RMSprop(centered), true));
  const AdamOptions all{.amsgrad = true,
                        .weight_decay = 0.1,
                        .global_clipnorm = 1.0,
                        .use_ema = true,
                        .ema_overwrite_frequency = 2};
  EXPECT_EQ(train(Adam(all), false), train(Adam(all), true));
}

TEST(Optimizers, NameTheirVariablesAsKerasDoes) {
  const Variable w(zeros({2}), {.name = "dense/kernel"});
  const Adam adam({.amsgrad = true, .name = "adam"});
  adam.build({w});
  EXPECT_EQ(
      names(adam.variables()),
      (std::vector<std::string>{"adam/iteration:0", "adam/learning_rate:0", "adam/dense_kernel_momentum:0",
                                "adam/dense_kernel_velocity:0", "adam/dense_kernel_velocity_hat:0"}));
  EXPECT_EQ(Optimizer("rmsprop").name().substr(0, 8), "rm_sprop");
}

TEST(Optimizers, AccumulateGradients) {
  const Variable w(constant(1.0));
  const SGD sgd({.learning_rate = 0.5, .gradient_accumulation_steps = 2});
  const auto step = function([&](const Tensor& g) { sgd.apply_gradients({g}, {w}); });
  step(constant(1.0));
  EXPECT_EQ(w.item<float>(), 1.0f);
  step(constant(3.0));
  EXPECT_EQ(w.item<float>(), 0.0f);
  EXPECT_EQ(sgd.iterations().item<int64_t>(), 1);
  step(constant(1.0));
  EXPECT_EQ(w.item<float>(), 0.0f);
}

TEST(Optimizers, SparseGradientsTouchTheirRows) {
  const Variable w(ones({3, 2}));
  const SGD sgd({.learning_rate = 1.0});
  const IndexedSlices g{ones({3, 2}), constant({2, 0, 2}), constant({3, 2})};
  sgd.apply_gradients({Gradient(g)}, {w});
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{0, 0, 1, 1, -1, -1}));
}

TEST(Optimizers, DividebyTheLossScale) {
  const Variable w(constant(1.0));
  const SGD sgd({.learning_rate = 0.25, .loss_scale_factor = 8.0});
  sgd.minimize([&] { return w * 2.0; }, {w});
  EXPECT_EQ(w.item<float>(), 0.5f);
}

TEST(Optimizers, LossScalesFollowTheGradients) {
  const Variable w(constant(1.0));
  const LossScaleOptimizer scaled(SGD({.learning_rate = 0.5}),
                                  {.initial_scale = 4.0, .dynamic_growth_steps = 2});
  const auto step = function([&](const Tensor& g) { scaled.apply_gradients({g}, {w}); });
  EXPECT_EQ(scaled.scale_loss(constant(1.0)).item<float>(), 4.0f);
  step(constant(4.0));
  EXPECT_EQ(w.item<float>(), 0.5f);
  step(constant(std::numeric_limits<float>::infinity()));
  EXPECT_EQ(w.item<float>(), 0.5f);
  EXPECT_EQ(scaled.scale_loss(constant(1.0)).item<float>(), 2.0f);
  EXPECT_EQ(scaled.iterations().item<int64_t>(), 1);
  step(constant(0.0));
  step(constant(0.0));
  EXPECT_EQ(scaled.scale_loss(constant(1.0)).item<float>(), 4.0f);
  EXPECT_EQ(scaled.learning_rate().item<float>(), 0.5f);
}

TEST(Optimizers, ApplyConstraints) {
  const Variable w(constant({0.5, -0.5}));
  set_constraint(w, "non_neg");
  const SGD sgd({.learning_rate = 1.0});
  sgd.apply_gradients({constant({0.25, -0.25})}, {w});
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{0.25, 0}));
}

TEST(Optimizers, RatesAreNumbersVariablesOrSchedules) {
  const Variable w(constant(0.0));
  const Variable rate(constant(2.0));
  const SGD by_variable({.learning_rate = rate});
  by_variable.apply_gradients({constant(1.0)}, {w});
  EXPECT_EQ(w.item<float>(), -2.0f);
  const SGD by_schedule({.learning_rate = schedules::PiecewiseConstantDecay({{0}, {1.0, 3.0}})});
  for (int i = 0; i < 2; ++i) by_schedule.apply_gradients({constant(1.0)}, {w});
  EXPECT_EQ(w.item<float>(), -6.0f);
  EXPECT_THROW(by_schedule.set_learning_rate(0.1), FailedPreconditionError);
  const SGD by_number({.learning_rate = 1.0});
  by_number.set_learning_rate(0.5);
  EXPECT_EQ(by_number.learning_rate().item<float>(), 0.5f);
}

TEST(Optimizers, RefuseWhatTheyCannotDo) {
  const Variable w(constant(0.0));
  const Variable other(constant(0.0));
  const SGD sgd;
  sgd.apply_gradients({constant(1.0)}, {w});
  EXPECT_THROW(sgd.apply_gradients({constant(1.0)}, {other}), InvalidArgumentError);
  EXPECT_THROW(sgd.apply_gradients({constant(1.0)}, {}), InvalidArgumentError);
  EXPECT_THROW(sgd.apply_gradients({Gradient()}, {w}), InvalidArgumentError);
  EXPECT_THROW(SGD({.clipnorm = 1.0, .clipvalue = 1.0}), InvalidArgumentError);
  EXPECT_THROW(Optimizer("adan"), InvalidArgumentError);
}

// A steady compiled step takes no memory: new values are written where the old ones lay, or change places.
TEST(Optimizers, SteadyStepsTakeNoMemory) {
  if (!loop::has_native_code())
    GTEST_SKIP() << "values that become a variable's are made beside it without LLVM";
  const std::vector<std::pair<const char*, Optimizer>> all{
      {"sgd", SGD()},
      {"momentum", SGD({.momentum = 0.9, .nesterov = true})},
      {"adam", Adam()},
      {"amsgrad", Adam({.amsgrad = true})},
      {"adamw", AdamW()},
      {"adamax", Adamax()},
      {"nadam", Nadam()},
      {"rmsprop", RMSprop()},
      {"rmsprop centered", RMSprop({.momentum = 0.9, .centered = true})},
      {"adagrad", Adagrad()},
      {"adadelta", Adadelta()},
      {"ftrl", Ftrl()},
      {"lion", Lion()},
      {"decay", SGD({.weight_decay = 0.01})},
      {"average", SGD({.use_ema = true})},
      {"clipped", Adam({.global_clipnorm = 1.0})}};
  for (const auto& [name, optimizer] : all) {
    const Variable w(random::stateless_normal({40, 30}, constant({1, 2}))), b(zeros({30}));
    const std::vector<Variable> variables{w, b};
    const auto step = function([&](const Tensor& x) {
      GradientTape tape;
      const Tensor loss = reduce_mean(square(tanh(matmul(x, w) + b)));
      optimizer.apply_gradients(tape.gradient(loss, variables), variables);
      return loss;
    });
    const Tensor x = random::stateless_normal({20, 40}, constant({3, 4}));
    for (int i = 0; i < 5; ++i) step(x);
    const int64_t before = memory::stats().allocations;
    for (int i = 0; i < 20; ++i) step(x);
    EXPECT_EQ(memory::stats().allocations - before, 0) << name;
  }
}

}  // namespace
}  // namespace rw::keras
