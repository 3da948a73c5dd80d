// HDF5 files that h5py wrote (interop/make_hdf5.py), in the oldest and the newest form; files of our own.
#include "rewind/format/hdf5.h"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <numeric>

#include "rewind/base/error.h"
#include "rewind/base/half.h"
#include "rewind/format/hdf5_writer.h"
#include "tests/support/expect_error.h"
#include "tests/support/goldens.h"
#include "tests/support/temporary_folder.h"

namespace rw::format {
namespace {

using test::TemporaryFolder;

Hdf5File h5py_file(const std::string& name) {
  return Hdf5File(bytes_in_memory(test::golden_bytes("hdf5/" + name + ".h5"), name + ".h5", "test"));
}

template <class T>
std::vector<T> elements_of(const Hdf5Object& array) {
  std::vector<T> values(array.byte_size() / sizeof(T));
  array.read(values.data());
  return values;
}

// What make_hdf5.py puts into arrays.
template <class T>
std::vector<T> sevens(size_t count) {
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) values.push_back(T(float((7 * i + 3) % 97)));
  return values;
}

class Hdf5 : public testing::TestWithParam<const char*> {
 protected:
  Hdf5File file_ = h5py_file(GetParam());
  Hdf5Object root_ = file_.root();
};

template <class T>
void check_hdf5_type(const Hdf5Object& types, const std::string& name, DType dtype) {
  const Hdf5Object array = types.at(name);
  EXPECT_EQ(int(array.type().dtype), int(dtype)) << name;
  EXPECT_EQ(array.shape(), Shape({2, 3})) << name;
  EXPECT_EQ(std::memcmp(elements_of<T>(array).data(), sevens<T>(6).data(), 6 * sizeof(T)), 0) << name;
}

TEST_P(Hdf5, EveryTypeIsRead) {
  const Hdf5Object types = root_.at("types");
  check_hdf5_type<int8_t>(types, "i1", DType::kInt8);
  check_hdf5_type<uint8_t>(types, "u1", DType::kUint8);
  check_hdf5_type<int16_t>(types, "<i2", DType::kInt16);
  check_hdf5_type<int16_t>(types, ">i2", DType::kInt16);
  check_hdf5_type<uint16_t>(types, "<u2", DType::kUint16);
  check_hdf5_type<int32_t>(types, "<i4", DType::kInt32);
  check_hdf5_type<int32_t>(types, ">i4", DType::kInt32);
  check_hdf5_type<uint32_t>(types, "<u4", DType::kUint32);
  check_hdf5_type<int64_t>(types, "<i8", DType::kInt64);
  check_hdf5_type<int64_t>(types, ">i8", DType::kInt64);
  check_hdf5_type<uint64_t>(types, "<u8", DType::kUint64);
  check_hdf5_type<Half>(types, "<f2", DType::kFloat16);
  check_hdf5_type<Half>(types, ">f2", DType::kFloat16);
  check_hdf5_type<float>(types, "<f4", DType::kFloat32);
  check_hdf5_type<float>(types, ">f4", DType::kFloat32);
  check_hdf5_type<double>(types, "<f8", DType::kFloat64);
  check_hdf5_type<double>(types, ">f8", DType::kFloat64);
  check_hdf5_type<std::complex<float>>(types, "<c8", DType::kComplex64);
  check_hdf5_type<std::complex<float>>(types, ">c8", DType::kComplex64);
  check_hdf5_type<std::complex<double>>(types, "<c16", DType::kComplex128);
  EXPECT_EQ(types.at("bool").type().dtype, DType::kBool);
  EXPECT_EQ(elements_of<char>(types.at("bool")), (std::vector<char>{1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(types.at("bfloat16").type().kind, Hdf5Type::Class::kOpaque);
  const auto halves = sevens<Bfloat16>(6);
  EXPECT_EQ(std::memcmp(elements_of<Bfloat16>(types.at("bfloat16")).data(), halves.data(), 12), 0);
  EXPECT_EQ(types.at("scalar").shape(), Shape());
  EXPECT_EQ(elements_of<float>(types.at("scalar")), std::vector<float>{3});
  EXPECT_EQ(types.at("empty").shape(), Shape({0, 3}));
  EXPECT_EQ(types.at("null").byte_size(), 0u);
  EXPECT_EQ(elements_of<int32_t>(types.at("committed")), sevens<int32_t>(5));
  EXPECT_EQ(types.at("compound").type().text, "compounds of 2 members");
  EXPECT_EQ(types.at("compound").type().dtype, DType::kInvalid);
}

TEST_P(Hdf5, Strings) {
  EXPECT_EQ(root_.at("strings/fixed").strings(), (std::vector<std::string>{"ab", "c", ""}));
  const auto variable = root_.at("strings/variable").strings();
  ASSERT_EQ(variable.size(), 4u);
  EXPECT_EQ(variable[0], "é");
  EXPECT_EQ(variable[2], "");
  EXPECT_EQ(variable[3].size(), 200u);
  expect_error<UnimplementedError>([&] { root_.at("types/<f4").strings(); },
                                   "expected strings, the file has float32");
}

TEST_P(Hdf5, Attributes) {
  EXPECT_EQ(root_.attribute("text")->string(), "ü");
  EXPECT_EQ(root_.attribute("bytes")->string(), "bytes");
  EXPECT_EQ(root_.attribute("empty")->strings(), std::vector<std::string>{});
  EXPECT_EQ(root_.attribute("list")->strings(), (std::vector<std::string>{"a", "bcd"}));
  EXPECT_EQ(root_.attribute("fixed")->strings(), (std::vector<std::string>{"a", "bcd"}));
  EXPECT_EQ(root_.attribute("integer")->integer(), -7);
  EXPECT_FALSE(root_.attribute("missing"));
  double number = 0;
  std::memcpy(&number, root_.attribute("é")->bytes().data(), 8);
  EXPECT_EQ(number, 2.5);
  const std::string array = root_.attribute("array")->bytes();
  EXPECT_EQ(std::memcmp(array.data(), sevens<int16_t>(10).data(), 20), 0);
  // Many are kept elsewhere in new files.
  const Hdf5Object group = root_.at("attributes");
  for (int i = 1; i < 20; ++i) {
    const auto a = group.attribute("a" + std::to_string(i));
    ASSERT_TRUE(a) << i;
    EXPECT_EQ(a->shape(), Shape({i}));
    int64_t last = 0;
    std::memcpy(&last, a->bytes().data() + 8 * (i - 1), 8);
    EXPECT_EQ(last, i - 1);
  }
  expect_error<UnimplementedError>([&] { (void)root_.attribute("list")->string(); },
                                   "2 strings, expected one");
  expect_error<UnimplementedError>([&] { (void)root_.attribute("text")->integer(); }, "expected an integer");
}

TEST_P(Hdf5, ChunksAreFoundAndUnpacked) {
  const Hdf5Object chunks = root_.at("chunks");
  for (const char* name : {"plain", "one", "one_deflated", "deflated", "growing", "growing_second",
                           "growing_both", "growing_both_deflated", "limited"}) {
    const Hdf5Object array = chunks.at(name);
    EXPECT_EQ(elements_of<float>(array), sevens<float>(size_t(array.shape().num_elements()))) << name;
    EXPECT_FALSE(array.is_plain());
  }
  EXPECT_EQ(elements_of<int32_t>(chunks.at("big_endian")), sevens<int32_t>(20 * 13));
  EXPECT_EQ(elements_of<uint8_t>(chunks.at("summed")), sevens<uint8_t>(21 * 3));
  EXPECT_EQ(elements_of<uint8_t>(chunks.at("paged")), sevens<uint8_t>(1100));
  EXPECT_EQ(elements_of<int32_t>(chunks.at("compact")), sevens<int32_t>(5));
  EXPECT_EQ(elements_of<int32_t>(chunks.at("implicit")), sevens<int32_t>(20));
  EXPECT_EQ(elements_of<float>(chunks.at("shrunk")), sevens<float>(17));
  EXPECT_TRUE(chunks.at("compact").is_plain());
}

TEST_P(Hdf5, WhatWasNotWrittenHasTheFillValue) {
  const Hdf5Object chunks = root_.at("chunks");
  EXPECT_EQ(elements_of<double>(chunks.at("unwritten")), std::vector<double>(25, 4.0));
  const auto sparse = elements_of<float>(chunks.at("sparse"));
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 30; ++j) {
      const bool written = i >= 15 && i < 25 && j >= 15 && j < 25;
      ASSERT_EQ(sparse[size_t(30 * i + j)], written ? 1.f : 2.5f) << i << " " << j;
    }
  auto far = elements_of<int8_t>(chunks.at("far"));
  EXPECT_EQ(std::count(far.begin(), far.end(), 7), 5);
  EXPECT_EQ(std::count(far.begin(), far.end(), -1), 1'999'995);
  EXPECT_EQ(far.back(), 7);
}

TEST_P(Hdf5, WhatLeadsElsewhereIsRefused) {
  expect_error<UnimplementedError>([&] { (void)root_.find("soft"); }, "\"soft\" is a soft link");
  expect_error<UnimplementedError>([&] { (void)root_.find("external/x"); },
                                   "\"external\" is an external link");
  expect_error<UnimplementedError>([&] { (void)root_.find("chunks/lzf"); },
                                   "filter 32000 (lzf) is not supported");
  expect_error<NotFoundError>([&] { (void)root_.at("types/none"); },
                              "there is no \"types/none\" in the file");
  EXPECT_FALSE(root_.find("types/<f4/inside"));
}

TEST_P(Hdf5, GroupsOfManyNames) {
  const auto names = root_.at("many").names();
  EXPECT_EQ(names.size(), 120u);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const std::string& name : names) {
    EXPECT_EQ(std::to_string(elements_of<int16_t>(root_.at("many/" + name))[0]), name.substr(1));
  }
}

INSTANTIATE_TEST_SUITE_P(H5py, Hdf5, testing::Values("earliest", "latest"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Hdf5Files, BehindAUsersBlock) {
  EXPECT_EQ(elements_of<int32_t>(h5py_file("user_block").root().at("a")), sevens<int32_t>(4));
  EXPECT_EQ(h5py_file("latest").root().at("attributes").attribute("huge")->bytes().size(), 70'000u);
}

TEST(Hdf5Files, OtherFilesAreRefused) {
  const TemporaryFolder folder;
  expect_error<NotFoundError>([&] { Hdf5File(folder / "none.h5"); }, "none.h5");
  test::write_bytes(folder / "text.h5", "no HDF5 at all");
  expect_error<DataLossError>([&] { Hdf5File(folder / "text.h5"); },
                              "text.h5: damaged at byte 0: it is no HDF5 file");
  const std::string whole = test::golden_bytes("hdf5/latest.h5");
  test::write_bytes(folder / "cut.h5", whole.substr(0, whole.size() - 1));
  expect_error<DataLossError>([&] { Hdf5File(folder / "cut.h5"); }, "the file is truncated");
}

// ---- our own ----------------------------------------------------------------------------------------------

TEST(Hdf5Writer, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  std::vector<float> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0.5f);
  const char flags[3] = {1, 0, 1};
  const std::complex<double> z[2] = {{1, 2}, {3, 4}};
  const int64_t one = 42;
  Hdf5Group root;
  root.attributes["text"] = "ü";
  root.attributes["list"] = std::vector<std::string>{"a", "", "longer than eight"};
  root.attributes["nothing"] = std::vector<std::string>{};
  root.attributes["fixed"] = Hdf5FixedStrings{{"ab", "c"}};
  root.attributes["number"] = int64_t{-5};
  root.attributes["é"] = 0.25;
  root.array("a/b/numbers") = {DType::kFloat32, {10, 100}, numbers.data()};
  root.array("a/flags") = {DType::kBool, {3}, flags, {{"why", "because"}}};
  root.array("a/z") = {DType::kComplex128, {2}, z};
  root.array("one") = {DType::kInt64, {}, &one};
  root.array("none") = {DType::kUint16, {0, 4}, nullptr};
  root.group("empty");
  write_hdf5(folder / "x.h5", root);

  const Hdf5File file(folder / "x.h5");
  const Hdf5Object& back = file.root();
  EXPECT_EQ(back.names(), (std::vector<std::string>{"a", "empty", "none", "one"}));
  EXPECT_EQ(back.attribute("text")->string(), "ü");
  EXPECT_EQ(back.attribute("list")->strings(), (std::vector<std::string>{"a", "", "longer than eight"}));
  EXPECT_EQ(back.attribute("nothing")->strings().size(), 0u);
  EXPECT_EQ(back.attribute("fixed")->strings(), (std::vector<std::string>{"ab", "c"}));
  EXPECT_EQ(back.attribute("number")->integer(), -5);
  EXPECT_EQ(back.attribute("é")->type().dtype, DType::kFloat64);
  EXPECT_EQ(elements_of<float>(back.at("a/b/numbers")), numbers);
  EXPECT_TRUE(back.at("a/b/numbers").is_plain());
  EXPECT_EQ(elements_of<char>(back.at("a/flags")), (std::vector<char>{1, 0, 1}));
  EXPECT_EQ(back.at("a/flags").attribute("why")->string(), "because");
  EXPECT_EQ(elements_of<std::complex<double>>(back.at("a/z"))[1], z[1]);
  EXPECT_EQ(elements_of<int64_t>(back.at("one")), std::vector<int64_t>{42});
  EXPECT_EQ(back.at("none").shape(), Shape({0, 4}));
  EXPECT_TRUE(back.at("empty").names().empty());
}

// More names than one node of the tree has: two levels from 257 on, three from 8193 on.
TEST(Hdf5Writer, GroupsOfManyNames) {
  const TemporaryFolder folder;
  for (const int count : {8, 9, 256, 257, 9000}) {
    std::vector<int32_t> values(size_t(count), 0);
    std::iota(values.begin(), values.end(), 0);
    Hdf5Group root;
    for (int i = 0; i < count; ++i)
      root.array("v" + std::to_string(i)) = {DType::kInt32, {}, &values[size_t(i)]};
    write_hdf5(folder / "x.h5", root);
    const Hdf5File file(folder / "x.h5");
    EXPECT_EQ(file.root().names().size(), size_t(count));
    for (const int i : {0, 7, count / 2, count - 1})
      EXPECT_EQ(elements_of<int32_t>(file.root().at("v" + std::to_string(i))), std::vector<int32_t>{i});
  }
}

TEST(Hdf5Writer, WhatHdf5DoesNotTakeIsRefused) {
  const TemporaryFolder folder;
  const float x = 1;
  const auto refused = [&](const Hdf5Group& root, const char* part) {
    expect_error<InvalidArgumentError>([&] { write_hdf5(folder / "x.h5", root); }, part);
    EXPECT_TRUE(folder.files().empty());
  };
  Hdf5Group twice;
  twice.array("a/b") = {DType::kFloat32, {}, &x};
  twice.array("a") = {DType::kFloat32, {}, &x};
  refused(twice, "\"a\" in \"\" is no name for a group or array, or is there twice");
  Hdf5Group long_list;
  long_list.attributes["names"] = std::vector<std::string>(5000, "x");
  refused(long_list, "attribute \"names\" of \"\" takes 80");
  Hdf5Group strings;
  strings.array("s") = {DType::kString, {}, &x};
  refused(strings, "\"s\" is string");
}

}  // namespace
}  // namespace rw::format
