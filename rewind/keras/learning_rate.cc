#include "rewind/keras/learning_rate.h"

#include <numbers>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/registry.h"
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

// ---- configs

struct ExponentialDecayArguments {
  static constexpr const char* kName = "ExponentialDecay";
  ExponentialDecayOptions options;
  LearningRateSchedule make() const { return ExponentialDecay(options); }
};
void fields(ConfigFields& f, ExponentialDecayArguments& a) {
  ExponentialDecayOptions& o = a.options;
  f("initial_learning_rate", o.initial_learning_rate);
  f("decay_steps", o.decay_steps);
  f("decay_rate", o.decay_rate);
  f("staircase", o.staircase);
  f.written("name", "ExponentialDecay");
}
struct InverseTimeDecayArguments {
  static constexpr const char* kName = "InverseTimeDecay";
  InverseTimeDecayOptions options;
  LearningRateSchedule make() const { return InverseTimeDecay(options); }
};
void fields(ConfigFields& f, InverseTimeDecayArguments& a) {
  InverseTimeDecayOptions& o = a.options;
  f("initial_learning_rate", o.initial_learning_rate);
  f("decay_steps", o.decay_steps);
  f("decay_rate", o.decay_rate);
  f("staircase", o.staircase);
  f.written("name", "InverseTimeDecay");
}
struct PiecewiseConstantDecayArguments {
  static constexpr const char* kName = "PiecewiseConstantDecay";
  PiecewiseConstantDecayOptions options;
  LearningRateSchedule make() const { return PiecewiseConstantDecay(options); }
};
void fields(ConfigFields& f, PiecewiseConstantDecayArguments& a) {
  PiecewiseConstantDecayOptions& o = a.options;
  f("boundaries", o.boundaries);
  f("values", o.values);
  f.written("name", "PiecewiseConstant");
}
struct PolynomialDecayArguments {
  static constexpr const char* kName = "PolynomialDecay";
  PolynomialDecayOptions options;
  LearningRateSchedule make() const { return PolynomialDecay(options); }
};
void fields(ConfigFields& f, PolynomialDecayArguments& a) {
  PolynomialDecayOptions& o = a.options;
  f("initial_learning_rate", o.initial_learning_rate);
  f("decay_steps", o.decay_steps);
  f("end_learning_rate", o.end_learning_rate);
  f("power", o.power);
  f("cycle", o.cycle);
  f.written("name", "PolynomialDecay");
}
struct CosineDecayArguments {
  static constexpr const char* kName = "CosineDecay";
  CosineDecayOptions options;
  LearningRateSchedule make() const { return CosineDecay(options); }
};
void fields(ConfigFields& f, CosineDecayArguments& a) {
  CosineDecayOptions& o = a.options;
  f("initial_learning_rate", o.initial_learning_rate);
  f("decay_steps", o.decay_steps);
  f("alpha", o.alpha);
  f("warmup_target", o.warmup_target);
  f("warmup_steps", o.warmup_steps);
  f.written("name", "CosineDecay");
}
struct CosineDecayRestartsArguments {
  static constexpr const char* kName = "CosineDecayRestarts";
  CosineDecayRestartsOptions options;
  LearningRateSchedule make() const { return CosineDecayRestarts(options); }
};
void fields(ConfigFields& f, CosineDecayRestartsArguments& a) {
  CosineDecayRestartsOptions& o = a.options;
  f("initial_learning_rate", o.initial_learning_rate);
  f("first_decay_steps", o.first_decay_steps);
  f("t_mul", o.t_mul);
  f("m_mul", o.m_mul);
  f("alpha", o.alpha);
  f.written("name", "SGDRDecay");
}

}  // namespace

LearningRateSchedule ExponentialDecay(const ExponentialDecayOptions& o) {
  check_steps("ExponentialDecay", o.decay_steps);
  const LearningRateSchedule schedule = [o](const Tensor& step) {
    Tensor p = real(step) / o.decay_steps;
    if (o.staircase) p = floor(p);
    return o.initial_learning_rate * pow(real(o.decay_rate), p);
  };
  return with_origin(schedule, ExponentialDecayArguments{o});
}

LearningRateSchedule InverseTimeDecay(const InverseTimeDecayOptions& o) {
  check_steps("InverseTimeDecay", o.decay_steps);
  const LearningRateSchedule schedule = [o](const Tensor& step) {
    Tensor p = real(step) / o.decay_steps;
    if (o.staircase) p = floor(p);
    return o.initial_learning_rate / (1.0 + o.decay_rate * p);
  };
  return with_origin(schedule, InverseTimeDecayArguments{o});
}

LearningRateSchedule PiecewiseConstantDecay(const PiecewiseConstantDecayOptions& o) {
  if (o.boundaries.size() + 1 != o.values.size())
    fail_invalid("PiecewiseConstantDecay", "there must be one more value than boundaries: there are " +
                                               std::to_string(o.values.size()) + " and " +
                                               std::to_string(o.boundaries.size()));
  const LearningRateSchedule schedule = [o](const Tensor& step) {
    Tensor rate = real(o.values.back());
    for (size_t i = o.boundaries.size(); i-- > 0;) {
      const Tensor boundary = cast(scalar_tensor(o.boundaries[i], float64), step.dtype());
      rate = where(step <= boundary, real(o.values[i]), rate);
    }
    return rate;
  };
  return with_origin(schedule, PiecewiseConstantDecayArguments{o});
}

LearningRateSchedule PolynomialDecay(const PolynomialDecayOptions& o) {
  check_steps("PolynomialDecay", o.decay_steps);
  const LearningRateSchedule schedule = [o](const Tensor& step) {
    Tensor at = real(step);
    Tensor steps = real(o.decay_steps);
    if (o.cycle) steps = steps * where(at == 0.0, real(1.0), math::ceil(at / o.decay_steps));
    else at = minimum(at, steps);
    const Tensor span = real(o.initial_learning_rate) - real(o.end_learning_rate);
    return span * pow(1.0 - at / steps, real(o.power)) + o.end_learning_rate;
  };
  return with_origin(schedule, PolynomialDecayArguments{o});
}

LearningRateSchedule CosineDecay(const CosineDecayOptions& o) {
  check_steps("CosineDecay", o.decay_steps);
  const LearningRateSchedule schedule = [o](const Tensor& step) {
    if (!o.warmup_target)
      return o.initial_learning_rate * cosine(minimum(real(step), o.decay_steps) / o.decay_steps, o.alpha);
    const Tensor at = minimum(real(step), o.decay_steps + o.warmup_steps);
    const Tensor slope = real(*o.warmup_target) - real(o.initial_learning_rate);
    const Tensor rising = slope * (at / o.warmup_steps) + o.initial_learning_rate;
    const Tensor falling = *o.warmup_target * cosine((at - o.warmup_steps) / o.decay_steps, o.alpha);
    return where(at < o.warmup_steps, rising, falling);
  };
  return with_origin(schedule, CosineDecayArguments{o});
}

LearningRateSchedule CosineDecayRestarts(const CosineDecayRestartsOptions& o) {
  check_steps("CosineDecayRestarts", o.first_decay_steps);
  const LearningRateSchedule schedule = [o](const Tensor& step) {
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
  return with_origin(schedule, CosineDecayRestartsArguments{o});
}

static void add_schedules(ClassRegistry& r) {
  add_class<ExponentialDecayArguments>(r.schedules);
  add_class<InverseTimeDecayArguments>(r.schedules);
  add_class<PiecewiseConstantDecayArguments>(r.schedules);
  add_class<PolynomialDecayArguments>(r.schedules);
  add_class<CosineDecayArguments>(r.schedules);
  add_class<CosineDecayRestartsArguments>(r.schedules);
}

}  // namespace schedules
}  // namespace optimizers

Config to_config(const LearningRateSchedule& v) {
  if (!v.origin())
    fail_unimplemented(
        "get_config",
        "a learning rate that follows a function of the program's own has no config: register it by "
        "keras::saving::register_keras_serializable(package, name, schedule)");
  return v.origin()->serialized("keras.optimizers.schedules");
}
LearningRateSchedule schedule_from_config(const Config& c) {
  return object_from<LearningRateSchedule>(c, class_registry().schedules, "learning rate schedule", nullptr);
}

void add_schedule_classes(ClassRegistry& r) { schedules::add_schedules(r); }

}  // namespace rw::keras
