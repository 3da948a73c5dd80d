// Splits that only fused groups read: the groups read the parts where they lie.
#include <gtest/gtest.h>

#include "tests/compiler/building.h"

namespace rw::test {
namespace {

std::vector<ValueId> split(Building& b, ValueId x, int32_t axis, int64_t count) {
  const ValueId along = b.graph.add_constant({DType::kInt32, {}, std::make_shared<const int32_t>(axis)});
  const ValueId inputs[] = {along, x};
  const IdList& parts =
      b.graph.node(b.graph.add_node(find_op("Split"), {{"num_split", count}}, inputs)).outputs;
  return {parts.begin(), parts.end()};
}

ValueId gated(Building& b, ValueId x, ValueId gate) {
  return b.op("Mul", {b.op("Tanh", {x}), b.op("Sigmoid", {gate})});
}

TEST(FuseParts, PartsAlongEveryAxis) {
  SKIP_WITHOUT_NATIVE_CODE;
  for (const int32_t axis : {0, 1, 2, -1, -2}) {
    Building b;
    const std::vector<ValueId> parts = split(b, b.argument({6, 4, 8}), axis, 2);
    b.graph.outputs = {gated(b, parts[0], parts[1])};
    const std::string text = b.compiled();
    EXPECT_FALSE(contains(text, "kernel Split")) << text;
  }
}

// The gates of an LSTM, behind a product.
TEST(FuseParts, FourGatesOfOneProduct) {
  SKIP_WITHOUT_NATIVE_CODE;
  Building b;
  const ValueId z = b.op("MatMul", {b.argument({5, 7}), b.argument({7, 4 * 19})});
  const ValueId c = b.argument({5, 19});
  const std::vector<ValueId> gates = split(b, b.op("AddV2", {z, b.argument({4 * 19})}), 1, 4);
  const ValueId next =
      b.op("AddV2", {b.op("Mul", {b.op("Sigmoid", {gates[1]}), c}), gated(b, gates[2], gates[0])});
  b.graph.outputs = {next, gated(b, next, gates[3])};
  const std::string text = b.compiled();
  EXPECT_FALSE(contains(text, "kernel Split")) << text;
}

// Operands that broadcast, and rows that are summed.
TEST(FuseParts, PartsBroadcastAndReduce) {
  SKIP_WITHOUT_NATIVE_CODE;
  Building b;
  const std::vector<ValueId> rows = split(b, b.argument({3, 40}), 0, 3);
  const std::vector<ValueId> halves = split(b, b.argument({9, 80}), 1, 2);
  const ValueId last = b.graph.add_constant({DType::kInt32, {1}, std::make_shared<const int32_t>(1)});
  const ValueId x = b.op("AddV2", {b.op("Mul", {halves[0], rows[1]}), rows[2]});
  const ValueId sum = b.op("Sum", {b.op("Exp", {x}), last}, {{"keep_dims", true}});
  b.graph.outputs = {b.op("RealDiv", {b.op("AddV2", {halves[1], b.op("Sub", {x, rows[0]})}), sum})};
  const std::string text = b.compiled();
  EXPECT_FALSE(contains(text, "kernel Split")) << text;
}

// A part that something else reads, or that is a result, is made; and so are the others of its split.
TEST(FuseParts, PartsThatOthersReadAreMade) {
  SKIP_WITHOUT_NATIVE_CODE;
  for (const bool result : {true, false}) {
    Building b;
    const std::vector<ValueId> parts = split(b, b.argument({6, 6}), 1, 2);
    b.graph.outputs = {gated(b, parts[0], parts[1]),
                       result ? parts[1] : b.op("MatMul", {b.argument({4, 6}), parts[1]})};
    const std::string text = b.compiled();
    EXPECT_TRUE(contains(text, "kernel Split")) << text;
  }
}

// A row of a product's own result is read by all rows: the group must not be written over the product.
TEST(FuseParts, APartOfTheProductBehindIt) {
  SKIP_WITHOUT_NATIVE_CODE;
  Building b;
  const ValueId product = b.op("MatMul", {b.argument({4, 7}), b.argument({7, 16})});
  const std::vector<ValueId> rows = split(b, product, 0, 4);
  b.graph.outputs = {b.op("Tanh", {b.op("Mul", {b.op("AddV2", {product, rows[0]}), rows[3]})}),
                     b.op("Sigmoid", {b.op("Neg", {b.op("Sub", {rows[1], rows[2]})})})};
  b.compiled();
}

}  // namespace
}  // namespace rw::test
