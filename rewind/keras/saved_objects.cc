#include "rewind/keras/saved_objects.h"

#include <algorithm>
#include <map>
#include <set>

#include "rewind/base/dynamic_type.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_assets.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/layers/attention.h"
#include "rewind/keras/layers/rnn.h"
#include "rewind/keras/layers/wrappers.h"
#include "rewind/keras/optimizer_state.h"
#include "rewind/keras/sequential.h"
#include "rewind/keras/trainer.h"

namespace rw::keras {
namespace {

using SharedState = std::shared_ptr<LayerState>;

std::string joined_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

// Names in a list: "dense", "dense_1".
class UniqueNames {
 public:
  std::string operator()(const std::string& name) {
    const auto [at, is_new] = count_.emplace(name, 0);
    return is_new ? name : name + "_" + std::to_string(++at->second);
  }

 private:
  std::map<std::string, int> count_;
};

// A member of a user's class: a layer, or a list of members.
struct UserMember {
  std::string name;
  SharedState layer;
  std::vector<UserMember> list;
};

// "blocks/0/1" becomes the member blocks, which has 0, which has 1.
void add_member(std::vector<UserMember>* members, std::string_view path, const SharedState& layer) {
  const size_t slash = path.find('/');
  const std::string_view name = path.substr(0, slash);
  auto at =
      std::find_if(members->begin(), members->end(), [&](const UserMember& m) { return m.name == name; });
  if (at == members->end()) at = members->insert(at, {std::string(name), nullptr, {}});
  if (slash == std::string_view::npos) at->layer = layer;
  else add_member(&at->list, path.substr(slash + 1), layer);
}

// Keras' order: private members last.
std::string sort_key(const UserMember& m) { return (m.name.starts_with('_') ? "~" : "") + m.name; }

std::vector<UserMember> members_of(Layer& layer) {
  std::vector<UserMember> members;
  ChildCollector collector;
  layer.visit_members(collector);
  const auto add = [&](auto& self, const std::vector<TrackedChild>& children,
                       const std::string& path) -> void {
    for (const TrackedChild& child : children) {
      if (!child.module) continue;
      const std::string inside = joined_path(path, child.path);
      if (const Layer* inner = child.module->as_layer()) add_member(&members, inside, inner->layer_state());
      else self(self, child.module->children(), inside);
    }
  };
  add(add, collector.take(), "");
  std::sort(members.begin(), members.end(),
            [](const UserMember& a, const UserMember& b) { return sort_key(a) < sort_key(b); });
  return members;
}

std::string class_of(const LayerState& state, Layer* object) {
  return object ? object->class_name() : state.class_name;
}

class ObjectWalk {
 public:
  std::vector<SavedObject> run(const Model& model) {
    model.find_children();
    layer(model.layer_state(), "");
    return std::move(objects_);
  }

 private:
  static std::vector<Variable> own_variables(const LayerState& state) {
    std::vector<Variable> own;
    for (const bool trainable : {true, false})
      for (const auto* list : {&state.listed, &state.weights, &state.found})
        for (const LayerState::Weight& w : *list)
          if (w.variable.trainable() == trainable) own.push_back(w.variable);
    return own;
  }

  void add(const std::string& path, const std::string& name, std::vector<Variable> variables,
           const SharedState& state) {
    SavedObject object{path, name, std::move(variables)};
    object.built = state->built;
    object.layer = state;
    objects_.push_back(std::move(object));
  }

  void layer(const SharedState& state, const std::string& path) {
    if (!visited_.insert(state.get()).second) return;
    Layer* object = state->object_or_null();
    std::vector<Variable> own = own_variables(*state);
    // Layers that Keras makes of parts.
    if (dynamic_cast_to<const detail::RnnLayer*>(object)) {
      add(path, state->name, {}, state);
      return parts(path, own, [](const std::string&) { return "cell"; });
    }
    if (dynamic_cast_to<const MultiHeadAttention*>(object)) {
      add(path, state->name, {}, state);
      return parts(path, own, [](const std::string& part) {
        return part == "attention_output" ? "output_dense" : part + "_dense";
      });
    }
    add(path, state->name, std::move(own), state);
    const auto inside = state->children_now();
    if (dynamic_cast_to<const Bidirectional*>(object) && inside.size() == 2) {
      layer(inside[1], joined_path(path, "backward_layer"));
      layer(inside[0], joined_path(path, "forward_layer"));
    } else if (dynamic_cast_to<const TimeDistributed*>(object) && inside.size() == 1) {
      layer(inside[0], joined_path(path, "layer"));
    } else if (object) {
      members(*object, path);
    }
    UniqueNames unique;
    for (const SharedState& child : inside)  // that no member leads to
      if (!visited_.contains(child.get()))
        layer(child, joined_path(path, unique(to_snake_case(class_of(*child, child->object_or_null())))));
    if (const auto trainer = state->trainer_now(); trainer && trainer->compiled)
      optimizer(trainer->options.optimizer, joined_path(path, "optimizer"));
  }

  // Weights "query/kernel", "query/bias" of a layer's part.
  template <class F>
  void parts(const std::string& path, const std::vector<Variable>& own, F name_of_part) {
    std::vector<SavedObject> list;
    for (const Variable& v : own) {
      const std::string whole = weight_path(v);
      const std::string front = whole.substr(0, whole.rfind('/'));
      const std::string part = front.substr(front.rfind('/') + 1);
      if (list.empty() || list.back().name != part)
        list.push_back({joined_path(path, name_of_part(part)), part, {}});
      list.back().variables.push_back(v);
    }
    for (SavedObject& object : list) objects_.push_back(std::move(object));
  }

  void members(Layer& object, const std::string& path) {
    const Model* model = object.as_model();
    const bool listed = model && (model->graph() || dynamic_cast_to<const Sequential*>(model));
    if (listed) layers_of(*model, path);
    std::vector<UserMember> all = members_of(object);
    bool before_layers = model && !listed;
    for (const UserMember& m : all) {
      if (before_layers && sort_key(m) > "layers") {
        layers_of(*model, path);
        before_layers = false;
      }
      member(m, joined_path(path, m.name));
    }
    if (before_layers) layers_of(*model, path);
  }

  void member(const UserMember& m, const std::string& path) {
    if (m.layer) layer(m.layer, path);
    else list(m.list, path);
  }

  void list(const std::vector<UserMember>& members, const std::string& path) {
    UniqueNames unique;
    for (const UserMember& m : members)
      member(m,
             joined_path(path, unique(m.layer ? to_snake_case(class_of(*m.layer, m.layer->object_or_null()))
                                              : "container")));
  }

  void layers_of(const Model& model, const std::string& path) {
    UniqueNames unique;
    for (const LayerRef& l : model.layers())
      layer(l.state(), joined_path(path, joined_path("layers", unique(to_snake_case(l->class_name())))));
  }

  void optimizer(const Optimizer& optimizer, const std::string& path) {
    SavedObject object{path, optimizer.name(), optimizer.variables()};
    object.optimizer = true;
    object.built = optimizer.built();
    objects_.push_back(std::move(object));
    if (const Optimizer* inner = optimizer.state()->inner())
      this->optimizer(*inner, joined_path(path, "inner_optimizer"));
  }

  std::vector<SavedObject> objects_;
  std::set<const LayerState*> visited_;
};

}  // namespace

LayerAssets* assets_of(const SavedObject& object) {
  return object.layer ? dynamic_cast_to<LayerAssets*>(object.layer->object_or_null()) : nullptr;
}

std::vector<std::string> asset_places(const SavedObject& object) {
  std::vector<std::string> places{object.path};
  if (const LayerAssets* assets = assets_of(object))
    if (const std::string part = assets->part_with_the_same(); !part.empty())
      places.push_back(joined_path(object.path, part));
  return places;
}

std::vector<SavedObject> saved_objects(const Model& model) { return ObjectWalk().run(model); }

}  // namespace rw::keras
