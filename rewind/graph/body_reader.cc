#include "rewind/graph/body_reader.h"

#include "rewind/base/error.h"
#include "rewind/graph/node_order.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/op/compiler_rows.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

using format::NodeDef;

std::string at(const NodeDef& def, const Error& e) {
  return std::string(e.what()) + " (node " + quote(def.name) + " of op " + def.op + ")";
}

bool is_loop(const std::string& op) { return op == "While" || op == "StatelessWhile"; }
// How many inputs stand before those that go on to the functions of a node.
size_t inputs_before_arguments(const std::string& op) {
  return op == "If" || op == "StatelessIf" || op == "Case" || op == "StatelessCase" ? 1 : 0;
}

template <class T>
const T* list_attr(const format::AttrMap& attrs, const char* name,
                   std::vector<T> format::ListValue::* member) {
  const auto it = attrs.find(name);
  if (it == attrs.end()) return nullptr;
  const auto* list = std::get_if<format::Box<format::ListValue>>(&it->second.value);
  return list && !((**list).*member).empty() ? &((**list).*member)[0] : nullptr;
}

std::shared_ptr<const VariableSpec> variable_of(format::DataType dtype,
                                                const format::TensorShapeProto* shape) {
  if (to_dtype(dtype) == DType::kInvalid) return nullptr;
  return std::make_shared<VariableSpec>(
      VariableSpec{to_dtype(dtype), shape ? from_shape_proto(*shape) : Shape::unknown_rank()});
}

const std::string* name_attr(const NodeDef& def, const char* name) {
  const auto it = def.attr.find(name);
  if (it == def.attr.end()) return nullptr;
  const auto* f = std::get_if<format::Box<format::NameAttrList>>(&it->second.value);
  return f ? &(*f)->name : nullptr;
}

}  // namespace

ArgumentFacts placeholder_facts(const format::AttrMap& attrs) {
  ArgumentFacts facts;
  if (const auto it = attrs.find("shape"); it != attrs.end())
    if (const auto* s = std::get_if<format::TensorShapeProto>(&it->second.value))
      facts.shape = from_shape_proto(*s);
  if (const auto* t = list_attr(attrs, "_handle_dtypes", &format::ListValue::type))
    facts.variable = variable_of(*t, list_attr(attrs, "_handle_shapes", &format::ListValue::shape));
  return facts;
}

ArgumentFacts argument_facts(const format::FunctionDef& def, size_t argument) {
  ArgumentFacts facts;
  if (const auto it = def.arg_attr.find(uint32_t(argument)); it != def.arg_attr.end())
    if (const auto* s = list_attr(it->second.attr, "_output_shapes", &format::ListValue::shape))
      facts.shape = from_shape_proto(*s);
  const format::OpDef::ArgDef& arg = def.signature->input_arg[argument];
  if (!arg.handle_data.empty())
    facts.variable = variable_of(arg.handle_data[0].dtype,
                                 arg.handle_data[0].shape ? &*arg.handle_data[0].shape : nullptr);
  return facts;
}

const SavedGradient* saved_gradient(const NodeDef& node, const FunctionLibraryReader& library) {
  if (node.op != "IdentityN") return nullptr;
  const auto it = node.attr.find("_gradient_op_type");
  const auto* name = it == node.attr.end() ? nullptr : std::get_if<std::string>(&it->second.value);
  return name ? library.gradient(*name) : nullptr;
}

void BodyReader::add_argument(const std::string& name, DType dtype, ArgumentFacts facts) {
  const ValueId v = graph_.add_argument(dtype, std::move(facts.shape), name);
  graph_.value(v).variable = std::move(facts.variable);
  Made& made = made_[name];
  made.values = {v};
  made.is_argument = true;
}

void BodyReader::add(const NodeDef& def) {
  try {
    add_checked(def);
  } catch (const NotFoundError& e) { throw NotFoundError(at(def, e)); } catch (const UnimplementedError& e) {
    throw UnimplementedError(at(def, e));
  } catch (const ResourceExhaustedError& e) {
    throw ResourceExhaustedError(at(def, e));
  } catch (const InvalidArgumentError& e) { throw InvalidArgumentError(at(def, e)); }
}

ValueId BodyReader::value(std::string_view text) const {
  const InputRef ref = parse_input(text);
  const auto it = made_.find(ref.node);
  if (ref.control || it == made_.end()) fail_graph_def("there is no value " + quote(text));
  const Made& made = it->second;
  size_t flat = size_t(ref.index);
  if (in_function_ && !made.is_argument) {
    const auto is_output = [&](size_t k) {
      return ref.output == (made.output_names.empty() ? made.op->outputs[k].name : made.output_names[k]);
    };
    size_t begin = 0, a = 0;
    while (a < made.counts.size() && !is_output(a)) begin += size_t(made.counts[a++]);
    if (a == made.counts.size() || ref.index >= made.counts[a])
      fail_graph_def("node " + quote(ref.node) + " of op " + made.op->name + " has no output " + quote(text));
    flat += begin;
  }
  if (flat >= made.values.size())
    fail_graph_def("node " + quote(ref.node) + " has " + std::to_string(made.values.size()) +
                   " outputs: got " + quote(text));
  return made.values[flat];
}

void BodyReader::add_checked(const NodeDef& def) {
  std::vector<ValueId> inputs;
  std::vector<DType> types;
  for (const std::string& input : def.input) {
    if (parse_input(input).control) continue;
    inputs.push_back(value(input));
    types.push_back(graph_.value(inputs.back()).dtype);
  }
  const Op* op = op_table().find(def.op);
  if (in_function_ && def.op == "Identity" && types == std::vector{DType::kResource}) {
    // The resource itself: loops know by this which variables stay the same.
    Made& made = made_[def.name];
    made.op = op;
    made.counts = {1};
    made.values = inputs;
    return;
  }
  AttrList attrs;
  std::vector<std::string> output_names;
  if (!op && library_->has(def.op)) {
    // A function called by its name: its outputs go by the function's names.
    const auto body = library_->get(def.op, facts_of(inputs));
    op = &find_op(library_->is_stateful(def.op) ? "StatefulPartitionedCall" : "PartitionedCall");
    attrs = {{"Tout", body->output_types()}, {"f", BodyRef(body)}};
    output_names = library_->output_names(def.op);
  } else if (!op) {
    fail_not_found("GraphDef", "there is no op " + def.op);
  } else {
    refuse_compiler_row(*op);
    attrs = read_attrs(*op, def, inputs);
  }
  const Attrs stored(attrs);
  const NodeId id = graph_.add_node(*op, stored, inputs);
  graph_.node(id).name = def.name;
  note_variables(*op, stored, id);
  const AttrList complete = complete_attrs(*op, stored, types);
  check_inferred(*op, def, complete);
  Made& made = made_[def.name];
  made.op = op;
  made.counts =
      output_names.empty() ? output_counts(*op, complete) : std::vector<int64_t>(output_names.size(), 1);
  made.output_names = std::move(output_names);
  made.values.assign(graph_.node(id).outputs.begin(), graph_.node(id).outputs.end());
  if (const SavedGradient* gradient = saved_gradient(def, *library_)) add_custom_gradient(def, *gradient);
}

// Behind an IdentityN: its outputs with the derivative that the gradient function gives.
void BodyReader::add_custom_gradient(const NodeDef& def, const SavedGradient& gradient) {
  Made& made = made_[def.name];
  std::vector<ValueId> values = made.values;  // the results, and the function's inputs
  const NodeId identity = graph_.value(values.at(0)).node;
  for (const ValueId v : graph_.node(identity).inputs) values.push_back(v);
  for (const SavedGradient::Capture& capture : gradient.captures) {
    const auto here = capture.value_in.find(graph_.name);
    if (here != capture.value_in.end()) values.push_back(flat_value(here->second));
    else if (capture.constant) values.push_back(graph_.add_constant(*capture.constant));
    else
      fail_unimplemented("GraphDef",
                         "its gradient " + gradient.function + " captures a value of another function");
  }
  std::vector<DType> types;
  for (const ValueId v : made.values) types.push_back(graph_.value(v).dtype);
  std::vector<ArgumentFacts> facts =
      facts_of(made.values);  // gradients have the shapes of what they belong to
  const std::vector<ArgumentFacts> captured = facts_of(std::span(values).subspan(2 * types.size()));
  facts.insert(facts.end(), captured.begin(), captured.end());
  const AttrList attrs = {{"Tout", types},
                          {"num_inputs", int64_t(types.size())},
                          {"given", gradient.given},
                          {"grad", BodyRef(library_->get(gradient.function, facts))}};
  const NodeId id = graph_.add_node(find_op("_CustomGradient"), Attrs(attrs), values);
  made.values.assign(graph_.node(id).outputs.begin(), graph_.node(id).outputs.end());
}

// As a graph's names go: the index counts all outputs of the node.
ValueId BodyReader::flat_value(std::string_view text) const {
  const InputRef ref = parse_input(text);
  const auto it = made_.find(ref.node);
  if (ref.control || it == made_.end() || size_t(ref.index) >= it->second.values.size())
    fail_graph_def("there is no value " + quote(text));
  return it->second.values[size_t(ref.index)];
}

std::vector<ArgumentFacts> BodyReader::facts_of(std::span<const ValueId> inputs) const {
  std::vector<ArgumentFacts> facts;
  for (const ValueId v : inputs) facts.push_back({graph_.value(v).shape, graph_.value(v).variable});
  return facts;
}

// What is true of the loop variables before and after any iteration.
std::vector<ArgumentFacts> BodyReader::loop_facts(const NodeDef& def, std::span<const ValueId> inputs) {
  std::vector<ArgumentFacts> facts = facts_of(inputs);
  const std::string* name = name_attr(def, "body");
  if (!name) return facts;  // the attribute's own error follows
  // As many as people's loops need; hostile files may take one per size and loop variable.
  constexpr int kRounds = 8;
  for (int round = 0;; ++round) {
    const auto body = library_->get(*name, facts);
    bool holds = true;
    for (size_t i = 0; i < facts.size() && i < body->outputs.size() && i < body->arguments.size(); ++i) {
      const GraphValue& in = body->value(body->arguments[i]);
      const GraphValue& out = body->value(body->outputs[i]);
      if (!says_more(out.shape, in.shape)) {
        facts[i].shape = common_shape(in.shape, out.shape);
        holds = false;
      }
      if (in.variable && !same_variable_spec(in.variable, out.variable)) {
        facts[i].variable = nullptr;
        holds = false;
      }
    }
    if (holds) return facts;
    if (round == kRounds) facts.assign(facts.size(), {});
  }
}

// Without what follows from the inputs and what is the default anyway.
AttrList BodyReader::read_attrs(const Op& op, const NodeDef& def, std::span<const ValueId> inputs) {
  AttrList attrs;
  std::vector<ArgumentFacts> facts;
  bool has_facts = false;
  const BodyOfName body_of_name = [&](const std::string& name) -> BodyRef {
    if (!has_facts) {
      const size_t before = std::min(inputs.size(), inputs_before_arguments(op.name));
      facts = is_loop(op.name) ? loop_facts(def, inputs) : facts_of(inputs.subspan(before));
      has_facts = true;
    }
    return library_->get(name, facts);
  };
  for (const auto& [name, proto] : def.attr) {
    if (name.empty() || name[0] == '_') continue;  // notes of TensorFlow's own to itself
    const AttrDef* attr = op.find_attr(name);
    if (!attr) fail_graph_def("op " + op.name + " has no attribute " + name);
    if (attr->inferred) continue;
    AttrValue value = from_attr_proto(*attr, proto, body_of_name, &library_->constants());
    if (!attr->default_value || !same_value(value, *attr->default_value))
      attrs.emplace_back(name, std::move(value));
  }
  // Shapes that the file gives a loop's results are taken where the functions bear them out.
  if (is_loop(op.name) && has_facts) {
    std::erase_if(attrs, [&](const auto& attr) {
      const auto* said = attr.second.template get_if<std::vector<Shape>>();
      if (!said || said->size() != facts.size()) return false;
      for (size_t i = 0; i < facts.size(); ++i)
        if (!says_more(facts[i].shape, (*said)[i])) return true;
      return false;
    });
  }
  return attrs;
}

// What the file says of types and numbers must be what the inputs are.
void BodyReader::check_inferred(const Op& op, const NodeDef& def, const AttrList& complete) const {
  for (const auto& [name, value] : complete) {
    const AttrDef* attr = op.find_attr(name);
    const auto said = def.attr.find(name);
    if (!attr->inferred || said == def.attr.end()) continue;
    const AttrValue stated = from_attr_proto(*attr, said->second, {}, &library_->constants());
    if (!same_value(stated, value))
      fail_graph_def("attribute " + name + " is " + stated.to_string() + ", but the inputs say " +
                     value.to_string());
  }
}

// Which variable stands behind a resource that a node gives.
void BodyReader::note_variables(const Op& op, const Attrs& attrs, NodeId id) {
  const Node& node = graph_.node(id);
  if (op.name == "VarHandleOp") {
    graph_.value(node.outputs[0]).variable = std::make_shared<VariableSpec>(
        VariableSpec{attr_as<DType>(op, attrs, "dtype"), attr_as<Shape>(op, attrs, "shape")});
  } else if (op.name == "Identity" && graph_.value(node.inputs[0]).variable) {
    graph_.value(node.outputs[0]).variable = graph_.value(node.inputs[0]).variable;
  }
  bool first = true;
  for_each_body(attrs, [&](const BodyRef& ref) {
    const Graph& body = graph_of(*ref);
    if (body.outputs.size() != node.outputs.size()) return;  // the condition of a loop
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      auto& variable = graph_.value(node.outputs[k]).variable;
      const auto& inside = body.value(body.outputs[k]).variable;
      if (first) variable = inside;
      else if (!same_variable_spec(variable, inside)) variable = nullptr;
    }
    first = false;
  });
}

}  // namespace rw
