// Tensor bundles that TensorFlow wrote (interop/make_bundles.py): every type, strings, tensors in slices;
// damage.
#include "rewind/format/tensor_bundle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <random>

#include "rewind/base/dtype.h"
#include "rewind/base/error.h"
#include "rewind/base/half.h"
#include "rewind/format/crc32c.h"
#include "rewind/format/table.h"
#include "rewind/format/tensor_bundle_fields.h"
#include "tests/support/expect_error.h"
#include "tests/support/goldens.h"
#include "tests/support/temporary_folder.h"

namespace rw::format {
namespace {

using test::golden_bytes;
using test::TemporaryFolder;
using test::write_bytes;

class Bundle : public testing::Test {
 protected:
  // Copies a golden bundle.
  std::string bundle(const std::string& name) const {
    for (const char* part : {".index", ".data-00000-of-00001"})
      write_bytes(folder_ / (name + part), golden_bytes("bundle/" + name + part));
    return folder_ / name;
  }
  TemporaryFolder folder_;
};

std::string variable(const std::string& attribute) { return attribute + "/.ATTRIBUTES/VARIABLE_VALUE"; }

template <class T>
void check(const BundleReader& bundle, const std::string& name, DType dtype, const std::vector<T>& expected) {
  const std::string key = variable(name);
  const auto* entry = bundle.find(key);
  ASSERT_NE(entry, nullptr) << name;
  EXPECT_EQ(int(entry->dtype), int(dtype)) << name;
  EXPECT_EQ(entry->shape, Shape({2, 3}));
  std::vector<char> bytes(6 * size_of(dtype));
  bundle.read(key, bytes.data());
  EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0) << name;
}

TEST_F(Bundle, EveryTypeIsRead) {
  const BundleReader b(bundle("types"));
  check<Half>(b, "float16", DType::kFloat16, {Half(1), Half(0), Half(3), Half(4), Half(5), Half(6)});
  check<float>(b, "float32", DType::kFloat32, {1, 0, 3, 4, 5, 6});
  check<double>(b, "float64", DType::kFloat64, {1, 0, 3, 4, 5, 6});
  check<int8_t>(b, "int8", DType::kInt8, {1, 0, 3, 4, 5, 6});
  check<uint8_t>(b, "uint8", DType::kUint8, {1, 0, 3, 4, 5, 6});
  check<int16_t>(b, "int16", DType::kInt16, {1, 0, 3, 4, 5, 6});
  check<uint16_t>(b, "uint16", DType::kUint16, {1, 0, 3, 4, 5, 6});
  check<int32_t>(b, "int32", DType::kInt32, {1, 0, 3, 4, 5, 6});
  check<uint32_t>(b, "uint32", DType::kUint32, {1, 0, 3, 4, 5, 6});
  check<int64_t>(b, "int64", DType::kInt64, {1, 0, 3, 4, 5, 6});
  check<uint64_t>(b, "uint64", DType::kUint64, {1, 0, 3, 4, 5, 6});
  check<char>(b, "bool", DType::kBool, {1, 0, 1, 1, 1, 1});
  check<std::complex<float>>(b, "complex64", DType::kComplex64, {1, 0, 3, 4, 5, 6});
  check<std::complex<double>>(b, "complex128", DType::kComplex128, {1, 0, 3, 4, 5, 6});
  const std::vector<std::string> text{"a", "", "", "\xff", "x", std::string("\0y", 2)};
  std::vector<std::string> read = b.read_strings(variable("text"));
  EXPECT_EQ(read[2].size(), 400u);
  read[2].clear();
  EXPECT_EQ(read, text);
  EXPECT_EQ(b.read_strings(variable("scalar")), std::vector<std::string>{"hello"});
  EXPECT_EQ(b.find(variable("empty"))->shape, Shape({0, 3}));
  b.read(variable("empty"), nullptr);
  float last = 0;
  b.read(variable("half_empty/39"), &last);
  EXPECT_EQ(last, 39);
  EXPECT_EQ(b.read_strings("_CHECKPOINTABLE_OBJECT_GRAPH").size(), 1u);
}

TEST_F(Bundle, SlicesArePutTogether) {
  const BundleReader b(bundle("slices"));
  EXPECT_EQ(b.entries().size(), 2u);
  for (const char* name : {"columns/v", "rows/v"}) {
    ASSERT_EQ(b.find(name)->slices.size(), 3u);
    std::vector<float> v(5 * 300, -1);
    b.read(name, v.data());
    for (size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], float(i)) << name;
  }
}

TEST_F(Bundle, Refusals) {
  const std::string path = bundle("types");
  const BundleReader b(path, "restore");
  EXPECT_EQ(b.find("none"), nullptr);
  char byte = 0;
  expect_error<NotFoundError>([&] { b.read("none", &byte); }, "no tensor is named \"none\"");
  expect_error<InvalidArgumentError>([&] { b.read(variable("text"), &byte); }, "no tensor of numbers");
  expect_error<InvalidArgumentError>([&] { (void)b.read_strings(variable("int8")); }, "no tensor of strings");
  expect_error<NotFoundError>([&] { BundleReader(folder_ / "none", "restore"); }, "[restore] ");
  std::filesystem::remove(path + ".data-00000-of-00001");
  expect_error<NotFoundError>([&] { BundleReader(path, "restore"); }, ".data-00000-of-00001");
}

// Reads all that there is.
void read_all(const std::string& prefix) {
  const BundleReader b(prefix);
  for (const auto& [name, entry] : b.entries()) {
    if (int(entry.dtype) == int(DType::kString)) {
      (void)b.read_strings(name);
    } else if (int(entry.dtype) < 24) {
      std::vector<char> bytes(size_t(entry.shape.num_elements()) * size_of(DType(int(entry.dtype))));
      b.read(name, bytes.data());
    }
  }
}

TEST_F(Bundle, DamageIsSeen) {
  for (const char* name : {"types", "slices"}) {
    const std::string path = bundle(name);
    read_all(path);
    std::mt19937 random(5);
    for (const char* part : {".index", ".data-00000-of-00001"}) {
      const std::string good = golden_bytes(std::string("bundle/") + name + part);
      for (int i = 0; i < 100; ++i) {
        std::string bad = good;
        if (i % 4 == 0) bad.resize(random() % bad.size());
        else bad[random() % bad.size()] ^= char(1 << (random() % 8));
        write_bytes(path + part, bad);
        // Bits between the blocks of an index say nothing.
        if (part[1] == 'd') EXPECT_THROW(read_all(path), DataLossError);
        else try {
            read_all(path);
          } catch (const DataLossError&) {  // NOLINT: this is right too
          }
      }
      write_bytes(path + part, good);
    }
  }
}

// An index of a header and of entries that are made by hand; the data file has `bytes` bytes.
class Forged : public Bundle {
 protected:
  using Entries = std::vector<std::pair<std::string, BundleEntryProto>>;
  std::string forged(const Entries& entries, size_t bytes) const {
    BundleHeaderProto header;
    header.num_shards = 1;
    TableBuilder table;
    table.add("", encode(header));
    for (const auto& [key, entry] : entries) table.add(key, encode(entry));
    write_bytes(folder_ / "f.index", table.finish());
    write_bytes(folder_ / "f.data-00000-of-00001", std::string(bytes, '\0'));
    return folder_ / "f";
  }
  static BundleEntryProto floats(const std::vector<int64_t>& shape, int64_t offset, int64_t count) {
    BundleEntryProto e;
    e.dtype = DataType(int(DType::kFloat32));
    e.shape.emplace();
    for (const int64_t d : shape) e.shape->dim.push_back({.size = d, .name = {}});
    e.offset = offset;
    e.size = 4 * count;
    e.crc32c.value = mask_crc(crc32c(std::string(size_t(4 * count), '\0')));
    return e;
  }
  static TensorSliceProto rows(int64_t start, int64_t length) {
    return {{{.start = start, .length = length}}};
  }
  void refused(const Entries& entries, size_t bytes, const std::string& part) const {
    expect_error<DataLossError>([&] { BundleReader(forged(entries, bytes)); }, part);
    expect_error<DataLossError>([&] { BundleReader(forged(entries, bytes)); }, folder_ / "f.index");
  }
};

// Thousands of tensors over the same bytes would take them thousands of times.
TEST_F(Forged, TensorsThatLieOverEachOther) {
  const BundleReader good(forged({{"a", floats({10}, 0, 10)}, {"b", floats({10}, 40, 10)}}, 80));
  std::vector<float> values(10, 1);
  good.read("b", values.data());
  EXPECT_EQ(values, std::vector<float>(10, 0));
  refused({{"a", floats({20}, 0, 20)}, {"b", floats({10}, 40, 10)}}, 80,
          "damaged at \"b\": the tensors up to it take more bytes");
}

TEST_F(Forged, SlicesHaveTheElementsOfTheTensor) {
  const auto whole = [&](int64_t size, const std::vector<TensorSliceProto>& slices) {
    BundleEntryProto e = floats({size}, 0, 0);
    e.slices = slices;
    return e;
  };
  const auto slice = [&](const TensorSliceProto& s, int64_t offset, int64_t count) {
    return std::pair(slice_key("a", s), floats({count}, offset, count));
  };
  const auto two = [&](const TensorSliceProto& s, const TensorSliceProto& t) {
    Entries list{slice(s, 0, 5), slice(t, 20, 5)};
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return list;
  };
  const auto with = [](Entries slices, const BundleEntryProto& e) {
    slices.emplace_back("a", e);
    return slices;
  };
  const BundleReader good(forged(with(two(rows(0, 5), rows(5, 5)), whole(10, {rows(0, 5), rows(5, 5)})), 40));
  std::vector<float> values(10, 1);
  good.read("a", values.data());
  EXPECT_EQ(values, std::vector<float>(10, 0));
  // A shape for which there are too few: no memory is taken for it.
  refused(with(two(rows(0, 5), rows(5, 5)), whole(int64_t{1} << 60, {rows(0, 5), rows(5, 5)})), 40,
          "its slices cover 10 of 1152921504606846976 elements");
  refused(with(two(rows(0, 5), rows(5, 5)), whole(15, {rows(0, 5), rows(5, 5), rows(5, 5)})), 40,
          "a slice of it is named twice");
  refused(with(two(rows(0, 5), rows(5, 5)), whole(10, {rows(0, 5), rows(6, 4)})), 40,
          "a slice of it is missing");
  refused(with({slice(rows(0, 6), 0, 5)}, whole(10, {rows(0, 6)})), 40, "another type or size");
  // Slices over each other leave elements out, which are zeros and not what memory held.
  const BundleReader hole(forged(with(two(rows(0, 5), rows(1, 5)), whole(10, {rows(0, 5), rows(1, 5)})), 40));
  values.assign(10, 1);
  hole.read("a", values.data());
  EXPECT_EQ(values, std::vector<float>(10, 0));
}

}  // namespace
}  // namespace rw::format
