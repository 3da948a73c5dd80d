// The classes that configs name, and how an object is made from its options. Every family of the library adds
// its own (config_families.h); a program adds more by keras::saving::register_keras_serializable.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <typeindex>

#include "rewind/keras/config_fields.h"
#include "rewind/keras/layer_ref.h"
#include "rewind/keras/loss.h"
#include "rewind/keras/metric.h"
#include "rewind/keras/optimizer.h"

namespace rw::keras {

// Classes of one kind by name: "Dense", or "package>Name" of a program's own.
template <class T>
class ClassTable {
 public:
  using Make = std::function<T(const Config& config)>;
  void add(const std::string& name, Make make) {
    const std::lock_guard lock(mutex_);
    rows_[name] = std::move(make);
  }
  // One of the program's own: by "package>Name", and by "Name" alone, as files have classes that were not
  // registered in Python, or that only Keras has. The library's own names stay what they are.
  void add_own(const std::string& full, const std::string& name, Make make) {
    const std::lock_guard lock(mutex_);
    if (!rows_.contains(name) || plain_.contains(name)) {
      plain_.insert(name);
      rows_[name] = make;
    }
    rows_[full] = std::move(make);
  }
  // Empty if there is none.
  Make find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto at = rows_.find(name);
    return at == rows_.end() ? Make() : at->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Make> rows_;
  std::set<std::string> plain_;  // names of the program's own classes without their packages
};

// What a program said of a class of its own, or of the state behind a handle.
struct OwnClass {
  std::string class_name;       // "Scale"
  std::string registered_name;  // "package>Scale"
  std::function<void(ConfigFields& fields, const void* object)> write;
};

struct ClassRegistry {
  ClassTable<LayerRef> layers;
  ClassTable<Initializer> initializers;
  ClassTable<Regularizer> regularizers;
  ClassTable<Constraint> constraints;
  ClassTable<Activation> activations;
  ClassTable<Loss> losses;
  ClassTable<Metric> metrics;
  ClassTable<Optimizer> optimizers;
  ClassTable<LearningRateSchedule> schedules;
};
// With the library's classes in it.
ClassRegistry& class_registry();

void add_own_class(std::type_index type, OwnClass own);
// Null for a class that nobody registered.
const OwnClass* own_class(const std::type_info* type);

// What a config of an object says.
struct NamedConfig {
  std::string name;             // of the class, or of a function
  std::string registered_name;  // "package>Name", or empty
  const Config* options = nullptr;
};
// Text is a name alone. Throws InvalidArgumentError for what names no object.
NamedConfig named_config(const Config& c, const char* kind);
// Throws InvalidArgumentError that says how a class is registered.
[[noreturn]] void fail_unknown_class(const NamedConfig& named, const char* kind);

// The object that a config describes. `by_name` knows names alone, and refuses others.
template <class T>
T object_from(const Config& c, const ClassTable<T>& table, const char* kind,
              T (*by_name)(const std::string&)) {
  const NamedConfig named = named_config(c, kind);
  static const Config& none = *new Config(Config::object());
  // Keras 2 puts the name of no package in front of some of its own classes.
  constexpr std::string_view kNoPackage = "Custom>";
  const std::string plain = named.name.starts_with(kNoPackage) ? named.name.substr(kNoPackage.size()) : "";
  for (const std::string* name : {&named.registered_name, &named.name, &plain})
    if (const auto make = name->empty() ? nullptr : table.find(*name))
      return make(named.options ? *named.options : none);
  if (!named.options && by_name) return by_name(named.name);
  fail_unknown_class(named, kind);
}

// ---- the library's classes
// ---------------------------------------------------------------------------------

template <class O>
void read_layer_options(ConfigFields& f, O& o) {
  f("name", o.name);
  f("trainable", o.trainable);
  f("dtype", o.dtype);
  f.ignore("batch_input_shape");  // of the first layer in files of Keras 2
  f.ignore("batch_shape");
}

// From a struct of arguments: its list of fields, and make().
template <class A, class T>
T make_from(const Config& config) {
  A a{};
  ConfigFields f = ConfigFields::reading(config, made_name<A>());
  if constexpr (std::is_same_v<T, LayerRef>) read_layer_options(f, a.options);
  fields(f, a);
  f.finish();
  return T(a.make());
}
template <class A, class T>
void add_class(ClassTable<T>& table) {
  table.add(made_name<A>(), make_from<A, T>);
}

}  // namespace rw::keras
