#include "rewind/autodiff/recompute_trace.h"

#include <atomic>

#include "rewind/autodiff/rule.h"
#include "rewind/autodiff/stretch_derivative.h"
#include "rewind/base/error.h"
#include "rewind/graph/copy.h"

namespace rw {
namespace {

bool takes_gradient(DType dtype) { return is_differentiable(dtype) || dtype == DType::kVariant; }

// Nodes that are traced while it lives lie in a region of their own.
class RegionScope {
 public:
  RegionScope() : trace_(thread_state().trace) {
    static std::atomic<int32_t> next{1};
    if (!trace_) return;
    saved_ = trace_->region;
    trace_->region = next.fetch_add(1, std::memory_order_relaxed);
  }
  ~RegionScope() {
    if (trace_) trace_->region = saved_;
  }
  RegionScope(const RegionScope&) = delete;
  RegionScope& operator=(const RegionScope&) = delete;

 private:
  Trace* trace_;
  int32_t saved_ = 0;
};

// The stretch as a graph of its own.
struct Stretch {
  std::shared_ptr<Graph> body = std::make_shared<Graph>();
  std::vector<ValueId> arguments, given;  // values of the trace
};

bool is_constant(const Graph& g, ValueId v) {
  const Node* maker = g.producer(v);
  return maker && maker->op->name == "Const";
}

// Cuts out the nodes from `begin` on that the results need. `outside(v)`: v is an argument of the body
// although a node of the stretch made it.
template <class Outside>
Stretch cut_out(const Graph& g, size_t begin, const std::vector<ValueId>& results, Outside outside) {
  Stretch s;
  s.body->name = g.name + "_recomputed";
  const size_t end = g.nodes().size();
  std::vector<uint8_t> needed(g.num_values(), 0);
  std::vector<uint8_t> taken(end - begin, 0);
  for (const ValueId v : results) needed[size_t(v)] = 1;
  auto kept_effect = [](const Node& n) { return has_effects(*n.op, n.attrs); };
  auto enters = [&](const Node& n) {  // its results come from outside
    if (!kept_effect(n)) return false;
    const GradientRule* rule = find_gradient(*n.op);
    return !rule || !rule->fn;
  };
  for (size_t i = end; i-- > begin;) {
    const Node& n = g.nodes()[i];
    if (enters(n)) continue;
    for (const ValueId v : n.outputs) taken[i - begin] |= needed[size_t(v)] && !outside(v);
    if (!taken[i - begin]) continue;
    for (const ValueId v : n.inputs) needed[size_t(v)] = 1;
  }
  GraphCopy copy(g, *s.body, GraphCopy::kFew);
  auto bring_in = [&](ValueId v) {
    if (copy.has(v)) return;
    if (is_constant(g, v) && !outside(v)) {
      copy.node(g.value(v).node);
      return;
    }
    copy.argument(v);
    s.arguments.push_back(v);
  };
  for (size_t v = 0; v < needed.size(); ++v) {
    if (!needed[v]) continue;
    const NodeId maker = g.value(ValueId(v)).node;
    const bool inside = maker >= NodeId(begin) && taken[size_t(maker) - begin] && !outside(ValueId(v));
    if (!inside) bring_in(ValueId(v));
  }
  for (size_t i = begin; i < end; ++i) {
    if (!taken[i - begin]) continue;
    const Node& n = g.nodes()[i];
    std::vector<ValueId> entered;  // they keep their argument
    for (const ValueId v : n.outputs) entered.push_back(copy.has(v) ? copy[v] : -1);
    copy.node(NodeId(i));
    for (size_t k = 0; k < entered.size(); ++k)
      if (entered[k] >= 0) copy.set(n.outputs[k], entered[k]);
    if (kept_effect(n)) s.given.insert(s.given.end(), n.outputs.begin(), n.outputs.end());
  }
  for (const ValueId v : results) s.body->outputs.push_back(copy[v]);
  // Who runs it again has a region.
  for (size_t i = 0; i < s.body->nodes().size(); ++i) s.body->node(NodeId(i)).region = 0;
  return s;
}

std::vector<Tensor> run_body(const Graph& body, std::span<const Tensor> arguments,
                             std::span<const Tensor> given) {
  std::vector<Tensor> values(body.num_values());
  for (size_t i = 0; i < arguments.size(); ++i) values[size_t(body.arguments[i])] = arguments[i];
  size_t next = 0;
  for (const Node& n : body.nodes()) {
    SmallVector<const Tensor*, 8> in;
    for (const ValueId v : n.inputs) in.push_back(&values[size_t(v)]);
    const TensorPointers inputs(in.data(), in.size());
    Tensors out;
    if (has_effects(*n.op, n.attrs)) {
      for (size_t k = 0; k < n.outputs.size(); ++k) out.push_back(given[next++]);
      tell_of_effect(*n.op, inputs, n.attrs, out);
    } else {
      const SiteScope site(n);
      out = rw::apply(*n.op, inputs, n.attrs);
    }
    for (size_t k = 0; k < n.outputs.size(); ++k) values[size_t(n.outputs[k])] = std::move(out[k]);
  }
  std::vector<Tensor> results;
  for (const ValueId v : body.outputs) results.push_back(values[size_t(v)]);
  return results;
}

}  // namespace

StretchRecorder::StretchRecorder(Trace& trace) : trace_(trace), begin_(trace.mark()) {
  depth = thread_state().depth;
  push_recorder(*this);
}

void StretchRecorder::stop() {
  if (!recording_) return;
  recording_ = false;
  remove_recorder(*this);
  around_.resume();
}

void StretchRecorder::on_variable_read(const Variable& variable) {
  for (Recorder* r : around_.recorders()) r->on_variable_read(variable);
}

void StretchRecorder::record(const Op&, TensorPointers inputs, const Attrs&, Tensors&) {
  if (thread_state().trace != &trace_) return;
  for (const Tensor* t : inputs) {
    const ValueId v = trace_.find(*t);
    if (v < 0) continue;
    const auto [it, fresh] = used_.emplace(v, *t);
    if (!fresh && it->second.impl() != t->impl() && around_.follow(*t)) it->second = *t;
  }
}

void StretchRecorder::finish(std::vector<Tensor>& results) {
  Graph& g = trace_.graph();
  const size_t begin = trace_.position(begin_);
  std::vector<ValueId> made;
  std::unordered_map<ValueId, size_t> place;
  for (const Tensor& t : results) {
    const ValueId v = is_symbol(t) && takes_gradient(t.dtype()) ? trace_.find(t) : -1;
    if (v < 0 || g.value(v).node < NodeId(begin)) continue;
    if (place.emplace(v, made.size()).second) made.push_back(v);
  }
  auto outside = [&](ValueId v) {
    const auto it = used_.find(v);
    return it != used_.end() && around_.follow(it->second);
  };
  const Stretch stretch = cut_out(g, begin, made, outside);
  stop();
  if (made.empty() || stretch.arguments.empty()) return;
  auto tensor_for = [&](ValueId v) {
    const auto it = used_.find(v);
    return it != used_.end() ? it->second : trace_.symbol(v);
  };
  std::vector<Tensor> values;
  std::vector<DType> types;
  for (const ValueId v : made) {
    values.push_back(trace_.symbol(v));
    types.push_back(g.value(v).dtype);
  }
  for (const ValueId v : stretch.arguments) values.push_back(tensor_for(v));
  for (const ValueId v : stretch.given) values.push_back(trace_.symbol(v));
  const BodyRef body = trace_.bodies.share(stretch.body);
  const Tensors out = rw::apply(RW_OP("_Recompute"), values, {{"Tout", types}, {"body", body}});
  for (Tensor& t : results) {
    if (!is_symbol(t)) continue;
    const auto it = place.find(trace_.find(t));
    if (it != place.end()) t = out[it->second];
  }
}

// The body once more under a tape of its own, in a region of its own.
static void recompute_gradient(GradContext& g) {
  const std::shared_ptr<const Graph> body = graph_ref(g.attr<BodyRef>("body"));
  const int first = g.num_outputs();
  const size_t num_arguments = body->arguments.size();
  std::vector<Tensor> inputs, given;
  for (int i = first; i < g.num_inputs(); ++i)
    (inputs.size() < num_arguments ? inputs : given).push_back(g.input(i));
  std::vector<Gradient> outputs;
  for (int i = 0; i < g.num_outputs(); ++i) outputs.push_back(g.raw_grad(i));
  std::vector<Gradient> own(num_arguments);
  std::vector<Gradient*> sums(num_arguments, nullptr);
  for (size_t i = 0; i < num_arguments; ++i) {
    if (!g.wants(first + int(i))) continue;
    sums[i] = g.sum(first + int(i));
    if (!sums[i]) sums[i] = &own[i];
  }
  const RegionScope region;
  const auto run = [&](std::span<const Tensor> in) { return run_body(*body, in, {}); };
  if (!given.empty() || !call_stretch_derivative(body, run, inputs, outputs, sums))
    differentiate_block([&] { return run_body(*body, inputs, given); }, inputs, outputs, sums);
  for (size_t i = 0; i < num_arguments; ++i)
    if (sums[i] == &own[i]) g.set(first + int(i), own[i]);
}

void register_recompute_gradients() {
  register_gradient("_Recompute", kNeedsInputs, recompute_gradient);
  register_gradient("_Given", kNeedsNothing, [](GradContext& g) { g.set(1, g.raw_grad()); });
}

}  // namespace rw
