#include "rewind/function/derivative.h"

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/tape.h"
#include "rewind/base/error.h"
#include "rewind/function/staging.h"
#include "rewind/runtime/variable_cell.h"

namespace rw {
namespace {

// Which values somebody needs: outputs, and effects that always happen.
std::vector<uint8_t> needed_values(const Graph& g, const std::vector<ValueId>& outputs) {
  std::vector<uint8_t> needed(g.num_values(), 0);
  for (const ValueId v : outputs) needed[size_t(v)] = 1;
  for (size_t i = g.nodes().size(); i-- > 0;) {
    const Node& n = g.nodes()[i];
    bool wanted = n.op->stateful && effects_of(n).must_run();
    for (const ValueId v : n.outputs) wanted |= needed[size_t(v)] != 0;
    if (!wanted) continue;
    for (const ValueId v : n.inputs) needed[size_t(v)] = 1;
  }
  return needed;
}

std::vector<ValueId> outputs_at(const Graph& g, const std::vector<size_t>& places) {
  std::vector<ValueId> values;
  for (const size_t i : places) values.push_back(g.outputs[i]);
  return values;
}

// Runs the body's nodes in the trace, under the tape; results of effects become late arguments.
std::vector<Tensor> recompute(const Graph& body, Trace& trace, Tape& tape, std::vector<Tensor> values) {
  for (const Node& n : body.nodes()) {
    SmallVector<const Tensor*, 8> in;
    for (const ValueId v : n.inputs) in.push_back(&values[size_t(v)]);
    const TensorPointers inputs(in.data(), in.size());
    Tensors out;
    if (n.op->stateful && effects_of(n).any()) {
      for (const ValueId v : n.outputs) {
        const GraphValue& made = body.value(v);
        out.push_back(trace.add_late_argument(made.dtype, made.shape));
        const ValueId here = trace.graph().arguments.back();
        trace.graph().value(here).variable = made.variable;
        trace.mirror->in_body.emplace(here, v);
      }
      if (!out.empty()) tape.record(*n.op, inputs, n.attrs, out);
    } else {
      out = rw::apply(*n.op, inputs, n.attrs);
    }
    for (size_t k = 0; k < n.outputs.size(); ++k) values[size_t(n.outputs[k])] = std::move(out[k]);
  }
  return values;
}

}  // namespace

bool takes_gradient(DType dtype) { return is_differentiable(dtype) || dtype == DType::kVariant; }
bool takes_gradient(const GraphValue& v) {
  return takes_gradient(v.dtype) ||
         (v.dtype == DType::kResource && v.variable && is_differentiable(v.variable->dtype));
}

std::shared_ptr<const VariableSpec> variable_behind(const Tensor& handle) {
  if (handle.dtype() != DType::kResource) return nullptr;
  if (is_symbol(handle)) {
    const auto& s = static_cast<const SymbolImpl&>(*handle.impl());
    return s.trace->graph().value(s.value).variable;
  }
  const VariableCell& cell = variable_of(handle.impl()->view(), "gradient");
  return std::make_shared<VariableSpec>(VariableSpec{cell.dtype, cell.shape});
}

Tensor zero_gradient(const Tensor& t) {
  if (t.dtype() == DType::kVariant) return zeros_of(t);
  if (t.dtype() != DType::kResource)
    return t.shape().fully_known() ? filled(t.dtype(), t.shape(), 0) : zeros_of(t);
  const std::shared_ptr<const VariableSpec> spec = variable_behind(t);
  RW_CHECK(spec != nullptr);
  if (spec->shape.fully_known()) return filled(spec->dtype, spec->shape, 0);
  return filled_dims(spec->dtype, apply_one(RW_OP("VariableShape"), {&t}), 0);
}

HostTensor host_scalar(int32_t value) { return {DType::kInt32, {}, std::make_shared<const int32_t>(value)}; }

HostTensor element_shape_of(const Shape& shape) {
  if (!shape.has_rank()) return host_scalar(-1);
  std::shared_ptr<int32_t[]> dims(new int32_t[size_t(shape.rank()) + 1]);
  for (int k = 0; k < shape.rank(); ++k) dims[size_t(k)] = int32_t(shape[k]);
  return {DType::kInt32, {shape.rank()}, std::shared_ptr<const void>(dims, dims.get())};
}

std::vector<size_t> Derivative::needed_for(const std::vector<size_t>& outputs) const {
  const std::vector<uint8_t> needed = needed_values(*graph, outputs_at(*graph, outputs));
  std::vector<size_t> list;
  for (size_t i = 0; i < graph->arguments.size(); ++i)
    if (needed[size_t(graph->arguments[i])]) list.push_back(i);
  return list;
}

void Derivative::copy_into(GraphCopy& copy, const std::vector<size_t>& outputs) const {
  const std::vector<uint8_t> needed = needed_values(*graph, outputs_at(*graph, outputs));
  for (size_t i = 0; i < graph->nodes().size(); ++i) {
    const Node& n = graph->nodes()[i];
    bool wanted = n.op->stateful && effects_of(n).must_run();
    for (const ValueId v : n.outputs) wanted |= needed[size_t(v)] != 0;
    if (wanted) copy.node(NodeId(i));
  }
}

Derivative differentiate(const Graph& body, const Graph& current, const std::vector<size_t>& wanted,
                         const std::vector<size_t>& seeds) {
  Derivative d;
  d.forward = std::make_shared<Graph>(current);
  const Ref<Trace> trace = new_body("grad");
  trace->graph().name = body.name + "_grad";
  trace->mirror = std::make_unique<Trace::Mirror>();
  trace->mirror->body = d.forward;
  const TraceScope scope(*trace);
  std::vector<Tensor> values(body.num_values());
  for (const ValueId a : body.arguments) {
    const GraphValue& v = body.value(a);
    values[size_t(a)] = trace->add_argument(v.dtype, v.shape);
    GraphValue& here = trace->graph().value(trace->graph().arguments.back());
    here.variable = v.variable;
    here.known = v.known;
  }
  std::vector<Tensor> gradients;
  for (const size_t i : seeds) {
    const GraphValue& v = body.value(body.outputs[i]);
    gradients.push_back(trace->add_argument(v.dtype, v.shape));
  }
  std::vector<Gradient> found;
  std::vector<Tensor> sources;
  {
    Tape tape(/*persistent=*/false, /*watch_accessed_variables=*/false);
    for (const size_t i : wanted) {
      sources.push_back(values[size_t(body.arguments[i])]);
      tape.watch(sources.back());
    }
    values = recompute(body, *trace, tape, std::move(values));
    std::vector<Tensor> targets;
    for (const size_t i : seeds) targets.push_back(values[size_t(body.outputs[i])]);
    found = tape.gradient(targets, sources, gradients);
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < found.size(); ++i) {
    d.given.push_back(!found[i].none());
    results.push_back(found[i].none() ? zero_gradient(sources[i]) : found[i].tensor());
  }
  trace->finish(results);
  d.graph = trace->graph_ref();

  for (size_t i = 0; i < d.graph->arguments.size(); ++i) {
    const size_t n = body.arguments.size();
    const auto it = trace->mirror->in_body.find(d.graph->arguments[i]);
    DerivativeArgument& a = d.arguments.emplace_back();
    if (i < n) {
      a.index = i;
    } else if (i < n + seeds.size()) {
      a.kind = DerivativeArgument::kSeed;
      a.index = i - n;
    } else if (it != trace->mirror->in_body.end()) {
      a.kind = DerivativeArgument::kKept;
      a.kept = it->second;
    } else {
      a.kind = DerivativeArgument::kCapture;
      a.captured = trace->captures()[i - n - seeds.size()];
    }
  }
  return d;
}

}  // namespace rw
