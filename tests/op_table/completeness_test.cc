// Every row of the op table has all its parts. A failing test names the ops that lack the part.
#include <gtest/gtest.h>

#include <set>

#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/rule.h"
#include "rewind/kernel/kernel.h"
#include "rewind/op/table.h"
#include "rewind/tensor/variable.h"
#include "tests/support/goldens.h"

namespace rw::test {
namespace {

// Whether a derivative may pass through one of the arguments: floats, and the handles that lead to floats.
bool may_carry(const Op& op, const std::vector<ArgDef>& args) {
  constexpr DTypeSet kCarriers = kFloatTypes | kComplexTypes | set_of(DType::kResource, DType::kVariant);
  for (auto& arg : args) {
    if (arg.dtype != DType::kInvalid && contains(kCarriers, arg.dtype)) return true;
    int attr = arg.type_attr >= 0 ? arg.type_attr : arg.type_list_attr;
    if (attr < 0) continue;
    DTypeSet allowed = op.attrs[size_t(attr)].allowed_types;
    if (allowed == 0 || (allowed & kCarriers) != 0) return true;
  }
  return false;
}

// Fails with the names of the rows for which lacks(op) is true.
template <class Lacks>
void expect_none(const char* what, Lacks lacks) {
  std::string names;
  int count = 0;
  for (const Op* op : op_table().all()) {
    if (!lacks(*op)) continue;
    names += " " + op->name;
    ++count;
  }
  EXPECT_EQ(count, 0) << count << " of " << op_table().all().size() << " ops lack " << what << ":" << names;
}

TEST(Completeness, ShapeRule) {
  expect_none("a shape rule", [](const Op& op) { return op.shape_rule == nullptr; });
}

TEST(Completeness, Kernel) {
  Variable(constant(1.0f)).value();  // kernels of state ops are registered at the first use of one
  expect_none("a kernel", [](const Op& op) {
    return !op.view && !find_kernel(op, DeviceType::kCpu) && !op.rule(RuleSlot::kRuntimeKernel);
  });
}

TEST(Completeness, Gradient) {
  expect_none("a gradient rule, or the word that they have none", [](const Op& op) {
    return may_carry(op, op.inputs) && may_carry(op, op.outputs) && find_gradient(op) == nullptr;
  });
}

// Ops that rightly have no batching rule: vectorized_map calls them once per element.
struct OneByOne {
  const char* reason;
  std::set<std::string> ops;
};
const std::vector<OneByOne>& one_by_one() {
  static const auto* list = new std::vector<OneByOne>{
      {"nothing comes in that could differ", {"Const", "NoOp"}},
      {"the sizes of the results depend on values",
       {"Range", "Where", "Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "ListDiff",
        "StringSplit", "StringSplitV2", "StringNGrams", "UnicodeDecode", "UnicodeDecodeWithOffsets",
        "RaggedTensorToTensor", "RaggedRange", "RaggedGather"}},
      {"numbers are a function of one seed, so that many seeds are many draws",
       {"StatelessRandomUniform", "StatelessRandomUniformV2", "StatelessRandomNormal",
        "StatelessRandomNormalV2", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2",
        "StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2", "StatelessRandomUniformInt",
        "StatelessRandomUniformIntV2", "StatelessMultinomial", "StatelessRandomGetKeyCounter",
        "StatelessRandomGetKeyCounterAlg"}},
      {"shapes go in, and those are the same for all elements",
       {"BroadcastArgs", "BroadcastGradientArgs", "ConcatOffset"}},
      {"a text is written out of all of its inputs", {"StringFormat"}},
      {"the compiler makes them, behind batching",
       {"_Fused", "_Tiles", "_Attention", "_AttentionGrad", "_StatelessKeepingWhile", "_BackWhile"}},
  };
  return *list;
}

TEST(Completeness, Batching) {
  std::set<std::string> excused;
  for (const OneByOne& group : one_by_one()) excused.insert(group.ops.begin(), group.ops.end());
  // Effects happen in the order of the elements.
  expect_none("a batching rule, or the word why they have none",
              [&](const Op& op) { return !op.stateful && !has_batching(op) && !excused.count(op.name); });
  for (const std::string& name : excused) {
    const Op* op = op_table().find(name);
    EXPECT_TRUE(op && !has_batching(*op)) << name << " is excused without need";
  }
}

TEST(Completeness, GoldenCase) {
  // Nothing to compare: effects without outputs, handles, a function of the host's, iterators (which
  // interop/check_data.py compares), tables from files (interop/saved_models.py), and versions that
  // TensorFlow's CPU has no kernel for.
  std::set<std::string> covered{"PrintV2",
                                "Assert",
                                "NoOp",
                                "EagerPyFunc",
                                "IteratorGetNext",
                                "VarHandleOp",
                                "InitializeTableFromTextFileV2",
                                "TopK",
                                "FusedBatchNorm",
                                "FusedBatchNormGrad",
                                "FusedBatchNormGradV2"};
  for (auto& family : golden_families())
    for (auto& golden : goldens(family))
      for (auto& op : ops_of(golden.input.call))
        if (!golden.input.expect_error) covered.insert(op);
  // Ops with bodies are compared in tests/function, by programs.
  auto has_body = [](const Op& op) {
    for (const AttrDef& a : op.attrs)
      if (a.type == AttrType::kFunc) return true;
    return false;
  };
  // Rows of our own, which TensorFlow does not know, are tested where they are used.
  auto own = [](const Op& op) { return op.name[0] == '_'; };
  expect_none("a golden case",
              [&](const Op& op) { return covered.count(op.name) == 0 && !has_body(op) && !own(op); });
}

}  // namespace
}  // namespace rw::test
