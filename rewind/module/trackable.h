// Trackable: an object as checkpoints and SavedModels see it: a node with named children and values of its
// own, as TensorFlow's objects are. A Trackable is a view: it is made when somebody asks, from a module, a
// variable, a list of members, an optimizer; views of one object have one id, which is how shared objects
// become one node.
//
// trackable_of(x) makes the view. Types of other rooms join by an overload in their namespace:
//   namespace rw::keras { TrackablePtr trackable_of(const Optimizer& optimizer); }
// A class of modules with children or values beyond RW_TRACK overrides Module::trackable().
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/tensor/ops/random.h"
#include "rewind/tensor/variable.h"

namespace rw {

class Module;
class Trackable;
using TrackablePtr = std::shared_ptr<const Trackable>;

// Which object a view is of: a number within a family of objects (variables, modules, lists, ...).
struct ObjectId {
  std::string_view family;  // text that lives as long as the program
  uint64_t number = 0;
  auto operator<=>(const ObjectId&) const = default;
};

// What a graph of objects is for. SavedModels also hold functions, constants and assets.
enum class TrackFor { kCheckpoint, kSavedModel };

struct TrackableChild {
  std::string name;  // TensorFlow's name of the attribute; "0", "1", ... in a list
  TrackablePtr object;
};

// A value that a checkpoint holds for an object: a variable's, or one that functions give and take.
struct TrackableValue {
  std::string name = "VARIABLE_VALUE";  // of the attribute
  std::string full_name = {};           // the variable's own name: how TensorFlow 1's checkpoints know it
  Variable variable = {};
  // Without a variable.
  std::function<Tensor()> save = {};
  std::function<void(const Tensor&)> restore = {};
};

// A variable that an optimizer keeps beside another one, found by both; Keras 3 has children instead.
struct TrackableSlot {
  Variable beside;
  std::string name;  // "momentum"
  Variable variable;
};

class Trackable {
 public:
  enum class Kind { kObject, kVariable, kList, kTuple, kDict, kFunction, kConstant, kAsset };

  virtual ~Trackable() = default;
  virtual ObjectId id() const = 0;
  virtual Kind kind() const { return Kind::kObject; }
  // In TensorFlow's order. What is not there yet (a layer's weights before it is built) is left out.
  virtual std::vector<TrackableChild> children(TrackFor) const { return {}; }
  // The child that a file knows by this name; null if there is none. For names that other writers give.
  virtual TrackablePtr child(const std::string& name) const;
  virtual std::vector<TrackableValue> values() const { return {}; }
  virtual std::vector<TrackableSlot> slots() const { return {}; }
  // The variable of kind kVariable.
  virtual Variable variable() const { return {}; }
  virtual const Module* module() const { return nullptr; }
  // For messages: "variable w, float32 (2, 3)".
  virtual std::string describe() const = 0;
  // Expires with the object, for those who wait for its children. Unset: nobody can wait.
  virtual std::weak_ptr<const void> life() const { return {}; }
};

TrackablePtr trackable_of(const Variable& variable);
TrackablePtr trackable_of(const Module& module);  // a reference: the module must live as long
inline TrackablePtr trackable_of(const TrackablePtr& object) { return object; }
namespace random {
TrackablePtr trackable_of(const Generator& generator);
}

// A list, tuple or dict with these children; `address` tells it from others.
TrackablePtr make_container(Trackable::Kind kind, const void* address, std::vector<TrackableChild> children);

// The name of a variable in checkpoints: without ":0".
std::string checkpoint_name(const Variable& variable);

// ---- objects that get children later
// Calls `arrived` each time the object says that it has new children, until that returns false or the object
// is gone.
void on_new_children(const Trackable& object, std::function<bool(const Trackable& object)> arrived);
// Lets go of those who wait for objects that are gone.
void forget_waits_for_gone_objects();
// Said by the object: its children are there, and may be given other values before anybody reads them. Costs
// nothing while nobody waits.
void tell_new_children(ObjectId id, const std::function<TrackablePtr()>& view);

}  // namespace rw
