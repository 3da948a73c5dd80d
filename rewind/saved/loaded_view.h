// The objects of a loaded model as checkpoints and SavedModels see them: what is loaded is saved again.
#pragma once

#include <memory>
#include <vector>

#include "rewind/module/tracked_function.h"
#include "rewind/saved/loaded_state.h"

namespace rw::saved_model {

TrackablePtr loaded_view(std::shared_ptr<const LoadedState> state, int node);

// Its traces keep what the file says of their arguments and results, also what C++ has no words for.
class LoadedFunctionView final : public FunctionTrackable {
 public:
  LoadedFunctionView(std::shared_ptr<const LoadedState> state, int node, const std::string& name);
  const format::SavedConcreteFunction& saved(size_t trace) const;
  // Of a concrete function among the attributes; null: a function with traces.
  const format::SavedBareConcreteFunction* bare() const;

 private:
  std::shared_ptr<const LoadedState> state_;
  int node_;
  std::vector<std::string> names_;
};

}  // namespace rw::saved_model
