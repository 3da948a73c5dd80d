// What an object was made of: the class that a config names, and the arguments of its constructor. get_config
// writes them; the registry (registry.h) makes an object from them again.
#pragma once

#include <memory>
#include <string>

namespace rw::format {
class Json;
}

namespace rw::keras {

class ConfigFields;

class Origin {
 public:
  virtual ~Origin() = default;
  virtual std::string class_name() const = 0;  // "GlorotUniform"
  // "package>Name" of what a program registered; empty for the library's own.
  virtual std::string registered_name() const { return {}; }
  virtual void write(ConfigFields& fields) const = 0;
  // {"module", "class_name", "config", "registered_name"}; `module` is that of the library's own classes.
  virtual format::Json serialized(const char* module) const;
};

// The base of small values that remember what they were made of; null where nobody can say, as of a lambda.
class WithOrigin {
 public:
  const std::shared_ptr<const Origin>& origin() const { return origin_; }
  void set_origin(std::shared_ptr<const Origin> origin) { origin_ = std::move(origin); }

 private:
  std::shared_ptr<const Origin> origin_;
};

}  // namespace rw::keras
