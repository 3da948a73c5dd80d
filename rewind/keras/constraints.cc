#include "rewind/keras/constraints.h"

#include <atomic>
#include <mutex>

#include "rewind/base/error.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::keras {

Constraint::Constraint(const char* name) : Constraint(constraints::get(name)) {}
Constraint::Constraint(const std::string& name) : Constraint(constraints::get(name)) {}

namespace constraints {
namespace {

Tensor norms_of(const Tensor& w, const std::vector<int64_t>& axis) {
  return sqrt(reduce_sum(square(w), axis, true));
}

// ---- configs

struct MaxNormArguments {
  static constexpr const char* kName = "MaxNorm";
  MaxNormOptions options = {};
  Constraint make() const { return MaxNorm(options); }
};
void fields(ConfigFields& f, MaxNormArguments& a) {
  f("max_value", a.options.max_value);
  f.one_or_list("axis", a.options.axis);
}
struct NonNegArguments {
  static constexpr const char* kName = "NonNeg";
  Constraint make() const { return NonNeg(); }
};
void fields(ConfigFields&, NonNegArguments&) {}
struct UnitNormArguments {
  static constexpr const char* kName = "UnitNorm";
  UnitNormOptions options = {};
  Constraint make() const { return UnitNorm(options); }
};
void fields(ConfigFields& f, UnitNormArguments& a) { f.one_or_list("axis", a.options.axis); }
struct MinMaxNormArguments {
  static constexpr const char* kName = "MinMaxNorm";
  MinMaxNormOptions options = {};
  Constraint make() const { return MinMaxNorm(options); }
};
void fields(ConfigFields& f, MinMaxNormArguments& a) {
  f("min_value", a.options.min_value);
  f("max_value", a.options.max_value);
  f("rate", a.options.rate);
  f.one_or_list("axis", a.options.axis);
}

}  // namespace

Constraint MaxNorm(const MaxNormOptions& o) {
  const Constraint projection = [o](const Tensor& w) {
    const Tensor norms = norms_of(w, o.axis);
    return w * (clip_by_value(norms, 0.0, o.max_value) / (kEpsilon + norms));
  };
  return with_origin(projection, MaxNormArguments{o});
}
Constraint NonNeg() {
  const Constraint projection = [](const Tensor& w) { return maximum(w, 0.0); };
  return with_origin(projection, NonNegArguments{});
}
Constraint UnitNorm(const UnitNormOptions& o) {
  const Constraint projection = [o](const Tensor& w) { return w / (kEpsilon + norms_of(w, o.axis)); };
  return with_origin(projection, UnitNormArguments{o});
}
Constraint MinMaxNorm(const MinMaxNormOptions& o) {
  const Constraint projection = [o](const Tensor& w) {
    const Tensor norms = norms_of(w, o.axis);
    const Tensor desired = o.rate * clip_by_value(norms, o.min_value, o.max_value) + (1.0 - o.rate) * norms;
    return w * (desired / (kEpsilon + norms));
  };
  return with_origin(projection, MinMaxNormArguments{o});
}

Constraint get(const std::string& name) {
  if (name == "MaxNorm" || name == "max_norm") return MaxNorm();
  if (name == "NonNeg" || name == "non_neg") return NonNeg();
  if (name == "UnitNorm" || name == "unit_norm") return UnitNorm();
  if (name == "MinMaxNorm" || name == "min_max_norm") return MinMaxNorm();
  fail_invalid("constraints.get", "there is no constraint \"" + name +
                                      "\"; known are max_norm, non_neg, unit_norm, min_max_norm");
}

}  // namespace constraints

Config to_config(const Constraint& v) {
  if (!v) return nullptr;
  if (!v.origin())
    fail_unimplemented("get_config",
                       "a constraint that is a function has no config: register it by "
                       "keras::saving::register_keras_serializable(package, name, constraint)");
  return v.origin()->serialized("keras.constraints");
}
void from_config(const Config& c, Constraint* v) {
  *v = c.is_null() ? Constraint()
                   : object_from(c, class_registry().constraints, "constraint", constraints::get);
}

void add_constraint_classes(ClassRegistry& r) {
  using namespace constraints;
  add_class<MaxNormArguments>(r.constraints);
  add_class<NonNegArguments>(r.constraints);
  add_class<UnitNormArguments>(r.constraints);
  add_class<MinMaxNormArguments>(r.constraints);
}

// ---- of variables -----------------------------------------------------------------------------------------

namespace {

struct Constrained {
  Tensor handle;
  Constraint constraint;
};
struct Registry {
  std::mutex mutex;
  std::vector<Constrained> list;
  std::atomic<bool> empty{true};
};
Registry& registry() {
  static auto* r = new Registry;
  return *r;
}

}  // namespace

void set_constraint(const Variable& variable, const Constraint& constraint) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  // Entries of variables that nobody else holds go too.
  std::erase_if(r.list, [&](const Constrained& c) {
    return c.handle.impl() == variable.handle().impl() || c.handle.impl()->unique();
  });
  if (constraint) r.list.push_back({variable.handle(), constraint});
  r.empty = r.list.empty();
}

Constraint constraint_of(const Variable& variable) {
  Registry& r = registry();
  if (r.empty) return {};
  const std::lock_guard lock(r.mutex);
  for (const Constrained& c : r.list)
    if (c.handle.impl() == variable.handle().impl()) return c.constraint;
  return {};
}

}  // namespace rw::keras
