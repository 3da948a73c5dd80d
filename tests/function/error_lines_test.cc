// Errors of traced ops name the user's line. This file is built with debug information (tests/CMakeLists.txt)
// and stands outside namespace rw, as users' code does.
#include <gtest/gtest.h>

#include "rewind/base/call_site.h"
#include "rewind/graph/graph.h"
#include "rewind/rewind.h"

namespace user_code {
namespace {

std::string text_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const rw::Error& e) { return e.what(); }
  return "nothing was thrown";
}

class ErrorLines : public testing::Test {
 protected:
  void SetUp() override {
    if (rw::CallSite::here().describe().find("error_lines_test.cc:") == std::string::npos)
      GTEST_SKIP() << "no llvm-symbolizer or addr2line here";
  }
  static void expect_place(const std::string& text, const char* relation, int line) {
    const std::string wanted = "error_lines_test.cc:" + std::to_string(line);
    const size_t place = text.find(wanted);
    ASSERT_NE(place, std::string::npos) << "no " << wanted << " in: " << text;
    const size_t start = text.rfind('\n', place) + 1;
    EXPECT_EQ(text.substr(start).find("  " + std::string(relation) + " "), 0) << text;
  }
};

// `line` is set while the call is traced.
#define EXPECT_AT(call, line)                        \
  do {                                               \
    const std::string text = text_of([&] { call; }); \
    expect_place(text, "at", line);                  \
  } while (false)

TEST_F(ErrorLines, ATracedTensorAsBool) {
  int made = 0;
  int used = 0;
  auto f = rw::function([&](rw::Tensor x) {
    made = __LINE__ + 1;
    rw::Tensor positive = x > 0.0;
    used = __LINE__ + 1;
    if (positive) return x;
    return -x;
  });
  const std::string text = text_of([&] { f(rw::constant(1.0)); });
  expect_place(text, "made at", made);
  expect_place(text, "used at", used);
}

TEST_F(ErrorLines, ATracedTensorAfterItsTrace) {
  rw::Tensor leaked;
  int made = 0;
  auto f = rw::function([&](rw::Tensor x) {
    made = __LINE__ + 1;
    leaked = rw::tanh(x);
    return x;
  });
  f(rw::constant(1.0));
  const int used = __LINE__ + 1;
  const std::string text = text_of([&] { leaked + 1.0; });
  expect_place(text, "made at", made);
  expect_place(text, "used at", used);
}

int line_of_helper = 0;
rw::Tensor helper(const rw::Tensor& a, const rw::Tensor& b) {
  line_of_helper = __LINE__ + 1;
  return rw::matmul(a, b);
}

TEST_F(ErrorLines, ShapesWhileTracing) {
  auto f = rw::function([&](const rw::Tensor& a, const rw::Tensor& b) { return helper(a, b) * 2.0; });
  const std::string text = text_of([&] { f(rw::ones({2, 3}), rw::ones({2, 3})); });
  expect_place(text, "at", line_of_helper);
  EXPECT_NE(text.find("helper"), std::string::npos) << text;
}

TEST_F(ErrorLines, ShapesOfOpenSizesWhileRunning) {
  auto f = rw::function([&](const rw::Tensor& a, const rw::Tensor& b) { return helper(a, b) * 2.0; },
                        {.input_signature = {{{{-1, -1}, rw::float32}, {{-1, -1}, rw::float32}}}});
  f(rw::ones({2, 3}), rw::ones({3, 1}));
  EXPECT_AT(f(rw::ones({2, 3}), rw::ones({2, 3})), line_of_helper);
}

TEST_F(ErrorLines, AKernelThatFails) {
  int line = 0;
  auto f = rw::function([&](const rw::Tensor& x, const rw::Tensor& i) {
    rw::Tensor y = x * 2.0;
    line = __LINE__ + 1;
    y = rw::gather(y, i);
    return y + 1.0;
  });
  f(rw::ones({3}), rw::constant({1}));
  EXPECT_AT(f(rw::ones({3}), rw::constant({7})), line);
}

TEST_F(ErrorLines, InsideABranchOfACondition) {
  int line = 0;
  auto f = rw::function([&](const rw::Tensor& x, const rw::Tensor& i) {
    return rw::cond(
        rw::reduce_sum(x) > 0.0,
        [&] {
          line = __LINE__ + 1;
          return rw::gather(x, i);
        },
        [&] { return rw::cast(i, rw::float32); });
  });
  EXPECT_AT(f(rw::ones({3}), rw::constant({7})), line);
}

TEST_F(ErrorLines, InsideAnInnerFunctionAndItsTrainingForm) {
  int line = 0;
  auto inner = rw::function([&](const rw::Tensor& x, const rw::Tensor& i) {
    line = __LINE__ + 1;
    return rw::gather(x, i);
  });
  auto outer = rw::function([&](const rw::Tensor& x, const rw::Tensor& i) { return inner(x, i) * 3.0; });
  EXPECT_AT(outer(rw::ones({3}), rw::constant({7})), line);
  const rw::Tensor x = rw::ones({3});
  rw::GradientTape tape;
  tape.watch(x);
  EXPECT_AT(outer(x, rw::constant({7})), line);
}

TEST_F(ErrorLines, AnOpWithoutGradient) {
  static const bool added = [] {
    rw::op_table()
        .add("TestLineNoGradient(x: T) -> (y: T); T: {float, double}")
        .shape(rw::same_shape_as_input)
        .view();
    return true;
  }();
  ASSERT_TRUE(added);
  int line = 0;
  auto f = rw::function([&](const rw::Tensor& x) {
    rw::GradientTape tape;
    tape.watch(x);
    line = __LINE__ + 1;
    const rw::Tensor y = rw::raw_op("TestLineNoGradient", {x * 2.0}, {})[0];
    return rw::Tensor(tape.gradient(y, x));
  });
  EXPECT_AT(f(rw::ones({3}, rw::float64)), line);
}

TEST_F(ErrorLines, ABackwardOpComesFromTheLineThatAskedForTheGradient) {
  int line = 0;
  auto f = rw::function([&](const rw::Tensor& x) {
    rw::GradientTape tape;
    tape.watch(x);
    const rw::Tensor y = rw::tanh(x) * x;
    line = __LINE__ + 1;
    return rw::Tensor(tape.gradient(y, x));
  });
  const auto concrete = f.get_concrete_function(rw::ones({3}));
  const rw::Graph& g = concrete->graph().ir();
  const auto site = std::static_pointer_cast<const rw::CallSite>(g.producer(g.outputs[0])->site);
  expect_place("x\n  at " + site->describe(), "at", line);
}

TEST_F(ErrorLines, TheClassOfTheErrorStays) {
  auto f = rw::function([&](const rw::Tensor& a, const rw::Tensor& b) { return rw::matmul(a, b); });
  EXPECT_THROW(f(rw::ones({2, 3}), rw::ones({2, 3})), rw::InvalidArgumentError);
}

}  // namespace
}  // namespace user_code
