#include "rewind/keras/saving.h"

#include "rewind/base/error.h"
#include "rewind/keras/layer_state.h"

namespace rw::keras {
namespace detail {

std::string next_field(std::string_view* names) {
  const size_t comma = names->find(',');
  std::string_view name = names->substr(0, comma);
  names->remove_prefix(comma == std::string_view::npos ? names->size() : comma + 1);
  while (name.starts_with(' ')) name.remove_prefix(1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (name.ends_with('_')) name.remove_suffix(1);
  return std::string(name);
}

void adopt_layer_options(const Layer& layer, ConfigFields& f) {
  LayerState& s = *layer.layer_state();
  LayerOptions o{.name = "", .trainable = s.trainable, .dtype = s.policy};
  read_layer_options(f, o);
  if (!o.name.empty()) {
    s.name = o.name;
    s.auto_named = false;
    s.named = true;
  }
  s.trainable = o.trainable;
  s.policy = o.dtype;
}

std::string full_name(const std::string& package, const std::string& name) {
  if (name.empty() || name.find('>') != std::string::npos || package.find('>') != std::string::npos)
    fail_invalid("register_keras_serializable", "package and name must be words without \">\": got \"" +
                                                    package + "\" and \"" + name + "\"");
  return package + ">" + name;
}

}  // namespace detail

namespace saving {
namespace {

// A function, or an object without options, that goes by its name.
class NamedOrigin : public Origin {
 public:
  NamedOrigin(std::string name, std::string registered, bool function)
      : name_(std::move(name)), registered_(std::move(registered)), function_(function) {}
  std::string class_name() const override { return name_; }
  std::string registered_name() const override { return registered_; }
  void write(ConfigFields&) const override {}
  Config serialized(const char* module) const override {
    if (!function_) return Origin::serialized(module);
    Config out;
    out["module"] = "builtins";
    out["class_name"] = "function";
    out["config"] = registered_;
    out["registered_name"] = "function";
    return out;
  }

 private:
  std::string name_, registered_;
  bool function_;
};

template <class T>
T named(ClassTable<T>& table, const std::string& package, const std::string& name, T value, bool function) {
  const std::string full = detail::full_name(package, name);
  value.set_origin(std::make_shared<NamedOrigin>(name, full, function));
  table.add_own(full, name, [value](const Config&) { return value; });
  return value;
}

}  // namespace

Activation register_keras_serializable(const std::string& package, const std::string& name,
                                       const Activation& value) {
  return named(class_registry().activations, package, name, value, true);
}
Initializer register_keras_serializable(const std::string& package, const std::string& name,
                                        const Initializer& value) {
  return named(class_registry().initializers, package, name, value, false);
}
Regularizer register_keras_serializable(const std::string& package, const std::string& name,
                                        const Regularizer& value) {
  return named(class_registry().regularizers, package, name, value, false);
}
Constraint register_keras_serializable(const std::string& package, const std::string& name,
                                       const Constraint& value) {
  return named(class_registry().constraints, package, name, value, false);
}
Loss register_keras_serializable(const std::string& package, const std::string& name, const Loss& value) {
  return named(class_registry().losses, package, name, value, true);
}
LearningRateSchedule register_keras_serializable(const std::string& package, const std::string& name,
                                                 const LearningRateSchedule& value) {
  return named(class_registry().schedules, package, name, value, false);
}

}  // namespace saving
}  // namespace rw::keras
