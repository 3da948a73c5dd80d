// Module: a named thing that owns variables and other modules. Its members are found through one line:
//
//   struct Dense : rw::Module {
//     rw::Variable w, b;
//     Dense(int64_t in, int64_t out) : Module("dense"), w(rw::random::normal({in, out})), b(rw::zeros({out}))
//     {} rw::Tensor operator()(const rw::Tensor& x) { return rw::matmul(x, w) + b; } RW_TRACK(w, b)
//   };
//
// Members may be variables, modules, pointers to modules, functions (function/member_function.h), and
// vectors, arrays, optionals and maps of these; others are passed over. Order is TensorFlow's: own variables
// by member name, then those of the submodules, breadth first. C++ does not let a library see members that no
// RW_TRACK lists, so a class without one is refused where its variables are asked for; RW_TRACK() lists none.
// Any number of threads may use a module as far as its members allow it; one changes members, while no other
// uses it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "rewind/base/number_text.h"
#include "rewind/module/trackable.h"
#include "rewind/module/tracked_function.h"
#include "rewind/tensor/name_scope.h"
#include "rewind/tensor/variable.h"

namespace rw {

class Module;
namespace keras {
class Layer;
}

// One tracked leaf: a variable or a module, with the path of members that leads to it ("layers/0").
struct TrackedChild {
  std::string path;
  Variable variable;
  Module* module = nullptr;
};

class ChildCollector {
 public:
  // What is collected: leaves with their paths, or children in the order of RW_TRACK, lists as nodes of their
  // own, also of kinds that hold no variables.
  enum class Want { kLeaves, kObjects };
  explicit ChildCollector(Want want = Want::kLeaves) : want_(want) {}

  // `names` is the list of members as written in RW_TRACK.
  template <class... M>
  void members(std::string_view names, M&... m) {
    unlisted_ = false;
    (add(next_name(&names), m), ...);
  }
  // Of a class without RW_TRACK.
  void no_members() { unlisted_ = true; }
  bool unlisted() const { return unlisted_; }
  std::vector<TrackedChild> take() { return std::move(children_); }
  std::vector<TrackableChild> take_objects() { return std::move(objects_); }

 private:
  static std::string next_name(std::string_view* names);

  template <class M>
  void add(const std::string& path, M& m) {
    using T = std::remove_const_t<M>;
    if constexpr (std::is_same_v<T, Variable>) {
      if (m.defined()) leaf(path, m);
    } else if constexpr (std::is_base_of_v<Module, T>) {
      if constexpr (requires { requires std::is_same_v<decltype(&T::visit_members), Visit>; })
        check_unlisted(m, &m, sizeof(T));
      leaf(path, static_cast<Module*>(const_cast<T*>(&m)));
    } else if constexpr (requires { TrackablePtr(trackable_of(m)); }) {
      if (want_ == Want::kObjects) leaf(path, trackable_of(m));
    } else if constexpr (requires { typename T::mapped_type; }) {
      const Inside inside(this, Trackable::Kind::kDict, &m, path);
      for (auto& [key, value] : m) add(path + "/" + key_text(key), value);
    } else if constexpr (requires { m.has_value(); }) {
      if (m.has_value()) add(path, *m);
    } else if constexpr (requires {
                           m.get();
                           *m;
                         }) {
      if (m.get()) add(path, *m);
    } else if constexpr (std::is_pointer_v<T> && std::is_base_of_v<Module, std::remove_pointer_t<T>>) {
      if (m) add(path, *m);
    } else if constexpr (requires {
                           m.begin();
                           m.size();
                         } && !std::is_same_v<T, std::string> && !std::is_same_v<T, Tensor>) {
      const Inside inside(this, Trackable::Kind::kList, &m, path);
      size_t i = 0;
      for (auto& e : m) add(path + "/" + std::to_string(i++), e);
    }
  }
  static std::string key_text(const std::string& key) { return key; }
  template <class K>
  static std::string key_text(const K& key) {
    if constexpr (std::is_floating_point_v<K>) return fixed_text(double(key), 6);  // the names of saved files
    else return std::to_string(key);
  }

  using Visit = void (Module::*)(ChildCollector&);  // as Module declares it: the class has no RW_TRACK
  // Throws if an object of such a class holds a variable.
  static void check_unlisted(Module& module, const void* object, size_t size);

  void leaf(const std::string& path, const Variable& variable);
  void leaf(const std::string& path, Module* module);
  void leaf(const std::string& path, TrackablePtr object);
  // While it lives, what is added are elements of a container.
  class Inside {
   public:
    Inside(ChildCollector* collector, Trackable::Kind kind, const void* address, const std::string& path);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    ChildCollector* collector_;
    Trackable::Kind kind_;
    const void* address_;
    std::string path_;
    size_t outer_names_;
    std::vector<TrackableChild> outer_;
  };

  Want want_;
  std::vector<TrackedChild> children_;
  std::vector<TrackableChild> objects_;  // of the innermost container
  size_t names_at_ = 0;                  // where in a path the name within the container begins
  bool unlisted_ = false;
};

class Module {
 public:
  // An empty name is the class's own in snake_case.
  explicit Module(std::string name = "");
  Module(const Module& other);
  Module& operator=(const Module&) = default;
  virtual ~Module();

  const std::string& name() const;
  // All throw FailedPreconditionError if the class derives from Module without RW_TRACK.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<Variable> non_trainable_variables() const;
  std::vector<Module*> submodules() const;  // without this one
  // Members in the order of their names, as RW_TRACK lists them.
  std::vector<TrackedChild> children() const;

  // The layer that this is, or nullptr.
  virtual const keras::Layer* as_layer() const { return nullptr; }
  // The object as checkpoints see it, with its members in the order of RW_TRACK.
  virtual TrackablePtr trackable() const;

  virtual void visit_members(ChildCollector& collector) { collector.no_members(); }
  // What an object has beside its members; lists of members leave it alone.
  virtual void visit_more(ChildCollector& collector) { (void)collector; }
  // For functions that go through a module's variables.
  void check_members_listed() const;

  // A number that no other module gets, not even one that later lies at the same address; a copy has its own.
  uint64_t identity() const { return identity_.number; }

 private:
  struct Identity {
    Identity();
    Identity(const Identity&) : Identity() {}
    Identity& operator=(const Identity&) { return *this; }
    uint64_t number;
  };

  mutable std::string name_;
  Identity identity_;
};

}  // namespace rw

// Lists a module's members; RW_TRACK_WITH(Base, ...) adds them to those of a base class.
#define RW_TRACK(...)                                            \
  void visit_members(::rw::ChildCollector& collector) override { \
    collector.members(#__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__);  \
  }
#define RW_TRACK_WITH(Base, ...)                                 \
  void visit_members(::rw::ChildCollector& collector) override { \
    Base::visit_members(collector);                              \
    collector.members(#__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__);  \
  }
