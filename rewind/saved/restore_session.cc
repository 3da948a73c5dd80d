#include "rewind/saved/restore_session.h"

#include <algorithm>
#include <cstdio>

#include "rewind/base/error.h"
#include "rewind/format/message.h"
#include "rewind/saved/snapshot.h"
#include "rewind/saved/tensor_values.h"
#include "rewind/tensor/trace.h"

namespace rw::saved {
namespace {

constexpr size_t kListed = 8;  // names in a message

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kListed; ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kListed) text += ", and " + std::to_string(names.size() - kListed) + " more";
  return text;
}

// Builds of layers wait for restores and restores for builds: always in this order. What is assigned is no
// part of a trace.
class Exclusive {
 public:
  explicit Exclusive(std::recursive_mutex& mutex) : tracing_(tracing_mutex()), lock_(mutex) {}

 private:
  std::lock_guard<std::recursive_mutex> tracing_, lock_;
  OutsideTraces outside_;
};

// Lists and maps are views of what they hold at one moment.
bool is_container(const Trackable& object) {
  return object.kind() == Trackable::Kind::kList || object.kind() == Trackable::Kind::kTuple ||
         object.kind() == Trackable::Kind::kDict;
}

}  // namespace

RestoreSession::RestoreSession(const std::string& path, const char* tag) : tag_(tag), bundle_(path, tag) {
  read_graph();
}

RestoreSession::~RestoreSession() {
  if (!warn_) return;
  std::vector<std::string> names = unresolved();
  names.insert(names.end(), unused_.begin(), unused_.end());
  if (names.empty()) return;
  std::fputs(("rewind: not restored from " + bundle_.prefix() + ": " + listed(names) +
              "; expect_partial() says that this is meant\n")
                 .c_str(),
             stderr);
}

void RestoreSession::read_graph() {
  const auto* entry = bundle_.find(kObjectGraphKey);
  if (!entry) {
    by_name_ = true;
    return;
  }
  const auto damaged = [&](const std::string& what) {
    throw DataLossError(std::string("[") + tag_ + "] " + bundle_.prefix() +
                        ": damaged graph of objects: " + what);
  };
  if (int(entry->dtype) != int(DType::kString) || entry->shape.num_elements() != 1)
    damaged("it is no single string");
  graph_ = format::decode<format::TrackableObjectGraph>(bundle_.read_strings(kObjectGraphKey).front());
  const size_t count = graph_.nodes.size();
  if (count == 0) damaged("it has no nodes");
  const auto check = [&](int32_t id) {
    if (id < 0 || size_t(id) >= count)
      damaged("it names node " + std::to_string(id) + " of " + std::to_string(count));
  };
  for (const auto& node : graph_.nodes) {
    for (const auto& child : node.children) check(child.node_id);
    for (const auto& slot : node.slot_variables) {
      check(slot.original_variable_node_id);
      check(slot.slot_variable_node_id);
    }
  }
  bound_.resize(count);
  name_nodes();
}

void RestoreSession::name_nodes() {
  const size_t count = graph_.nodes.size();
  names_.resize(count);
  std::vector<size_t> queue{0};
  std::vector<bool> seen(count);
  seen[0] = true;
  size_t bytes = 0;
  for (size_t at = 0; at < queue.size(); ++at)
    for (const auto& child : graph_.nodes[queue[at]].children) {
      const auto id = size_t(child.node_id);
      if (seen[id]) continue;
      seen[id] = true;
      const std::string& before = names_[queue[at]];
      // Of a chain of objects the names grow with the square of its length.
      constexpr size_t kMostBytes = size_t{128} << 20;
      bytes += before.size() + child.local_name.size();
      if (bytes > kMostBytes)
        throw ResourceExhaustedError(std::string("[") + tag_ + "] " + bundle_.prefix() +
                                     ".index: the names of its objects take more than " +
                                     std::to_string(kMostBytes) + " bytes");
      names_[id] = before + (before.empty() ? "" : "/") + escaped_name(child.local_name);
      queue.push_back(id);
    }
  for (const auto& node : graph_.nodes)
    for (const auto& slot : node.slot_variables) {
      const auto id = size_t(slot.slot_variable_node_id);
      if (!seen[id]) names_[id] = names_[size_t(slot.original_variable_node_id)] + "/" + slot.slot_name;
      seen[id] = true;
    }
}

// ---- matching ---------------------------------------------------------------------------------------------

void RestoreSession::restore(const Objects& objects) {
  const Exclusive exclusive(mutex_);
  if (by_name_) return restore_by_name(objects);
  bind(0, *objects.root);
  match({.attached = &objects.attached, .objects = {{0, objects.root}}, .order = {0}});
  if (!asked_) warn_ = true;
}

bool RestoreSession::match(Walk walk) {
  for (size_t at = 0; at < walk.order.size(); ++at) match_children(walk.order[at], &walk);
  match_slots(walk);
  assign_planned();
  for (const size_t node : walk.order)
    if (lacks(node, walk)) wait_for(node, *walk.objects[node]);
  return lacks(walk.order.front(), walk);
}

void RestoreSession::match_children(size_t node, Walk* walk) {
  const TrackablePtr object = walk->objects[node];
  std::map<std::string, TrackablePtr> children;
  for (TrackableChild& c : object->children(TrackFor::kCheckpoint)) children.emplace(c.name, c.object);
  if (node == 0 && walk->attached)
    for (const TrackableChild& c : *walk->attached) children.emplace(c.name, c.object);
  for (const auto& edge : graph_.nodes[node].children) {
    const auto child = size_t(edge.node_id);
    if (walk->objects.contains(child)) continue;
    const auto it = children.find(edge.local_name);
    const TrackablePtr local = it == children.end() ? object->child(edge.local_name) : it->second;
    if (!local) continue;
    const bool is_new = bind(child, *local);
    // Below what was bound before there may be more when the whole graph is looked at; and a list belongs to
    // the object that has it.
    const bool again = bound_[child] == local->id() && (walk->attached || is_container(*local));
    if (!is_new && !again) continue;
    walk->objects[child] = local;
    walk->order.push_back(child);
  }
}

// Slots are found by the optimizer and the variable beside which they stand.
void RestoreSession::match_slots(const Walk& walk) {
  for (const auto& [node, optimizer] : walk.objects) {
    if (graph_.nodes[node].slot_variables.empty()) continue;
    const std::vector<TrackableSlot> slots = optimizer->slots();
    for (const auto& edge : graph_.nodes[node].slot_variables) {
      const auto& beside = bound_[size_t(edge.original_variable_node_id)];
      for (const TrackableSlot& slot : slots)
        if (beside && slot.name == edge.slot_name && trackable_of(slot.beside)->id() == *beside)
          bind(size_t(edge.slot_variable_node_id), *trackable_of(slot.variable));
    }
  }
}

bool RestoreSession::bind(size_t node, const Trackable& object) {
  if (bound_[node]) return false;
  bound_[node] = object.id();
  bound_ids_.insert(object.id());
  plan_reads(node, object);
  return true;
}

void RestoreSession::plan_reads(size_t node, const Trackable& object) {
  const std::vector<TrackableValue> values = object.values();
  for (const auto& attribute : graph_.nodes[node].attributes) {
    bool any = false;
    for (const TrackableValue& v : values) {
      if (attribute_of(v.name) != attribute.name) continue;
      any = true;
      planned_.push_back(
          {attribute.checkpoint_key + v.name.substr(attribute.name.size()), v, object.describe()});
    }
    if (!any) unused_.push_back(value_key(names_[node], attribute.name) + " (" + object.describe() + ")");
  }
}

bool RestoreSession::lacks(size_t node, const Walk& walk) const {
  std::vector<size_t> queue{node};
  std::set<size_t> seen{node};
  for (size_t at = 0; at < queue.size(); ++at) {
    const auto& proto = graph_.nodes[queue[at]];
    const auto is_missing = [&](int32_t id) {
      const auto& child = graph_.nodes[size_t(id)];
      return !bound_[size_t(id)] && (!child.has_checkpoint_values || child.has_checkpoint_values->value);
    };
    for (const auto& edge : proto.children) {
      if (is_missing(edge.node_id)) return true;
      const auto list = walk.objects.find(size_t(edge.node_id));
      if (list != walk.objects.end() && is_container(*list->second) && seen.insert(list->first).second)
        queue.push_back(list->first);
    }
    for (const auto& edge : proto.slot_variables)
      if (is_missing(edge.slot_variable_node_id)) return true;
  }
  return false;
}

void RestoreSession::wait_for(size_t node, const Trackable& object) {
  if (object.life().expired() || !waiting_.insert(node).second) return;
  on_new_children(object, [self = shared_from_this(), node](const Trackable& owner) {
    const Exclusive exclusive(self->mutex_);
    const TrackablePtr view(TrackablePtr(), &owner);  // for as long as the call takes
    const bool more = self->match({.objects = {{node, view}}, .order = {node}});
    if (!more) self->waiting_.erase(node);
    return more;
  });
}

// ---- values -----------------------------------------------------------------------------------------------

void RestoreSession::check_fit(const std::vector<Read>& reads) const {
  std::vector<std::string> misfits;
  for (const Read& r : reads) {
    const auto* entry = bundle_.find(r.key);
    if (!entry)
      throw DataLossError(std::string("[") + tag_ + "] " + bundle_.prefix() +
                          ": the graph of objects names a value \"" + r.key + "\", which is not there");
    const Variable& v = r.value.variable;
    if (!v.defined() || (int(entry->dtype) == int(v.dtype()) && v.shape().compatible_with(entry->shape)))
      continue;
    const bool known = int(entry->dtype) > 0 && int(entry->dtype) < 24;
    misfits.push_back(r.key + " is " + entry->shape.to_string() + " " +
                      (known ? std::string(name_of(DType(int(entry->dtype)))) : "of an unknown type") +
                      ", the " + r.object);
  }
  if (!misfits.empty())
    fail_invalid(tag_, bundle_.prefix() + " does not fit: " + listed(misfits) + "; nothing was assigned");
}

void RestoreSession::assign_planned() {
  std::vector<Read> reads = std::exchange(planned_, {});
  check_fit(reads);
  // In the order in which they lie in the files.
  std::stable_sort(reads.begin(), reads.end(), [&](const Read& a, const Read& b) {
    const auto *x = bundle_.find(a.key), *y = bundle_.find(b.key);
    return x->shard != y->shard ? x->shard < y->shard : x->offset < y->offset;
  });
  for (const Read& r : reads) {
    if (r.value.variable.defined() && read_in_place(bundle_, r.key, r.value.variable)) continue;
    const Tensor value = from_bundle(bundle_, r.key, tag_);
    if (r.value.variable.defined()) r.value.variable.assign(value);
    else r.value.restore(value);
  }
}

void RestoreSession::restore_by_name(const Objects& objects) {
  const ObjectGraph graph(objects.root, objects.attached);
  for (const ObjectNode& node : graph.nodes())
    for (const TrackableValue& v : node.object->values()) {
      if (v.full_name.empty() || !bundle_.find(v.full_name)) continue;
      if (bound_ids_.insert(node.object->id()).second)
        planned_.push_back({v.full_name, v, node.object->describe()});
    }
  assign_planned();
}

// ---- what the status asks ---------------------------------------------------------------------------------

std::vector<std::string> RestoreSession::unresolved() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    if (!graph_.nodes[i].attributes.empty() && !bound_[i]) names.push_back(names_[i]);
  return names;
}

void RestoreSession::expect_partial() {
  const Exclusive exclusive(mutex_);
  asked_ = true;
  warn_ = false;
}

void RestoreSession::fail_unmatched(const Objects& objects, const char* tag) {
  expect_partial();
  restore(objects);
  const ObjectGraph graph(objects.root, objects.attached);
  std::vector<std::string> names;
  for (const ObjectNode& node : graph.nodes())
    if (!bound_ids_.contains(node.object->id()) && !node.object->values().empty() &&
        !(by_name_ && node.path == "save_counter"))
      names.push_back(node.path + " (" + node.object->describe() + ")");
  if (!names.empty())
    fail_precondition(tag, "every object must have its values from " + bundle_.prefix() + ": " +
                               std::to_string(names.size()) + " have not: " + listed(names) +
                               "; the checkpoint was made of objects with other names");
}

void RestoreSession::check_existing_matched(const Objects& objects) {
  const Exclusive exclusive(mutex_);
  fail_unmatched(objects, "assert_existing_objects_matched");
}

void RestoreSession::check_consumed(const Objects& objects) {
  constexpr const char* kTag = "assert_consumed";
  const Exclusive exclusive(mutex_);
  fail_unmatched(objects, kTag);
  const std::string rule = "every value of " + bundle_.prefix() + " must have gone to an object: ";
  if (const std::vector<std::string> names = unresolved(); !names.empty())
    fail_precondition(kTag, rule + std::to_string(names.size()) + " have not: " + listed(names) +
                                "; objects that are made later get theirs then, and " +
                                "assert_existing_objects_matched() leaves them out");
  if (!unused_.empty())
    fail_precondition(kTag, rule + "these objects do not have such values: " + listed(unused_));
}

void RestoreSession::check_nontrivial(const Objects& objects) {
  const Exclusive exclusive(mutex_);
  expect_partial();
  restore(objects);
  if (bound_ids_.size() > (by_name_ ? 0U : 1U)) return;
  const bool none = ObjectGraph(objects.root, objects.attached).nodes().size() <= 1;
  fail_precondition(
      "assert_nontrivial_match",
      "something beside the root must be found in " + bundle_.prefix() + ": nothing was; " +
          (none ? "the checkpoint object has no objects yet" : "it was made of objects with other names"));
}

}  // namespace rw::saved
