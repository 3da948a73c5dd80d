// Tracked: what a Checkpoint is given, made from any object that trackable_of() knows, and from lists and
// maps of such objects. Handles (variables, layers, models, optimizers, generators) are kept alive; a Module
// of the user's own must live as long as the checkpoint does.
#pragma once

#include "rewind/module/module.h"

namespace rw::train {

class Tracked {
 public:
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Tracked> && !std::is_array_v<std::remove_cvref_t<T>>)
  Tracked(T&& object) {  // NOLINT: objects are given as they are
    ChildCollector collector(ChildCollector::Want::kObjects);
    collector.members("object", object);
    take(collector.take_objects());
  }
  const TrackablePtr& view() const { return view_; }

 private:
  // Throws InvalidArgumentError if the object is of no kind that can be tracked.
  void take(std::vector<TrackableChild> found);
  TrackablePtr view_;
};

// {"model", model}
struct NamedObject {
  std::string name;
  Tracked object;
};

}  // namespace rw::train
