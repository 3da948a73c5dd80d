// The graphs of plain C++ are those of cond and while_loop written by hand, node for node: what is carried,
// what is captured, and in which order things happen.
#include <gtest/gtest.h>

#include "rewind/data/dataset.h"
#include "rewind/graph/graph.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/autograph_support.h"

namespace rw::autograph {
namespace {

// What results and effects need; the rest is left to the compiler.
std::set<const Node*> needed(const Graph& graph) {
  std::set<const Node*> found;
  std::vector<ValueId> open = graph.outputs;
  const auto add = [&](const Node& node) {
    if (found.insert(&node).second) open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  };
  for (const Node& node : graph.nodes())
    if (node.op->stateful) add(node);
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (const Node* node = graph.producer(v)) add(*node);
  }
  return found;
}
// Nodes with their operands by number, bodies behind the node that they belong to.
void write(const Graph& graph, const std::string& indent, std::string& text) {
  std::map<ValueId, std::string> names;
  for (const ValueId v : graph.arguments) names[v] = "in" + std::to_string(names.size());
  const std::set<const Node*> live = needed(graph);
  int count = 0;
  for (const Node& node : graph.nodes()) {
    if (!live.contains(&node)) continue;
    text += indent + std::to_string(count) + ": " + node.op->name + "(";
    for (const ValueId v : node.inputs) text += (v == node.inputs.front() ? "" : ", ") + names[v];
    text += ")\n";
    for (size_t k = 0; k < node.outputs.size(); ++k)
      names[node.outputs[k]] = std::to_string(count) + (k ? "." + std::to_string(k) : "");
    ++count;
    for (const char* body : {"cond", "body", "then_branch", "else_branch", "f"})
      if (node.attrs.find(body)) {
        text += indent + "  " + body + "\n";
        write(*graph_attr(node, body), indent + "    ", text);
      }
  }
  text += indent + "->";
  for (const ValueId v : graph.outputs) text += " " + names[v];
  text += "\n";
}
template <class F, class... S>
std::string graph_of(const F& f, const S&... specs) {
  std::string text;
  write(f.get_concrete_function(specs...)->graph().ir(), "", text);
  return text;
}

const TensorSpec kReal(Shape(), float32), kInt(Shape(), int32);

Tensor collatz(Tensor n) {
  Tensor steps = 0;
  while (n > 1) {
    if (n % 2 == 0) n = math::floordiv(n, 2);
    else n = 3 * n + 1;
    steps += 1;
  }
  return steps;
}
TEST(AutographGraphs, Collatz) {
  const auto by_hand = [](Tensor n) {
    return std::get<1>(
        while_loop([](Tensor n, Tensor) { return n > 1; },
                   [](Tensor n, Tensor steps) {
                     const Tensor next =
                         cond(n % 2 == 0, [&] { return math::floordiv(n, 2); }, [&] { return 3 * n + 1; });
                     return std::tuple{next, steps + 1};
                   },
                   std::tuple{n, constant(0)}));
  };
  EXPECT_EQ(graph_of(function(collatz), kInt), graph_of(function(by_hand), kInt));
}

Tensor cube_root(const Tensor& a) {
  Tensor x = a;
  Tensor step = 1.0;
  while (rw::abs(step) > 1e-6) {
    step = (x * x * x - a) / (3 * x * x);
    x -= step;
  }
  return x;
}
TEST(AutographGraphs, Newton) {
  const auto by_hand = [](const Tensor& a) {
    return std::get<0>(while_loop([](Tensor, Tensor step) { return rw::abs(step) > 1e-6; },
                                  [&](Tensor x, Tensor) {
                                    const Tensor step = (x * x * x - a) / (3 * x * x);
                                    return std::tuple{x - step, step};
                                  },
                                  std::tuple{a, constant(1.0)}));
  };
  EXPECT_EQ(graph_of(function(cube_root), kReal), graph_of(function(by_hand), kReal));
  // And the derivative's.
  const auto gradient = [](const auto& f) {
    return function([&f](const Tensor& a) {
      GradientTape tape;
      tape.watch(a);
      const Tensor y = f(a);
      return tape.gradient(y, a).tensor();
    });
  };
  EXPECT_EQ(graph_of(gradient(cube_root), kReal), graph_of(gradient(by_hand), kReal));
}

Tensor sum_even(const Tensor& items) {
  Tensor sum = 0;
  for (Tensor i : range(size(items))) {
    const Tensor item = items(i);
    if (item % 2 == 0) sum += item;
  }
  return sum;
}
TEST(AutographGraphs, SumOverEvenItems) {
  const TensorSpec items(Shape({-1}), int32);
  const auto by_hand = [](const Tensor& items) {
    const Tensor n = size(items);
    return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < n; },
                                  [&](Tensor i, Tensor sum) {
                                    const Tensor item = items(i);
                                    const Tensor next =
                                        cond(item % 2 == 0, [&] { return sum + item; }, [&] { return sum; });
                                    return std::tuple{i + 1, next};
                                  },
                                  std::tuple{constant(0), constant(0)}));
  };
  EXPECT_EQ(graph_of(function(sum_even), items), graph_of(function(by_hand), items));
}

Tensor recurrent(const Tensor& rows, const Tensor& weights, const Tensor& length) {
  Tensor state = zeros({2});
  Tensor i = 0;
  while (i < length) {
    state = tanh(rows(i) + linalg::matvec(weights, state));
    i += 1;
  }
  return state;
}
TEST(AutographGraphs, Recurrent) {
  const TensorSpec rows(Shape({-1, 2}), float32), weights(Shape({2, 2}), float32);
  const auto by_hand = [](const Tensor& rows, const Tensor& weights, const Tensor& length) {
    return std::get<0>(while_loop([&](Tensor, Tensor i) { return i < length; },
                                  [&](Tensor state, Tensor i) {
                                    return std::tuple{tanh(rows(i) + linalg::matvec(weights, state)), i + 1};
                                  },
                                  std::tuple{zeros({2}), constant(0)}));
  };
  EXPECT_EQ(graph_of(function(recurrent), rows, weights, kInt),
            graph_of(function(by_hand), rows, weights, kInt));
}

// A whole training loop: the gradient, the optimizer's update and a print inside of it.
struct Training {
  Variable w{constant({{0.5}, {-0.25}})}, b{constant({0.0})};
  keras::SGD optimizer{{.learning_rate = 0.1}};
  Tensor loss_of(const Tensor& x, const Tensor& y) const { return reduce_mean(square(matmul(x, w) + b - y)); }
  Tensor step(const Tensor& x, const Tensor& y) const {
    GradientTape tape;
    const Tensor loss = loss_of(x, y);
    optimizer.apply_gradients(tape.gradient(loss, std::vector{w, b}), std::vector{w, b});
    return loss;
  }
  Tensor plain(const Tensor& x, const Tensor& y, const Tensor& steps) const {
    Tensor loss = 0.0;
    Tensor i = 0;
    while (i < steps) {
      i += 1;
      loss = step(x, y);
      if (i % 10 == 0) print("Step", i, ": loss", loss);
    }
    return loss;
  }
  Tensor by_hand(const Tensor& x, const Tensor& y, const Tensor& steps) const {
    return std::get<0>(while_loop([&](Tensor, Tensor i) { return i < steps; },
                                  [&](Tensor, Tensor i) {
                                    const Tensor next = i + 1;
                                    const Tensor loss = step(x, y);
                                    cond(next % 10 == 0, [&] { print("Step", next, ": loss", loss); }, [] {});
                                    return std::tuple{loss, next};
                                  },
                                  std::tuple{constant(0.0), constant(0)}));
  }
};
TEST(AutographGraphs, Training) {
  const TensorSpec x(Shape({-1, 2}), float32), y(Shape({-1, 1}), float32);
  const Training model;
  const auto graph = [&](auto method) {
    return graph_of(function([&](Tensor a, Tensor b, Tensor n) { return (model.*method)(a, b, n); }), x, y,
                    kInt);
  };
  EXPECT_EQ(graph(&Training::plain), graph(&Training::by_hand));
}

}  // namespace
}  // namespace rw::autograph
