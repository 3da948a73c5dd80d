// Effects: a check passes gradients on, and checks them too; a host function is differentiated by a tape.
#include <algorithm>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/gradient_tape.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/host_call.h"
#include "rewind/tensor/ops/effect.h"

namespace rw {
namespace {

// Which inputs and outputs of a host function its derivative is about.
struct HostDerivative {
  std::shared_ptr<const HostCall> f;
  size_t num_inputs = 0;
  std::vector<size_t> wanted, given;

  // The inputs, then gradients of the outputs that have one; gives gradients of the inputs that want one.
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments) const {
    const std::vector<Tensor> inputs(arguments.begin(), arguments.begin() + int64_t(num_inputs));
    const std::vector<Tensor> seeds(arguments.begin() + int64_t(num_inputs), arguments.end());
    GradientTape tape;
    std::vector<Tensor> sources, targets;
    for (const size_t i : wanted) sources.push_back(inputs[i]);
    tape.watch(sources);
    const std::vector<Tensor> outputs = (*f)(inputs);
    for (const size_t i : given) targets.push_back(outputs.at(i));
    const std::vector<Gradient> found = tape.flat_gradient(targets, sources, {.output_gradients = seeds});
    if (std::all_of(found.begin(), found.end(), [](const Gradient& g) { return g.none(); }))
      fail_precondition(
          "host_function",
          "the function has no gradient: it does not compute its results from its inputs by the "
          "library's ops; give it one with rw::custom_gradient, or none with rw::stop_gradient");
    std::vector<Tensor> results;
    for (size_t k = 0; k < wanted.size(); ++k)
      results.push_back(found[k].none() ? zeros_of(sources[k]) : found[k].tensor());
    return results;
  }
};

// The derivative is a host function too, so that it can be traced and differentiated again.
void host_function_gradient(GradContext& g) {
  HostDerivative d{host_call(g.attr<std::string>("token")), size_t(g.num_inputs()), {}, {}};
  std::vector<Tensor> arguments;
  std::vector<DType> types;
  for (int i = 0; i < g.num_inputs(); ++i) {
    arguments.push_back(g.input(i));
    if (!is_differentiable(g.input_dtype(i)) || !g.wants(i)) continue;
    d.wanted.push_back(size_t(i));
    types.push_back(g.input_dtype(i));
  }
  for (int i = 0; i < g.num_outputs(); ++i) {
    if (!is_differentiable(g.output_dtype(i)) || !g.has_grad(i)) continue;
    d.given.push_back(size_t(i));
    arguments.push_back(g.grad(i));
  }
  if (d.wanted.empty() || d.given.empty()) return;
  const std::vector<size_t> wanted = d.wanted;
  const std::vector<Tensor> results = host_function(std::move(d), arguments, types);
  for (size_t k = 0; k < wanted.size(); ++k)
    g.set(int(wanted[k]), reshape_to_input(results[k], g, int(wanted[k])));
}

}  // namespace

void register_effect_gradients() {
  for (const char* op : {"CheckNumerics", "CheckNumericsV2"}) {
    register_gradient(op, kNeedsNothing, [](GradContext& g) {
      const std::string message = "Not a number (NaN) or infinity (Inf) values detected in gradient. " +
                                  g.attr<std::string>("message");
      g.set(0, apply_one(g.op(), {&g.grad()}, {{"message", message}}));
    });
  }
  for (const char* op : {"PrintV2", "Assert", "NoOp"}) register_not_differentiable(op);
  register_gradient("EagerPyFunc", kNeedsInputs, host_function_gradient);
}

}  // namespace rw
