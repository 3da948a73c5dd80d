#include "rewind/runtime/evaluate.h"

#include <vector>

#include "rewind/base/error.h"
#include "rewind/graph/uses.h"
#include "rewind/runtime/checkpointed_loop.h"

namespace rw {
namespace {

using Inputs = std::span<const Value* const>;

thread_local int t_evaluating = 0;  // bodies inside a reference evaluation are evaluated too

struct Evaluating {
  Evaluating() { ++t_evaluating; }
  ~Evaluating() { --t_evaluating; }
};

}  // namespace

ValueList evaluate_body(const BodyRef& body, Inputs inputs) {
  if (!run_compiled_body || t_evaluating > 0) return evaluate(graph_of(*body), inputs);
  ValueList results;
  run_compiled_body(body, inputs, &results);
  return results;
}

bool condition_holds(const Value& v, const Op& op) {
  if (v.size != 1) fail_invalid(op.tag, "a condition must be one value: got shape " + v.shape.to_string());
  switch (v.dtype) {
    case DType::kBool: return *static_cast<const bool*>(v.data);
    case DType::kInt32: return *static_cast<const int32_t*>(v.data) != 0;
    case DType::kInt64: return *static_cast<const int64_t*>(v.data) != 0;
    case DType::kFloat32: return *static_cast<const float*>(v.data) != 0;
    case DType::kFloat64: return *static_cast<const double*>(v.data) != 0;
    default:
      fail_invalid(op.tag, "a condition must be a bool or a number: got " + std::string(name_of(v.dtype)));
  }
}

namespace {

void run_if(const Op& op, const Attrs& attrs, Inputs in, ValueList& outputs) {
  outputs =
      evaluate_body(attr_as<BodyRef>(op, attrs, condition_holds(*in[0], op) ? "then_branch" : "else_branch"),
                    in.subspan(1));
}

void run_case(const Op& op, const Attrs& attrs, Inputs in, ValueList& outputs) {
  const auto branches = attr_as<std::vector<BodyRef>>(op, attrs, "branches");
  int64_t i = *static_cast<const int32_t*>(in[0]->data);
  if (i < 0 || i >= int64_t(branches.size())) i = int64_t(branches.size()) - 1;  // the default is the last
  outputs = evaluate_body(branches[size_t(i)], in.subspan(1));
}

void run_while(const Op& op, const Attrs& attrs, Inputs in, ValueList& outputs) {
  const auto cond = attr_as<BodyRef>(op, attrs, "cond");
  const auto body = attr_as<BodyRef>(op, attrs, "body");
  outputs.clear();
  for (const Value* v : in) outputs.push_back(*v);
  SmallVector<const Value*, 8> state(outputs.size());
  while (true) {
    for (size_t i = 0; i < outputs.size(); ++i) state[i] = &outputs[i];
    const ValueList more = evaluate_body(cond, {state.data(), state.size()});
    if (!condition_holds(more[0], op)) return;
    outputs = evaluate_body(body, {state.data(), state.size()});
  }
}

void pass_first(const Op& op, const Attrs& attrs, Inputs in, ValueList& outputs) {
  const size_t count =
      op.find_attr("Tout") ? attr_as<std::vector<DType>>(op, attrs, "Tout").size() : op.outputs.size();
  for (size_t i = 0; i < count; ++i) outputs.push_back(*in[i]);
}

void run_call(const Op& op, const Attrs& attrs, Inputs in, ValueList& outputs) {
  outputs = evaluate_body(attr_as<BodyRef>(op, attrs, "f"), in);
}

}  // namespace

ValueList evaluate(const Graph& g, Inputs inputs) {
  const Evaluating scope;
  RW_CHECK(inputs.size() == g.arguments.size());
  Uses live(g);
  std::vector<Value> values(g.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) values[size_t(g.arguments[i])] = *inputs[i];
  SmallVector<const Value*, 8> in;
  for (size_t i = 0; i < g.nodes().size(); ++i) {
    if (!live.needed[i]) continue;
    const Node& n = g.nodes()[i];
    in.resize(n.inputs.size());
    for (size_t k = 0; k < n.inputs.size(); ++k) in[k] = &values[size_t(n.inputs[k])];
    ValueList out = run_eager(*n.op, n.attrs, {in.data(), in.size()});
    for (size_t k = 0; k < n.outputs.size(); ++k)
      if (live.count[size_t(n.outputs[k])] > 0) values[size_t(n.outputs[k])] = std::move(out[k]);
    for (const ValueId v : n.inputs)
      if (--live.count[size_t(v)] == 0) values[size_t(v)] = Value();
  }
  ValueList results;
  for (const ValueId v : g.outputs) results.push_back(values[size_t(v)]);
  return results;
}

void register_control_runtime_kernels() {
  for (const char* prefix : {"", "Stateless"}) {
    const std::string p = prefix;
    register_runtime_kernel(p + "If", run_if);
    register_runtime_kernel(p + "Case", run_case);
    register_runtime_kernel(p + "While", run_while);
  }
  register_checkpointed_loop_kernels();
  register_runtime_kernel("_Fused", run_call);
  register_runtime_kernel("_Tiles", run_call);
  register_runtime_kernel("_CustomGradient", pass_first);
  register_runtime_kernel("_Recompute", pass_first);
  register_runtime_kernel("_Given", pass_first);
  register_runtime_kernel("PartitionedCall", run_call);
  register_runtime_kernel("StatefulPartitionedCall", run_call);
}

}  // namespace rw
