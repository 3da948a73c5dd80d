// Second runs of elementwise groups inside groups that read the same values: one group fewer, the same bits.
#include <gtest/gtest.h>

#include "rewind/compiler/llvm/compile.h"
#include "rewind/compiler/lower.h"
#include "rewind/compiler/memory/describe.h"
#include "rewind/compiler/memory/join_runs.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/op/table.h"
#include "tests/support/graph_examples.h"

namespace rw::test {
namespace {

// The backward pass of y = tanh(x w) * tanh(x w): the activation is made again for the gradient of the next
// layer's weight, then its derivative reads the same product.
struct Backward {
  Graph graph;
  std::vector<HostTensor> feeds;

  Backward() {
    const ValueId x = argument({48, 64}), w = argument({64, 96}), dy = argument({48, 32}),
                  next = argument({32, 96});
    const ValueId product = op("MatMul", {x, w});
    const ValueId t = op("Tanh", {product});
    const ValueId activation = op("Mul", {t, t});
    const ValueId dnext = op("MatMul", {activation, dy}, {{"transpose_a", true}});
    const ValueId dactivation = op("MatMul", {dy, next});
    const ValueId again = op("Tanh", {product});
    const ValueId dproduct = op("Mul", {dactivation, op("Mul", {again, op("Cos", {again})})});
    graph.outputs = {dnext, dproduct};
  }
  ValueId argument(const Shape& shape) {
    feeds.push_back(numbers(shape, int64_t(feeds.size()) + 1));
    return graph.add_argument(DType::kFloat32, shape);
  }
  ValueId op(const char* name, std::vector<ValueId> inputs, const Attrs& attrs = {}) {
    return graph.node(graph.add_node(find_op(name), attrs, inputs)).outputs[0];
  }
};

std::vector<NodeId> groups_of(const Graph& g) {
  std::vector<NodeId> list;
  for (size_t i = 0; i < g.nodes().size(); ++i)
    if (g.nodes()[i].op->name == "_Fused") list.push_back(NodeId(i));
  return list;
}

TEST(JoinRuns, AnActivationAndItsDerivativeAreOneGroup) {
  if (!loop::has_native_code()) GTEST_SKIP() << "nothing is fused without LLVM";
  const Backward b;
  const Graph fused = fuse_epilogues(fuse(b.graph));
  const std::vector<NodeId> groups = groups_of(fused);
  ASSERT_EQ(groups.size(), 2u) << fused.to_string();
  const std::vector<JoinedRun> joins = find_joins(fused, {groups[0]});
  ASSERT_EQ(joins.size(), 1u) << fused.to_string();
  EXPECT_EQ(joins[0].into, groups[1]);
  const Graph joined = join_runs(fused, joins);
  verify(joined);
  ASSERT_EQ(groups_of(joined).size(), 1u) << joined.to_string();
  const Node& both = joined.node(groups_of(joined)[0]);
  ASSERT_EQ(both.outputs.size(), 2u);
  EXPECT_EQ(made_by(joined, both.outputs[0]), "MatMul + Tanh + Cos + Mul");
  EXPECT_EQ(made_by(joined, both.outputs[1]), "Tanh + Mul");

  const std::vector<HostTensor> want = run_graph(b.graph, b.feeds);
  const std::shared_ptr<Program> program = lower(joined, false, nullptr);
  const std::vector<HostTensor> got = run_graph(b.graph, b.feeds, [&](std::span<const Value* const> inputs) {
    ValueList results;
    program->run(inputs, &results);
    return results;
  });
  for (size_t k = 0; k < want.size(); ++k) EXPECT_TRUE(same_bits(want[k], got[k])) << "result " << k;
}

TEST(JoinRuns, AGroupThatNeedsTheReaderStaysBehindIt) {
  if (!loop::has_native_code()) GTEST_SKIP() << "nothing is fused without LLVM";
  Backward b;
  // Now the derivative also reads what the first reader of the activation makes.
  const ValueId row =
      b.op("Sum", {b.graph.outputs[0],
                   b.graph.add_constant(HostTensor{DType::kInt32, Shape({2}), [] {
                                                     auto axes = std::make_shared<std::array<int32_t, 2>>();
                                                     *axes = {0, 1};
                                                     return std::shared_ptr<const void>(axes, axes->data());
                                                   }()})});
  b.graph.outputs.push_back(b.op("Mul", {b.op("Tanh", {b.graph.outputs[1]}), row}));
  const Graph fused = fuse_epilogues(fuse(b.graph));
  const std::vector<NodeId> groups = groups_of(fused);
  ASSERT_GE(groups.size(), 2u);
  for (const JoinedRun& j : find_joins(fused, {groups[0]}))
    for (const ValueId v : fused.node(j.into).inputs) EXPECT_LT(fused.value(v).node, j.before);
}

}  // namespace
}  // namespace rw::test
