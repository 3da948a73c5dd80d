// Direct products: each element is one chain of multiply-adds, whatever the shape, the instruction set, the
// number of threads and the way the factors lie.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/gemm.h"
#include "rewind/kernel/cpu/isa/gemm_direct.h"
#include "rewind/rewind.h"

namespace rw {

#ifdef __x86_64__
namespace isa_v3 {
const DirectLoops* direct_loops();
}
namespace isa_v4 {
const DirectLoops* direct_loops();
}
#endif

namespace {

std::vector<float> numbers(int64_t n, float phase) {
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i) * 1.7f + phase);
  return x;
}

// One after the other, rounded once or twice as the instruction set does.
std::vector<float> reference(const Gemm& g, const std::vector<float>& a, const std::vector<float>& b,
                             bool fused) {
  std::vector<float> c(size_t(g.m * g.n));
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < g.k; ++p) {
        const float x = a[size_t(g.transpose_a ? p * g.lda + i : i * g.lda + p)];
        const float y = b[size_t(g.transpose_b ? j * g.ldb + p : p * g.ldb + j)];
        sum = fused ? std::fma(x, y, sum) : sum + x * y;
      }
      c[size_t(i * g.n + j)] = sum;
    }
  return c;
}

TEST(GemmDirect, EachElementIsOneChain) {
  const bool fused = std::string(isa_name()) != "base";
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    for (const int64_t m : {16, 17, 100, 131})
      for (const int64_t n : {16, 20, 31, 48, 49, 52, 57, 64, 68, 96, 100, 112})
        for (const int64_t k : {1, 7, 100})
          for (const bool ta : {false, true})
            for (const bool tb : {false, true}) {
              const Gemm g = Gemm::dense(m, n, k, ta, tb);
              const std::vector<float> a = numbers(m * k, 0), b = numbers(k * n, 1);
              std::vector<float> c(size_t(m * n), -7);
              std::vector<std::atomic<int>> reported(static_cast<size_t>(m));
              Workspace workspace;
              gemm_direct(workspace, g, a.data(), b.data(), c.data(), [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) ++reported[size_t(i)];
              });
              EXPECT_EQ(c, reference(g, a, b, fused)) << m << " " << n << " " << k << " " << ta << tb;
              for (const auto& times : reported) EXPECT_EQ(times, 1);
            }
  }
  set_num_threads(0);
}

#ifdef __x86_64__
TEST(GemmDirect, InstructionSetsAgree) {
  if (std::string(isa_name()) != "v4") GTEST_SKIP() << "one set with fused multiply-adds";
  for (const int64_t n : {16, 23, 36, 48, 52, 100})
    for (int rows = 1; rows <= 6; ++rows) {
      const std::vector<float> a = numbers(8 * 90, 2), b = numbers(90 * n, 3);
      std::vector<float> wide(size_t(rows * n)), narrow(size_t(rows * n));
      for (const bool turned : {false, true}) {
        isa_v4::direct_loops()->strip(
            {a.data(), turned ? 8 : 90, turned, b.data(), n, wide.data(), n, n, 90, rows});
        isa_v3::direct_loops()->strip(
            {a.data(), turned ? 8 : 90, turned, b.data(), n, narrow.data(), n, n, 90, rows});
        EXPECT_EQ(wide, narrow) << n << " " << rows;
      }
    }
}
#endif

TEST(GemmDirect, ShapesAlone) {
  EXPECT_TRUE(is_direct(DType::kFloat32, Gemm::dense(100, 100, 784, false, false)));
  EXPECT_TRUE(is_direct(DType::kFloat32, Gemm::dense(784, 100, 100, true, false)));
  EXPECT_TRUE(is_direct(DType::kFloat32, Gemm::dense(100, 100, 100, false, true)));
  EXPECT_FALSE(is_direct(DType::kFloat64, Gemm::dense(100, 100, 100, false, false)));
  EXPECT_FALSE(is_direct(DType::kFloat32, Gemm::dense(100, 10, 100, false, false)));
  EXPECT_FALSE(is_direct(DType::kFloat32, Gemm::dense(100, 100, 2000, false, false)));
  EXPECT_FALSE(is_direct(DType::kFloat32, Gemm::dense(1024, 384, 1536, false, false)));
}

TEST(GemmLong, IsExactUpToRoundingAndTheSameOnAnyThreads) {
  for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
           {16, 1}, {1, 17}, {100, 10}, {10, 100}, {128, 3}, {31, 32}, {32, 64}}) {
    for (const int64_t k : {1025, 1024 * 3 + 5}) {
      const Gemm g = Gemm::dense(m, n, k, true, false);
      ASSERT_TRUE(is_long(DType::kFloat32, g));
      const std::vector<float> a = numbers(m * k, 0), b = numbers(k * n, 1);
      std::vector<float> first;
      for (const int threads : {1, 2, 3}) {
        set_num_threads(threads);
        std::vector<float> c(size_t(m * n), -1);
        Workspace workspace;
        gemm_long(workspace, g, a.data(), b.data(), c.data());
        if (first.empty()) first = c;
        ASSERT_EQ(c, first) << m << "x" << n << "x" << k << " on " << threads;
      }
      for (int64_t i = 0; i < m; i += 5)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t p = 0; p < k; ++p) sum += double(a[size_t(p * m + i)]) * double(b[size_t(p * n + j)]);
          ASSERT_NEAR(first[size_t(i * n + j)], sum, 2e-3) << m << "x" << n << "x" << k;
        }
    }
  }
  set_num_threads(0);
}

TEST(GemmLong, WideResultsOfFewColumns) {
  const int64_t m = 300, n = 10, k = 1500;
  const std::vector<float> a = numbers(m * k, 0), b = numbers(k * n, 1);
  std::vector<float> c(size_t(m * n), -1);
  Workspace workspace;
  ASSERT_TRUE(
      gemm(workspace, DType::kFloat32, Gemm::dense(m, n, k, true, false), a.data(), b.data(), c.data()));
  for (int64_t i = 0; i < m; i += 7)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += double(a[size_t(p * m + i)]) * double(b[size_t(p * n + j)]);
      ASSERT_NEAR(c[size_t(i * n + j)], sum, 2e-3);
    }
}

}  // namespace
}  // namespace rw
