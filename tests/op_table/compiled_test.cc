// Every golden case eagerly, by the reference evaluator on its traced graph, and compiled: the same bits, but
// for graphs with reductions, products, convolutions and factorisations in them, whose order of summation the
// compiler may choose; those within the case's tolerance. Gradients are traced with the case.
#include <gtest/gtest.h>

#include <cstring>
#include <iostream>

#include "rewind/op/table.h"
#include "tests/support/case_run.h"
#include "tests/support/compare.h"
#include "tests/support/goldens.h"

namespace rw::test {
namespace {

// Ops of these families sum up.
const std::set<std::string>& summing_ops() {
  static const std::set<std::string> ops = [] {
    std::set<std::string> found;
    for (const char* family : {"reduce", "matmul", "conv", "linalg", "nn"})
      for (const Golden& g : goldens(family)) found.insert(g.input.call.op);
    return found;
  }();
  return ops;
}

bool sums(const std::set<std::string>& ops) {
  for (const std::string& op : ops)
    if (summing_ops().count(op)) return true;
  return false;
}

bool same_bits(const std::optional<Array>& a, const std::optional<Array>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  if (a->dtype != b->dtype || a->dims != b->dims || a->strings != b->strings) return false;
  if (a->bytes == b->bytes) return true;
  const bool floats = epsilon_of(a->dtype) != 0;
  const size_t width = a->bytes.size() / size_t(a->num_components());
  for (int64_t i = 0; i < a->num_components(); ++i) {
    // Not-a-numbers are all the same.
    if (floats && a->component(i) != a->component(i) && b->component(i) != b->component(i)) continue;
    if (std::memcmp(&a->bytes[size_t(i) * width], &b->bytes[size_t(i) * width], width) != 0) return false;
  }
  return true;
}

// Values of another length than the eager ones, or another bit: what difference() does not see.
std::string bit_difference(const Case& c, const Result& want, const Result& got) {
  for (size_t k = 0; k < want.outputs.size(); ++k) {
    const Check check = c.checks.size() == 1  ? c.checks[0]
                        : k < c.checks.size() ? c.checks[k]
                                              : Check::kValues;
    if (check == Check::kValues && !same_bits(want.outputs[k], got.outputs[k]))
      return "output " + std::to_string(k) + ": other bits";
  }
  for (size_t k = 0; k < want.gradients.size(); ++k)
    if (!same_bits(want.gradients[k], got.gradients[k]))
      return "gradient " + std::to_string(k) + ": other bits";
  return "";
}

// A rule that asks for the number behind an argument (an axis, a size) finds none while tracing; a few say
// that they need a matrix's sizes or a rank.
bool needs_more(const Result& r) {
  return r.failed && (r.message.find("has no value while the function is traced") != std::string::npos ||
                      r.error.find("UnimplementedError") != std::string::npos);
}

class CompiledFamily : public ::testing::TestWithParam<std::string> {
 protected:
  // Cases without gradients, or those that have some.
  void check(LeavesAs as, bool gradients) {
    int checked = 0, by_bits = 0;
    std::set<std::string> skipped;
    for (const Golden& golden : goldens(GetParam())) {
      if (gradients && golden.input.wanted.empty()) continue;
      Case c = clone(golden.input);
      if (!gradients) c.wanted.clear();
      bool known = true;
      for (const std::string& op : ops_of(c.call)) known &= op_table().find(op) != nullptr;
      if (!known) continue;
      const Result eager = run_case(c);
      if (eager.error == "UnimplementedError") continue;
      const CompiledResults traced = run_compiled(c, as);
      if (!eager.failed && needs_more(traced.graph)) {
        skipped.insert(c.call.op + ": " + traced.graph.error);
        continue;
      }
      ++checked;
      const bool loose = sums(traced.ops);
      by_bits += !loose;
      compare(c, loose, eager, traced.graph, "the graph");
      compare(c, loose, eager, traced.compiled, "compiled");
    }
    std::cout << checked << " checked, " << by_bits << " of them by bits, " << skipped.size() << " skipped\n";
    for (const std::string& text : skipped) std::cout << "  skipped " << text << '\n';
  }

 private:
  static void compare(const Case& c, bool loose, const Result& eager, const Result& got, const char* what) {
    std::string text;
    if (eager.failed || got.failed) {
      if (eager.failed != got.failed)
        text = eager.failed ? "does not raise " + eager.error + ": " + eager.message
                            : "raises " + got.error + ": " + got.message;
    } else {
      text = difference(c, eager, got);
      if (text.empty() && !loose) text = bit_difference(c, eager, got);
    }
    if (!text.empty()) ADD_FAILURE() << c.name() << ", " << what << ": " << text;
  }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CompiledFamily);

TEST_P(CompiledFamily, Values) { check(LeavesAs::kArguments, false); }
TEST_P(CompiledFamily, ValuesOfUnknownSizes) { check(LeavesAs::kUnknownSizes, false); }
TEST_P(CompiledFamily, ValuesOfUnknownRank) { check(LeavesAs::kUnknownRank, false); }
TEST_P(CompiledFamily, ValuesOfConstants) { check(LeavesAs::kConstants, false); }
TEST_P(CompiledFamily, Gradients) { check(LeavesAs::kData, true); }
TEST_P(CompiledFamily, GradientsOfArguments) { check(LeavesAs::kArguments, true); }
TEST_P(CompiledFamily, GradientsOfUnknownSizes) { check(LeavesAs::kUnknownSizes, true); }
TEST_P(CompiledFamily, GradientsOfUnknownRank) { check(LeavesAs::kUnknownRank, true); }
TEST_P(CompiledFamily, GradientsOfConstants) { check(LeavesAs::kConstants, true); }

INSTANTIATE_TEST_SUITE_P(Goldens, CompiledFamily, ::testing::ValuesIn(golden_families()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace rw::test
