#include "rewind/module/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <mutex>
#include <set>
#include <typeinfo>

#include "rewind/base/dynamic_type.h"

namespace rw {
namespace {

// "rw::keras::DenseBlock" -> "dense_block".
std::string snake_case(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  if (const size_t angle = name.find('<'); angle != std::string::npos) name.resize(angle);
  if (const size_t colon = name.rfind("::"); colon != std::string::npos) name = name.substr(colon + 2);
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    if (std::isupper(c) && i > 0 && !std::isupper(static_cast<unsigned char>(name[i - 1]))) out += '_';
    out += char(std::tolower(c));
  }
  return out;
}

// This module and all below it, each once, breadth first.
std::vector<Module*> with_submodules(const Module* root) {
  std::vector<Module*> list{const_cast<Module*>(root)};
  std::set<const Module*> seen{root};
  for (size_t i = 0; i < list.size(); ++i)
    for (const TrackedChild& child : list[i]->children())
      if (child.module && seen.insert(child.module).second) list.push_back(child.module);
  return list;
}

template <class Keep>
std::vector<Variable> collect(const Module* root, Keep keep) {
  std::vector<Variable> list;
  std::set<const void*> seen;
  for (const Module* m : with_submodules(root))
    for (const TrackedChild& child : m->children())
      if (child.variable.defined() && keep(child.variable) && seen.insert(child.variable.id()).second)
        list.push_back(child.variable);
  return list;
}

}  // namespace

std::string ChildCollector::next_name(std::string_view* names) {
  const size_t comma = names->find(',');
  std::string_view name = names->substr(0, comma);
  *names = comma == std::string_view::npos ? std::string_view() : names->substr(comma + 1);
  while (!name.empty() && (name.front() == ' ' || name.front() == '\n')) name.remove_prefix(1);
  while (!name.empty() && (name.back() == ' ' || name.back() == '_' || name.back() == '\n'))
    name.remove_suffix(1);
  return std::string(name);
}

Module::Identity::Identity() {
  static std::atomic<uint64_t> count{0};
  number = ++count;
}

Module::Module(std::string name) : name_(std::move(name)) {}

const std::string& Module::name() const {
  static std::mutex mutex;  // any thread may ask first
  const std::lock_guard lock(mutex);
  if (name_.empty()) {
    const std::type_info* type = dynamic_type(*this);
    name_ = type ? snake_case(type->name()) : "module";
  }
  return name_;
}

std::vector<TrackedChild> Module::children() const {
  ChildCollector collector;
  const_cast<Module*>(this)->visit_members(collector);
  std::vector<TrackedChild> list = collector.take();
  // By member; elements of a list keep their order.
  std::stable_sort(list.begin(), list.end(), [](const TrackedChild& a, const TrackedChild& b) {
    return a.path.substr(0, a.path.find('/')) < b.path.substr(0, b.path.find('/'));
  });
  return list;
}

std::vector<Variable> Module::variables() const {
  return collect(this, [](const Variable&) { return true; });
}
std::vector<Variable> Module::trainable_variables() const {
  return collect(this, [](const Variable& v) { return v.trainable(); });
}
std::vector<Variable> Module::non_trainable_variables() const {
  return collect(this, [](const Variable& v) { return !v.trainable(); });
}

std::vector<Module*> Module::submodules() const {
  std::vector<Module*> list = with_submodules(this);
  list.erase(list.begin());
  return list;
}

}  // namespace rw
