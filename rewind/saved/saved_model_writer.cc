#include "rewind/saved/saved_model_writer.h"

#include <set>

#include "rewind/base/error.h"
#include "rewind/graph/graph_def.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/op/object.h"
#include "rewind/saved/op_list.h"
#include "rewind/saved/snapshot.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

namespace rw::saved {
namespace {

const void* object_behind(const Tensor& handle) {
  return static_cast<const Ref<Object>*>(handle.impl()->data)->get();
}

HostTensor host_tensor(const Tensor& t) {
  const auto held = std::make_shared<const Tensor>(t);
  return {t.dtype(), t.shape(), std::shared_ptr<const void>(held, held->impl()->data)};
}

const char* identifier_of(Trackable::Kind kind) {
  switch (kind) {
    case Trackable::Kind::kList: return "trackable_list_wrapper";
    case Trackable::Kind::kTuple: return "trackable_tuple_wrapper";
    case Trackable::Kind::kDict: return "trackable_dict_wrapper";
    default: return "_generic_user_object";
  }
}

format::SavedUserObject user_object(const char* identifier) {
  return {.identifier = identifier, .version = format::VersionDef{.producer = 1, .min_consumer = 1}};
}

}  // namespace

SavedModelWriter::SavedModelWriter(const TrackablePtr& root,
                                   const std::map<std::string, ConcreteFunction>& signatures)
    : meta_(model_.meta_graphs.emplace_back()),
      graph_def_(meta_.graph_def.emplace()),
      object_graph_(meta_.object_graph_def.emplace()),
      main_(&graph_def_.node) {
  if (current_trace()) fail_precondition(kSaveModel, "models are saved outside of functions");
  graph_def_.library.emplace();
  const ObjectGraph found(root, {}, TrackFor::kSavedModel);
  find_functions(found);
  for (const auto& [key, f] : signatures) add_signature(key, f);
  if (signatures.empty())
    if (const auto f = deduced_signature(found)) add_signature("serving_default", *f);
  exporter_.check(kSaveModel);
  objects_.emplace(root, captured_variables(found), TrackFor::kSavedModel);
  write_objects();
  write_library();
  for (const ObjectNode& node : objects_->nodes())
    if (node.object->kind() == Trackable::Kind::kFunction)
      write_function(traced_.at(node.object->id()), int(&node - objects_->nodes().data()));
  const int map_node = add_node();
  object_graph_.nodes[size_t(map_node)].kind = user_object("signature_map");
  add_child(0, map_node, "signatures");
  for (const auto& [key, served] : signatures_) write_signature(key, *served.first, map_node);
  write_meta();
}

// Those that functions use and no member holds become members of the root: a checkpoint must lead to them.
std::vector<TrackableChild> SavedModelWriter::captured_variables(const ObjectGraph& objects) const {
  std::vector<TrackableChild> list;
  std::set<std::string> names;
  for (const ObjectNode::Child& child : objects.nodes()[0].children) names.insert(child.name);
  std::set<ObjectId> seen;
  for (const auto& f : functions_)
    for (const Tensor& capture : f->function.captured_inputs()) {
      const Variable v = Variable::behind(capture);
      if (!v.defined()) continue;
      const TrackablePtr object = trackable_of(v);
      if (objects.contains(object->id()) || !seen.insert(object->id()).second) continue;
      const std::string base = "captured_" + identifier(checkpoint_name(v));
      std::string name = base;
      for (int i = 1; !names.insert(name).second; ++i) name = base + "_" + std::to_string(i);
      list.push_back({name, object});
    }
  return list;
}

int SavedModelWriter::add_node() {
  object_graph_.nodes.emplace_back();
  checkpoint_graph_.nodes.emplace_back().has_checkpoint_values = format::BoolValue{false};
  main_names_.emplace_back();
  main_ports_.emplace_back();
  return int(object_graph_.nodes.size()) - 1;
}

void SavedModelWriter::add_child(int parent, int child, const std::string& name) {
  object_graph_.nodes[size_t(parent)].children.push_back({child, name});
  checkpoint_graph_.nodes[size_t(parent)].children.push_back({child, name});
}

void SavedModelWriter::write_objects() {
  const size_t count = objects_->nodes().size();
  checkpoint_graph_ = object_graph_proto(*objects_);
  object_graph_.nodes.resize(count);
  main_names_.resize(count);
  main_ports_.resize(count);
  for (size_t i = 0; i < count; ++i) write_object(i);
}

void SavedModelWriter::write_object(size_t i) {
  const ObjectNode& node = objects_->nodes()[i];
  format::SavedObject& out = object_graph_.nodes[i];
  for (const ObjectNode::Child& child : node.children)
    out.children.push_back({int32_t(child.node), child.name});
  // Slots are for optimizers that TensorFlow knows by class; here they are children.
  checkpoint_graph_.nodes[i].slot_variables.clear();
  for (size_t k = 0; k < node.slots.size(); ++k)
    add_child(int(i), int(node.slots[k].variable), node.slots[k].name + "_" + std::to_string(k));
  if (node.object->kind() == Trackable::Kind::kFunction) return;  // write_function
  if (node.object->kind() != Trackable::Kind::kVariable) {
    out.kind = user_object(identifier_of(node.object->kind()));
    return;
  }
  const Variable v = node.object->variable();
  const GraphPort port{v.dtype(), v.shape()};
  main_ports_[i] = {DType::kResource, Shape{}};
  main_names_[i] = main_.variable(checkpoint_name(v), port);
  variable_nodes_[object_behind(v.handle())] = int(i);
  out.kind = format::SavedVariable{.dtype = format::DataType(port.dtype),
                                   .shape = to_shape_proto(port.shape),
                                   .trainable = v.trainable(),
                                   .name = checkpoint_name(v)};
}

int SavedModelWriter::capture_node(const Tensor& capture, const std::string& function) {
  if (capture.dtype() == DType::kResource || capture.dtype() == DType::kVariant) {
    const auto it = capture.dtype() == DType::kResource ? variable_nodes_.find(object_behind(capture))
                                                        : variable_nodes_.end();
    if (it != variable_nodes_.end()) return it->second;
    throw UnimplementedError(std::string("[") + kSaveModel + "] cannot be saved: function " + function +
                             " uses " + capture.repr() + ", which is no variable");
  }
  const auto [it, is_new] = constant_nodes_.try_emplace(capture.impl(), 0);
  if (!is_new) return it->second;
  const int node = it->second = add_node();
  const std::string name = main_.constant("Const", to_tensor_proto(host_tensor(capture)));
  main_names_[size_t(node)] = name;
  main_ports_[size_t(node)] = {capture.dtype(), capture.shape()};
  object_graph_.nodes[size_t(node)].kind = format::SavedConstant{.operation = name};
  object_graph_.nodes[size_t(node)].registered_name = "tf.TrackableConstant";
  return node;
}

void SavedModelWriter::write_meta() {
  std::vector<SavedValue> values;
  for (size_t i = 0; i < objects_->nodes().size(); ++i) {
    const ObjectNode& node = objects_->nodes()[i];
    if (node.object->kind() != Trackable::Kind::kVariable) continue;
    const Variable v = node.object->variable();
    values.push_back(
        {main_names_[i], value_key(node.path, node.object->values().at(0).name), {v.dtype(), v.shape()}});
  }
  const std::string init = main_.no_op("NoOp");
  meta_.saver_def = add_saver(values, format::encode(checkpoint_graph_), &main_, &*graph_def_.library);
  meta_.collection_def["saved_model_main_op"].kind = format::CollectionDef::NodeList{{init}};
  format::TensorInfo init_info;
  init_info.encoding = init;
  init_info.tensor_shape = format::TensorShapeProto{.unknown_rank = true};
  meta_.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"] = init_info;
  graph_def_.versions = to_graph_def(Graph()).versions;
  auto& info = *(meta_.meta_info_def = format::MetaGraphDef::MetaInfoDef());
  info.stripped_op_list = used_ops(graph_def_);
  info.tags = {"serve"};
  info.tensorflow_version = "2.21.0";  // whose ops these are
  info.tensorflow_git_version = "rewind";
  model_.saved_model_schema_version = 1;
}

}  // namespace rw::saved
