#include "rewind/saved/loaded_view.h"

namespace rw::saved_model {
namespace {

class ObjectView final : public Trackable {
 public:
  ObjectView(std::shared_ptr<const LoadedState> state, int node) : state_(std::move(state)), node_(node) {}

  ObjectId id() const override {
    return {"loaded", uint64_t(reinterpret_cast<uintptr_t>(&state_->object(node_)))};
  }
  Kind kind() const override {
    const auto* object = std::get_if<format::SavedUserObject>(&state_->object(node_).kind);
    if (!object) return Kind::kObject;
    if (object->identifier == "trackable_list_wrapper") return Kind::kList;
    if (object->identifier == "trackable_tuple_wrapper") return Kind::kTuple;
    return object->identifier == "trackable_dict_wrapper" ? Kind::kDict : Kind::kObject;
  }
  std::vector<TrackableChild> children(TrackFor purpose) const override {
    std::vector<TrackableChild> list;
    for (const auto& c : state_->object(node_).children) {
      if (const Variable& v = state_->variable(c.node_id); v.defined())
        list.push_back({c.local_name, trackable_of(v)});
      else if (is_object(c.node_id))
        list.push_back({c.local_name, std::make_shared<ObjectView>(state_, c.node_id)});
      else if (purpose == TrackFor::kSavedModel && state_->is_function(c.node_id))
        list.push_back({c.local_name, std::make_shared<LoadedFunctionView>(state_, c.node_id, c.local_name)});
    }
    return list;
  }
  std::vector<TrackableSlot> slots() const override {
    std::vector<TrackableSlot> list;
    for (const auto& s : state_->object(node_).slot_variables) {
      const Variable& beside = state_->variable(s.original_variable_node_id);
      const Variable& slot = state_->variable(s.slot_variable_node_id);
      if (beside.defined() && slot.defined()) list.push_back({beside, s.slot_name, slot});
    }
    return list;
  }
  std::string describe() const override { return "an object of " + state_->dir(); }

 private:
  // The map of signatures is made anew by whoever saves.
  bool is_object(int node) const {
    const auto* object = std::get_if<format::SavedUserObject>(&state_->object(node).kind);
    return object && object->identifier != "signature_map";
  }

  std::shared_ptr<const LoadedState> state_;
  int node_;
};

}  // namespace

TrackablePtr loaded_view(std::shared_ptr<const LoadedState> state, int node) {
  return std::make_shared<ObjectView>(std::move(state), node);
}

LoadedFunctionView::LoadedFunctionView(std::shared_ptr<const LoadedState> state, int node,
                                       const std::string& name)
    : FunctionTrackable(state->function(node, name), {.name = name},
                        [state, node, name] {
                          std::vector<ConcreteFunction> list;
                          const auto core = state->function(node, name);
                          for (const std::string& trace : core->traces)
                            list.push_back(*state->concrete(trace, core->called));
                          return list;
                        }),
      state_(std::move(state)),
      node_(node),
      names_(state_->function(node, name)->traces) {
  const auto& kind = state_->object(node).kind;
  const std::optional<format::FunctionSpec>* said = nullptr;
  if (const auto* f = std::get_if<format::SavedFunction>(&kind)) said = &f->function_spec;
  if (const auto* f = bare()) said = &f->function_spec;
  if (said && *said) spec = std::make_shared<const format::FunctionSpec>(**said);
}

const format::SavedConcreteFunction& LoadedFunctionView::saved(size_t trace) const {
  return state_->saved_function(names_.at(trace));
}

const format::SavedBareConcreteFunction* LoadedFunctionView::bare() const {
  return std::get_if<format::SavedBareConcreteFunction>(&state_->object(node_).kind);
}

}  // namespace rw::saved_model
