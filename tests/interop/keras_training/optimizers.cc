#include "rewind/keras/optimizers.h"

#include "rewind/keras/constraints.h"
#include "rewind/keras/initializers.h"
#include "rewind/keras/loss_scale_optimizer.h"
#include "tests/interop/keras_training/cases.h"

namespace rw::interop {
namespace {

using namespace rw::keras;  // NOLINT: a program of its own

// Weights after 1, 10 and 100 steps. The third variable's gradient is sparse, with rows that are named twice
// unless they must be distinct.
void run_optimizer(const std::string& name, const std::function<Optimizer()>& make, bool distinct = false) {
  run("optimizer_" + name, [&] {
    const Optimizer optimizer = make();
    const Variable a(wave({4, 3}, 1), {.name = "a"});
    const Variable b(wave({3}, 2), {.name = "b"});
    const Variable c(wave({5, 2}, 3), {.name = "c"});
    const auto step =
        function([&](const Tensor& ga, const Tensor& gb, const Tensor& gc, const Tensor& indices) {
          const IndexedSlices slices{gc, indices, constant({5, 2})};
          optimizer.apply_gradients({ga, gb, Gradient(slices)}, {a, b, c});
        });
    std::vector<Tensor> out;
    for (int i = 1; i <= 100; ++i) {
      const std::vector<int32_t> indices =
          distinct ? std::vector<int32_t>{i % 5, (i + 1) % 5, (i + 2) % 5, (i + 3) % 5}
                   : std::vector<int32_t>{i % 5, 3, 2 * i % 5, 3};
      step(wave({4, 3}, i, 1.0), wave({3}, 2 * i, 1.0), wave({4, 2}, 3 * i, 1.0), constant(indices));
      if (i == 1 || i == 10 || i == 100)
        for (const Variable& v : {a, b, c}) out.push_back(v.value());
    }
    out.push_back(optimizer.iterations());
    return out;
  });
}

}  // namespace

void run_optimizers() {
  run_optimizer("sgd", [] { return SGD(); });
  run_optimizer("sgd_momentum", [] { return SGD({.learning_rate = 0.02, .momentum = 0.9}); });
  run_optimizer("sgd_nesterov",
                [] { return SGD({.momentum = 0.8, .nesterov = true, .weight_decay = 0.01}); });
  run_optimizer("adam", [] { return Adam({.learning_rate = 0.01}); });
  run_optimizer("adam_amsgrad", [] { return Adam({.learning_rate = 0.01, .amsgrad = true}); });
  run_optimizer("adam_decayed",
                [] { return Adam({.learning_rate = 0.01, .beta_1 = 0.8, .weight_decay = 0.1}); });
  run_optimizer("adamw", [] { return AdamW({.learning_rate = 0.01}); });
  run_optimizer("adamax", [] { return Adamax({.learning_rate = 0.01}); });
  run_optimizer("nadam", [] { return Nadam({.learning_rate = 0.01}); });
  run_optimizer("rmsprop", [] { return RMSprop({.learning_rate = 0.01}); });
  run_optimizer("rmsprop_momentum", [] { return RMSprop({.learning_rate = 0.01, .momentum = 0.5}); });
  run_optimizer("rmsprop_centered", [] { return RMSprop({.learning_rate = 0.01, .centered = true}); }, true);
  run_optimizer(
      "rmsprop_centered_momentum",
      [] { return RMSprop({.learning_rate = 0.01, .momentum = 0.5, .centered = true}); }, true);
  run_optimizer("adagrad", [] { return Adagrad({.learning_rate = 0.1}); });
  run_optimizer("adadelta", [] { return Adadelta({.learning_rate = 1.0}); });
  run_optimizer("ftrl", [] { return Ftrl({.learning_rate = 0.1}); });
  run_optimizer("ftrl_regularized", [] {
    return Ftrl({.learning_rate = 0.1,
                 .learning_rate_power = -0.4,
                 .l1_regularization_strength = 0.05,
                 .l2_regularization_strength = 0.1,
                 .l2_shrinkage_regularization_strength = 0.02,
                 .beta = 0.3});
  });
  run_optimizer("lion", [] { return Lion({.learning_rate = 0.01}); });
  run_optimizer("clipnorm", [] { return Adam({.learning_rate = 0.01, .clipnorm = 0.5}); });
  run_optimizer("clipvalue", [] { return SGD({.clipvalue = 0.2}); });
  run_optimizer("global_clipnorm", [] { return SGD({.momentum = 0.9, .global_clipnorm = 0.7}); });
  run_optimizer("ema",
                [] { return SGD({.use_ema = true, .ema_momentum = 0.9, .ema_overwrite_frequency = 3}); });
  run_optimizer("accumulated",
                [] { return Adam({.learning_rate = 0.01, .gradient_accumulation_steps = 4}); });
  run_optimizer("loss_scale_factor", [] { return SGD({.loss_scale_factor = 8.0}); });
  run_optimizer("loss_scale", [] {
    return LossScaleOptimizer(SGD({.learning_rate = 0.5}),
                              {.initial_scale = 16.0, .dynamic_growth_steps = 20});
  });
  run_optimizer("scheduled", [] {
    return Adam({.learning_rate = schedules::ExponentialDecay(
                     {.initial_learning_rate = 0.05, .decay_steps = 10, .decay_rate = 0.9})});
  });
}

void run_schedules() {
  const auto run_schedule = [](const std::string& name, const LearningRateSchedule& schedule) {
    run("schedule_" + name, [&] {
      std::vector<Tensor> out;
      const auto f = function([&](const Tensor& step) { return schedule(step); });
      for (const int64_t step : {0, 1, 5, 9, 10, 11, 20, 37, 50, 99, 100, 101, 250})
        out.push_back(f(constant(int64_t(step))));
      return out;
    });
  };
  namespace s = schedules;
  run_schedule("exponential", s::ExponentialDecay({0.1, 10, 0.9}));
  run_schedule("exponential_staircase", s::ExponentialDecay({0.1, 10, 0.9, true}));
  run_schedule("inverse_time", s::InverseTimeDecay({0.1, 10, 0.5}));
  run_schedule("inverse_time_staircase", s::InverseTimeDecay({0.1, 10, 0.5, true}));
  run_schedule("piecewise", s::PiecewiseConstantDecay({{10, 50, 100}, {1.0, 0.5, 0.25, 0.125}}));
  run_schedule("polynomial", s::PolynomialDecay({0.1, 100, 0.01, 0.5}));
  run_schedule(
      "polynomial_cycle",
      s::PolynomialDecay({.initial_learning_rate = 0.1, .decay_steps = 40, .power = 2.0, .cycle = true}));
  run_schedule("cosine", s::CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 100, .alpha = 0.1}));
  run_schedule(
      "cosine_warmup",
      s::CosineDecay(
          {.initial_learning_rate = 0.0, .decay_steps = 90, .warmup_target = 0.1, .warmup_steps = 10}));
  run_schedule("cosine_restarts",
               s::CosineDecayRestarts(
                   {.initial_learning_rate = 0.1, .first_decay_steps = 20, .m_mul = 0.8, .alpha = 0.05}));
  run_schedule("cosine_restarts_equal",
               s::CosineDecayRestarts({.initial_learning_rate = 0.1, .first_decay_steps = 20, .t_mul = 1.0}));
}

void run_initializers() {
  namespace i = initializers;
  const auto run_initializer = [](const std::string& name, const Initializer& f, const Shape& shape) {
    run("initializer_" + name, [&] { return std::vector<Tensor>{f(shape)}; });
  };
  run_initializer("zeros", "zeros", {2, 3});
  run_initializer("ones", "ones", {2, 3});
  run_initializer("constant", i::Constant(0.3), {2, 3});
  run_initializer("identity", i::Identity(0.5), {3, 4});
  run_initializer("random_normal", i::RandomNormal({.mean = 0.1, .stddev = 0.2, .seed = 7}), {5, 7});
  run_initializer("random_uniform", i::RandomUniform({.seed = 7}), {5, 7});
  run_initializer("truncated_normal", i::TruncatedNormal({.seed = 7}), {5, 7});
  run_initializer("glorot_uniform", i::GlorotUniform({.seed = 7}), {3, 3, 4, 5});
  run_initializer("glorot_normal", i::GlorotNormal({.seed = 7}), {5, 7});
  run_initializer("he_uniform", i::HeUniform({.seed = 7}), {5, 7});
  run_initializer("he_normal", i::HeNormal({.seed = 3000000000}), {5, 7});
  run_initializer("lecun_uniform", i::LecunUniform({.seed = 7}), {11});
  run_initializer("lecun_normal", i::LecunNormal({.seed = 7}), {5, 7});
  run_initializer(
      "variance_scaling",
      i::VarianceScaling({.scale = 0.5, .mode = "fan_out", .distribution = "untruncated_normal", .seed = 7}),
      {5, 7});
  run_initializer("variance_scaling_axes",
                  i::VarianceScaling({.seed = 7, .input_axes = {{0}}, .output_axes = {{1, 2}}}), {5, 3, 2});
  run_initializer("orthogonal", i::Orthogonal({.gain = 2.0, .seed = 7}), {4, 6});
}

}  // namespace rw::interop
