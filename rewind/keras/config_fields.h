// The options of a class are listed once, by name, in a function that serves both ways:
//
//   void fields(ConfigFields& f, DenseArguments& a) {
//     f("units", a.units);
//     f("activation", a.options.activation);
//   }
//
// get_config writes each field into an object, from_config reads it from one. What a field may be is decided
// by the pairs to_config(value) and from_config(config, &value) of this file; a type of one's own takes part
// by a pair in its own namespace. A field that the object does not have keeps its value.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/shape.h"
#include "rewind/format/json.h"
#include "rewind/keras/layer_name.h"
#include "rewind/keras/origin.h"

namespace rw {
class Tensor;
}

namespace rw::keras {

// What get_config gives and from_config takes: an object with an entry for each option.
using Config = format::Json;

class Activation;
class Constraint;
class DTypePolicy;
class Initializer;
class LayerRef;
class Loss;
class LearningRateSchedule;
class Metric;
class Optimizer;
class PerAxis;
class Regularizer;
class SpatialPairs;

// Throws InvalidArgumentError: what was expected, and what the config has.
[[noreturn]] void fail_config(const std::string& expected, const Config& got);

// ---- what fields may be
// -------------------------------------------------------------------------------------

inline Config to_config(bool v) { return v; }
inline Config to_config(double v) { return v; }
inline Config to_config(const std::string& v) { return v; }
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
Config to_config(T v) {
  return int64_t(v);
}
Config to_config(DType v);         // "float32"
Config to_config(const Shape& v);  // unknown sizes are null
Config to_config(const Tensor& v);
Config to_config(const Activation& v);
Config to_config(const Constraint& v);
Config to_config(const DTypePolicy& v);
Config to_config(const Initializer& v);
Config to_config(const LayerRef& v);
Config to_config(const Loss& v);
Config to_config(const Metric& v);
Config to_config(const Optimizer& v);
Config to_config(const LearningRateSchedule& v);
Config to_config(const PerAxis& v);
Config to_config(const Regularizer& v);
Config to_config(const SpatialPairs& v);

void from_config(const Config& c, bool* v);
void from_config(const Config& c, int64_t* v);
void from_config(const Config& c, int* v);
void from_config(const Config& c, double* v);
void from_config(const Config& c, std::string* v);
void from_config(const Config& c, DType* v);
void from_config(const Config& c, Shape* v);
void from_config(const Config& c, Tensor* v);
// The same in float64, where the config does not say a dtype: it is written again as it was.
void exact_from_config(const Config& c, Tensor* v);
void from_config(const Config& c, Activation* v);
void from_config(const Config& c, Constraint* v);
void from_config(const Config& c, DTypePolicy* v);
void from_config(const Config& c, Initializer* v);
void from_config(const Config& c, LayerRef* v);
void from_config(const Config& c, Loss* v);
void from_config(const Config& c, PerAxis* v);
void from_config(const Config& c, Regularizer* v);
void from_config(const Config& c, SpatialPairs* v);
// Of kinds that are never empty.
Metric metric_from_config(const Config& c);
Optimizer optimizer_from_config(const Config& c);
LearningRateSchedule schedule_from_config(const Config& c);

template <class T>
Config to_config(const std::vector<T>& v);
template <class T>
void from_config(const Config& c, std::vector<T>* v);

template <class T>
Config to_config(const std::optional<T>& v) {
  return v ? to_config(*v) : Config();
}
template <class T>
void from_config(const Config& c, std::optional<T>* v) {
  if (c.is_null()) return v->reset();
  T value{};
  from_config(c, &value);
  *v = std::move(value);
}
template <class T>
Config to_config(const std::vector<T>& v) {
  Config::Array list;
  for (const T& x : v) list.push_back(to_config(x));
  return list;
}
// One value stands for a list of it.
template <class T>
void from_config(const Config& c, std::vector<T>* v) {
  v->clear();
  const Config::Array one{c};
  for (const Config& x : c.list() ? *c.list() : one) {
    T value{};
    from_config(x, &value);
    v->push_back(std::move(value));
  }
}

// ---- the list
// ----------------------------------------------------------------------------------------------

class ConfigFields {
 public:
  static ConfigFields writing(Config* object);
  // `what` names the object in messages: "Dense".
  static ConfigFields reading(const Config& object, std::string what);

  bool is_reading() const { return in_ != nullptr; }
  Config* object() const { return out_; }  // null when reading

  template <class T>
  void operator()(const char* name, T& value) {
    if (out_) (*out_)[name] = to_config(value);
    else if (const Config* c = take(name)) read(name, [&] { from_config(*c, &value); });
  }
  // Of a class that Keras writes without this option: written only where it is not the default.
  template <class T>
  void unless(const char* name, T& value, const T& usual) {
    if (!out_ || !(value == usual)) (*this)(name, value);
  }
  // Written only where there is one.
  template <class T>
  void if_set(const char* name, T& value) {
    if (is_reading() || value.defined()) (*this)(name, value);
  }
  // A list of one is written as the value alone.
  template <class T>
  void one_or_list(const char* name, std::vector<T>& list) {
    if (out_ && list.size() == 1) (*this)(name, list[0]);
    else (*this)(name, list);
  }
  // An empty list stands for null.
  template <class T>
  void list_or_null(const char* name, std::vector<T>& list) {
    if (out_ && list.empty()) return set(name, nullptr);
    const Config* c = is_reading() ? find(name) : nullptr;
    if (!c || !c->is_null()) (*this)(name, list);
    else ignore(name);
  }
  // Empty text stands for null.
  void or_null(const char* name, std::string& value);
  // An option of Keras that has this value here; another one is refused.
  void only(const char* name, const Config& value);
  // One that is written and means nothing where the others are as they must be.
  void written(const char* name, const Config& value) {
    ignore(name);
    set(name, value);
  }
  // An option without a meaning here.
  void ignore(const char* name) { take(name); }
  // Written in another form than read() takes it.
  void set(const char* name, Config value);
  const Config* find(const char* name) const { return in_ ? in_->find(name) : nullptr; }
  // When reading: the entry, null if there is none. It counts as known from then on.
  const Config* take(const char* name);
  // Runs f; an error in it tells of the field.
  void read(const char* name, const std::function<void()>& f) const;

  // When reading: throws InvalidArgumentError for an entry that nobody took; null and false are no demands.
  void finish() const;
  const std::string& what() const { return what_; }

 private:
  Config* out_ = nullptr;
  const Config* in_ = nullptr;
  std::string what_;
  std::vector<std::string> taken_;
};

// ---- arguments as an origin
// --------------------------------------------------------------------------------

// "Dense" of a struct of arguments that says `using Made = Dense` or has a kName.
template <class A>
std::string made_name();

template <class A>
class OriginOf final : public Origin {
 public:
  explicit OriginOf(A arguments) : arguments_(std::move(arguments)) {}
  std::string class_name() const override { return made_name<A>(); }
  void write(ConfigFields& f) const override {
    fields(f, const_cast<A&>(arguments_));  // which a list only reads, when it writes
  }

 private:
  A arguments_;
};

template <class A>
std::shared_ptr<const Origin> origin_of(A arguments) {
  return std::make_shared<const OriginOf<A>>(std::move(arguments));
}
template <class T, class A>
T with_origin(T value, A arguments) {
  value.set_origin(origin_of(std::move(arguments)));
  return value;
}

template <class A>
std::string made_name() {
  if constexpr (requires { A::kName; }) return A::kName;
  else return class_name_in(class_signature<typename A::Made>());
}

}  // namespace rw::keras
