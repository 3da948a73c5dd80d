#include "rewind/keras/loss_scale_optimizer.h"

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/function/control_flow.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/keras/optimizer_config.h"
#include "rewind/keras/optimizer_state.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {
inline namespace optimizers {
namespace {

class LossScaleState : public Optimizer::State {
 public:
  LossScaleState(const Optimizer& inner, const LossScaleOptions& o)
      : State(nullptr, {.learning_rate = 0.0, .name = o.name}), inner_(inner), o_(o) {
    if (!(o.initial_scale > 0))
      fail_invalid("LossScaleOptimizer",
                   "initial_scale must be positive: it is " + number_text(o.initial_scale));
    inner_.state()->set_no_loss_scale();  // gradients would be divided twice
    const OutsideTraces outside;
    step_counter_ = add_variable(constant(int64_t(0)), "step_counter");
    scale_ = add_variable(scalar_tensor(o.initial_scale, float32), "dynamic_scale");
  }

  void build(const std::vector<Variable>& variables) override {
    inner_.build(variables);
    State::build(variables);
  }

  void apply(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables) override {
    cond(
        all_finite(gradients), [&] { good_step(gradients, variables); },
        [&] {
          step_counter_.assign(int64_t(0));
          scale_.assign(scale_ * 0.5);
        });
  }

  void write_common_options(ConfigFields& f) const override { f.set("name", name()); }
  Tensor iterations() const override { return inner_.iterations(); }
  const Variable& counter() const override { return inner_.iteration(); }
  Tensor learning_rate() const override { return inner_.learning_rate(); }
  void set_learning_rate(const Operand& value) override { inner_.set_learning_rate(value); }
  Tensor scale_loss(const Tensor& loss) const override {
    const Tensor wide = widened(loss);
    return wide * as_type(scale_, wide.dtype());
  }
  bool adapts_loss_scale() const override { return true; }
  const Optimizer* inner() const override { return &inner_; }
  bool keeps_averages() const override { return inner_.keeps_averages(); }
  void write_averages(const std::vector<Variable>& variables) override {
    inner_.finalize_variable_values(variables);
  }
  std::vector<Optimizer::OwnVariable> own_variables() const override {
    std::vector<Optimizer::OwnVariable> all = State::own_variables();
    for (Optimizer::OwnVariable& v : inner_.own_variables()) {
      v.name = "inner_optimizer/" + v.name;
      all.push_back(std::move(v));
    }
    return all;
  }
  std::vector<TrackableChild> tracked_children() const override {
    std::vector<TrackableChild> list = State::tracked_children();
    list.push_back({"inner_optimizer", keras::trackable_of(inner_)});
    if (!built()) return list;
    list.push_back({"step_counter", rw::trackable_of(step_counter_)});
    list.push_back({"dynamic_scale", rw::trackable_of(scale_)});
    return list;
  }

 private:
  // A scale of 2^16 and more is infinite in float16.
  static Tensor widened(const Tensor& t) {
    return t.dtype() == DType::kFloat16 || t.dtype() == DType::kBfloat16 ? cast(t, float32) : t;
  }
  static Tensor all_finite(const std::vector<Gradient>& gradients) {
    Tensor all;
    for (const Gradient& g : gradients) {
      if (g.none()) continue;
      const Tensor finite = reduce_all(math::is_finite(g.slices() ? g.slices()->values : g.tensor()));
      all = all.defined() ? all & finite : finite;
    }
    if (!all.defined()) fail_invalid("apply_gradients", kNoGradient);
    return all;
  }

  void good_step(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables) {
    std::vector<Gradient> unscaled;
    for (const Gradient& g : gradients)
      unscaled.push_back(g.none() ? g : map_values(g, [&](const Tensor& t) {
        const Tensor wide = widened(t);
        return wide / as_type(scale_, wide.dtype());
      }));
    inner_.apply_gradients(unscaled, variables);
    cond(
        step_counter_ == o_.dynamic_growth_steps - 1,
        [&] {
          step_counter_.assign(int64_t(0));
          scale_.assign(scale_ * 2.0);
        },
        [&] { step_counter_.assign_add(int64_t(1)); });
  }

  Optimizer inner_;
  LossScaleOptions o_;
  Variable step_counter_, scale_;
};

struct LossScaleArguments {
  using Made = LossScaleOptimizer;
  std::optional<Optimizer> inner;
  LossScaleOptions options = {};
  LossScaleOptimizer make() const {
    if (!inner) fail_invalid("from_config", "LossScaleOptimizer: there is no inner_optimizer");
    return LossScaleOptimizer(*inner, options);
  }
};
void fields(ConfigFields& f, LossScaleArguments& a) {
  if (f.is_reading()) f("name", a.options.name);
  if (a.inner) f.set("inner_optimizer", to_config(*a.inner));
  if (const Config* c = f.take("inner_optimizer"))
    f.read("inner_optimizer", [&] { a.inner = optimizer_from_config(*c); });
  f("initial_scale", a.options.initial_scale);
  f("dynamic_growth_steps", a.options.dynamic_growth_steps);
  for (const char* common : {"use_ema", "ema_momentum", "learning_rate", "weight_decay"}) f.ignore(common);
}

}  // namespace

LossScaleOptimizer::LossScaleOptimizer(const Optimizer& inner_optimizer, const LossScaleOptions& options)
    : Optimizer(std::make_shared<LossScaleState>(inner_optimizer, options)) {
  set_origin(origin_of(LossScaleArguments{inner_optimizer, options}));
}

static void add_loss_scale(ClassRegistry& r) { add_class<LossScaleArguments>(r.optimizers); }

}  // namespace optimizers

void add_loss_scale_class(ClassRegistry& r) { optimizers::add_loss_scale(r); }

}  // namespace rw::keras
