// The variables of a SavedModel, with their values from its checkpoint: the object graph of the model and
// that of the checkpoint are walked together, by the names of children.
#include <algorithm>
#include <deque>
#include <limits>

#include "rewind/base/error.h"
#include "rewind/device/device.h"
#include "rewind/format/tensor_bundle.h"
#include "rewind/graph/attr_proto.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/runtime/storage.h"
#include "rewind/saved/loaded_state.h"
#include "rewind/saved/tensor_values.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

namespace rw::saved_model {
namespace {

using format::BundleReader;
using format::SavedObject;
using format::SavedObjectGraph;
using format::SavedVariable;
using format::TrackableObjectGraph;

constexpr const char* kObjectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH";

std::string quoted(const std::string& name) { return "'" + name + "'"; }

// Which node of the checkpoint's graph each node of the model's is; -1: none.
class Walk {
 public:
  Walk(const SavedObjectGraph& model, const TrackableObjectGraph& checkpoint)
      : model_(model), checkpoint_(checkpoint), found_(model.nodes.size(), -1) {}

  std::vector<int> run() {
    if (model_.nodes.empty() || checkpoint_.nodes.empty()) return found_;
    meet(0, 0);
    while (!open_.empty()) {
      const int at = open_.front();
      open_.pop_front();
      const SavedObject& object = model_.nodes[size_t(at)];
      const auto& other = checkpoint_.nodes[size_t(found_[size_t(at)])];
      std::map<std::string_view, int> names;
      for (const auto& c : other.children) names.emplace(c.local_name, c.node_id);
      for (const auto& c : object.children)
        if (const auto it = names.find(c.local_name); it != names.end()) meet(c.node_id, it->second);
    }
    meet_slots();
    return found_;
  }

 private:
  void meet(int node, int in_checkpoint) {
    if (in_checkpoint < 0 || size_t(in_checkpoint) >= checkpoint_.nodes.size())
      throw DataLossError(std::string("[") + kLoad + "] the checkpoint's object graph has " +
                          std::to_string(checkpoint_.nodes.size()) + " nodes: got a child with number " +
                          std::to_string(in_checkpoint));
    if (found_[size_t(node)] >= 0) return;
    found_[size_t(node)] = in_checkpoint;
    open_.push_back(node);
  }

  // What an optimizer keeps beside a variable is found by that variable and a name.
  void meet_slots() {
    for (size_t at = 0; at < model_.nodes.size(); ++at) {
      if (found_[at] < 0) continue;
      std::map<std::pair<int, std::string_view>, int> slots;
      for (const auto& s : checkpoint_.nodes[size_t(found_[at])].slot_variables)
        slots.emplace(std::pair(s.original_variable_node_id, std::string_view(s.slot_name)),
                      s.slot_variable_node_id);
      for (const auto& s : model_.nodes[at].slot_variables) {
        const auto it = slots.find({found_[size_t(s.original_variable_node_id)], s.slot_name});
        if (it != slots.end()) meet(s.slot_variable_node_id, it->second);
      }
    }
  }

  const SavedObjectGraph& model_;
  const TrackableObjectGraph& checkpoint_;
  std::vector<int> found_;
  std::deque<int> open_;
};

Tensor read_value(const BundleReader& bundle, const std::string& key, const BundleReader::Entry& entry) {
  const DType dtype = to_dtype(entry.dtype);
  if (dtype == DType::kString) return tensor_from_strings(bundle.read_strings(key), entry.shape);
  // Checked before memory is taken for it.
  if (entry.slices.empty() && uint64_t(entry.shape.num_elements()) * size_of(dtype) != entry.size)
    throw DataLossError(std::string("[") + kLoad + "] the value " + quoted(key) + " is " +
                        entry.shape.to_string() + " " + std::string(name_of(dtype)) + ": got " +
                        std::to_string(entry.size) + " bytes");
  rw::Value value = rw::Value::allocate(cpu_device(), dtype, entry.shape);
  if (value.size > 0) saved::read_elements(bundle, key, value.data);
  return make_tensor(std::move(value));
}

Shape shape_of(const SavedVariable& saved) { return saved.shape ? from_shape_proto(*saved.shape) : Shape(); }

void check_fits(const SavedVariable& saved, const BundleReader::Entry& entry, const std::string& key) {
  const DType dtype = to_dtype(saved.dtype);
  if (to_dtype(entry.dtype) == DType::kInvalid)
    fail_unimplemented(kLoad,
                       "the value " + quoted(key) + " has the type " + std::to_string(int(entry.dtype)));
  if (dtype != to_dtype(entry.dtype) || !shape_of(saved).compatible_with(entry.shape))
    fail_invalid(kLoad, "variable " + quoted(saved.name) + " is " + shape_of(saved).to_string() + " " +
                            (dtype == DType::kInvalid ? "of an unknown type" : std::string(name_of(dtype))) +
                            ": got the value " + quoted(key) + " of shape " + entry.shape.to_string() +
                            " and " + std::string(name_of(to_dtype(entry.dtype))));
}

// Tables that change have functions that save and restore them.
bool is_saved_table(const SavedObject& object) {
  return std::holds_alternative<format::SavedResource>(object.kind) &&
         object.saveable_objects.contains("table");
}

// Nodes that functions use.
std::vector<bool> captured_nodes(const SavedObjectGraph& objects) {
  std::vector<bool> captured(objects.nodes.size());
  for (const auto& [name, f] : objects.concrete_functions)
    for (const int32_t node : f.bound_inputs) captured[size_t(node)] = true;
  return captured;
}

// Every value belongs to one variable; of those that two ask for, the bytes are taken twice.
class Bytes {
 public:
  Bytes(const BundleReader& bundle, const std::string& prefix) : prefix_(prefix) {
    for (const auto& [key, entry] : bundle.entries()) left_ += entry.size;
  }
  void take(const BundleReader::Entry& entry) {
    if (entry.size > left_)
      throw DataLossError(std::string("[") + kLoad + "] the variables have more bytes than " + prefix_ +
                          ".index has values: several of them name the same value");
    left_ -= entry.size;
  }

 private:
  const std::string& prefix_;
  uint64_t left_ = 0;
};

SavedTable read_table(const BundleReader& bundle, const std::string& key, Bytes* bytes) {
  SavedTable table;
  for (const auto& [name, value] : {std::pair("-keys", &table.keys), {"-values", &table.values}}) {
    const BundleReader::Entry* entry = bundle.find(key + name);
    if (!entry) fail_not_found(kLoad, "a table has no " + quoted(key + name) + " in the checkpoint");
    bytes->take(*entry);
    *value = read_value(bundle, key + name, *entry);
  }
  return table;
}

}  // namespace

SavedVariables::SavedVariables(const SavedObjectGraph& objects, const std::string& prefix, bool by_name)
    : objects_(&objects),
      variables_(objects.nodes.size()),
      tables_(objects.nodes.size()),
      waiting_(objects.nodes.size()) {
  bool any = false;
  for (const SavedObject& object : objects.nodes)
    any = any || std::holds_alternative<SavedVariable>(object.kind) || is_saved_table(object);
  if (!any) return;
  bundle_ = std::make_unique<BundleReader>(prefix, kLoad);
  const std::vector<std::string> keys = by_name ? names() : keys_of_objects();
  const std::vector<bool> captured = captured_nodes(objects);
  Bytes bytes(*bundle_, prefix);
  for (size_t at = 0; at < objects.nodes.size(); ++at) {
    if (is_saved_table(objects.nodes[at]) && !keys[at].empty())
      tables_[at] = read_table(*bundle_, keys[at], &bytes);
    const auto* saved = std::get_if<SavedVariable>(&objects.nodes[at].kind);
    if (!saved) continue;
    const BundleReader::Entry* entry = keys[at].empty() ? nullptr : bundle_->find(keys[at]);
    if (!entry)
      fail_not_found(kLoad,
                     "variable " + quoted(saved->name) + " has no value in " + prefix + ".index" +
                         (keys[at].empty() || by_name ? "" : ", which should have " + quoted(keys[at])));
    check_fits(*saved, *entry, keys[at]);
    bytes.take(*entry);
    if (captured[at] || by_name) variables_[at] = read(at, keys[at]);
    else waiting_[at] = keys[at];
  }
  // The files stay open for those that wait, whatever becomes of the folder.
  if (std::all_of(waiting_.begin(), waiting_.end(), [](const std::string& key) { return key.empty(); }))
    bundle_.reset();
}

std::vector<std::string> SavedVariables::names() const {
  std::vector<std::string> names(objects_->nodes.size());
  for (size_t at = 0; at < names.size(); ++at)
    if (const auto* saved = std::get_if<SavedVariable>(&objects_->nodes[at].kind)) names[at] = saved->name;
  return names;
}

std::vector<std::string> SavedVariables::keys_of_objects() const {
  if (!bundle_->find(kObjectGraph))
    fail_invalid(kLoad, bundle_->prefix() + ".index has no object graph: got a checkpoint of TensorFlow 1?");
  const std::vector<std::string> text = bundle_->read_strings(kObjectGraph);
  if (text.size() != 1) fail_invalid(kLoad, bundle_->prefix() + ".index: the object graph must be one text");
  const auto checkpoint = format::decode<TrackableObjectGraph>(text[0]);
  const std::vector<int> found = Walk(*objects_, checkpoint).run();
  std::vector<std::string> keys(objects_->nodes.size());
  for (size_t at = 0; at < keys.size(); ++at)
    if (found[at] >= 0)
      for (const auto& a : checkpoint.nodes[size_t(found[at])].attributes)
        if (a.name == (is_saved_table(objects_->nodes[at]) ? "table" : "VARIABLE_VALUE"))
          keys[at] = a.checkpoint_key;
  return keys;
}

Variable SavedVariables::read(size_t node, const std::string& key) const {
  const auto& saved = std::get<SavedVariable>(objects_->nodes[node].kind);
  const OutsideTraces outside;
  return Variable(read_value(*bundle_, key, *bundle_->find(key)),
                  {.trainable = saved.trainable,
                   .name = saved.name.empty() ? "Variable" : saved.name,
                   .dtype = to_dtype(saved.dtype),
                   .shape = shape_of(saved)});
}

const Variable& SavedVariables::at(size_t node) const {
  if (waiting_[node].empty()) return variables_[node];
  const std::lock_guard<std::recursive_mutex> tracing(tracing_mutex());
  const std::lock_guard lock(mutex_);
  Variable& variable = variables_[node];
  if (!variable.defined()) variable = read(node, waiting_[node]);
  return variable;
}

}  // namespace rw::saved_model
