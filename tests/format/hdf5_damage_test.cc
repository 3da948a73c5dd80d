// HDF5 files with damage of every kind: errors with the file and the byte, bounded memory, an end.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "rewind/base/error.h"
#include "rewind/format/hdf5.h"
#include "rewind/format/hdf5_writer.h"
#include "rewind/format/little_endian.h"
#include "tests/support/expect_error.h"
#include "tests/support/goldens.h"
#include "tests/support/read_hdf5.h"
#include "tests/support/temporary_folder.h"

namespace rw::format {
namespace {

constexpr ExpansionLimit kStrict{.always = 4 << 20, .ratio = 20};

// How many arrays and attributes can be read; -1: the file cannot be opened.
int readable(const std::string& bytes) {
  try {
    return test::read_everything(Hdf5File(bytes_in_memory(bytes, "x.h5", "test"), kStrict).root());
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("x.h5: "), std::string::npos) << e.what();
    return -1;
  }
}

std::string hdf5_bytes(const Hdf5Group& root) {
  const Hdf5Image image(root);
  std::string bytes;
  for (const std::string_view part : image.parts()) bytes += part;
  return bytes;
}

std::string small_file() {
  static const float values[6] = {1, 2, 3, 4, 5, 6};
  Hdf5Group root;
  root.array("layers/dense/vars/0") = {DType::kFloat32, {2, 3}, values};
  root.group("layers/dense/vars").attributes["name"] = "dense";
  root.array("layers/dense/vars/1") = {DType::kFloat32, {3}, values};
  return hdf5_bytes(root);
}

class Hdf5Damage : public testing::TestWithParam<const char*> {
 protected:
  static std::string file() {
    return std::string(GetParam()) == "own" ? small_file()
                                            : test::golden_bytes("hdf5/" + std::string(GetParam()) + ".h5");
  }
};

TEST_P(Hdf5Damage, EveryTruncationIsAnError) {
  const std::string good = file();
  const size_t step = std::max<size_t>(1, good.size() / 400);
  for (size_t size = 0; size < good.size(); size += size < 600 ? 7 : step)
    EXPECT_EQ(readable(good.substr(0, size)), -1) << size;
}

TEST_P(Hdf5Damage, FlippedBytes) {
  const std::string good = file();
  const int whole = readable(good);
  EXPECT_GT(whole, 0);
  std::mt19937 rng(7);
  const int rounds = good.size() < 10000 ? 3000 : 250;
  int noticed = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string bad = good;
    // A byte, a run of ones, or a number of 64 bits that is large, near the end, or another address.
    const size_t at = rng() % (bad.size() - 8);
    const uint64_t numbers[] = {~uint64_t{0}, uint64_t{1} << 40, bad.size() - 4, rng() % bad.size(), 0};
    switch (rng() % 3) {
      case 0: bad[at] = char(bad[at] ^ (1 << rng() % 8)); break;
      case 1: std::memset(bad.data() + at, 0xff, rng() % 8); break;
      default: std::memcpy(bad.data() + at, &numbers[rng() % 5], 8);
    }
    noticed += readable(bad) != whole;
  }
  EXPECT_GT(noticed, rounds / 20);
}

INSTANTIATE_TEST_SUITE_P(Files, Hdf5Damage, testing::Values("earliest", "latest", "own"),
                         [](const auto& info) { return std::string(info.param); });

// ---- one by one -------------------------------------------------------------------------------------------

template <class T>
void put_at(std::string* bytes, size_t at, T value) {
  std::memcpy(bytes->data() + at, &value, sizeof value);
}
size_t find_bytes(const std::string& bytes, std::string_view what, size_t number = 0) {
  size_t at = bytes.find(what);
  for (; number > 0; --number) at = bytes.find(what, at + 1);
  EXPECT_NE(at, std::string::npos);
  return at;
}
void refuse_hdf5(const std::string& bytes, const std::string& path, const std::string& part) {
  expect_error<DataLossError>(
      [&] {
        const Hdf5File file(bytes_in_memory(bytes, "x.h5", "test"), kStrict);
        const Hdf5Object object = file.root().at(path);
        std::vector<char> out(object.is_array() ? object.byte_size() : 0);
        if (object.is_array()) object.read(out.data());
        else if (const auto a = object.attribute("name")) (void)a->string();
      },
      part);
}

TEST(Hdf5DamageCases, CyclesOfATree) {
  std::string bytes = small_file();
  const size_t tree = find_bytes(bytes, "TREE");
  bytes[tree + 5] = 1;                        // a level above
  put_at<uint64_t>(&bytes, tree + 32, tree);  // over itself
  refuse_hdf5(bytes, "layers/dense/vars/0", "the node of a group's tree is reached twice");
  bytes = small_file();
  bytes[find_bytes(bytes, "TREE") + 6] = 2;  // two children
  put_at<uint64_t>(&bytes, tree + 48, get_fixed<uint64_t>(bytes.data() + tree + 32));
  refuse_hdf5(bytes, "layers/dense/vars/0", "the list of a group's names is reached twice");
}

TEST(Hdf5DamageCases, CyclesOfHeaders) {
  std::string bytes = small_file();
  // The first message of the first header goes on at the header's own messages.
  const size_t header = find_bytes(bytes, std::string_view("\1\0\4\0\1\0\0\0", 8));
  put_at<uint16_t>(&bytes, header + 16, 0x10);
  put_at<uint64_t>(&bytes, header + 24, header + 16);
  put_at<uint64_t>(&bytes, header + 32, uint64_t{64});
  refuse_hdf5(bytes, "layers/dense/vars/0", "the block of an object header is reached twice");
}

TEST(Hdf5DamageCases, AGroupInItself) {
  std::string bytes = small_file();
  // The second name of the innermost group leads to the root.
  const size_t list = find_bytes(bytes, "SNOD");
  put_at<uint64_t>(&bytes, list + 8 + 40 + 8, get_fixed<uint64_t>(bytes.data() + 64));
  EXPECT_EQ(readable(bytes), 2);
  const Hdf5File file(bytes_in_memory(bytes, "x.h5", "test"));
  EXPECT_EQ(file.root().at("layers/dense/vars/1/layers").address(), file.root().at("layers").address());
}

TEST(Hdf5DamageCases, HugeSizes) {
  std::string bytes = small_file();
  const size_t space = find_bytes(bytes, std::string_view("\1\2\0\0\0\0\0\0\2\0\0\0", 12));
  put_at<uint64_t>(&bytes, space + 8, uint64_t{1} << 40);
  refuse_hdf5(bytes, "layers/dense/vars/0", "takes 13194139533312 bytes, the file says 24");
  put_at<uint64_t>(&bytes, space + 8, uint64_t{1} << 62);
  refuse_hdf5(bytes, "layers/dense/vars/0", "has too many elements");
  // The same where nothing is stored.
  bytes = small_file();
  const size_t layout = find_bytes(bytes, std::string_view("\3\1", 2), 0);
  put_at<uint64_t>(&bytes, space + 8, uint64_t{1} << 40);
  put_at<uint64_t>(&bytes, layout + 2, ~uint64_t{0});
  refuse_hdf5(bytes, "layers/dense/vars/0", "which a file of ");
}

TEST(Hdf5DamageCases, StringsOfHeaps) {
  std::string bytes = small_file();
  const size_t heap = find_bytes(bytes, "GCOL");
  put_at<uint64_t>(&bytes, heap + 8, uint64_t{1} << 50);
  refuse_hdf5(bytes, "layers/dense/vars", "the global heap of 1125899906842624 bytes");
  bytes = small_file();
  put_at<uint16_t>(&bytes, heap + 16, uint16_t{9});  // another index
  refuse_hdf5(bytes, "layers/dense/vars", "has no object 1");
  bytes = small_file();
  put_at<uint64_t>(&bytes, heap + 24, uint64_t{2});  // a shorter string
  refuse_hdf5(bytes, "layers/dense/vars", "a string of 5 bytes, its heap has 2");
}

TEST(Hdf5DamageCases, ChecksumsOfNewStructures) {
  const std::string good = test::golden_bytes("hdf5/latest.h5");
  for (const char* part : {"OHDR", "FRHP", "BTHD", "BTLF", "FAHD", "FADB", "EAHD", "EAIB", "FHDB"}) {
    std::string bad = good;
    const size_t at = find_bytes(bad, part) + 9;
    bad[at] = char(bad[at] ^ 4);
    EXPECT_LT(readable(bad), readable(good)) << part;
  }
}

}  // namespace
}  // namespace rw::format
