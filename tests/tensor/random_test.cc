// The public random functions against TensorFlow's values.
#include <gtest/gtest.h>

#include "rewind/rewind.h"

namespace rw {
namespace {

void expect_values(const Tensor& t, const std::vector<float>& want) {
  const auto got = t.data<float>();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-6f) << i;
}

// Values of tf.random.set_seed(42) and the calls that follow.
TEST(Random, GlobalSeed) {
  random::set_seed(42);
  expect_values(random::uniform({3}), {0.6645621f, 0.44100678f, 0.3528825f});
  expect_values(random::uniform({3}), {0.68789124f, 0.48447883f, 0.9309944f});
  expect_values(random::normal({2}, {.seed = 7}), {-0.45274156f, -0.30040753f});
  expect_values(random::normal({2}, {.seed = 7}), {1.0589501f, 0.6612831f});
}

TEST(Random, GeneratorState) {
  const auto g = random::Generator::from_seed(1234);
  EXPECT_EQ(g.state().to_vector<int64_t>(), (std::vector<int64_t>{1234, 0, 0}));
  g.uniform({3});
  EXPECT_EQ(g.state().to_vector<int64_t>(), (std::vector<int64_t>{2002, 0, 0}));
  g.normal({5, 2});
  EXPECT_EQ(g.state().to_vector<int64_t>(), (std::vector<int64_t>{4562, 0, 0}));
  g.skip(2);
  EXPECT_EQ(g.state().to_vector<int64_t>(), (std::vector<int64_t>{5074, 0, 0}));
  EXPECT_EQ(g.make_seeds(2).to_vector<int64_t>(),
            (std::vector<int64_t>{5394157901782015838, -1253747224176783485, 0, 0}));
  const auto parts = g.split(2);
  EXPECT_EQ(parts[0].state().to_vector<int64_t>(), (std::vector<int64_t>{0, 0, -6148173427697408052}));
  EXPECT_EQ(parts[1].key().item<int64_t>(), -9003098517762259782);
}

TEST(Random, Ranges) {
  const Tensor u = random::uniform({1000}, {.minval = -2, .maxval = 3});
  EXPECT_GE(reduce_min(u).item<float>(), -2);
  EXPECT_LT(reduce_max(u).item<float>(), 3);
  const Tensor i = random::uniform({1000}, {.minval = 5, .maxval = 9, .dtype = int64});
  EXPECT_EQ(reduce_min(i).item<int64_t>(), 5);
  EXPECT_EQ(reduce_max(i).item<int64_t>(), 8);
  EXPECT_THROW(random::uniform({3}, {.dtype = int32}), InvalidArgumentError);
  EXPECT_EQ(random::shuffle(range(10)).size(), 10);
  EXPECT_EQ(random::categorical(zeros({2, 3}), 5).shape(), (Shape{2, 5}));
}

}  // namespace
}  // namespace rw
