// Tables that change are in checkpoints.
#include <gtest/gtest.h>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

using test::TemporaryFolder;
using Longs = std::vector<int64_t>;

struct Counter : Module {
  lookup::MutableHashTable counts{string, int64, 0};
  lookup::DenseHashTable ids{int64, float32, 0.0f, -1, -2, {.initial_num_buckets = 4}};
  lookup::StaticHashTable fixed{lookup::KeyValueTensorInitializer({"a"}, {1}, string, int64), 0};
  Variable step{0.0f};
  RW_TRACK(counts, ids, fixed, step)
};

TEST(LookupCheckpoints, HoldTablesThatChange) {
  const TemporaryFolder folder;
  Counter one;
  one.counts.insert({"x", "y"}, {5, 6});
  one.ids.insert({7}, {0.5f});
  one.step.assign(3.0f);
  const std::string path = train::Checkpoint(one).save(folder / "c");
  const train::CheckpointReader reader(path);
  EXPECT_TRUE(reader.has_tensor("counts/.ATTRIBUTES/table-keys"));
  EXPECT_TRUE(reader.has_tensor("ids/.ATTRIBUTES/table-values"));
  Counter other;
  other.counts.insert({"old"}, {1});
  train::Checkpoint(other).restore(path).assert_consumed();
  EXPECT_EQ(other.counts.lookup({"x", "y", "old"}).to_vector<int64_t>(), (Longs{5, 6, 0}));
  EXPECT_EQ(other.counts.size().item<int64_t>(), 2);
  EXPECT_EQ(other.ids.lookup({7, 8}).to_vector<float>(), (std::vector<float>{0.5f, 0}));
  EXPECT_EQ(other.step.value().item<float>(), 3);
}

}  // namespace
}  // namespace rw
