#include "rewind/module/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <typeinfo>

#include "rewind/base/ascii.h"
#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/tensor/live_variables.h"

namespace rw {
namespace {

// "rw::keras::DenseBlock" -> "DenseBlock".
std::string class_name(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  if (const size_t angle = name.find('<'); angle != std::string::npos) name.resize(angle);
  if (const size_t colon = name.rfind("::"); colon != std::string::npos) name = name.substr(colon + 2);
  return name;
}

// "rw::keras::DenseBlock" -> "dense_block".
std::string snake_case(const char* mangled) {
  const std::string name = class_name(mangled);
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    if (ascii::is_upper(name[i]) && i > 0 && !ascii::is_upper(name[i - 1])) out += '_';
    out += ascii::to_lower(name[i]);
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

[[noreturn]] void fail_unlisted(const Module& module) {
  const std::type_info* type = dynamic_type(module);
  fail_precondition("RW_TRACK", "class " + (type ? class_name(type->name()) : "of a module") +
                                    " must list its members, or their variables are not found: " +
                                    "it has no RW_TRACK; write RW_TRACK(w, b) in the class, or RW_TRACK() " +
                                    "if it has no variables");
}

template <class Keep>
std::vector<Variable> collect(const Module* root, Keep keep) {
  root->check_members_listed();
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

// The object's bytes are looked through: a variable's handle begins with the address of its state.
void ChildCollector::check_unlisted(Module& module, const void* object, size_t size) {
  ChildCollector members;
  module.visit_members(members);
  if (!members.unlisted()) return;  // a class derived from it lists
  const char* bytes = static_cast<const char*>(object);
  for (size_t at = 0; at + sizeof(void*) <= size; at += alignof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, bytes + at, sizeof(word));
    if (word && is_variable_state(word)) fail_unlisted(module);
  }
}

void Module::check_members_listed() const {
  const std::type_info* type = dynamic_type(*this);
  if (type && *type == typeid(Module)) return;
  ChildCollector collector;
  const_cast<Module*>(this)->visit_members(collector);
  if (collector.unlisted()) fail_unlisted(*this);
}

Module::Identity::Identity() {
  static std::atomic<uint64_t> count{0};
  number = ++count;
}

Module::Module(std::string name) : name_(std::move(name)) { note_owner(this, nullptr); }
Module::Module(const Module& other) : name_(other.name_), identity_(other.identity_) {
  note_owner(this, &other);
}
Module::~Module() { forget_owner(this); }

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
  const_cast<Module*>(this)->visit_more(collector);
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
