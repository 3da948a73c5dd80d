// Configs of objects, and classes of a program's own in them.
//
//   struct Scale : rw::keras::LayerOf<Scale> {
//     double factor = 1;
//     std::string mode = "all";
//     rw::Tensor call(const rw::Tensor& x, const rw::keras::CallArgs&) override { return x * factor; }
//     RW_CONFIG(factor, mode)   // what get_config writes and from_config reads, by these names
//   };
//   keras::saving::register_keras_serializable<Scale>("my_package", "Scale");
//
// A class that RW_CONFIG does not suit has get_config(), an override, and `static Scale from_config(const
// keras::Config&)`. Objects that are made from a config need a constructor without arguments otherwise.
// Register before models are saved and loaded; any thread may. Files are searched for "package>Name", and
// where they name no package for "Name": classes that were not registered in Python, and those of Keras that
// this library does not have.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>

#include "rewind/keras/config_fields.h"
#include "rewind/keras/registry.h"

// Members with an underscore at the end go by their names without it.
#define RW_CONFIG(...)                                                       \
  void config_fields(::rw::keras::ConfigFields& rw_fields_) {                \
    ::rw::keras::detail::list_fields(rw_fields_, #__VA_ARGS__, __VA_ARGS__); \
  }

namespace rw::keras {
namespace detail {

// The next of "factor, mode_": "factor".
std::string next_field(std::string_view* names);

template <class... M>
void list_fields(ConfigFields& f, std::string_view names, M&... members) {
  (f(next_field(&names).c_str(), members), ...);
}

template <class T>
concept HasConfigFields = requires(T& t, ConfigFields& f) { t.config_fields(f); };
template <class T>
concept HasFromConfig = requires(const Config& c) { T::from_config(c); };

// A layer takes its name, whether it is trainable and its policy from the config.
void adopt_layer_options(const Layer& layer, ConfigFields& f);
std::string full_name(const std::string& package, const std::string& name);

template <class T, class Handle>
Handle make_own(const Config& config, const std::string& name) {
  if constexpr (HasFromConfig<T>) {
    return Handle(T::from_config(config));
  } else {
    static_assert(
        std::default_initializable<T>,
        "a registered class needs a constructor without arguments, or static from_config(const Config&)");
    ConfigFields f = ConfigFields::reading(config, name);
    if constexpr (std::derived_from<T, Layer>) {
      auto made = std::make_shared<T>();
      adopt_layer_options(*made, f);
      if constexpr (HasConfigFields<T>) made->config_fields(f);
      f.finish();
      return LayerRef::adopt(std::move(made));
    } else {
      auto made = std::make_shared<T>();
      f.ignore("dtype");
      if (const Config* own = f.find("name"); own && own->text()) made->rename(*own->text());
      f.ignore("name");
      if constexpr (HasConfigFields<T>) made->config_fields(f);
      f.finish();
      return Handle(std::move(made));
    }
  }
}

}  // namespace detail

namespace saving {

#ifdef __cpp_rtti
// A layer, a model, or the MetricState of a metric. Objects are told apart by their types at run time, so
// programs that are compiled with -fno-rtti do not have it.
template <class T>
  requires(std::derived_from<T, Layer> || std::derived_from<T, MetricState>)
void register_keras_serializable(const std::string& package = "Custom",
                                 const std::string& class_name = class_name_in(class_signature<T>())) {
  const std::string full = detail::full_name(package, class_name);
  OwnClass own{class_name, full, nullptr};
  if constexpr (detail::HasConfigFields<T>)
    own.write = [](ConfigFields& f, const void* object) {
      const_cast<T*>(static_cast<const T*>(object))->config_fields(f);  // which only reads, when it writes
    };
  add_own_class(typeid(T), std::move(own));
  if constexpr (std::derived_from<T, Layer>)
    class_registry().layers.add_own(full, class_name, [class_name](const Config& c) {
      return detail::make_own<T, LayerRef>(c, class_name);
    });
  else
    class_registry().metrics.add_own(full, class_name, [class_name](const Config& c) {
      return detail::make_own<T, Metric>(c, class_name);
    });
}
#endif

// A value that goes by its registered name: returns one that configs can name.
//   auto twice = keras::saving::register_keras_serializable("my_package", "twice",
//       keras::Activation([](const rw::Tensor& x) { return x * 2; }));
Activation register_keras_serializable(const std::string& package, const std::string& name,
                                       const Activation& value);
Initializer register_keras_serializable(const std::string& package, const std::string& name,
                                        const Initializer& value);
Regularizer register_keras_serializable(const std::string& package, const std::string& name,
                                        const Regularizer& value);
Constraint register_keras_serializable(const std::string& package, const std::string& name,
                                       const Constraint& value);
Loss register_keras_serializable(const std::string& package, const std::string& name, const Loss& value);
LearningRateSchedule register_keras_serializable(const std::string& package, const std::string& name,
                                                 const LearningRateSchedule& value);

// {"module", "class_name", "config", "registered_name"} of an object, and the object again.
template <class T>
Config serialize_keras_object(const T& object) {
  if constexpr (std::derived_from<T, Layer>) return to_config(LayerRef::to(object));
  else return to_config(object);
}
// T: LayerRef, Initializer, Regularizer, Constraint, Activation, Loss, Metric, Optimizer,
// LearningRateSchedule.
template <class T>
T deserialize_keras_object(const Config& config) {
  if constexpr (std::is_same_v<T, Metric>) return metric_from_config(config);
  else if constexpr (std::is_same_v<T, Optimizer>) return optimizer_from_config(config);
  else if constexpr (std::is_same_v<T, LearningRateSchedule>) return schedule_from_config(config);
  else {
    T object;
    from_config(config, &object);
    return object;
  }
}

}  // namespace saving
}  // namespace rw::keras
