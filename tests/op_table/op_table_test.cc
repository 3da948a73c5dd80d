// Every op against TensorFlow's goldens, and its rules against plain evaluation: numeric gradient, second
// derivative, forward mode, batching. One test a family and kind of check; a failing case is named by its op
// and label.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <set>

#include "rewind/op/table.h"
#include "tests/support/batching_check.h"
#include "tests/support/case_run.h"
#include "tests/support/compare.h"
#include "tests/support/derivative_check.h"
#include "tests/support/goldens.h"

namespace rw::test {
namespace {

class OpFamily : public ::testing::TestWithParam<std::string> {
 protected:
  // Calls fn(golden) for the family's cases whose ops are all in the table; gives the ops that are not.
  template <class Fn>
  std::set<std::string> each_case(Fn fn) {
    std::set<std::string> missing;
    for (auto& golden : goldens(GetParam())) {
      bool known = true;
      for (auto& op : ops_of(golden.input.call)) {
        if (op_table().find(op)) continue;
        missing.insert(op);
        known = false;
      }
      if (known) fn(golden);
    }
    return missing;
  }

  // The derivative checks: on smooth cases with a gradient, float32 or wider, whose values are finite.
  void check_derivatives(Verdict (*check)(const Case&)) { check_all(check, suits_derivatives); }

  static bool suits_batching(const Golden& golden) {
    return !golden.input.expect_error && golden.input.checks == std::vector{Check::kValues};
  }

  void check_all(Verdict (*check)(const Case&), bool (*suits)(const Golden&)) {
    int passed = 0;
    std::set<std::string> skipped;
    each_case([&](const Golden& golden) {
      if (!suits(golden)) return;
      Verdict v = check(with_known_gradients(golden));
      if (v.status == Verdict::kFailed) ADD_FAILURE() << golden.input.name() << ": " << v.text;
      else if (v.status == Verdict::kSkipped) skipped.insert(golden.input.call.op + ": " + v.text);
      else ++passed;
    });
    std::cout << passed << " checked, " << skipped.size() << " skipped\n";
    for (auto& text : skipped) std::cout << "  skipped " << text << '\n';
  }

  // Without the leaves for which TensorFlow's gradient is none although the op depends on them (Zeta's x).
  static Case with_known_gradients(const Golden& golden) {
    Case c = clone(golden.input);
    c.wanted.clear();
    for (size_t k = 0; k < golden.want.gradients.size(); ++k)
      if (golden.want.gradients[k]) c.wanted.push_back(golden.input.wanted[k]);
    return c;
  }

  static bool suits_derivatives(const Golden& golden) {
    const Case& c = golden.input;
    if (!c.smooth || !c.differentiable || c.expect_error || c.wanted.empty()) return false;
    Case copy = clone(c);
    auto inputs = leaves(copy.call);
    for (auto k : c.wanted) {
      DType t = inputs[k]->value.dtype;
      if (t == DType::kFloat16 || t == DType::kBfloat16 || inputs[k]->value.size() == 0) return false;
    }
    for (auto& part : {golden.want.outputs, golden.want.gradients})
      for (auto& a : part)
        for (int64_t i = 0; a && epsilon_of(a->dtype) != 0 && i < a->num_components(); ++i)
          if (!std::isfinite(a->component(i))) return false;
    return true;
  }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OpFamily);

TEST_P(OpFamily, ValuesAndGradientsEqualTensorFlow) {
  std::set<std::string> unimplemented;
  int checked = 0;
  auto missing = each_case([&](const Golden& golden) {
    Result got = run_case(golden.input);
    if (got.failed && !golden.want.failed && got.error == "UnimplementedError") {
      unimplemented.insert(golden.input.name() + ": " + got.message);
      return;
    }
    ++checked;
    auto text = difference(golden.input, golden.want, got);
    if (!text.empty()) ADD_FAILURE() << golden.input.name() << ": " << text;
    if (got.error == "std::exception")
      ADD_FAILURE() << golden.input.name() << ": not an rw::Error: " << got.message;
  });
  std::cout << checked << " checked, " << unimplemented.size() << " not implemented\n";
  for (auto& text : unimplemented) std::cout << "  not implemented: " << text << '\n';
  for (auto& op : missing) std::cout << "  not in the table: " << op << '\n';
}

TEST_P(OpFamily, GradientEqualsDifferences) { check_derivatives(check_numeric_gradient); }

TEST_P(OpFamily, SecondGradientEqualsDifferences) {
  check_all(check_second_gradient, [](const Golden& g) { return g.input.twice && suits_derivatives(g); });
}

TEST_P(OpFamily, ForwardModeEqualsDifferences) { check_derivatives(check_forward_mode); }

TEST_P(OpFamily, BatchingEqualsLoop) { check_all(check_batching, suits_batching); }

INSTANTIATE_TEST_SUITE_P(Goldens, OpFamily, ::testing::ValuesIn(golden_families()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace rw::test
