#include "rewind/keras/optimizers.h"

#include <algorithm>
#include <cmath>

#include "rewind/base/ascii.h"
#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/optimizer_config.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/training.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {
inline namespace optimizers {
namespace {

using Slots = std::vector<Variable>;

// f of each value, summed into place: f(0) must be 0.
template <class F>
Tensor mapped(const Gradient& g, F f) {
  if (const IndexedSlices* s = g.slices())
    return convert_to_tensor(IndexedSlices{f(s->values), s->indices, s->dense_shape});
  return f(g.tensor());
}
Tensor squared(const Gradient& g) {
  return mapped(g, [](const Tensor& t) { return square(t); });
}

class SGDRule : public UpdateRule {
 public:
  explicit SGDRule(const SGDOptions& o) : momentum_(o.momentum), nesterov_(o.nesterov) {
    if (!(momentum_ >= 0 && momentum_ <= 1))
      fail_invalid("SGD", "momentum must lie in [0, 1]: it is " + number_text(momentum_));
  }
  std::string class_name() const override { return "SGD"; }
  std::vector<std::vector<Slot>> slot_groups() const override {
    if (momentum_ == 0) return {};
    return {{{"momentum"}}};
  }
  void update(const OptimizerStep& step, const Gradient& g, const Variable& w, const Slots& slots) override {
    const Tensor lr = step.learning_rate(w.dtype());
    if (momentum_ != 0) {
      resource_apply_keras_momentum(w, slots[0], lr, g.tensor(), momentum_, nesterov_);
    } else if (const IndexedSlices* s = g.slices()) {
      w.scatter_sub(s->indices, s->values * lr);
    } else {
      resource_apply_gradient_descent(w, lr, g.tensor());
    }
  }

 private:
  double momentum_;
  bool nesterov_;
};

// TensorFlow's op takes a moment's share of a new gradient as 1 - beta in the variable's type, Keras rounds
// the real number: for 0.999 in float32 they are 1.3e-5 apart, and so are the moments. How many times larger
// the op's moment is.
double moment_scale(double beta, DType dtype) {
  if (dtype != DType::kFloat32) return 1.0;
  return double(1.0f - float(beta)) / double(float(1.0 - beta));
}

class AdamRule : public UpdateRule {
 public:
  AdamRule(std::string name, const AdamOptions& o) : name_(std::move(name)), o_(o) {}
  std::string class_name() const override { return name_; }
  std::vector<std::vector<Slot>> slot_groups() const override {
    if (o_.amsgrad) return {{{"momentum"}, {"velocity"}}, {{"velocity_hat"}}};
    return {{{"momentum"}, {"velocity"}}};
  }
  void update(const OptimizerStep& step, const Gradient& g, const Variable& w, const Slots& slots) override {
    const DType dtype = w.dtype();
    const Variable& m = slots[0];
    const Variable& v = slots[1];
    const Tensor lr = step.learning_rate(dtype);
    const Tensor power_1 = step.power(o_.beta_1, dtype);
    const Tensor power_2 = step.power(o_.beta_2, dtype);
    if (!g.slices()) {
      // rate m / (sqrt(v) + epsilon) with Keras' moments.
      const double root = std::sqrt(moment_scale(o_.beta_2, dtype));
      const Tensor rate = lr * (root / moment_scale(o_.beta_1, dtype));
      const AdamStep how{power_1, power_2, rate, o_.beta_1, o_.beta_2, o_.epsilon * root};
      if (o_.amsgrad) resource_apply_adam_with_amsgrad(w, m, v, slots[2], how, g.tensor());
      else resource_apply_adam(w, m, v, how, g.tensor());
      return;
    }
    const Tensor m1 = m + (g.tensor() - m) * (1.0 - o_.beta_1);
    const Tensor v1 = v + (squared(g) - v) * (1.0 - o_.beta_2);
    const Tensor largest = o_.amsgrad ? maximum(slots[2], v1) : v1;
    const Tensor alpha = lr * sqrt(1.0 - power_2) / (1.0 - power_1);
    const Tensor w1 = w - m1 * alpha / (sqrt(largest) + o_.epsilon);
    m.assign(m1);
    v.assign(v1);
    if (o_.amsgrad) slots[2].assign(largest);
    w.assign(w1);
  }

 private:
  std::string name_;
  AdamOptions o_;
};

class AdamaxRule : public UpdateRule {
 public:
  explicit AdamaxRule(const AdamaxOptions& o) : o_(o) {}
  std::string class_name() const override { return "Adamax"; }
  std::vector<std::vector<Slot>> slot_groups() const override { return {{{"momentum"}, {"norm"}}}; }
  void update(const OptimizerStep& step, const Gradient& g, const Variable& w, const Slots& slots) override {
    const Variable& m = slots[0];
    const Variable& u = slots[1];
    const Tensor lr = step.learning_rate(w.dtype());
    const Tensor power = step.power(o_.beta_1, w.dtype());
    if (!g.slices())
      return resource_apply_ada_max(w, m, u, power, lr, o_.beta_1, o_.beta_2, o_.epsilon, g.tensor());
    const Tensor m1 = m + (g.tensor() - m) * (1.0 - o_.beta_1);
    const Tensor u1 = maximum(o_.beta_2 * u, mapped(g, [](const Tensor& t) { return abs(t); }));
    const Tensor w1 = w - lr * m1 / ((1.0 - power) * (u1 + o_.epsilon));
    m.assign(m1);
    u.assign(u1);
    w.assign(w1);
  }

 private:
  AdamaxOptions o_;
};

class NadamRule : public UpdateRule {
 public:
  explicit NadamRule(const NadamOptions& o) : o_(o) {}
  std::string class_name() const override { return "Nadam"; }
  std::vector<std::vector<Slot>> slot_groups() const override { return {{{"momentum"}, {"velocity"}}}; }
  std::vector<Variable> build(const std::string& scope, const std::vector<Variable>& variables) override {
    const DType dtype = variables.empty() ? float32 : variables[0].dtype();
    product_ = Variable(scalar_tensor(1.0, dtype), {.trainable = false, .name = scope + "/u_product"});
    return {product_};
  }
  void begin_step(const OptimizerStep& step) override {
    product_.assign(product_ * momentum(step, product_.dtype(), 0));
  }
  void update(const OptimizerStep& step, const Gradient& g, const Variable& w, const Slots& slots) override {
    const DType dtype = w.dtype();
    const Variable& m = slots[0];
    const Variable& v = slots[1];
    const Tensor lr = step.learning_rate(dtype);
    const Tensor now = momentum(step, dtype, 0);
    const Tensor next = momentum(step, dtype, 1);
    const Tensor product = product_.dtype() == dtype ? product_.value() : cast(product_, dtype);
    const Tensor dense = g.tensor();
    const Tensor m1 = m + (dense - m) * (1.0 - scalar_tensor(o_.beta_1, dtype));
    const Tensor v1 = v + (squared(g) - v) * (1.0 - scalar_tensor(o_.beta_2, dtype));
    const Tensor m_hat = next * m1 / (1.0 - product * next) + (1.0 - now) * dense / (1.0 - product);
    const Tensor v_hat = v1 / (1.0 - step.power(o_.beta_2, dtype));
    const Tensor w1 = w - m_hat * lr / (sqrt(v_hat) + o_.epsilon);
    m.assign(m1);
    v.assign(v1);
    w.assign(w1);
  }

 private:
  // beta_1 (1 - 0.96^t / 2)
  Tensor momentum(const OptimizerStep& step, DType dtype, int64_t ahead) const {
    return o_.beta_1 * (1.0 - 0.5 * step.power(0.96, dtype, ahead));
  }
  NadamOptions o_;
  Variable product_;
};

class RMSpropRule : public UpdateRule {
 public:
  explicit RMSpropRule(const RMSpropOptions& o) : o_(o) {}
  std::string class_name() const override { return "RMSprop"; }
  std::vector<std::vector<Slot>> slot_groups() const override {
    std::vector<std::vector<Slot>> groups{{{"velocity"}}};
    if (o_.momentum > 0) groups.push_back({{"momentum"}});
    if (o_.centered) groups.push_back({{"average_gradient"}});
    return groups;
  }
  void update(const OptimizerStep& step, const Gradient& g, const Variable& w, const Slots& slots) override {
    const Tensor lr = step.learning_rate(w.dtype());
    const Variable& v = slots[0];
    if (o_.momentum > 0 && !g.slices()) {
      if (o_.centered)
        resource_apply_centered_rms_prop(w, slots[2], v, slots[1], lr, o_.rho, o_.momentum, o_.epsilon,
                                         g.tensor());
      else resource_apply_rms_prop(w, v, slots[1], lr, o_.rho, o_.momentum, o_.epsilon, g.tensor());
      return;
    }
    const Tensor dense = g.tensor();
    const Tensor v1 = o_.rho * v + (1.0 - o_.rho) * squared(g);
    Tensor mean;
    if (o_.centered) mean = o_.rho * slots.back() + (1.0 - o_.rho) * dense;
    Tensor delta = lr * dense / sqrt((o_.centered ? v1 - square(mean) : v1) + o_.epsilon);
    if (o_.momentum > 0) delta = o_.momentum * slots[1] + delta;
    const Tensor w1 = w - delta;
    v.assign(v1);
    if (o_.momentum > 0) slots[1].assign(delta);
    if (o_.centered) slots.back().assign(mean);
    w.assign(w1);
  }

 private:
  RMSpropOptions o_;
};

class AdagradRule : public UpdateRule {
 public:
  explicit AdagradRule(const AdagradOptions& o) : o_(o) {}
  std::string class_name() const override { return "Adagrad"; }
  std::vector<std::vector<Slot>> slot_groups() const override {
    return {{{"accumulator", o_.initial_accumulator_value}}};
  }
  void update(const OptimizerStep& step, const Gradient& g, const Variable& w, const Slots& slots) override {
    const Tensor lr = step.learning_rate(w.dtype());
    const Variable& a = slots[0];
    if (const IndexedSlices* s = g.slices()) {
      a.scatter_add(s->indices, square(s->values));
      w.scatter_sub(s->indices, lr * s->values / sqrt(a.sparse_read(s->indices) + o_.epsilon));
      return;
    }
    const Tensor dense = g.tensor();
    const Tensor a1 = a + square(dense);
    const Tensor w1 = w - lr * dense / sqrt(a1 + o_.epsilon);
    a.assign(a1);
    w.assign(w1);
  }

 private:
  AdagradOptions o_;
};

class AdadeltaRule : public UpdateRule {
 public:
  explicit AdadeltaRule(const AdadeltaOptions& o) : o_(o) {}
  std::string class_name() const override { return "Adadelta"; }
  std::vector<std::vector<Slot>> slot_groups() const override {
    return {{{"accumulated_grad"}, {"accumulated_delta_var"}}};
  }
  void update(const OptimizerStep& step, const Gradient& g, const Variable& w, const Slots& slots) override {
    const Tensor lr = step.learning_rate(w.dtype());
    const Variable& a = slots[0];
    const Variable& b = slots[1];
    if (!g.slices()) return resource_apply_adadelta(w, a, b, lr, o_.rho, o_.epsilon, g.tensor());
    const Tensor squares = squared(g);
    const Tensor a1 = o_.rho * a + (1.0 - o_.rho) * squares;
    const Tensor ratio = sqrt(b + o_.epsilon) / sqrt(a1 + o_.epsilon);
    const Tensor b1 = o_.rho * b + (1.0 - o_.rho) * (square(ratio) * squares);
    const Tensor w1 = w - lr * (ratio * g.tensor());
    a.assign(a1);
    b.assign(b1);
    w.assign(w1);
  }

 private:
  AdadeltaOptions o_;
};

class FtrlRule : public UpdateRule {
 public:
  explicit FtrlRule(const FtrlOptions& o) : o_(o) {
    const auto check = [](const char* what, double value) {
      if (!(value >= 0))
        fail_invalid("Ftrl", std::string(what) + " must not be negative: it is " + number_text(value));
    };
    check("initial_accumulator_value", o.initial_accumulator_value);
    check("l1_regularization_strength", o.l1_regularization_strength);
    check("l2_regularization_strength", o.l2_regularization_strength);
    check("l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength);
    if (!(o.learning_rate_power <= 0))
      fail_invalid("Ftrl",
                   "learning_rate_power must not be positive: it is " + number_text(o.learning_rate_power));
  }
  std::string class_name() const override { return "Ftrl"; }
  std::vector<std::vector<Slot>> slot_groups() const override {
    return {{{"accumulator", o_.initial_accumulator_value}, {"linear"}}};
  }
  void update(const OptimizerStep& step, const Gradient& g, const Variable& w, const Slots& slots) override {
    const DType dtype = w.dtype();
    const Variable& a = slots[0];
    const Variable& z = slots[1];
    const Tensor lr = step.learning_rate(dtype);
    const Tensor l2 = o_.l2_regularization_strength + o_.beta / (2.0 * lr);
    const auto number = [&](double value) { return scalar_tensor(value, dtype); };
    if (!g.slices()) {
      raw_op("ResourceApplyFtrlV2",
             {w.handle(), a.handle(), z.handle(), g.tensor(), lr, number(o_.l1_regularization_strength), l2,
              number(o_.l2_shrinkage_regularization_strength), number(o_.learning_rate_power)});
      return;
    }
    const double power = -o_.learning_rate_power;
    const double l1 = o_.l1_regularization_strength;
    const Tensor a1 = a + squared(g);
    const Tensor scale = pow(a1, number(power));
    const Tensor z1 = z + (g.tensor() + 2.0 * o_.l2_shrinkage_regularization_strength * w) -
                      (scale - pow(a, number(power))) / lr * w;
    const Tensor w1 = (clip_by_value(z1, -l1, l1) - z1) / (scale / lr + 2.0 * l2);
    a.assign(a1);
    z.assign(z1);
    w.assign(w1);
  }

 private:
  FtrlOptions o_;
};

class LionRule : public UpdateRule {
 public:
  explicit LionRule(const LionOptions& o) : o_(o) {
    if (!(o.beta_1 > 0 && o.beta_1 <= 1))
      fail_invalid("Lion", "beta_1 must lie in (0, 1]: it is " + number_text(o.beta_1));
  }
  std::string class_name() const override { return "Lion"; }
  std::vector<std::vector<Slot>> slot_groups() const override { return {{{"momentum"}}}; }
  void update(const OptimizerStep& step, const Gradient& g, const Variable& w, const Slots& slots) override {
    const DType dtype = w.dtype();
    const Variable& m = slots[0];
    const Tensor beta_1 = scalar_tensor(o_.beta_1, dtype);
    const Tensor beta_2 = scalar_tensor(o_.beta_2, dtype);
    const Tensor dense = g.tensor();
    const Tensor w1 = w - step.learning_rate(dtype) * sign(m * beta_1 + dense * (1.0 - beta_1));
    const Tensor m1 = m * beta_2 + dense * (1.0 - beta_2);
    w.assign(w1);
    m.assign(m1);
  }

 private:
  LionOptions o_;
};

AdamOptions adam_arithmetic(const AdamWOptions& o) {
  return {.beta_1 = o.beta_1, .beta_2 = o.beta_2, .epsilon = o.epsilon, .amsgrad = o.amsgrad};
}

// ---- configs

template <class T, class O>
struct OptimizerArguments {
  using Made = T;
  O options = {};
  T make() const { return T(options); }
};
template <class T, class O>
void fields(ConfigFields& f, OptimizerArguments<T, O>& a) {
  O& o = a.options;
  if (f.is_reading()) read_common_options(f, o);
  if constexpr (requires { o.momentum; }) f("momentum", o.momentum);
  if constexpr (requires { o.nesterov; }) f("nesterov", o.nesterov);
  if constexpr (requires { o.beta_1; }) f("beta_1", o.beta_1);
  if constexpr (requires { o.beta_2; }) f("beta_2", o.beta_2);
  if constexpr (requires { o.rho; }) f("rho", o.rho);
  if constexpr (requires { o.epsilon; }) f("epsilon", o.epsilon);
  if constexpr (requires { o.amsgrad; }) f("amsgrad", o.amsgrad);
  if constexpr (requires { o.centered; }) f("centered", o.centered);
  if constexpr (requires { o.initial_accumulator_value; })
    f("initial_accumulator_value", o.initial_accumulator_value);
  if constexpr (requires { o.learning_rate_power; }) f("learning_rate_power", o.learning_rate_power);
  if constexpr (requires { o.l1_regularization_strength; })
    f("l1_regularization_strength", o.l1_regularization_strength);
  if constexpr (requires { o.l2_regularization_strength; })
    f("l2_regularization_strength", o.l2_regularization_strength);
  if constexpr (requires { o.l2_shrinkage_regularization_strength; })
    f("l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength);
  if constexpr (requires { o.beta; }) f("beta", o.beta);
}
template <class T, class O>
void describe(T& optimizer, const O& o) {
  optimizer.set_origin(origin_of(OptimizerArguments<T, O>{o}));
}
template <class T, class O>
void add_optimizer(ClassRegistry& r) {
  add_class<OptimizerArguments<T, O>>(r.optimizers);
}

}  // namespace

static void add_optimizers(ClassRegistry& r) {
  add_optimizer<SGD, SGDOptions>(r);
  add_optimizer<Adam, AdamOptions>(r);
  add_optimizer<AdamW, AdamWOptions>(r);
  add_optimizer<Adamax, AdamaxOptions>(r);
  add_optimizer<Nadam, NadamOptions>(r);
  add_optimizer<RMSprop, RMSpropOptions>(r);
  add_optimizer<Adagrad, AdagradOptions>(r);
  add_optimizer<Adadelta, AdadeltaOptions>(r);
  add_optimizer<Ftrl, FtrlOptions>(r);
  add_optimizer<Lion, LionOptions>(r);
}

SGD::SGD(const SGDOptions& o) : Optimizer(std::make_shared<SGDRule>(o), detail::common_options(o)) {
  describe(*this, o);
}
Adam::Adam(const AdamOptions& o)
    : Optimizer(std::make_shared<AdamRule>("Adam", o), detail::common_options(o)) {
  describe(*this, o);
}
AdamW::AdamW(const AdamWOptions& o)
    : Optimizer(std::make_shared<AdamRule>("AdamW", adam_arithmetic(o)), detail::common_options(o)) {
  describe(*this, o);
}
Adamax::Adamax(const AdamaxOptions& o)
    : Optimizer(std::make_shared<AdamaxRule>(o), detail::common_options(o)) {
  describe(*this, o);
}
Nadam::Nadam(const NadamOptions& o) : Optimizer(std::make_shared<NadamRule>(o), detail::common_options(o)) {
  describe(*this, o);
}
RMSprop::RMSprop(const RMSpropOptions& o)
    : Optimizer(std::make_shared<RMSpropRule>(o), detail::common_options(o)) {
  describe(*this, o);
}
Adagrad::Adagrad(const AdagradOptions& o)
    : Optimizer(std::make_shared<AdagradRule>(o), detail::common_options(o)) {
  describe(*this, o);
}
Adadelta::Adadelta(const AdadeltaOptions& o)
    : Optimizer(std::make_shared<AdadeltaRule>(o), detail::common_options(o)) {
  describe(*this, o);
}
Ftrl::Ftrl(const FtrlOptions& o) : Optimizer(std::make_shared<FtrlRule>(o), detail::common_options(o)) {
  describe(*this, o);
}
Lion::Lion(const LionOptions& o) : Optimizer(std::make_shared<LionRule>(o), detail::common_options(o)) {
  describe(*this, o);
}

Optimizer get(const std::string& name) {
  const std::string small = ascii::to_lower(name);
  if (small == "sgd") return SGD();
  if (small == "adam") return Adam();
  if (small == "adamw") return AdamW();
  if (small == "adamax") return Adamax();
  if (small == "nadam") return Nadam();
  if (small == "rmsprop") return RMSprop();
  if (small == "adagrad") return Adagrad();
  if (small == "adadelta") return Adadelta();
  if (small == "ftrl") return Ftrl();
  if (small == "lion") return Lion();
  fail_invalid("optimizers.get",
               "there is no optimizer \"" + name +
                   "\"; known are sgd, adam, adamw, adamax, nadam, rmsprop, adagrad, adadelta, "
                   "ftrl, lion");
}

}  // namespace optimizers

void add_optimizer_classes(ClassRegistry& r) {
  optimizers::add_optimizers(r);
  add_loss_scale_class(r);
}

}  // namespace rw::keras
