// Large products, which oneDNN does tile by tile: values against sums in float64, for sizes that fill no
// tile, transposes, leading dimensions and batches; bits that do not depend on the number of threads.
#ifdef REWIND_ONEDNN
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/gemm.h"

namespace rw {
namespace {

struct Case {
  Gemm g;
  std::vector<float> a, b;
  std::string name;

  Case(Gemm gemm, unsigned seed) : g(gemm) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    const int64_t rows_a = g.transpose_a ? g.k : g.m, rows_b = g.transpose_b ? g.n : g.k;
    a.resize(size_t((g.batch - 1) * g.stride_a + rows_a * g.lda));
    b.resize(size_t((g.batch - 1) * g.stride_b + rows_b * g.ldb));
    for (float& x : a) x = uniform(random);
    for (float& x : b) x = uniform(random);
    for (const int64_t n : {g.batch, g.m, g.n, g.k}) name += std::to_string(n) + " ";
    name += std::string(g.transpose_a ? "t" : "n") + (g.transpose_b ? "t" : "n");
  }
  size_t result_size() const { return size_t((g.batch - 1) * g.stride_c + g.m * g.ldc); }
  std::vector<float> run(int threads) const {
    set_num_threads(threads);
    std::vector<float> c(result_size(), -7);
    Workspace workspace;
    EXPECT_TRUE(gemm_onednn(workspace, DType::kFloat32, g, a.data(), b.data(), c.data()));
    set_num_threads(0);
    return c;
  }
  double exact(int64_t matrix, int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t p = 0; p < g.k; ++p) {
      const int64_t at_a = matrix * g.stride_a + (g.transpose_a ? p * g.lda + i : i * g.lda + p);
      const int64_t at_b = matrix * g.stride_b + (g.transpose_b ? j * g.ldb + p : p * g.ldb + j);
      sum += double(a[size_t(at_a)]) * double(b[size_t(at_b)]);
    }
    return sum;
  }
};

void check(const Case& c) {
  SCOPED_TRACE(c.name);
  const std::vector<float> result = c.run(1);
  for (const int threads : {2, 3, 16}) {
    const std::vector<float> other = c.run(threads);
    ASSERT_EQ(std::memcmp(result.data(), other.data(), result.size() * sizeof(float)), 0) << threads;
  }
  std::mt19937 random(1);
  const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
  for (int sample = 0; sample < 300; ++sample) {
    const int64_t matrix = below(c.g.batch);
    // Corners and edges of the result are edges of tiles.
    const int64_t i = sample % 3 == 0 ? c.g.m - 1 : below(c.g.m);
    const int64_t j = sample % 5 == 0 ? c.g.n - 1 : below(c.g.n);
    ASSERT_NEAR(result[size_t(matrix * c.g.stride_c + i * c.g.ldc + j)], c.exact(matrix, i, j),
                1e-6 * double(c.g.k) + 1e-4)
        << i << " " << j;
  }
}

TEST(GemmOnednn, SizesThatFillNoTile) {
  for (const int transposes : {0, 1, 2, 3})
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{513, 700, 300},
                                  {1, 3000, 900},
                                  {3000, 1, 900},
                                  {7, 515, 2100},
                                  {100, 100, 5000},
                                  {257, 65, 1100},
                                  {1030, 20, 1500}})
      check(Case(Gemm::dense(m, n, k, transposes & 1, transposes & 2), unsigned(m)));
}

TEST(GemmOnednn, LongInnerAxisOfATransposedFactor) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1342, 169, 2987}, {130, 400, 2988}, {64, 64, 20000}})
    check(Case(Gemm::dense(m, n, k, true, true), unsigned(k)));
}

TEST(GemmOnednn, Batches) {
  check(Case(Gemm::dense(40, 50, 60, false, true, 37), 1));
  check(Case(Gemm::dense(40, 50, 60, true, false, 1), 2));
  check(Case(Gemm::dense(300, 520, 90, false, false, 5), 3));
  Gemm one_right = Gemm::dense(64, 80, 100, false, false, 9);  // one factor for all
  one_right.stride_b = 0;
  check(Case(one_right, 4));
  Gemm one_left = Gemm::dense(64, 80, 100, true, false, 9);
  one_left.stride_a = 0;
  check(Case(one_left, 5));
}

TEST(GemmOnednn, RowsFurtherApartThanTheyAreLong) {
  Gemm g = Gemm::dense(300, 600, 400, false, false);
  g.lda = 450, g.ldb = 777, g.ldc = 640;
  g.stride_c = g.m * g.ldc;
  const Case c(g, 6);
  check(c);
  const std::vector<float> result = c.run(3);
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = g.n; j < g.ldc; ++j) ASSERT_EQ(result[size_t(i * g.ldc + j)], -7);
}

}  // namespace
}  // namespace rw
#endif
