// Gradients of the binary elementwise ops. Each side is summed back over the axes it was broadcast along.
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/ops/binary.h"

namespace rw {
namespace {

// Sets the gradients of x and y, reduced to their shapes; `dx` and `dy` are computed only when wanted.
template <class X, class Y>
void set_both(GradContext& g, X dx, Y dy) {
  if (g.wants(0)) g.set(0, sum_to_shape(dx(), g.input_shape(0)));
  if (g.wants(1)) g.set(1, sum_to_shape(dy(), g.input_shape(1)));
}

}  // namespace

void register_binary_gradients() {
  register_gradient("AddV2", kNeedsNothing, [](GradContext& g) {
    set_both(g, [&] { return g.grad(); }, [&] { return g.grad(); });
  });
  register_gradient("Sub", kNeedsNothing, [](GradContext& g) {
    set_both(g, [&] { return g.grad(); }, [&] { return -g.grad(); });
  });
  register_gradient("Mul", kNeedsInputs, [](GradContext& g) {
    set_both(g, [&] { return g.grad() * g.input(1); }, [&] { return g.input(0) * g.grad(); });
  });
}

}  // namespace rw
