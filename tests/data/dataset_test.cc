// Sources and iteration; elements of every structure.
#include <gtest/gtest.h>

#include "rewind/data/for_each.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw::data {
namespace {

TEST(Dataset, SlicesAndBatches) {
  const Tensor x = reshape(cast(rw::range(10), float32), {5, 2});
  const Tensor y = constant(std::vector<int64_t>{0, 1, 2, 3, 4});
  const auto ds = Dataset::from_tensor_slices(std::tuple{x, y}).batch(2);
  std::vector<std::vector<float>> xs;
  std::vector<std::vector<int64_t>> ys;
  for (auto [a, b] : ds) {
    xs.push_back(a.to_vector<float>());
    ys.push_back(b.to_vector<int64_t>());
  }
  EXPECT_EQ(xs, (std::vector<std::vector<float>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
  EXPECT_EQ(ys, (std::vector<std::vector<int64_t>>{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(ds.cardinality(), 3);
  EXPECT_EQ(ds.element_spec()[0].to_string(), "TensorSpec(shape=(None, 2), dtype=float32)");
}

TEST(Dataset, ForEachInAFunctionIsOneWhile) {
  const auto ds = Dataset::from_tensor_slices(constant(std::vector<float>{1, 2, 3, 4, 5})).batch(2);
  const Variable seen(0.0f);
  const auto total = rw::function([&] {
    return rw::for_each(ds, constant(0.0f), [&](Tensor sum, Tensor x) {
      seen.assign_add(1.0f);
      return sum + reduce_sum(x);
    });
  });
  EXPECT_EQ(total().item<float>(), 15);
  EXPECT_EQ(total().item<float>(), 15);
  EXPECT_EQ(seen.item<float>(), 6);
}

}  // namespace
}  // namespace rw::data
