// What follows from constants alone is computed while compiling, as far as bytes and work are bounded.
#include <gtest/gtest.h>

#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/pipeline.h"
#include "rewind/function/function.h"
#include "rewind/rewind.h"
#include "rewind/runtime/program.h"

namespace rw {
namespace {

template <class F>
std::string kernels_of(const F& f, const Tensor& x) {
  const auto concrete = f.get_concrete_function(x);
  std::vector<Shape> shapes{x.shape()};
  for (const Tensor& t : concrete->captured_inputs()) shapes.push_back(t.shape());
  return compile(concrete->graph().ir(), shapes, 0)->list_kernels();
}

// Runs as eagerly, with or without `op` among the kernels.
template <class F>
void expect_folded(const F& f, const Tensor& x, const std::string& op, bool folded) {
  const auto traced = function(f);
  EXPECT_EQ(traced(x).template to_vector<float>(), f(x).template to_vector<float>());
  EXPECT_EQ(kernels_of(traced, x).find(op) == std::string::npos, folded) << kernels_of(traced, x);
}

Tensor matrix(int64_t n) {
  return reshape(range(0.0F, float(n * n), 1.0F) * (1.0F / float(n * n * n)), {n, n});
}

TEST(FoldConstants, ProductsOfConstantMatrices) {
  const Tensor m = matrix(100);
  expect_folded(
      [m](const Tensor& x) {
        Tensor y = m;
        for (int i = 0; i < 5; ++i) y = matmul(y, m);
        return x + y;
      },
      ones({100, 100}), "MatMul", true);
  expect_folded([](const Tensor& x) { return x + matmul(fill({80, 80}, 0.5F), fill({80, 80}, 0.25F)); },
                ones({80, 80}), "MatMul", true);
  expect_folded([m](const Tensor& x) { return x * reduce_sum(exp(m)); }, ones({3}), "Sum", true);
  expect_folded([](const Tensor& x) { return x + sin(range(0.0F, 10000.0F, 1.0F)); }, ones({10000}), "Sin",
                true);
}

TEST(FoldConstants, AnswersThatDependOnArgumentsStay) {
  const Tensor m = matrix(80);
  expect_folded([m](const Tensor& x) { return matmul(x, m); }, ones({80, 80}), "MatMul", false);
  const Variable v(m);
  expect_folded([v, m](const Tensor& x) { return x + matmul(v, m); }, ones({80, 80}), "MatMul", false);
}

TEST(FoldConstants, CopiesOfOneNumberStayCopies) {
  const auto f = function([](const Tensor& x) { return x + fill({200, 200}, 3.0F); });
  const Tensor x = ones({200, 200});
  EXPECT_EQ(f(x).to_vector<float>(), std::vector<float>(40000, 4.0F));
  const auto before = memory::stats().current;
  kernels_of(f, x);
  EXPECT_LT(memory::stats().current - before, 40000);
}

TEST(FoldConstants, MoreBytesThanTheBoundAreLeftToTheRun) {
  expect_folded([](const Tensor& x) { return x + sqrt(range(0.0F, 5e6F, 1.0F))[4999999]; }, ones({2}),
                "StridedSlice", true);  // small in the end
  expect_folded([](const Tensor& x) { return x + sqrt(range(0.0F, 17e6F, 1.0F)); }, ones({17000000}), "Range",
                false);
}

TEST(FoldConstants, MoreWorkThanTheBoundIsLeftToTheRun) {
  const Tensor m =
      fill({1500, 1500}, 1e-4F);  // 6.75 10^9 multiplications for two products: a second by the model
  const auto f = function([m](const Tensor& x) {
    Tensor y = m;
    for (int i = 0; i < 40; ++i) y = matmul(y, m);
    return x + y;
  });
  EXPECT_NE(kernels_of(f, ones({1500, 1500})).find("MatMul"), std::string::npos);
}

TEST(FoldConstants, UnderABudgetOnlySmallOnes) {
  const Tensor m = matrix(100);
  const auto f = [m](const Tensor& x) { return x + matmul(m, m); };
  const Tensor x = ones({100, 100});
  const auto tight = function(f, {.memory_budget = int64_t(256) << 20});
  EXPECT_EQ(tight(x).to_vector<float>(), f(x).to_vector<float>());
  const auto report = tight.memory_plan(x);
  EXPECT_LE(report.predicted_peak, int64_t(256) << 20);
}

TEST(FoldConstants, FailuresAreLeftToTheRun) {
  const Tensor m = matrix(80), rows = constant({1, 100});
  const auto f = function([=](const Tensor& x) {
    const Tensor bad = gather(m, rows);
    return std::pair(x + 1.0F, x + reduce_sum(bad));
  });
  EXPECT_THROW(f(ones({2})), InvalidArgumentError);
}

TEST(FoldConstants, TapesSeeTheSameGradients) {
  const Tensor m = matrix(80);
  const auto f = [m](const Tensor& x) { return matmul(x, matmul(m, m)) + exp(m); };
  const Tensor x = ones({80, 80});
  const auto gradient_of = [&](const auto& g) {
    GradientTape tape;
    tape.watch(std::vector<Tensor>{x, m});
    const Tensor y = g(x);
    const auto d = tape.gradient(y, std::vector<Tensor>{x, m});
    return std::pair(Tensor(d[0]).to_vector<float>(), Tensor(d[1]).to_vector<float>());
  };
  const auto [ex, em] = gradient_of(f);
  const auto [cx, cm] = gradient_of(function(f));
  for (size_t i = 0; i < ex.size(); ++i) {
    EXPECT_NEAR(ex[i], cx[i], 1e-5F * std::abs(ex[i]) + 1e-6F);
    EXPECT_NEAR(em[i], cm[i], 1e-5F * std::abs(em[i]) + 1e-6F);
  }
}

}  // namespace
}  // namespace rw
