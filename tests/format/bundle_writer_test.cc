// Bundles that are written: TensorFlow's bytes, slices, shards, and names over older bundles.
#include "rewind/format/bundle_writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "rewind/base/dtype.h"
#include "rewind/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/goldens.h"
#include "tests/support/temporary_folder.h"

namespace rw::format {
namespace {

using test::golden_bytes;
using test::read_bytes;
using test::TemporaryFolder;
using test::write_bytes;

class BundleWriter : public testing::Test {
 protected:
  static BundleTensor floats(const std::string& name, const std::vector<float>& values) {
    return {.name = name,
            .dtype = DataType(int(DType::kFloat32)),
            .shape = Shape({int64_t(values.size())}),
            .data = values.data()};
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names = folder_.files();
    std::sort(names.begin(), names.end());
    return names;
  }
  std::vector<float> read(const std::string& name) const {
    const BundleReader bundle(folder_ / "b");
    std::vector<float> values(size_t(bundle.find(name)->shape.num_elements()));
    bundle.read(name, values.data());
    return values;
  }
  TemporaryFolder folder_;
};

TEST_F(BundleWriter, TheBytesAreTensorFlows) {
  for (const char* part : {".index", ".data-00000-of-00001"})
    write_bytes(folder_ / (std::string("in") + part), golden_bytes(std::string("bundle/types") + part));
  const BundleReader bundle(folder_ / "in");
  std::vector<BundleTensor> tensors;
  std::vector<std::string> bytes;
  bytes.reserve(bundle.entries().size());
  for (const auto& [name, entry] : bundle.entries()) {
    BundleTensor t{.name = name, .dtype = entry.dtype, .shape = entry.shape};
    if (int(entry.dtype) == int(DType::kString)) {
      t.strings = bundle.read_strings(name);
    } else {
      bytes.emplace_back(entry.size, '\0');
      bundle.read(name, bytes.back().data());
      t.data = bytes.back().data();
    }
    tensors.push_back(std::move(t));
  }
  std::sort(tensors.begin(), tensors.end(), [&](const BundleTensor& a, const BundleTensor& b) {
    const auto *x = bundle.find(a.name), *y = bundle.find(b.name);
    return std::pair(x->offset, x->size) < std::pair(y->offset, y->size);
  });
  write_bundle(folder_ / "out", std::move(tensors), "save");
  for (const char* part : {".index", ".data-00000-of-00001"})
    EXPECT_TRUE(read_bytes(folder_ / (std::string("out") + part)) ==
                read_bytes(folder_ / (std::string("in") + part)))
        << part;
}

TEST_F(BundleWriter, SlicesOfOneTensor) {
  const std::vector<float> left{0, 1, 4, 5}, right{2, 3, 6, 7};
  std::vector<BundleTensor> parts;
  for (const auto* values : {&left, &right}) {
    TensorSliceProto slice;
    slice.extent = {{}, {.start = values == &left ? 0 : 2, .length = 2}};
    BundleTensor t = floats("v", *values);
    t.shape = Shape({2, 2});
    t.slice = slice;
    t.whole = Shape({2, 4});
    parts.push_back(t);
  }
  write_bundle(folder_ / "b", parts, "save");
  EXPECT_EQ(read("v"), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(BundleWriter, Shards) {
  const std::vector<float> values(10, 3.0F);
  std::vector<BundleTensor> tensors;
  for (const char* name : {"a", "b", "c", "d", "e"}) tensors.push_back(floats(name, values));
  write_bundle(folder_ / "b", tensors, "save", {.max_shard_bytes = 50});
  EXPECT_EQ(files(), (std::vector<std::string>{"b.data-00000-of-00003", "b.data-00001-of-00003",
                                               "b.data-00002-of-00003", "b.index"}));
  for (const BundleTensor& t : tensors) EXPECT_EQ(read(t.name), values);
}

// The data files of a new bundle have names that the old index does not mention.
TEST_F(BundleWriter, OverAnOlderBundle) {
  const std::vector<float> one{1, 2}, two{3, 4}, three{5, 6};
  write_bundle(folder_ / "b", {floats("v", one)}, "save");
  EXPECT_EQ(files(), (std::vector<std::string>{"b.data-00000-of-00001", "b.index"}));
  write_bundle(folder_ / "b", {floats("v", two)}, "save");
  EXPECT_EQ(files(), (std::vector<std::string>{"b.data-00000-of-00002", "b.data-00001-of-00002", "b.index"}));
  EXPECT_EQ(read("v"), two);
  write_bundle(folder_ / "b", {floats("v", three)}, "save");
  EXPECT_EQ(files(), (std::vector<std::string>{"b.data-00000-of-00001", "b.index"}));
  EXPECT_EQ(read("v"), three);
  write_bytes(folder_ / "b.index", "damaged");
  write_bundle(folder_ / "b", {floats("v", one)}, "save");
  EXPECT_EQ(read("v"), one);
  EXPECT_EQ(files().size(), 3u);
  // Other bundles of the folder stay.
  for (const char* name : {"bb.data-00000-of-00001", "b.data-0000x-of-00001", "b.data-00000-of-00001.old"})
    write_bytes(folder_ / name, "");
  write_bundle(folder_ / "b", {floats("v", two)}, "save");
  EXPECT_EQ(files().size(), 5u);
  delete_bundle(folder_ / "b");
  EXPECT_EQ(files().size(), 3u);
  delete_bundle(folder_ / "b");
}

TEST_F(BundleWriter, Refusals) {
  const std::vector<float> one{1};
  expect_error<InvalidArgumentError>(
      [&] { write_bundle(folder_ / "b", {floats("v", one), floats("v", one)}, "save"); },
      "[save] two tensors are named \"v\"");
  expect_error<NotFoundError>([&] { write_bundle(folder_ / "none/b", {floats("v", one)}, "save"); },
                              "[save] ");
  // Data that is there without an index is left by nobody: what was begun goes when the index fails.
  mkdir((folder_ / "b.index").c_str(), 0700);
  expect_error<FailedPreconditionError>([&] { write_bundle(folder_ / "b", {floats("v", one)}, "save"); },
                                        "is a folder");
  EXPECT_EQ(files(), (std::vector<std::string>{"b.index"}));
}

}  // namespace
}  // namespace rw::format
