#include "rewind/function/staging.h"

#include <bit>

#include "rewind/base/error.h"
#include "rewind/function/control_rules.h"
#include "rewind/op/table.h"

namespace rw {

Ref<Trace> new_body(std::string_view kind) {
  const Trace* outer = current_trace();
  std::string name = outer ? const_cast<Trace*>(outer)->graph().name + "_" : std::string();
  Ref<Trace> trace = Ref<Trace>::adopt(new Trace(name.append(kind)));
  trace->part_of_outer = true;
  trace->may_create_variables = outer && outer->may_create_variables;
  return trace;
}

std::vector<Tensor> share_captures(std::span<const Ref<Trace>> bodies) {
  std::vector<Tensor> all;
  std::vector<GraphValue> facts;
  std::unordered_map<const TensorImpl*, size_t> place;
  for (const Ref<Trace>& body : bodies) {
    const std::vector<Tensor>& captures = body->captures();
    for (size_t i = 0; i < captures.size(); ++i) {
      if (!place.emplace(captures[i].impl(), all.size()).second) continue;
      all.push_back(captures[i]);
      facts.push_back(body->graph().value(body->graph().arguments[body->num_arguments() + i]));
    }
  }
  for (const Ref<Trace>& body : bodies) {
    Graph& g = body->graph();
    const size_t own = body->num_arguments();
    std::vector<ValueId> arguments(g.arguments.begin(), g.arguments.begin() + int64_t(own));
    std::vector<ValueId> behind(all.size(), -1);
    for (size_t i = own; i < g.arguments.size(); ++i)
      behind[place.at(body->captures()[i - own].impl())] = g.arguments[i];
    for (size_t i = 0; i < all.size(); ++i) {
      if (behind[i] >= 0) continue;
      behind[i] = g.add_argument(facts[i].dtype, facts[i].shape);
      g.value(behind[i]).variable = facts[i].variable;
      g.value(behind[i]).known = facts[i].known;
    }
    arguments.insert(arguments.end(), behind.begin(), behind.end());
    g.arguments = std::move(arguments);
    g.argument_names.resize(g.arguments.size());
    for (size_t i = 0; i < g.arguments.size(); ++i) g.value(g.arguments[i]).index = int32_t(i);
  }
  return all;
}

const Op& control_row(const Op& op, const Attrs& attrs) {
  std::string name = op.name;
  const bool call = name == "PartitionedCall" || name == "StatefulPartitionedCall";
  if (call) name = "PartitionedCall";
  else if (name.starts_with("Stateless")) name.erase(0, 9);
  const std::string stateless = call ? name : "Stateless" + name;
  const Op& plain = find_op(stateless);
  return effects_of(plain, attrs).any() ? find_op(call ? "StatefulPartitionedCall" : name) : plain;
}

Tensors apply_control(std::string_view stateful_row, const std::vector<Tensor>& inputs, const Attrs& attrs) {
  link_control_flow_rules();
  return rw::apply(control_row(find_op(stateful_row), attrs), inputs, attrs);
}

bool value_is_known(const Tensor& t) {
  const TensorImpl& impl = *t.impl();
  return impl.kind == TensorKind::kEager || (impl.kind == TensorKind::kSymbol && known_data(impl) != nullptr);
}

std::string structure_text(const TraceKey& key) {
  std::string text;
  const auto words = key.words();
  for (size_t i = 0; i < words.size(); ++i) {
    const uint64_t detail = words[i] & 0xffffffffffffff;
    if (i > 0) text += ", ";
    switch (TraceKey::Tag(words[i] >> 56)) {
      case TraceKey::kTensor:
        text += "tensor";
        i += size_t(std::max<int>(0, int32_t(detail)));
        break;
      case TraceKey::kValue: text += "value " + std::to_string(words[++i]); break;
      case TraceKey::kText: {
        std::string name(detail, 0);
        std::memcpy(name.data(), words.data() + i + 1, detail);
        text += "'" + name + "'";
        i += (detail + 7) / 8;
        break;
      }
      case TraceKey::kVariable:
      case TraceKey::kObject: text += "object " + std::to_string(words[++i]); break;
      case TraceKey::kNothing: text += "nothing"; break;
      case TraceKey::kList: text += "a list of " + std::to_string(detail); break;
    }
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace rw
