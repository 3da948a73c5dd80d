#include "rewind/autodiff/recompute_trace.h"
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/trace.h"

namespace rw {

// The rules of If, While and calls trace their bodies: they are in function/. Fused groups and attention come
// up behind differentiation.
void register_control_gradients() {
  for (const char* op : {"_Fused", "_Attention", "_AttentionGrad", "_Tiles", "_BackWhile", "_KeepingWhile",
                         "_StatelessKeepingWhile"})
    register_not_differentiable(op);
  register_recompute_gradients();
  register_gradient("_CustomGradient", kNeedsInputs, [](GradContext& g) {
    std::vector<Tensor> arguments;
    for (int i = 0; i < g.num_outputs(); ++i) arguments.push_back(g.grad(i));
    const int captures = g.num_outputs() + g.attr<int>("num_inputs");
    for (int i = captures; i < g.num_inputs(); ++i) arguments.push_back(g.input(i));
    const std::vector<Tensor> results = replay(*graph_ref(g.attr<BodyRef>("grad")), arguments);
    const auto given = g.attr<std::vector<int64_t>>("given");
    for (size_t k = 0; k < given.size(); ++k) g.set(g.num_outputs() + int(given[k]), results[k]);
  });
}

}  // namespace rw
