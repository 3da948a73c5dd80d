// Public functions on indices, sorting and segments: defaults, compositions, messages. Values of the rows
// themselves are checked by the goldens.
#include "rewind/tensor/ops/gather.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/gradient_tape.h"
#include "rewind/base/error.h"
#include "rewind/device/parallel.h"
#include "rewind/tensor/variable.h"

namespace rw {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

const Tensor kMatrix = constant({{1., 2., 3.}, {4., 5., 6.}});

TEST(Gather, AxisIsBatchDimsUnlessTold) {
  EXPECT_EQ(gather(kMatrix, {1}).to_vector<float>(), (Floats{4, 5, 6}));
  EXPECT_EQ(gather(kMatrix, {2, 0}, 1).to_vector<float>(), (Floats{3, 1, 6, 4}));
  const Tensor places = constant({{0, 2}, {1, 1}});
  EXPECT_EQ(gather(kMatrix, places, {}, 1).to_vector<float>(), (Floats{1, 3, 5, 5}));
  EXPECT_EQ(gather(kMatrix, 1).shape(), (Shape{3}));
}

TEST(Gather, NamesTheIndexAndItsPlace) {
  try {
    gather(kMatrix, constant({{0, 1}, {1, 2}}));
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_STREQ(e.what(), "[gather] indices[1, 1] = 2 is not in [0, 2)");
  }
  try {
    gather_nd(kMatrix, constant({{0, 1}, {1, 3}}));
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_STREQ(e.what(), "[gather_nd] indices[1] = [1, 3] does not index into shape (2, 3)");
  }
}

TEST(Gather, GradientAlongTheFirstAxisStaysSparse) {
  GradientTape tape;
  tape.watch(kMatrix);
  const Tensor y = gather(kMatrix, {1, 1});
  const Gradient g = tape.gradient(y, {kMatrix})[0];
  ASSERT_NE(g.slices(), nullptr);
  EXPECT_EQ(g.slices()->values.shape(), (Shape{2, 3}));
  EXPECT_EQ(g.tensor().to_vector<float>(), (Floats{0, 0, 0, 2, 2, 2}));
}

TEST(Gather, GatherNdInBatches) {
  const Tensor x = constant({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}});
  EXPECT_EQ(gather_nd(x, constant({{1}, {0}}), 1).to_vector<int32_t>(), (Ints{3, 4, 5, 6}));
  EXPECT_EQ(gather_nd(x, constant({{{1}, {0}}, {{0}, {1}}}), 2).to_vector<int32_t>(), (Ints{2, 3, 5, 8}));
  EXPECT_THROW(gather_nd(x, constant({{1}, {0}, {0}}), 1), InvalidArgumentError);
}

// Indices of one axis are one tuple; the gradient of such a read scatters by one.
TEST(Gather, OneTuple) {
  EXPECT_EQ(scatter_nd({1, 2}, 5., {2, 3}).to_vector<float>(), (Floats{0, 0, 0, 0, 0, 5}));
  GradientTape tape;
  tape.watch(kMatrix);
  const Tensor y = gather_nd(kMatrix, {1, 2});
  EXPECT_EQ(tape.gradient(y, {kMatrix})[0].tensor().to_vector<float>(), (Floats{0, 0, 0, 0, 0, 1}));
}

TEST(Gather, BooleanMask) {
  EXPECT_EQ(boolean_mask(kMatrix, constant({true, false})).to_vector<float>(), (Floats{1, 2, 3}));
  EXPECT_EQ(boolean_mask(kMatrix, constant({true, false, true}), 1).to_vector<float>(), (Floats{1, 3, 4, 6}));
  const Tensor full = constant({{true, false, true}, {false, false, true}});
  EXPECT_EQ(boolean_mask(kMatrix, full).to_vector<float>(), (Floats{1, 3, 6}));
  EXPECT_THROW(boolean_mask(kMatrix, constant({true})), InvalidArgumentError);
  EXPECT_EQ(where(full).to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 0, 2, 1, 2}));
}

TEST(Sort, DirectionsAndAxes) {
  const Tensor x = constant({{3., 1., 2.}, {1., 3., 2.}});
  EXPECT_EQ(sort(x).to_vector<float>(), (Floats{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(sort(x, 0, "DESCENDING").to_vector<float>(), (Floats{3, 3, 2, 1, 1, 2}));
  EXPECT_EQ(argsort(x, -1, "DESCENDING").to_vector<int32_t>(), (Ints{0, 2, 1, 1, 2, 0}));
  EXPECT_EQ(sort(constant(std::vector<uint8_t>{3, 0, 255})).to_vector<uint8_t>(),
            (std::vector<uint8_t>{0, 3, 255}));
  EXPECT_EQ(sort(constant(std::vector<int32_t>{3, INT32_MIN, 5})).to_vector<int32_t>(),
            (Ints{INT32_MIN, 3, 5}));
  EXPECT_THROW(sort(x, 2), InvalidArgumentError);
  EXPECT_THROW(sort(x, 0, "UP"), InvalidArgumentError);
}

TEST(Sort, SearchAndTop) {
  EXPECT_EQ(searchsorted({1., 3., 3., 5.}, {3., 0., 9.}).to_vector<int32_t>(), (Ints{1, 0, 4}));
  EXPECT_EQ(searchsorted({1., 3., 3., 5.}, {3., 0., 9.}, "right").to_vector<int32_t>(), (Ints{3, 0, 4}));
  const auto top = math::top_k(kMatrix, 2);
  EXPECT_EQ(top.values.to_vector<float>(), (Floats{3, 2, 6, 5}));
  EXPECT_EQ(top.indices.to_vector<int32_t>(), (Ints{2, 1, 2, 1}));
  EXPECT_EQ(math::top_k(kMatrix).values.to_vector<float>(), (Floats{3, 6}));
  EXPECT_EQ(nn::in_top_k({2, 0}, kMatrix, 1).to_vector<bool>(), (std::vector<bool>{true, false}));
}

TEST(Sets, UniqueAndDifference) {
  const auto u = unique_with_counts({4, 2, 4, 1});
  EXPECT_EQ(u.y.to_vector<int32_t>(), (Ints{4, 2, 1}));
  EXPECT_EQ(u.idx.to_vector<int32_t>(), (Ints{0, 1, 0, 2}));
  EXPECT_EQ(u.count.to_vector<int32_t>(), (Ints{2, 1, 1}));
  const auto d = setdiff1d({1, 2, 3}, {2});
  EXPECT_EQ(d.out.to_vector<int32_t>(), (Ints{1, 3}));
  EXPECT_EQ(d.idx.to_vector<int32_t>(), (Ints{0, 2}));
}

TEST(Segments, MeansOfUnsortedSegments) {
  const Tensor x = constant({{1., 2.}, {3., 4.}, {5., 6.}});
  const Tensor ids = constant({0, 2, 0});
  EXPECT_EQ(math::unsorted_segment_mean(x, ids, 3).to_vector<float>(), (Floats{3, 4, 0, 0, 3, 4}));
  EXPECT_EQ(math::unsorted_segment_sqrt_n(x, constant({0, 0, -1}), 1).to_vector<float>(),
            (Floats{4 / std::sqrt(2.0f), 6 / std::sqrt(2.0f)}));
  EXPECT_THROW(math::segment_sum(x, {1, 0, 2}), InvalidArgumentError);
}

// Sums fall in the order of the data, whatever the number of threads.
TEST(Segments, BitsDoNotDependOnThreads) {
  std::vector<float> values(200000);
  std::vector<int32_t> ids(values.size() / 4);
  uint32_t state = 1;
  for (float& v : values) v = float((state = state * 1664525u + 1013904223u) >> 8) * 1e-7f;
  for (int32_t& i : ids) i = int32_t((state = state * 1664525u + 1013904223u) >> 24);
  const Tensor x = constant(values, Shape{int64_t(ids.size()), 4});
  set_num_threads(1);
  const auto alone = math::unsorted_segment_sum(x, ids, 256).to_vector<float>();
  set_num_threads(4);
  const auto together = math::unsorted_segment_sum(x, ids, 256).to_vector<float>();
  set_num_threads(0);
  EXPECT_EQ(alone, together);
}

TEST(Partitions, StitchUndoesPartition) {
  const Tensor x = constant({10, 11, 12, 13});
  const Tensor parts = constant({1, 0, 1, 0});
  const auto split = dynamic_partition(x, parts, 2);
  EXPECT_EQ(split[0].to_vector<int32_t>(), (Ints{11, 13}));
  EXPECT_EQ(dynamic_stitch(dynamic_partition({0, 1, 2, 3}, parts, 2), split).to_vector<int32_t>(),
            x.to_vector<int32_t>());
}

TEST(Embedding, VariablesAndNorms) {
  const Variable table(constant({{3., 4.}, {0., 1.}}));
  GradientTape tape;
  const Tensor rows = nn::embedding_lookup(table, {1, 0}, 1.0);
  const auto values = rows.to_vector<float>();
  EXPECT_FLOAT_EQ(values[0], 0);
  EXPECT_FLOAT_EQ(values[1], 1);
  EXPECT_FLOAT_EQ(values[2], 0.6f);
  EXPECT_FLOAT_EQ(values[3], 0.8f);
  EXPECT_NE(tape.flat_gradient({rows}, {table.handle()}, {})[0].slices(), nullptr);
}

// The batched ops against a loop over the batch.
TEST(GatherBatching, AgreesWithALoop) {
  const Tensor x = constant(Floats{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {3, 2, 2});
  const Tensor at = constant({{1, 0, 1}, {0, 0, 1}, {1, 1, 1}});
  auto check = [](const std::function<Tensor(const std::vector<Tensor>&)>& f,
                  const std::vector<Tensor>& inputs) {
    const Tensor whole =
        vectorized_map([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in)}; }, inputs)[0];
    Floats want;
    for (int64_t b = 0; b < inputs[0].dim(0); ++b) {
      std::vector<Tensor> row;
      for (const Tensor& t : inputs) row.push_back(t[b]);
      for (const float v : f(row).to_vector<float>()) want.push_back(v);
    }
    EXPECT_EQ(whole.to_vector<float>(), want);
  };
  using In = const std::vector<Tensor>&;
  check([](In in) { return gather(in[0], {1, 1, 0}); }, {x});
  check([](In in) { return gather(in[0], {1, 1, 0}, 1); }, {x});
  check([](In in) { return gather(in[0], in[1]); }, {x, at});
  check([](In in) { return gather(in[0], in[1], 1); }, {x, at});
  check([](In in) { return gather(kMatrix, in[0]); }, {at});
  check([](In in) { return gather(kMatrix, in[0], 1); }, {at});
  check([](In in) { return gather(in[0], constant({{0}, {1}}), 1, 1); }, {x});
  check([](In in) { return gather_nd(in[0], constant({{0, 1}, {1, 1}})); }, {x});
  check(
      [](In in) {
        return tensor_scatter_nd_add(in[0], constant({{1}, {1}}), constant({{1., 2.}, {3., 4.}}));
      },
      {x});
  check([](In in) { return scatter_nd(constant({{1}, {3}}), in[0], {4, 2}); }, {x});
  check([](In in) { return math::segment_mean(in[0], {0, 0}); }, {x});
  check([](In in) { return math::unsorted_segment_sum(in[0], {1, -1}, 3); }, {x});
  check([](In in) { return math::unsorted_segment_max(kMatrix[0], in[0], 2); }, {at});
  check([](In in) { return math::top_k(in[0], 1).values; }, {x});
}

}  // namespace
}  // namespace rw
