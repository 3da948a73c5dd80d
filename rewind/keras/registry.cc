#include "rewind/keras/registry.h"

#include "rewind/base/error.h"
#include "rewind/keras/config_families.h"

namespace rw::keras {

ClassRegistry& class_registry() {
  static ClassRegistry& all = []() -> ClassRegistry& {
    auto& r = *new ClassRegistry;
#define RW_KERAS_ADD(family) add_##family##_classes(r);
    RW_KERAS_CONFIG_FAMILIES(RW_KERAS_ADD)
#undef RW_KERAS_ADD
    return r;
  }();
  return all;
}

NamedConfig named_config(const Config& c, const char* kind) {
  NamedConfig out;
  if (c.text()) return {*c.text(), {}, nullptr};
  const Config* name = c.find("class_name");
  const Config* options = c.find("config");
  if (!name || !name->text() || !options) fail_config(std::string("the name or the config of ") + kind, c);
  if (*name->text() == "function" && options->text()) return {*options->text(), {}, nullptr};
  out.name = *name->text();
  out.options = options;
  if (const Config* registered = c.find("registered_name"); registered && registered->text())
    out.registered_name = *registered->text();
  return out;
}

void fail_unknown_class(const NamedConfig& named, const char* kind) {
  const std::string full = named.registered_name.empty() ? named.name : named.registered_name;
  const size_t at = full.find('>');
  const std::string package = at == std::string::npos ? "package" : full.substr(0, at);
  const std::string name = at == std::string::npos ? full : full.substr(at + 1);
  fail_invalid("from_config",
               "unknown class of " + std::string(kind) + ": \"" + full +
                   "\"; a class of the program's own is registered before the model is loaded: "
                   "keras::saving::register_keras_serializable<" +
                   name + ">(\"" + package + "\", \"" + name + "\")");
}

namespace {

struct OwnClasses {
  std::mutex mutex;
  std::map<std::type_index, OwnClass> rows;
};
OwnClasses& own_classes() {
  static auto& all = *new OwnClasses;
  return all;
}

}  // namespace

void add_own_class(std::type_index type, OwnClass own) {
  OwnClasses& all = own_classes();
  const std::lock_guard lock(all.mutex);
  all.rows.insert_or_assign(type, std::move(own));
}

const OwnClass* own_class(const std::type_info* type) {
  if (!type) return nullptr;
  OwnClasses& all = own_classes();
  const std::lock_guard lock(all.mutex);
  const auto at = all.rows.find(*type);
  return at == all.rows.end() ? nullptr : &at->second;
}

}  // namespace rw::keras
