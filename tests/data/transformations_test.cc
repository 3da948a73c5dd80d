// What each transformation gives. Orders of shuffles are TensorFlow's for the same seeds.
#include <gtest/gtest.h>

#include <map>

#include "tests/data/elements.h"
#include "tests/support/expect_error.h"

namespace rw::data {
namespace {

using Numbers = std::vector<int64_t>;
using Lists = std::vector<Numbers>;

TEST(Transformations, TakeSkipRepeatShardConcatenate) {
  const auto ds = Dataset::range(5);
  EXPECT_EQ(numbers(ds.take(2)), (Numbers{0, 1}));
  EXPECT_EQ(numbers(ds.take(-1)), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(numbers(ds.skip(3)), (Numbers{3, 4}));
  EXPECT_EQ(numbers(ds.skip(-1)), Numbers{});
  EXPECT_EQ(numbers(ds.skip(9)), Numbers{});
  EXPECT_EQ(numbers(ds.take(2).repeat(2)), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(numbers(ds.repeat().take(7)), (Numbers{0, 1, 2, 3, 4, 0, 1}));
  EXPECT_EQ(numbers(Dataset::range(0).repeat()), Numbers{});
  EXPECT_EQ(numbers(ds.shard(2, 1)), (Numbers{1, 3}));
  EXPECT_EQ(numbers(ds.concatenate(Dataset::range(10, 12))), (Numbers{0, 1, 2, 3, 4, 10, 11}));
  EXPECT_EQ(numbers(Dataset::range(10, 0, -4)), (Numbers{10, 6, 2}));
  // The same on rows of a table.
  const auto rows = Dataset::from_tensor_slices(rw::range(int64_t{5}));
  EXPECT_EQ(numbers(rows.skip(1).shard(2, 1).repeat(2).take(3)), (Numbers{2, 4, 2}));
  EXPECT_EQ(lists(rows.skip(1).repeat(2).batch(3)), (Lists{{1, 2, 3}, {4, 1, 2}, {3, 4}}));
}

TEST(Transformations, Cardinality) {
  const auto ds = Dataset::range(10);
  EXPECT_EQ(ds.take(3).cardinality(), 3);
  EXPECT_EQ(ds.skip(3).cardinality(), 7);
  EXPECT_EQ(ds.repeat().cardinality(), kInfiniteCardinality);
  EXPECT_EQ(ds.repeat().take(4).cardinality(), 4);
  EXPECT_EQ(ds.repeat(3).cardinality(), 30);
  EXPECT_EQ(ds.batch(3).cardinality(), 4);
  EXPECT_EQ(ds.batch(3, {.drop_remainder = true}).cardinality(), 3);
  EXPECT_EQ(ds.shard(3, 0).cardinality(), 4);
  EXPECT_EQ(ds.filter([](Tensor x) { return x > 3; }).cardinality(), kUnknownCardinality);
  EXPECT_EQ(ds.window(4).cardinality(), 3);
  EXPECT_EQ(ds.window(4, {.drop_remainder = true}).cardinality(), 2);
  EXPECT_EQ(Dataset::zip(ds, ds.take(2)).cardinality(), 2);
  EXPECT_EQ(ds.concatenate(ds).cardinality(), 20);
}

TEST(Transformations, ShuffleGivesTensorFlowsOrder) {
  const auto ds = Dataset::range(10).shuffle(4, {.seed = 42});
  EXPECT_EQ(numbers(ds), (Numbers{1, 4, 2, 3, 5, 0, 6, 8, 7, 9}));
  EXPECT_EQ(numbers(ds), (Numbers{3, 4, 2, 0, 1, 8, 5, 7, 9, 6}));
  const auto same = Dataset::range(10).shuffle(4, {.seed = 42, .reshuffle_each_iteration = false});
  EXPECT_EQ(numbers(same), (Numbers{0, 1, 3, 4, 5, 2, 6, 9, 7, 8}));
  EXPECT_EQ(numbers(same), (Numbers{0, 1, 3, 4, 5, 2, 6, 9, 7, 8}));
  // Rows of a table, and a buffer beyond the number of elements.
  const auto rows = Dataset::from_tensor_slices(rw::range(int64_t{10})).shuffle(20, {.seed = 7}).repeat(2);
  EXPECT_EQ(numbers(rows), (Numbers{2, 8, 6, 5, 9, 1, 0, 3, 7, 4, 9, 1, 3, 0, 6, 4, 7, 8, 2, 5}));
}

TEST(Transformations, MapDeducesTheElement) {
  const auto ds = Dataset::range(3).map([](Tensor i) { return std::tuple{i, i * 2}; });
  static_assert(std::is_same_v<decltype(ds)::value_type, std::tuple<Tensor, Tensor>>);
  Numbers twice;
  for (auto [i, j] : ds) twice.push_back(j.item<int64_t>());
  EXPECT_EQ(twice, (Numbers{0, 2, 4}));
  // Parts of a tuple one by one, and C++ numbers become tensors.
  const auto sums = ds.map([](Tensor i, Tensor j) { return double((i + j).item<int64_t>()); });
  std::vector<float> floats;
  for (const Tensor& t : sums) floats.push_back(t.item<float>());
  EXPECT_EQ(floats, (std::vector<float>{0, 3, 6}));
  EXPECT_EQ(ds.element_spec()[1].to_string(), "TensorSpec(shape=(), dtype=int64)");
  // A function that needs values cannot be traced: its types are those of a first element.
  EXPECT_EQ(sums.element_spec()[0].to_string(), "TensorSpec(shape=<unknown>, dtype=float32)");
}

struct Example {
  Tensor image, label;
};

TEST(Transformations, ElementsOfAllStructures) {
  const Tensor x = constant({{1.0, 2.0}, {3.0, 4.0}});
  const Tensor y = constant({5, 6});
  for (const Example& e : Dataset::from_tensor_slices(Example{x, y}).batch(2)) {
    EXPECT_EQ(e.image.shape(), (Shape{2, 2}));
    EXPECT_EQ(e.label.to_vector<int32_t>(), (std::vector<int32_t>{5, 6}));
  }
  using Named = std::map<std::string, Tensor>;
  int count = 0;
  for (const Named& e : Dataset::from_tensor_slices(Named{{"x", x}, {"y", y}})) {
    EXPECT_EQ(e.at("y").item<int32_t>(), 5 + count++);
  }
  EXPECT_EQ(count, 2);
  // Lists whose length the compiler does not know, behind a map.
  const auto lists_of = Dataset::range(2).map([](Tensor i) { return std::vector<Tensor>{i, i + 1, i + 2}; });
  for (const std::vector<Tensor>& e : lists_of.batch(2)) {
    ASSERT_EQ(e.size(), 3u);
    EXPECT_EQ(e[2].to_vector<int64_t>(), (Numbers{2, 3}));
  }
  for (auto [i, e] : lists_of.enumerate(5)) EXPECT_EQ(e.size(), 3u) << i.item<int64_t>();
  count = 0;
  for (auto [a, b] : Dataset::zip(Dataset::range(3), Dataset::from_tensor_slices(std::pair{x, y}))) {
    EXPECT_EQ(a.item<int64_t>(), count);
    EXPECT_EQ(b.second.item<int32_t>(), 5 + count++);
  }
  EXPECT_EQ(count, 2);
}

TEST(Transformations, FilterFlatMapInterleave) {
  EXPECT_EQ(numbers(Dataset::range(6).filter([](Tensor x) { return x % 2 == 0; })), (Numbers{0, 2, 4}));
  const auto twice = [](Tensor x) { return Dataset::from_tensors(x).repeat(2); };
  EXPECT_EQ(numbers(Dataset::range(3).flat_map(twice)), (Numbers{0, 0, 1, 1, 2, 2}));
  const auto six = [](Tensor x) { return Dataset::from_tensors(x).repeat(6); };
  const auto blocks = Dataset::range(1, 6).interleave(six, {.cycle_length = 2, .block_length = 4});
  const Numbers expected{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3,
                         3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5};
  EXPECT_EQ(numbers(blocks), expected);
  EXPECT_EQ(numbers(Dataset::range(1, 6).interleave(
                six, {.cycle_length = 2, .block_length = 4, .num_parallel_calls = 2})),
            expected);
  EXPECT_EQ(blocks.element_spec()[0].to_string(), "TensorSpec(shape=(), dtype=int64)");
}

TEST(Transformations, Windows) {
  const auto join = [](DatasetOf<Tensor> w) { return w.batch(3); };
  EXPECT_EQ(lists(Dataset::range(7).window(3).flat_map(join)), (Lists{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(lists(Dataset::range(7).window(3, {.shift = 2, .drop_remainder = true}).flat_map(join)),
            (Lists{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}}));
  EXPECT_EQ(
      lists(Dataset::range(7).window(3, {.shift = 1, .stride = 2, .drop_remainder = true}).flat_map(join)),
      (Lists{{0, 2, 4}, {1, 3, 5}, {2, 4, 6}}));
  EXPECT_EQ(lists(Dataset::range(7).window(2, {.shift = 3}).flat_map(join)), (Lists{{0, 1}, {3, 4}, {6}}));
  // A dataset for each component.
  const auto pairs = Dataset::zip(Dataset::range(4), Dataset::range(10, 14)).window(2);
  Numbers sums;
  for (auto [a, b] : pairs) {
    int64_t sum = 0;
    for (const Tensor& t : a) sum += t.item<int64_t>();
    for (const Tensor& t : b) sum += t.item<int64_t>();
    sums.push_back(sum);
  }
  EXPECT_EQ(sums, (Numbers{22, 30}));
}

TEST(Transformations, BatchesOfSlicesShareMemory) {
  const Tensor x = reshape(cast(rw::range(12), float32), {6, 2});
  for (const Tensor& t : Dataset::from_tensor_slices(x).batch(3))
    EXPECT_TRUE(t.data<float>().data() >= x.data<float>().data() &&
                t.data<float>().data() < x.data<float>().data() + 12);
}

TEST(Transformations, PaddedBatch) {
  const auto ds = Dataset::range(1, 4).map([](Tensor n) { return fill({n.item<int64_t>()}, n); });
  EXPECT_EQ(lists(ds.padded_batch(2)), (Lists{{1, 0, 2, 2}, {3, 3, 3}}));
  EXPECT_EQ(lists(ds.padded_batch(2, {.padded_shapes = {{4}}, .padding_values = {constant(int64_t{-1})}})),
            (Lists{{1, -1, -1, -1, 2, 2, -1, -1}, {3, 3, 3, -1}}));
  EXPECT_EQ(lists(ds.padded_batch(2, {.drop_remainder = true})), (Lists{{1, 0, 2, 2}}));
  const auto words = Dataset::from_tensors(constant(std::vector<std::string>{"a"}))
                         .concatenate(Dataset::from_tensors(constant(std::vector<std::string>{"b", "c"})));
  for (const Tensor& t : words.padded_batch(2))
    EXPECT_EQ(t.to_vector<std::string>(), (std::vector<std::string>{"a", "", "b", "c"}));
}

TEST(Transformations, UnbatchAndCache) {
  EXPECT_EQ(numbers(Dataset::range(5).batch(2).unbatch()), (Numbers{0, 1, 2, 3, 4}));
  auto calls = std::make_shared<int>(0);
  const auto ds = Dataset::range(3)
                      .map([calls](Tensor x) {
                        ++*calls;
                        return x;
                      })
                      .cache();
  EXPECT_EQ(numbers(ds), (Numbers{0, 1, 2}));
  EXPECT_EQ(numbers(ds), (Numbers{0, 1, 2}));
  EXPECT_EQ(*calls, 3);
}

TEST(Transformations, Generators) {
  const auto squares = Dataset::from_generator(
      [i = 0]() mutable -> std::optional<int> { return i < 4 ? std::optional(i * i++) : std::nullopt; });
  EXPECT_EQ(numbers(squares.map([](Tensor x) { return cast(x, int64); })).size(), 4u);
  EXPECT_EQ(numbers(squares), numbers(squares));
  EXPECT_EQ(squares.element_spec()[0].dtype, int32);
}

TEST(Transformations, ReduceAndApply) {
  const Tensor sum = Dataset::range(5).reduce(constant(int64_t{0}), [](Tensor s, Tensor x) { return s + x; });
  EXPECT_EQ(sum.item<int64_t>(), 10);
  EXPECT_EQ(numbers(Dataset::range(5).apply([](const auto& d) { return d.take(1); })), (Numbers{0}));
}

TEST(Transformations, Mistakes) {
  const auto ds = Dataset::range(3);
  expect_error<InvalidArgumentError>([&] { ds.batch(0); }, "batch_size must be at least 1: got 0");
  expect_error<InvalidArgumentError>([&] { ds.shuffle(0); }, "buffer_size");
  expect_error<InvalidArgumentError>([&] { ds.shard(2, 2); }, "index must be in [0, 2): got 2");
  expect_error<InvalidArgumentError>([&] { ds.window(0); }, "size must be at least 1");
  expect_error<InvalidArgumentError>([&] { ds.prefetch(-2); }, "must not be negative");
  expect_error<InvalidArgumentError>([&] { Dataset::from_tensor_slices(constant(1)); }, "is a scalar");
  expect_error<InvalidArgumentError>(
      [&] { Dataset::from_tensor_slices(std::tuple{constant({1, 2}), constant({1, 2, 3})}); },
      "first sizes must be equal");
  const auto ragged = ds.map([](Tensor n) { return fill({n.item<int64_t>()}, 1.0f); });
  expect_error<InvalidArgumentError>([&] { ragged.batch(3).iterator().next(); },
                                     "component 0 of element 1 is (1,) float32, of element 0 (0,) float32");
  expect_error<InvalidArgumentError>(
      [&] { ragged.padded_batch(3, {.padded_shapes = {{1}}}).iterator().next(); },
      "component 0 of element 2 is (2,) float32");
  expect_error<InvalidArgumentError>([&] { numbers(ds.filter([](Tensor x) { return x; })); }, "one bool");
  expect_error<FailedPreconditionError>([] { DatasetOf<Tensor>().batch(2); }, "undefined");
}

}  // namespace
}  // namespace rw::data
