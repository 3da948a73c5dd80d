#include "rewind/autodiff/stretch_derivative.h"

#include <map>
#include <optional>

#include "rewind/autodiff/block.h"
#include "rewind/tensor/trace.h"

namespace rw {
namespace {

constexpr size_t kFewestNodes = 16;  // of a stretch for which a function is worth it

// What a derivative depends on besides the body: which results have gradients, which inputs want one, and
// which of those have a sum already.
using Asked = std::vector<uint8_t>;

struct StretchDerivative {
  std::shared_ptr<const Graph> graph;  // nullptr: it is none
  std::vector<size_t> of;              // by output: the input whose gradient it is
};

// Of a body, kept beside it. One thread traces at a time.
struct StretchDerivatives {
  mutable std::map<Asked, StretchDerivative> made;
};

bool plain(const Graph& body, ValueId value) {
  const GraphValue& v = body.value(value);
  return !is_host_only(v.dtype) && v.shape.fully_known();
}

bool plain(const Graph& body, ValueId value, const Gradient& gradient) {
  if (gradient.none()) return true;
  const GraphValue& v = body.value(value);
  if (gradient.slices()) return false;
  const Tensor t = gradient.tensor();
  return t.dtype() == v.dtype && t.shape() == v.shape;
}

std::optional<Asked> asked_for(const Graph& body, std::span<const Gradient> outputs,
                               std::span<Gradient* const> sums) {
  Asked asked;
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    if (!plain(body, body.outputs[i]) || !plain(body, body.outputs[i], outputs[i])) return {};
    asked.push_back(!outputs[i].none());
  }
  for (size_t i = 0; i < body.arguments.size(); ++i) {
    if (!plain(body, body.arguments[i])) return {};
    if (sums[i] && !plain(body, body.arguments[i], *sums[i])) return {};
    asked.push_back(!sums[i] ? 0 : sums[i]->none() ? 1 : 2);
  }
  return asked;
}

StretchDerivative trace_derivative(const Graph& body, RunStretch run, std::span<const Gradient> outputs,
                                   std::span<Gradient* const> sums) {
  const Ref<Trace> trace = Ref<Trace>::adopt(new Trace(body.name + "_derivative"));
  const TraceScope scope(*trace);
  const auto argument = [&](ValueId v) {
    const Tensor made = trace->add_argument(body.value(v).dtype, body.value(v).shape);
    return made;
  };
  std::vector<Tensor> inputs;
  for (const ValueId v : body.arguments) {
    inputs.push_back(argument(v));
    trace->graph().value(trace->value_of(inputs.back())).known = body.value(v).known;
  }
  std::vector<Gradient> seeds(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].none()) seeds[i] = argument(body.outputs[i]);
  std::vector<Gradient> totals(inputs.size());
  std::vector<Gradient*> places(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!sums[i]) continue;
    places[i] = &totals[i];
    if (!sums[i]->none()) totals[i] = argument(body.arguments[i]);
  }
  differentiate_block([&] { return run(inputs); }, inputs, seeds, places);
  StretchDerivative made;
  std::vector<Tensor> results;
  bool fits = trace->captures().empty();
  for (size_t i = 0; i < totals.size(); ++i) {
    if (totals[i].none()) continue;
    fits = fits && plain(body, body.arguments[i], totals[i]);
    if (!fits) return {};
    made.of.push_back(i);
    results.push_back(totals[i].tensor());
  }
  if (!fits || results.empty()) return {};
  trace->finish(results);
  // A result that is from outside the trace is a capture too.
  if (trace->captures().empty()) made.graph = trace->graph_ref();
  return made;
}

}  // namespace

bool call_stretch_derivative(const std::shared_ptr<const Graph>& body, RunStretch run,
                             std::span<const Tensor> inputs, std::span<const Gradient> outputs,
                             std::span<Gradient* const> sums) {
  if (!calls_become_nodes() || body->nodes().size() < kFewestNodes) return false;
  const std::optional<Asked> asked = asked_for(*body, outputs, sums);
  if (!asked) return false;
  std::shared_ptr<const void> kept = body->attachment();
  if (!kept) kept = body->attach(std::make_shared<const StretchDerivatives>());
  const auto& all = *static_cast<const StretchDerivatives*>(kept.get());
  const auto [it, fresh] = all.made.try_emplace(*asked);
  if (fresh) it->second = trace_derivative(*body, run, outputs, sums);
  const StretchDerivative& derivative = it->second;
  if (!derivative.graph) return false;
  std::vector<Tensor> arguments(inputs.begin(), inputs.end());
  for (const Gradient& g : outputs)
    if (!g.none()) arguments.push_back(g.tensor());
  for (const Gradient* g : sums)
    if (g && !g->none()) arguments.push_back(g->tensor());
  const BodyRef f = derivative.graph;
  const Tensors out =
      rw::apply(RW_OP("PartitionedCall"), arguments, {{"Tout", derivative.graph->output_types()}, {"f", f}});
  for (size_t k = 0; k < derivative.of.size(); ++k) *sums[derivative.of[k]] = out[k];
  return true;
}

}  // namespace rw
