// Zip archives: what is written is read; what is damaged, too large or leads elsewhere is refused.
#include "rewind/format/zip.h"

#include <gtest/gtest.h>

#include "rewind/base/error.h"
#include "rewind/format/inflate.h"
#include "rewind/format/little_endian.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw::format {
namespace {

class Zip : public testing::Test {
 protected:
  // An archive of files with these names, as a writer without rules makes it.
  std::string archive(const std::vector<std::string>& names, const std::string& bytes = "x") {
    std::string out, directory;
    for (const std::string& name : names) {
      const auto header = uint32_t(out.size());
      std::string common;
      for (const uint16_t n : {20, 0, 0, 0, 33}) put_fixed<uint16_t>(common, n);
      put_fixed<uint32_t>(common, crc32_of(0, bytes));
      for (int i = 0; i < 2; ++i) put_fixed<uint32_t>(common, uint32_t(bytes.size()));
      put_fixed<uint16_t>(common, uint16_t(name.size()));
      out += "PK\3\4" + common + std::string(2, '\0') + name + bytes;
      directory += "PK\1\2" + std::string(2, '\0') + common + std::string(12, '\0');
      put_fixed<uint32_t>(directory, header);
      directory += name;
    }
    const auto begin = uint32_t(out.size());
    out += directory + std::string("PK\5\6\0\0\0\0", 8);
    for (int i = 0; i < 2; ++i) put_fixed<uint16_t>(out, uint16_t(names.size()));
    put_fixed<uint32_t>(out, uint32_t(directory.size()));
    put_fixed<uint32_t>(out, begin);
    out += std::string(2, '\0');
    test::write_bytes(folder_ / "a.zip", out);
    return folder_ / "a.zip";
  }
  template <class E>
  void refused(const std::string& bytes, const std::string& part) {
    test::write_bytes(folder_ / "b.zip", bytes);
    expect_error<E>(
        [&] {
          const ZipFile file(folder_ / "b.zip");
          for (const auto& entry : file.entries()) file.read(entry);
        },
        part);
  }
  test::TemporaryFolder folder_;
};

TEST_F(Zip, WhatIsWrittenIsRead) {
  const std::string large(100'000, 'q');
  ZipWriter writer(folder_ / "x.zip");
  writer.add("config.json", "{}");
  writer.add("assets/é.txt", "");
  const std::string_view parts[] = {large, "end"};
  writer.add("stored", parts);
  writer.add("deflated", parts, true);
  expect_error<InvalidArgumentError>([&] { writer.add("stored", "again"); }, "has \"stored\" already");
  expect_error<InvalidArgumentError>([&] { writer.add("../x", ""); }, "\"../x\" is no name");
  writer.commit();

  const ZipFile file(folder_ / "x.zip");
  ASSERT_EQ(file.entries().size(), 4u);
  EXPECT_EQ(file.read(file.at("config.json")), "{}");
  EXPECT_EQ(file.read(file.at("assets/é.txt")), "");
  for (const char* name : {"stored", "deflated"}) {
    EXPECT_EQ(file.read(file.at(name)), large + "end");
    const SharedBytes bytes = file.open(file.at(name));
    EXPECT_EQ(bytes->size(), large.size() + 3);
    EXPECT_EQ(bytes->read(large.size() - 1, 4), "qend");
    EXPECT_EQ(bytes->name(), folder_ / "x.zip: " + name);
  }
  EXPECT_LT(file.at("deflated").stored, 1000u);
  EXPECT_EQ(file.find("none"), nullptr);
  expect_error<NotFoundError>([&] { (void)file.at("none"); }, "the archive has no \"none\"");
}

TEST_F(Zip, EmptyPartsCountAsNothing) {
  ZipWriter zip(folder_ / "a.zip");
  const std::string_view parts[] = {"front", {}, "end", {}};
  zip.add("a", parts);
  zip.add("b", parts, true);
  zip.commit();
  const ZipFile file(folder_ / "a.zip");
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(file.read(file.at(name)), "frontend");
    EXPECT_EQ(file.at(name).crc, 0xcc111e9cU);
  }
}

TEST_F(Zip, NothingStaysWithoutACommit) {
  { ZipWriter(folder_ / "x.zip").add("a", "b"); }
  EXPECT_TRUE(folder_.files().empty());
}

TEST_F(Zip, NamesThatLeadOutOrCollideAreRefused) {
  EXPECT_EQ(ZipFile(archive({"a/b", "a/c", "d/"})).entries().size(), 3u);
  for (const char* name : {"../x", "/x", "a/../b", "a//b", ".", "..", "a\\b", "c:x", ""})
    expect_error<DataLossError>([&] { ZipFile(archive({name})); }, "leads out of the archive's folder");
  expect_error<DataLossError>([&] { ZipFile(archive({"a", "b", "a"})); }, "the name \"a\" comes twice");
  expect_error<DataLossError>([&] { ZipFile(archive({"a/", "a"})); }, "the name \"a\" comes twice");
  expect_error<DataLossError>([&] { ZipFile(archive({"a/b", "a"})); },
                              "\"a\" is a file, and the folder of \"a/b\"");
}

TEST_F(Zip, DamageIsFound) {
  const std::string good = test::read_bytes(archive({"name"}, "contents"));
  for (size_t size = 0; size < good.size(); ++size)
    refused<DataLossError>(good.substr(0, size), "b.zip: damaged");
  // Not what a directory repeats or nobody reads: version, flags, time, the second copy of sizes.
  int found = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = char(bad[i] ^ 0x80);
    test::write_bytes(folder_ / "b.zip", bad);
    try {
      const ZipFile file(folder_ / "b.zip");
      EXPECT_EQ(file.read(file.entries().at(0)), "contents");
    } catch (const Error&) { ++found; }
  }
  EXPECT_GT(found, 60);
  std::string bad = good;
  bad[34] = 'C';
  refused<DataLossError>(bad, "the checksum of \"name\" does not match");
  bad = good;
  bad[30] = 'N';
  refused<DataLossError>(bad, "the file has another name than in the directory");
  bad = good;
  bad[good.find("PK\1\2") + 8] = 1;
  refused<UnimplementedError>(bad, "\"name\" is encrypted");
  bad = good;
  bad[good.find("PK\1\2") + 10] = 12;
  refused<UnimplementedError>(bad, "is compressed by method 12");
}

TEST_F(Zip, BombsAreRefused) {
  ZipWriter writer(folder_ / "x.zip");
  const std::string zeros(1 << 20, '\0');
  const std::string_view parts[] = {zeros};
  writer.add("zeros", parts, true);
  writer.commit();
  expect_error<DataLossError>([&] { ZipFile(folder_ / "x.zip", "test", {.always = 1000, .ratio = 100}); },
                              "would become 1048576 bytes, ");
  const ZipFile loose(folder_ / "x.zip", "test", {.always = 1000, .ratio = 2000});
  EXPECT_EQ(loose.read(loose.at("zeros")), zeros);
  // One that says that it becomes less.
  std::string lie = test::read_bytes(folder_ / "x.zip");
  const size_t at = lie.find("PK\1\2") + 24;
  const uint32_t small = 500;
  std::memcpy(lie.data() + at, &small, 4);
  refused<DataLossError>(lie, "the compressed bytes of \"zeros\" are damaged");
}

// Each of them is small enough, all of them together are not.
TEST_F(Zip, ManySmallBombsAreRefused) {
  const std::string zeros(1 << 20, '\0');
  const std::string_view parts[] = {zeros};
  for (const int count : {4, 5}) {
    ZipWriter writer(folder_ / "x.zip");
    for (int i = 0; i < count; ++i) writer.add("zeros" + std::to_string(i), parts, true);
    writer.commit();
    const auto open = [&] { ZipFile(folder_ / "x.zip", "test", {.always = 4 << 20, .ratio = 100}); };
    if (count == 4) open();
    else expect_error<DataLossError>(open, "its files would become 5242880 bytes, ");
  }
}

// The folders of every name are compared with all names.
TEST_F(Zip, NamesOfManyFoldersAreRefused) {
  std::string deep;
  for (int i = 0; i < 101; ++i) deep += "a/";
  refused<DataLossError>(test::read_bytes(archive({deep + "x"}, "y")), "more than 100 folders");
  EXPECT_EQ(ZipFile(archive({deep.substr(2) + "x"}, "y")).entries().size(), 1u);
}

TEST_F(Zip, FilesDoNotLieOverOthers) {
  std::string bytes = test::read_bytes(archive({"a", "b"}, std::string(100, 'x')));
  const size_t second = bytes.rfind("PK\1\2");
  const uint32_t header = 10;
  std::memcpy(bytes.data() + second + 42, &header, 4);
  refused<DataLossError>(bytes, "\"b\" lies over \"a\"");
}

}  // namespace
}  // namespace rw::format
