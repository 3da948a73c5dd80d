// safetensors: the bytes, every type, files that break the rules, damage, and writing that fails half way.
#include "rewind/format/safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <random>

#include "rewind/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw::format {
namespace {

using test::read_bytes;
using test::TemporaryFolder;
using test::write_bytes;

std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

TEST(Safetensors, BytesAreTheFormats) {
  const TemporaryFolder folder;
  const std::vector<float> w{1, -2};
  const std::vector<int64_t> n{7};
  const std::vector<SafetensorsArray> arrays{{"a/w", DType::kFloat32, {2, 1}, w.data()},
                                             {"step", DType::kInt64, {}, n.data()}};
  write_safetensors(folder / "x", arrays, {{"by", "a \"test\""}});
  std::string header = R"({"__metadata__":{"by":"a \"test\""},)"
                       R"("step":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                       R"("a/w":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string data(16, '\0');
  std::memcpy(data.data(), n.data(), 8);
  std::memcpy(data.data() + 8, w.data(), 8);
  EXPECT_EQ(read_bytes(folder / "x"), file_of(header, data));

  const SafetensorsFile file(folder / "x");
  EXPECT_EQ(file.metadata().at("by"), "a \"test\"");
  ASSERT_NE(file.find("a/w"), nullptr);
  EXPECT_EQ(file.find("w"), nullptr);
  EXPECT_EQ(file.find("a/w")->shape, Shape({2, 1}));
  std::vector<float> back(2);
  file.read(*file.find("a/w"), back.data());
  EXPECT_EQ(back, w);
}

TEST(Safetensors, EveryTypeGoesBothWays) {
  const TemporaryFolder folder;
  std::vector<SafetensorsArray> arrays;
  std::vector<std::string> bytes;
  bytes.reserve(64);
  for (int number = 0; number < 24; ++number) {
    const auto dtype = DType(number);
    if (safetensors_name(dtype).empty()) continue;
    EXPECT_EQ(parse_safetensors_dtype(safetensors_name(dtype)), dtype);
    bytes.emplace_back(6 * size_of(dtype), char(dtype == DType::kBool ? 1 : number + 40));
    arrays.push_back({std::string(name_of(dtype)), dtype, {2, 3}, bytes.back().data()});
    arrays.push_back({std::string(name_of(dtype)) + "/none", dtype, {0, 3}, nullptr});
  }
  ASSERT_EQ(arrays.size(), 28u);
  write_safetensors(folder / "x", arrays);
  const SafetensorsFile file(folder / "x");
  ASSERT_EQ(file.entries().size(), arrays.size());
  for (const SafetensorsArray& a : arrays) {
    const auto* e = file.find(a.name);
    ASSERT_NE(e, nullptr) << a.name;
    EXPECT_EQ(e->dtype, a.dtype);
    EXPECT_EQ(e->shape, a.shape);
    EXPECT_EQ(e->offset % size_of(a.dtype), 0u) << a.name;
    std::string back(e->size, '\0');
    file.read(*e, back.data());
    EXPECT_EQ(back, std::string(static_cast<const char*>(a.data), a.data ? e->size : 0)) << a.name;
  }
}

TEST(Safetensors, WrongArraysAreRefused) {
  const TemporaryFolder folder;
  const float one = 1;
  auto write = [&](const std::string& name, DType dtype) {
    const std::vector<SafetensorsArray> arrays{{name, dtype, {}, &one}};
    write_safetensors(folder / "x", arrays);
  };
  expect_error<InvalidArgumentError>([&] { write("s", DType::kString); }, "\"s\" is string");
  expect_error<InvalidArgumentError>([&] { write("s", DType::kComplex128); }, "complex128");
  expect_error<InvalidArgumentError>([&] { write("\xff", DType::kFloat32); }, "must be UTF-8");
  expect_error<InvalidArgumentError>([&] { write("__metadata__", DType::kFloat32); }, "is taken");
  EXPECT_TRUE(folder.files().empty());
}

struct Broken {
  const char* header;
  size_t data;
  const char* says;
};

TEST(Safetensors, FilesThatBreakTheRulesAreRefusedWithNameAndByte) {
  const TemporaryFolder folder;
  const std::string path = folder / "broken.safetensors";
  const Broken cases[] = {
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7,
       "beyond the end of the file, at byte 69"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9, "bytes at the end belong to no array"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})", 9,
       "in front of \"a\" belong to no array"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8,
       "takes 12 bytes, but its data_offsets span 8"},
      {R"({"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", 8,
       "dtype \"F33\", which is not known, at byte 22"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8, "the begin and the end"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})", 8, "the begin and the end"},
      {R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8, "whole number"},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8, "whole number"},
      {R"({"a":{"dtype":"F32","shape":[02],"data_offsets":[0,8]}})", 8, "whole number"},
      {R"({"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]}})", 8, "beyond int64"},
      {R"({"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8]}})", 8, "beyond 64 bits"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0,
       "too many elements"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0, "too many elements"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", 8, "needs dtype, shape and data_offsets"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8,
       "\"dtype\" stands there twice"},
      {R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[],"data_offsets":[1,2]}})",
       2, "\"a\" stands there twice, at byte 60"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "\"b\" overlaps"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
       2, "overlaps"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 8, "ends too early"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}})", 8, "something follows"},
      {R"( {"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, "must begin with '{', at byte 8"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},})", 8, "expected '\"'"},
      {R"({"__metadata__":{"k":1}})", 0, "expected '\"'"},
      {R"({"a\ud800":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1, "surrogate"},
      {"{\"\xc0\x80\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1, "not UTF-8"},
      {"", 0, "must begin with '{'"},
  };
  for (const Broken& c : cases) {
    write_bytes(path, file_of(c.header, std::string(c.data, '\0')));
    expect_error<DataLossError>([&] { const SafetensorsFile file(path); }, c.says);
    expect_error<DataLossError>([&] { const SafetensorsFile file(path); }, path);
    expect_error<DataLossError>([&] { const SafetensorsFile file(path); }, "at byte ");
  }
  write_bytes(path, "1234");
  expect_error<DataLossError>([&] { const SafetensorsFile file(path); }, "too few for the header's length");
  write_bytes(path, file_of("{}", "").substr(0, 9));
  expect_error<DataLossError>([&] { const SafetensorsFile file(path); },
                              "but only 1 bytes follow, at byte 0");
  write_bytes(path, "PK\3\4 and so on, another format");
  expect_error<DataLossError>([&] { const SafetensorsFile file(path); }, "is this a safetensors file?");
  expect_error<NotFoundError>([&] { const SafetensorsFile file(folder / "nowhere"); },
                              "nowhere cannot be opened");
  expect_error<NotFoundError>([&] { const SafetensorsFile file(folder / "."); }, "it is a folder");
}

// Whatever length the header says, no more is read or taken than a small file has.
TEST(Safetensors, TinyFilesEndAtOnce) {
  const TemporaryFolder folder;
  const auto started = std::chrono::steady_clock::now();
  std::vector<std::string> files{std::string("\x09\0\0\0\0\0\0\0true", 12)};
  for (const uint64_t length : {uint64_t{0}, uint64_t{1}, uint64_t{4}, uint64_t{9}, uint64_t{99'999'999},
                                uint64_t{1} << 31, uint64_t{1} << 63, ~uint64_t{0}})
    for (const char* text :
         {"", "t", "true", "null", "{", "{}", "[[[[", "{\"a\":", "1e999999999", "\"\\u0000"}) {
      files.emplace_back(std::string(reinterpret_cast<const char*>(&length), 8) + text);
      files.push_back(files.back().substr(0, 7));
    }
  rusage before = {}, after = {};
  getrusage(RUSAGE_SELF, &before);
  for (const std::string& bytes : files) {
    write_bytes(folder / "x", bytes);
    try {
      const SafetensorsFile file(folder / "x");
      EXPECT_EQ(bytes.substr(8), "{}");
    } catch (const DataLossError& e) {
      EXPECT_NE(std::string(e.what()).find(folder / "x"), std::string::npos);
    }
  }
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 20 * 1024);  // KiB
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(10));
}

TEST(Safetensors, WhatOthersMayWriteIsRead) {
  const TemporaryFolder folder;
  // Space between tokens, escapes, fields that nobody knows, arrays not in the order of their bytes.
  write_bytes(
      folder / "x",
      file_of("{ \"b\\u00e9\\ud83d\\ude00\" : {\"shape\":[ 1 , 2 ],\"note\":{\"deep\":[true,null,-1.5e3]},"
              "\"data_offsets\":[1,3],\"dtype\":\"I8\"},\n\t\"a\":{\"dtype\":\"BOOL\",\"shape\":[],"
              "\"data_offsets\":[0,1]} }   ",
              "\1\2\3"));
  const SafetensorsFile file(folder / "x");
  EXPECT_EQ(file.entries()[0].name, "a");
  const auto* b = file.find("b\xc3\xa9\xf0\x9f\x98\x80");
  ASSERT_NE(b, nullptr);
  int8_t values[2];
  file.read(*b, values);
  EXPECT_EQ(values[1], 3);
  write_bytes(folder / "e", file_of("{}", ""));
  EXPECT_TRUE(SafetensorsFile(folder / "e").entries().empty());
}

TEST(Safetensors, BoolsAreZeroOrOne) {
  const TemporaryFolder folder;
  write_bytes(folder / "x", file_of(R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", "\1\2\1"));
  const SafetensorsFile file(folder / "x");
  bool to[3];
  expect_error<DataLossError>([&] { file.read(file.entries()[0], to); },
                              "is bool, but a byte is 2, at byte 64");
}

// Any damage: the arrays, all inside the file, or DataLossError; nothing else, and no memory without end.
TEST(Safetensors, DamagedHeadersAreReadOrRefused) {
  const TemporaryFolder folder;
  const std::vector<float> w(12, 1.5f);
  std::vector<SafetensorsArray> arrays;
  for (const char* name : {"dense/kernel", "dense/bias", "\xc3\xa9\"\\\n"})
    arrays.push_back({name, DType::kFloat32, {3, 4}, w.data()});
  arrays.push_back({"mask", DType::kBool, {2}, "\0\1"});
  write_safetensors(folder / "x", arrays, {{"epoch", "3"}});
  const std::string whole = read_bytes(folder / "x");
  const size_t header =
      8 + size_t(static_cast<unsigned char>(whole[0])) + 256 * size_t(static_cast<unsigned char>(whole[1]));
  std::mt19937 rng(7);
  const std::string_view likely = "{}[]\":,0123456789\\ue";
  int read = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string b = whole;
    for (int k = 0; k < 1 + round % 3; ++k) {
      const size_t at = rng() % (round % 7 ? header : b.size());
      const char c = rng() % 2 ? likely[rng() % likely.size()] : char(rng());
      if (const auto how = rng() % 4; how < 2) b[at] = c;
      else if (how == 2) b.insert(at, 1, c);
      else b.erase(at, 1 + rng() % 8);
    }
    if (round % 10 == 0) b.resize(rng() % b.size());
    write_bytes(folder / "d", b);
    try {
      const SafetensorsFile file(folder / "d");
      for (const auto& e : file.entries()) {
        ASSERT_LE(e.offset + e.size, b.size());
        std::string to(e.size, '\0');
        file.read(e, to.data());
      }
      ++read;
    } catch (const DataLossError& e) {
      EXPECT_NE(std::string(e.what()).find("at byte "), std::string::npos) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(read, 20);
  EXPECT_GT(refused, 1000);
}

TEST(Safetensors, AFailedWriteLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::vector<float> big(100'000, 2.0f);
  const float one = 1;
  const std::vector<SafetensorsArray> small{{"a", DType::kFloat32, {}, &one}};
  const std::vector<SafetensorsArray> large{{"a", DType::kFloat32, {100'000}, big.data()}};
  write_safetensors(folder / "x", small);
  const std::string before = read_bytes(folder / "x");

  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{50'000, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  expect_error<ResourceExhaustedError>([&] { write_safetensors(folder / "x", large); }, "writing failed");
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_bytes(folder / "x"), before);
  EXPECT_EQ(folder.files().size(), 1u);

  write_safetensors(folder / "x", large);
  EXPECT_EQ(SafetensorsFile(folder / "x").entries()[0].size, 400'000u);
  EXPECT_EQ(folder.files().size(), 1u);
  expect_error<NotFoundError>([&] { write_safetensors(folder / "no/such/x", small); }, "no/such");
  // The name is taken by a folder: the temporary file goes.
  mkdir((folder / "taken").c_str(), 0700);
  expect_error<FailedPreconditionError>([&] { write_safetensors(folder / "taken", small); },
                                        "taken is a folder: only a regular file");
  EXPECT_EQ(folder.files().size(), 2u);
}

}  // namespace
}  // namespace rw::format
