// A pass that is stopped at any element and taken up by another dataset of the same making goes on with the
// same elements, bit for bit.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "rewind/data/text.h"
#include "tests/data/elements.h"
#include "tests/support/expect_error.h"

namespace rw::data {
namespace {

// `make` builds the pipeline anew, as another process would.
template <class Make>
void check_positions(Make make, int most = 40) {
  std::vector<std::string> whole;
  std::vector<Position> positions;
  {
    auto it = make().iterator();
    positions.push_back(it.position());
    while (auto element = it.next()) {
      whole.push_back(text_of(*element));
      positions.push_back(it.position());
      if (int(whole.size()) == most) break;
    }
  }
  ASSERT_FALSE(whole.empty());
  for (size_t stop = 0; stop < positions.size(); ++stop) {
    auto it = make().iterator_at(positions[stop]);
    for (size_t i = stop; i < whole.size(); ++i) {
      auto element = it.next();
      ASSERT_TRUE(element.has_value()) << "stopped at " << stop << ", ended at " << i;
      ASSERT_EQ(text_of(*element), whole[i]) << "stopped at " << stop << ", element " << i;
    }
    if (int(whole.size()) < most) ASSERT_FALSE(it.next().has_value()) << "stopped at " << stop;
    // The position survives being read and written again.
    ASSERT_EQ(make().iterator_at(positions[stop]).position(), positions[stop]) << stop;
  }
}

DatasetOf<Tensor> rows() { return Dataset::from_tensor_slices(reshape(rw::range(int64_t{22}), {11, 2})); }
Tensor triple(const Tensor& x) { return x * 3; }

TEST(Position, Sources) {
  check_positions([] { return rows(); });
  check_positions([] { return Dataset::range(7); });
  check_positions([] { return Dataset::from_tensors(std::tuple{constant(1), constant("a")}); });
  check_positions([] {
    return Dataset::from_generator(
        [i = 0]() mutable { return i < 5 ? std::optional(constant(i++)) : std::nullopt; });
  });
}

TEST(Position, OrderAndNumber) {
  check_positions([] { return rows().take(5); });
  check_positions([] { return rows().skip(4); });
  check_positions([] { return Dataset::range(9).skip(4).take(3); });
  check_positions([] { return Dataset::range(4).repeat(3); });
  check_positions([] { return Dataset::range(4).repeat(); }, 10);
  check_positions([] { return rows().shard(3, 1); });
  check_positions([] { return Dataset::range(3).concatenate(Dataset::range(10, 13)); });
  check_positions([] { return Dataset::zip(Dataset::range(5), rows()); });
  check_positions([] { return rows().enumerate(); });
}

TEST(Position, Shuffle) {
  check_positions([] { return rows().shuffle(4, {.seed = 1}).repeat(3); });
  check_positions([] { return Dataset::range(9).shuffle(4, {.seed = 1}).repeat(3); });
  check_positions([] { return Dataset::range(9).shuffle(100, {.seed = 1}).repeat(3); });
  check_positions([] { return rows().shuffle(4, {.seed = 1, .reshuffle_each_iteration = false}).repeat(2); });
  check_positions([] { return rows().shuffle(11, {.seed = 5}).batch(3).repeat(3); });
}

TEST(Position, ShuffleWithoutASeedGoesOnInAnotherDataset) {
  const auto make = [] { return rows().shuffle(11).repeat(2); };
  const auto first = make();
  auto it = first.iterator();
  it.next();
  auto other = make().iterator_at(it.position());
  while (auto element = it.next()) EXPECT_EQ(text_of(*element), text_of(*other.next()));
  EXPECT_FALSE(other.next().has_value());
}

TEST(Position, Batches) {
  check_positions([] { return rows().batch(3); });
  check_positions([] { return Dataset::range(10).batch(4, {.drop_remainder = true}); });
  check_positions([] { return rows().map(triple).batch(4); });
  check_positions([] { return rows().unbatch(); });
  check_positions([] { return Dataset::range(10).batch(4).unbatch(); });
  check_positions([] {
    return Dataset::range(1, 6).map([](Tensor n) { return fill({n.item<int64_t>()}, n); }).padded_batch(2);
  });
}

TEST(Position, Functions) {
  check_positions([] { return rows().map(triple); });
  check_positions([] { return rows().map(triple, {.num_parallel_calls = 3}); });
  check_positions([] { return Dataset::range(10).filter([](Tensor x) { return x % 3 != 1; }); });
  const auto some = [](Tensor x) { return Dataset::range(3).map([x](Tensor y) { return x * 10 + y; }); };
  check_positions([=] { return Dataset::range(4).flat_map(some); });
  check_positions([=] { return Dataset::range(5).interleave(some, {.cycle_length = 3, .block_length = 2}); });
  check_positions([=] {
    return Dataset::range(5).interleave(some,
                                        {.cycle_length = 2, .block_length = 2, .num_parallel_calls = 2});
  });
  check_positions([] {
    return Dataset::range(9).window(3, {.shift = 2}).flat_map([](DatasetOf<Tensor> w) { return w.batch(2); });
  });
  check_positions([] { return Dataset::range(9).window(3, {.shift = 4}); });
}

TEST(Position, Buffers) {
  check_positions([] { return rows().map(triple).prefetch(3); });
  check_positions([] { return rows().shuffle(5, {.seed = 3}).batch(2).prefetch(2).repeat(2); });
  check_positions([] { return rows().map(triple).cache().repeat(2); });
  check_positions([] { return Dataset::range(6).shuffle(6, {.seed = 3}).cache().repeat(3); });
  check_positions([] {
    return rows()
        .shuffle(11, {.seed = 9})
        .map(triple, {.num_parallel_calls = 2})
        .batch(2)
        .prefetch()
        .repeat(2);
  });
}

TEST(Position, Files) {
  const std::string path = testing::TempDir() + "position_lines.txt";
  std::ofstream(path) << "1,a\n2,b\n3,\"c\nd\"\n\n4,e";
  check_positions([=] { return text_line_dataset(std::vector{path, path}); });
  check_positions([=] { return csv_dataset({path, path}, std::tuple{0, ""}); });
  const std::string cache = testing::TempDir() + "position_cache";
  std::filesystem::remove(cache);
  check_positions([=] { return Dataset::range(5).shuffle(5, {.seed = 2}).cache(cache).repeat(2); });
  EXPECT_TRUE(std::filesystem::exists(cache));
}

// An element that was looked at and not taken belongs to what is left.
TEST(Position, BehindALoopInAFunction) {
  const auto ds = Dataset::range(6);
  auto it = ds.iterator();
  const auto some = rw::function([&] {
    return rw::for_each_while(
        it, constant(int64_t{0}), [](Tensor sum) { return sum < 3; },
        [](Tensor sum, Tensor x) { return sum + x; });
  });
  EXPECT_EQ(some().item<int64_t>(), 3);
  auto again = ds.iterator_at(it.position());
  EXPECT_EQ(again.next()->item<int64_t>(), 3);
  EXPECT_EQ(it.next()->item<int64_t>(), 3);
}

TEST(Position, OfAnotherPipelineIsRefused) {
  auto it = rows().batch(2).iterator();
  const Position position = it.position();
  expect_error<InvalidArgumentError>([&] { rows().take(3).iterator_at(position); },
                                     "taken from 'batch' where 'take' stands now");
  for (size_t n = 0; n < position.size(); ++n)
    EXPECT_THROW(rows().batch(2).iterator_at(position.substr(0, n)), InvalidArgumentError) << n;
  EXPECT_THROW(rows().batch(2).iterator_at(position + "x"), InvalidArgumentError);
}

// Damaged positions are refused or harmless, whatever byte is wrong.
TEST(Position, DamagedBytes) {
  const auto make = [] { return Dataset::range(5).shuffle(3, {.seed = 1}).batch(2).prefetch(2); };
  auto it = make().iterator();
  it.next();
  const Position position = it.position();
  for (size_t at = 0; at < position.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      Position bad = position;
      bad[at] = char(bad[at] ^ (1 << bit));
      try {
        auto other = make().iterator_at(bad);
        for (int i = 0; i < 10 && other.next(); ++i) {}
      } catch (const Error&) {}
    }
  }
}

}  // namespace
}  // namespace rw::data
