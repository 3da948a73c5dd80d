// f eagerly and as a function: the same values and gradients.
#pragma once

#include <gtest/gtest.h>

#include "rewind/graph/graph.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw::autograph {

inline const std::vector<Tensor>& reals() {
  static const auto* all =
      new std::vector<Tensor>{constant(3.0), constant(-2.0), constant(0.0), constant(25.0)};
  return *all;
}

// Functions of one tensor; float inputs are differentiated. Returns the staged function.
template <class F>
auto eager_equals_staged(F f, const std::vector<Tensor>& inputs) {
  const auto staged = function(f);
  for (const Tensor& x : inputs) {
    const auto value_and_gradient = [&](const auto& call) {
      GradientTape tape;
      if (is_differentiable(x.dtype())) tape.watch(x);
      const Tensor y = call(x);
      if (!is_differentiable(x.dtype()) || !is_differentiable(y.dtype())) return std::pair{y, Tensor(0)};
      return std::pair{y,
                       tape.gradient(y, x, {.unconnected_gradients = UnconnectedGradients::ZERO}).tensor()};
    };
    const auto [y, dy] = value_and_gradient(f);
    const auto [z, dz] = value_and_gradient(staged);
    EXPECT_EQ(y.dtype(), z.dtype());
    EXPECT_TRUE(bool(reduce_all(equal(y, z)))) << x << ": " << y << " " << z;
    EXPECT_TRUE(bool(reduce_all(equal(dy, dz)))) << x << ": " << dy << " " << dz;
  }
  EXPECT_EQ(staged.tracing_count(), 1);
  return staged;
}

// How often a row occurs in the graph of f and in the bodies inside.
inline int count_rows(const Graph& g, std::string_view row) {
  int n = 0;
  for (const Node& node : g.nodes()) {
    n += std::string_view(node.op->name).ends_with(row);
    for (const char* body : {"cond", "body", "then_branch", "else_branch"})
      if (node.attrs.find(body)) n += count_rows(*graph_attr(node, body), row);
  }
  return n;
}
template <class F>
int count_rows(const F& f, const TensorSpec& spec, std::string_view row) {
  return count_rows(f.get_concrete_function(spec)->graph().ir(), row);
}

}  // namespace rw::autograph
