// Public functions of matrix products and linear algebra: what the table of ops cannot see.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "rewind/autodiff/gradient_tape.h"
#include "rewind/base/error.h"
#include "rewind/device/parallel.h"
#include "rewind/tensor/indexing.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/linalg.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/reduce.h"

namespace rw {
namespace {

Tensor random(const Shape& shape, DType dtype = float64, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(size_t(shape.num_elements()));
  for (double& v : values) v = normal(generator);
  return constant(values, shape, dtype);
}

double largest_difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape().to_string(), b.shape().to_string());
  const auto x = a.to_vector<double>();
  const auto y = b.to_vector<double>();
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
  return most;
}

// f's derivative at x by the tape against central differences.
void check_gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  const Tensor got = tape.gradient(y, x);
  auto values = x.to_vector<double>();
  const auto analytic = got.to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    const double at = values[i];
    const double step = 1e-5;
    values[i] = at + step;
    const double up = f(constant(values, x.shape())).item<double>();
    values[i] = at - step;
    const double down = f(constant(values, x.shape())).item<double>();
    values[i] = at;
    EXPECT_NEAR(analytic[i], (up - down) / (2 * step), 1e-6 * (1 + std::abs(analytic[i]))) << "entry " << i;
  }
}

TEST(Matmul, RanksChooseTheOp) {
  EXPECT_EQ(matmul(random({2, 3}), random({3, 4})).shape(), Shape({2, 4}));
  EXPECT_EQ(matmul(random({5, 2, 3}), random({3, 4})).shape(), Shape({5, 2, 4}));
  EXPECT_EQ(matmul(random({5, 3, 2}), random({4, 3}), {.transpose_a = true, .adjoint_b = true}).shape(),
            Shape({5, 2, 4}));
  EXPECT_THROW(matmul(random({2, 3}), random({3, 4}), {.transpose_a = true, .adjoint_a = true}),
               InvalidArgumentError);
}

TEST(Matmul, MismatchHintsAtTheTranspose) {
  try {
    matmul(random({2, 3}), random({4, 3}));
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("transpose_b"), std::string::npos) << e.what();
  }
}

TEST(Matmul, BitsDoNotDependOnThreads) {
  struct Sizes {
    int64_t m, n, k;
  };
  for (const DType t : {float32, float64, bfloat16}) {
    for (const auto& [m, n, k] :
         {Sizes{100, 100, 784}, {10, 10, 5000}, {300, 40, 4096}, {257, 129, 301}, {64, 64, 64}}) {
      for (const bool turn : {false, true}) {
        const Tensor a = random(turn ? Shape{k, m} : Shape{m, k}, t, 2);
        const Tensor b = random({k, n}, t, 3);
        set_num_threads(1);
        const Tensor one = matmul(a, b, {.transpose_a = turn});
        for (const int threads : {2, 3, 4}) {
          set_num_threads(threads);
          const Tensor many = matmul(a, b, {.transpose_a = turn});
          EXPECT_EQ(0, std::memcmp(one.host_data(), many.host_data(), size_t(one.size()) * size_of(t)))
              << name_of(t) << " " << m << " " << n << " " << k << " on " << threads << " threads";
        }
        set_num_threads(0);
      }
    }
  }
}

TEST(Einsum, ManyInputsSpacesAndImpliedOutput) {
  const Tensor a = random({2, 3}), b = random({3, 4}), c = random({4, 5});
  EXPECT_LT(largest_difference(einsum("ab, bc, cd -> ad", a, b, c), matmul(matmul(a, b), c)), 1e-12);
  EXPECT_LT(largest_difference(einsum("ij,jk", a, b), matmul(a, b)), 1e-12);
  EXPECT_EQ(einsum("ba", a).shape(), Shape({3, 2}));
  EXPECT_EQ(einsum("...a,...a->...", random({2, 1, 3}), random({4, 3})).shape(), Shape({2, 4}));
  EXPECT_THROW(einsum("ij,jk->ik", a), InvalidArgumentError);
  EXPECT_THROW(einsum("ij->ix", a), InvalidArgumentError);
}

TEST(Tensordot, AxesByNumberAndByName) {
  const Tensor a = random({2, 3, 4}), b = random({4, 3, 5});
  EXPECT_EQ(tensordot(a, b, 1).shape(), Shape({2, 3, 3, 5}));
  EXPECT_EQ(tensordot(a, b, {1, 2}, {1, 0}).shape(), Shape({2, 5}));
  EXPECT_EQ(tensordot(a, b, 0).shape(), Shape({2, 3, 4, 4, 3, 5}));
  EXPECT_THROW(tensordot(a, b, {1}, {1, 0}), InvalidArgumentError);
}

TEST(Linalg, FactorsMultiplyBack) {
  const Tensor a = random({3, 20, 12});
  const auto [q, r] = linalg::qr(a);
  EXPECT_LT(largest_difference(matmul(q, r), a), 1e-12);
  const auto f = linalg::svd(a);
  EXPECT_LT(largest_difference(matmul(matmul(f.u, linalg::diag(f.s)), f.v, {.adjoint_b = true}), a), 1e-12);
  const Tensor gram = matmul(a, a, {.adjoint_a = true});
  const auto [e, v] = linalg::eigh(gram);
  EXPECT_LT(largest_difference(matmul(gram, v), matmul(v, linalg::diag(e))), 1e-11);
  EXPECT_LT(largest_difference(linalg::eigvalsh(gram), e), 1e-11);
  const Tensor l = linalg::cholesky(gram);
  EXPECT_LT(largest_difference(matmul(l, l, {.adjoint_b = true}), gram), 1e-11);
  EXPECT_LT(largest_difference(linalg::logdet(gram), linalg::slogdet(gram).log_abs_determinant), 1e-10);
  EXPECT_LT(largest_difference(matmul(linalg::pinv(a), a), matmul(linalg::inv(gram), gram)), 1e-9);
}

TEST(Linalg, GradientsOfVectorsThatDoNotDependOnSigns) {
  const Tensor weights = random({4, 4}, float64, 9);
  for (const Shape& shape : {Shape{4, 4}, Shape{6, 4}, Shape{4, 6}}) {
    check_gradient(
        [&](const Tensor& x) {
          const auto f = linalg::svd(x);
          const Tensor outer = matmul(f.u * random({4}, float64, 3), f.v, {.adjoint_b = true});
          return reduce_sum(f.s * random({4}, float64, 2)) +
                 reduce_sum(outer * random(outer.shape(), float64, 4));
        },
        random(shape, float64, 5));
  }
  check_gradient(
      [&](const Tensor& x) {
        const auto [e, v] = linalg::eigh(x + linalg::matrix_transpose(x));
        return reduce_sum(weights * (v * v)) + reduce_sum(e * random({4}, float64, 3));
      },
      random({4, 4}, float64, 6));
  check_gradient([&](const Tensor& x) { return reduce_sum(weights * linalg::expm(x)); },
                 random({4, 4}, float64, 7));
  check_gradient([&](const Tensor& x) { return reduce_sum(linalg::expm(x * 4.0)) * 1e-4; },
                 random({3, 3}, float64, 7));
}

TEST(Linalg, ExponentialOfKnownMatrices) {
  const Tensor turn = constant({{0.0, -2.5}, {2.5, 0.0}}, float64);
  const Tensor want = constant({{std::cos(2.5), -std::sin(2.5)}, {std::sin(2.5), std::cos(2.5)}}, float64);
  EXPECT_LT(largest_difference(linalg::expm(turn), want), 1e-14);
  EXPECT_NEAR(linalg::expm(constant({{10.0}}, float64)).item<double>(), std::exp(10.0), 1e-9);
}

TEST(Linalg, SingularMatricesAreRefused) {
  EXPECT_THROW(linalg::inv(constant({{1.0, 2.0}, {2.0, 4.0}})), InvalidArgumentError);
  EXPECT_TRUE(std::isnan(linalg::cholesky(constant({{-1.0}})).item<float>()));
}

TEST(Linalg, MatvecTraceNormalize) {
  EXPECT_EQ(linalg::matvec(random({3, 2, 4}), random({3, 4})).shape(), Shape({3, 2}));
  EXPECT_FLOAT_EQ(linalg::trace(constant({{1., 2.}, {3., 4.}})).item<float>(), 5.f);
  EXPECT_FLOAT_EQ(math::l2_normalize(constant({3., 4.}), 0).data<float>()[1], 0.8f);
}

TEST(Linalg, FactorisationsOfInfinitiesEndInNan) {
  std::vector<float> x(17 * 3, 1.0f);
  x[15] = INFINITY;
  const Tensor m = constant(x, Shape{17, 3});
  const std::vector<float> values = linalg::svd(m).s.to_vector<float>();
  for (const float s : values) EXPECT_TRUE(std::isnan(s));
  const Tensor square = m(Slice(4, 7));
  for (const float e : linalg::eigh(square).e.to_vector<float>()) EXPECT_TRUE(std::isnan(e));
}

}  // namespace
}  // namespace rw
