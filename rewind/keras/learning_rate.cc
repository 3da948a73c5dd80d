#include "rewind/keras/learning_rate.h"

#include <numbers>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
inline namespace optimizers {
namespace schedules {
namespace {

// Rates are float32, whatever the step counts in.
Tensor real(const Tensor& step) { return cast(step, float32); }
Tensor real(double value) { return scalar_tensor(value, float32); }

void check_steps(const char* tag, double steps) {
  if (!(steps > 0)) fail_invalid(tag, "the number of steps must be positive: it is " + number_text(steps));
}

// (1 - alpha) (1 + cos(pi fraction)) / 2 + alpha
Tensor cosine(const Tensor& fraction, double alpha) {
  return (1.0 - alpha) * (0.5 * (1.0 + cos(real(std::numbers::pi) * fraction))) + alpha;
}

}  // namespace

LearningRateSchedule ExponentialDecay(const ExponentialDecayOptions& o) {
  check_steps("ExponentialDecay", o.decay_steps);
  return [o](const Tensor& step) {
    Tensor p = real(step) / o.decay_steps;
    if (o.staircase) p = floor(p);
    return o.initial_learning_rate * pow(real(o.decay_rate), p);
  };
}

LearningRateSchedule InverseTimeDecay(const InverseTimeDecayOptions& o) {
  check_steps("InverseTimeDecay", o.decay_steps);
  return [o](const Tensor& step) {
    Tensor p = real(step) / o.decay_steps;
    if (o.staircase) p = floor(p);
    return o.initial_learning_rate / (1.0 + o.decay_rate * p);
  };
}

LearningRateSchedule PiecewiseConstantDecay(const PiecewiseConstantDecayOptions& o) {
  if (o.boundaries.size() + 1 != o.values.size())
    fail_invalid("PiecewiseConstantDecay", "there must be one more value than boundaries: there are " +
                                               std::to_string(o.values.size()) + " and " +
                                               std::to_string(o.boundaries.size()));
  return [o](const Tensor& step) {
    Tensor rate = real(o.values.back());
    for (size_t i = o.boundaries.size(); i-- > 0;) {
      const Tensor boundary = cast(scalar_tensor(o.boundaries[i], float64), step.dtype());
      rate = where(step <= boundary, real(o.values[i]), rate);
    }
    return rate;
  };
}

LearningRateSchedule PolynomialDecay(const PolynomialDecayOptions& o) {
  check_steps("PolynomialDecay", o.decay_steps);
  return [o](const Tensor& step) {
    Tensor at = real(step);
    Tensor steps = real(o.decay_steps);
    if (o.cycle) steps = steps * where(at == 0.0, real(1.0), math::ceil(at / o.decay_steps));
    else at = minimum(at, steps);
    const Tensor span = real(o.initial_learning_rate) - real(o.end_learning_rate);
    return span * pow(1.0 - at / steps, real(o.power)) + o.end_learning_rate;
  };
}

LearningRateSchedule CosineDecay(const CosineDecayOptions& o) {
  check_steps("CosineDecay", o.decay_steps);
  return [o](const Tensor& step) {
    if (!o.warmup_target)
      return o.initial_learning_rate * cosine(minimum(real(step), o.decay_steps) / o.decay_steps, o.alpha);
    const Tensor at = minimum(real(step), o.decay_steps + o.warmup_steps);
    const Tensor slope = real(*o.warmup_target) - real(o.initial_learning_rate);
    const Tensor rising = slope * (at / o.warmup_steps) + o.initial_learning_rate;
    const Tensor falling = *o.warmup_target * cosine((at - o.warmup_steps) / o.decay_steps, o.alpha);
    return where(at < o.warmup_steps, rising, falling);
  };
}

LearningRateSchedule CosineDecayRestarts(const CosineDecayRestartsOptions& o) {
  check_steps("CosineDecayRestarts", o.first_decay_steps);
  return [o](const Tensor& step) {
    Tensor fraction = real(step) / o.first_decay_steps;
    Tensor restarts;
    if (o.t_mul == 1.0) {
      restarts = floor(fraction);
      fraction = fraction - restarts;
    } else {
      const Tensor t_mul = real(o.t_mul);
      restarts = floor(math::log(1.0 - fraction * (1.0 - t_mul)) / math::log(t_mul));
      const Tensor gone = (1.0 - pow(t_mul, restarts)) / (1.0 - t_mul);
      fraction = (fraction - gone) / pow(t_mul, restarts);
    }
    const Tensor height = 0.5 * pow(real(o.m_mul), restarts) * (1.0 + cos(real(std::numbers::pi) * fraction));
    return o.initial_learning_rate * ((1.0 - real(o.alpha)) * height + o.alpha);
  };
}

}  // namespace schedules
}  // namespace optimizers
}  // namespace rw::keras
