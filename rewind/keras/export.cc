#include "rewind/keras/export.h"

#include "rewind/base/error.h"
#include "rewind/format/saved_model.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/saved/call_signature.h"

namespace rw::saved_model {
namespace {

constexpr const char* kSave = "saved_model.save";

// An object with these children, which holds what they view.
class ExportView final : public Trackable {
 public:
  ExportView(std::vector<TrackableChild> children) : children_(std::move(children)) {}
  ObjectId id() const override { return {"export", uint64_t(reinterpret_cast<uintptr_t>(this))}; }
  std::vector<TrackableChild> children(TrackFor) const override { return children_; }
  std::string describe() const override { return "an exported model"; }

 private:
  std::vector<TrackableChild> children_;
};

std::vector<TensorSpec> inputs_of(const keras::Model& model) {
  if (!model.built())
    fail_precondition(kSave, "model " + model.name() +
                                 " is not built: call it once, or build_for() the shape of its input");
  std::vector<TensorSpec> specs;
  if (model.graph()) {
    for (const keras::KerasTensor& t : model.inputs()) specs.push_back({t.shape(), t.dtype(), t.name()});
    return specs;
  }
  const keras::LayerState& state = *model.layer_state();
  for (size_t i = 0; i < state.input_shapes.size(); ++i) {
    Shape shape = state.input_shapes[i];
    if (shape.has_rank() && shape.rank() > 0) shape.set(0, Shape::kUnknown);
    const std::string name = state.input_shapes.size() == 1 ? "inputs" : "inputs_" + std::to_string(i);
    specs.push_back({shape, i < state.input_types.size() ? state.input_types[i] : DType::kFloat32, name});
  }
  if (specs.empty())
    fail_precondition(kSave, "model " + model.name() + " does not know the shape of its input: call it once");
  return specs;
}

TrackablePtr list_of(const std::vector<Variable>& variables, const void* address) {
  std::vector<TrackableChild> children;
  for (const Variable& v : variables) children.push_back({std::to_string(children.size()), trackable_of(v)});
  return make_container(Trackable::Kind::kList, address, std::move(children));
}

std::shared_ptr<FunctionTrackable> view_of(const std::string& name, std::vector<ConcreteFunction> traces) {
  const auto identity = std::make_shared<const std::string>(name);
  return std::make_shared<FunctionTrackable>(identity, FunctionOptions{.name = name},
                                             [traces = std::move(traces)] { return traces; });
}

// The structure that Keras gave the inputs or outputs of a functional model.
Structure structure_of(const keras::TensorStructure& s, size_t* at) {
  using Kind = keras::TensorStructure::Kind;
  if (s.kind == Kind::kPlain) return Structure::tensor((*at)++);
  Structure out{.kind = s.kind == Kind::kDict ? Structure::Kind::kDict : Structure::Kind::kList};
  out.keys = s.keys;
  for (const keras::TensorStructure& item : s.items) out.items.push_back(structure_of(item, at));
  return out;
}

// A trace with arguments and results as the Python model has them.
ConcreteFunction with_structure(const keras::FunctionalGraph& graph, const ConcreteFunction& trace) {
  CallStructure structure = trace.structure();
  size_t inputs = 0, outputs = 0;
  if (graph.input_structure.kind != keras::TensorStructure::Kind::kPlain)
    structure.arguments.items.at(0) = structure_of(graph.input_structure, &inputs);
  if (graph.output_structure.kind != keras::TensorStructure::Kind::kPlain)
    structure.results = structure_of(graph.output_structure, &outputs);
  return ConcreteFunction(trace.graph().ir_ref(), trace.inputs().size(), trace.captured_inputs(),
                          trace.variables(), 0, std::move(structure));
}

// The model for one input, or for a list of them, with one result or a list.
template <class Input, class Spec>
std::vector<ConcreteFunction> traces_of(const keras::Model& model, const Spec& spec, bool one_result,
                                        const std::string& name) {
  std::vector<ConcreteFunction> traces;
  if (name == "serve") {
    if (one_result)
      traces.push_back(
          rw::function([&](const Input& x) { return model(x, {.training = false}); }, {.name = name})
              .get_concrete_function(spec));
    else
      traces.push_back(
          rw::function([&](const Input& x) { return model.all(x, {.training = false}); }, {.name = name})
              .get_concrete_function(spec));
    return traces;
  }
  for (const bool training : {false, true}) {
    if (one_result)
      traces.push_back(
          rw::function([&](const Input& x, bool t) { return model(x, {.training = t}); }, {.name = name})
              .get_concrete_function(spec, training));
    else
      traces.push_back(
          rw::function([&](const Input& x, bool t) { return model.all(x, {.training = t}); }, {.name = name})
              .get_concrete_function(spec, training));
  }
  return traces;
}

std::vector<ConcreteFunction> plain_traces_of(const keras::Model& model, const std::string& name) {
  const std::vector<TensorSpec> inputs = inputs_of(model);
  const bool one_result =
      model.layer_state()->output_shapes.size() == 1 || (model.graph() && model.outputs().size() == 1);
  if (inputs.size() == 1) return traces_of<Tensor>(model, inputs[0], one_result, name);
  return traces_of<std::vector<Tensor>>(model, inputs, one_result, name);
}

std::vector<ConcreteFunction> traces_of(const keras::Model& model, const std::string& name) {
  std::vector<ConcreteFunction> traces = plain_traces_of(model, name);
  if (const keras::FunctionalGraph* graph = model.graph())
    for (ConcreteFunction& trace : traces) trace = with_structure(*graph, trace);
  return traces;
}

format::FunctionSpec call_spec() {
  format::FunctionSpec spec = saved::function_spec({"inputs", "training"}, false);
  auto& fields = std::get<format::Box<format::StructuredNamedTuple>>(spec.fullargspec->kind)->values;
  format::StructuredValue no;
  no.kind = false;
  for (format::StructuredPair& field : fields)
    if (field.key == "defaults") field.value = saved::tuple_value({no});
  return spec;
}

}  // namespace

void save(const keras::Model& model, const std::string& directory, const SaveOptions& options) {
  const auto serve = view_of("serve", traces_of(model, "serve"));
  const auto call = view_of("call", traces_of(model, "call"));
  call->spec = std::make_shared<const format::FunctionSpec>(call_spec());
  const char addresses[3] = {};  // of lists that the model does not have
  const auto root = std::make_shared<ExportView>(std::vector<TrackableChild>{
      {"variables", list_of(model.variables(), addresses)},
      {"trainable_variables", list_of(model.trainable_variables(), addresses + 1)},
      {"non_trainable_variables", list_of(model.non_trainable_variables(), addresses + 2)},
      {"serve", serve},
      {"__call__", call}});
  SaveOptions all = options;
  if (all.signatures.empty()) {
    // Results in lists or dictionaries of lists are no signature's: there they are output_0, output_1, ...
    const bool nested = model.graph() && model.graph()->output_structure.is_nested();
    const ConcreteFunction served = nested ? plain_traces_of(model, "serve").at(0) : serve->traces()[0];
    for (const char* key : {"serve", "serving_default"}) all.signatures.emplace(key, served);
  }
  save(TrackablePtr(root), directory, all);
}

}  // namespace rw::saved_model
