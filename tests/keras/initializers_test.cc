#include "rewind/keras/initializers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rewind/rewind.h"

namespace rw::keras {
namespace {

double mean_of(const Tensor& t) {
  double sum = 0;
  for (const float v : t.data<float>()) sum += v;
  return sum / double(t.size());
}
double stddev_of(const Tensor& t) {
  const double mean = mean_of(t);
  double sum = 0;
  for (const float v : t.data<float>()) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / double(t.size()));
}

TEST(Initializers, AreKnownByBothNames) {
  EXPECT_EQ(Initializer("GlorotUniform").name(), "GlorotUniform");
  EXPECT_EQ(Initializer("glorot_uniform").name(), "GlorotUniform");
  EXPECT_FALSE(Initializer());
  EXPECT_THROW(Initializer("xavier"), InvalidArgumentError);
}

TEST(Initializers, SeedsDecideTheValues) {
  const Initializer a = initializers::HeNormal({.seed = 5});
  const Initializer b = initializers::HeNormal({.seed = 5});
  const Initializer c = initializers::HeNormal({.seed = 6});
  EXPECT_EQ(a({4, 3}).to_vector<float>(), b({4, 3}).to_vector<float>());
  EXPECT_EQ(a({4, 3}).to_vector<float>(), a.clone()({4, 3}).to_vector<float>());
  EXPECT_NE(a({4, 3}).to_vector<float>(), c({4, 3}).to_vector<float>());
}

TEST(Initializers, WithoutASeedDrawOneWhenMade) {
  const Initializer a = "normal";
  const Initializer b = "normal";
  EXPECT_EQ(a({9}).to_vector<float>(), a({9}).to_vector<float>());
  EXPECT_NE(a({9}).to_vector<float>(), b({9}).to_vector<float>());
  EXPECT_NE(a({9}).to_vector<float>(), a.clone()({9}).to_vector<float>());
}

TEST(Initializers, FollowTheGlobalSeed) {
  random::set_seed(3);
  const Tensor first = Initializer("glorot_uniform")({5, 5});
  random::set_seed(3);
  EXPECT_EQ(first.to_vector<float>(), Initializer("glorot_uniform")({5, 5}).to_vector<float>());
}

TEST(Initializers, HaveTheVarianceOfTheirFans) {
  const Shape shape{3, 3, 16, 64};
  const double in = 3 * 3 * 16;
  const double out = 3 * 3 * 64;
  EXPECT_NEAR(stddev_of(initializers::HeNormal({.seed = 1})(shape)), std::sqrt(2 / in),
              0.02 * std::sqrt(2 / in));
  EXPECT_NEAR(stddev_of(initializers::GlorotUniform({.seed = 1})(shape)), std::sqrt(2 / (in + out)),
              0.02 * std::sqrt(2 / (in + out)));
  EXPECT_NEAR(stddev_of(initializers::LecunNormal({.seed = 1})(shape)), std::sqrt(1 / in),
              0.02 * std::sqrt(1 / in));
}

TEST(Initializers, OrthogonalRowsAreOrthonormal) {
  const Tensor q = initializers::Orthogonal({.seed = 2})({4, 7});
  const Tensor product = matmul(q, q, {.transpose_b = true});
  const Tensor error = reduce_max(abs(product - eye(4)));
  EXPECT_LT(error.item<float>(), 1e-5f);
}

TEST(Initializers, TakeTensorsAndCallables) {
  const Initializer exact = constant({1.0, 2.0});
  EXPECT_EQ(exact({2}).to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_THROW(exact({3}), InvalidArgumentError);
  const Initializer custom = [](const Shape& shape, DType dtype) { return ones(shape, dtype) * 3.0; };
  EXPECT_EQ(custom({2}, float64).to_vector<double>(), (std::vector<double>{3, 3}));
  EXPECT_EQ(initializers::Identity(2.0)({2, 3}).to_vector<float>(), (std::vector<float>{2, 0, 0, 0, 2, 0}));
}

}  // namespace
}  // namespace rw::keras
