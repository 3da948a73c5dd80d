// Sorted tables and what they are made of: checksums, Snappy, blocks; tables that break the rules, and
// damage.
#include "rewind/format/table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "rewind/base/error.h"
#include "rewind/format/crc32c.h"
#include "rewind/format/little_endian.h"
#include "rewind/format/snappy.h"
#include "tests/support/expect_error.h"
#include "tests/support/goldens.h"
#include "tests/support/temporary_folder.h"

namespace rw::format {
namespace {

using test::TemporaryFolder;
using test::write_bytes;
using Entries = std::map<std::string, std::string>;

// Bit by bit, from the definition.
uint32_t plain_crc(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) ? 0x82f63b78 : 0);
  }
  return ~crc;
}

TEST(Crc32c, IsTheDefinitions) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aa);
  std::mt19937 random(1);
  std::string bytes(40000, '\0');
  for (char& c : bytes) c = char(random());
  for (const size_t size : {0, 1, 7, 8, 9, 63, 4096, 12287, 12288, 12289, 40000})
    for (const size_t begin : {0, 3}) {
      const std::string_view part = std::string_view(bytes).substr(begin, size);
      const uint32_t whole = plain_crc(part);
      EXPECT_EQ(crc32c(part), whole) << size;
      const size_t cut = size / 3;
      EXPECT_EQ(crc32c(part.substr(cut), crc32c(part.substr(0, cut))), whole);
      EXPECT_EQ(crc32c_combine(crc32c(part.substr(0, cut)), crc32c(part.substr(cut)), part.size() - cut),
                whole);
    }
  EXPECT_EQ(unmask_crc(mask_crc(0x12345678)), 0x12345678u);
  EXPECT_NE(mask_crc(0x12345678), 0x12345678u);
}

TEST(Snappy, ElementsOfEveryKind) {
  EXPECT_EQ(snappy_uncompress(std::string("\0", 1), 10), "");
  EXPECT_EQ(snappy_uncompress("\x03\x08"
                              "abc",
                              10),
            "abc");
  EXPECT_EQ(snappy_uncompress("\x08\x04"
                              "ab"
                              "\x09\x02",
                              10),
            "abababab");  // six bytes, two back
  EXPECT_EQ(snappy_uncompress(std::string("\x06\x04"
                                          "ab"
                                          "\x0e\x02\x00",
                                          7),
                              10),
            "ababab");
  EXPECT_EQ(snappy_uncompress(std::string("\x06\x04"
                                          "ab"
                                          "\x0f\x02\x00\x00\x00",
                                          9),
                              10),
            "ababab");
  const std::string text(70, 'x');  // the literal's length lies in a byte of its own
  EXPECT_EQ(snappy_uncompress("\x46\xf0\x45" + text, 100), text);
}

TEST(Snappy, DamageIsRefused) {
  const auto refused = [](std::string_view bytes, const char* what) {
    expect_error<DataLossError>([&] { snappy_uncompress(bytes, 100); }, what);
  };
  refused("", "ends inside");
  refused(
      "\x03\x08"
      "ab",
      "behind the end");
  refused(
      "\x02\x08"
      "abc",
      "more bytes than it says");
  refused(
      "\x09\x08"
      "abc",
      "holds 3");
  refused(std::string("\x05\x00"
                      "a"
                      "\x01\x02",
                      5),
          "before the first byte");
  refused(std::string("\x05\x00"
                      "a"
                      "\x01\x00",
                      5),
          "before the first byte");
  refused(
      "\xff\xff\xff\xff\x0f"
      "abc",
      "at most 100");
  refused("\x64\x00", "cannot come of so few");
  refused("\xff\xff\xff\xff\xff\xff", "32 bits");
}

Entries entries_of(const ReadFile& file, const TableLimits& limits = {}) {
  Entries entries;
  read_table(
      file, [&](std::string_view key, std::string_view value) { entries.emplace(key, value); }, limits);
  return entries;
}

std::string table_of(const Entries& entries) {
  TableBuilder builder;
  for (const auto& [key, value] : entries) builder.add(key, value);
  return builder.finish();
}

Entries random_entries(unsigned seed, size_t count, size_t most_bytes) {
  std::mt19937 random(seed);
  Entries entries;
  for (size_t i = 0; i < count; ++i) {
    std::string key = "layer_" + std::to_string(random() % 50) + "/" + std::to_string(random() % 100000);
    std::string value(random() % most_bytes, '\0');
    for (char& c : value) c = char(random());
    entries.emplace(std::move(key), std::move(value));
  }
  return entries;
}

TEST(Table, WhatWasWrittenIsRead) {
  const TemporaryFolder folder;
  for (const size_t count : {0, 1, 16, 17, 5000}) {  // 5000 entries of up to 400 bytes fill several blocks
    const Entries entries = random_entries(unsigned(count), count, 400);
    write_bytes(folder / "table", table_of(entries));
    EXPECT_EQ(entries_of(ReadFile(folder / "table", "test")), entries) << count;
  }
  TableBuilder builder;
  builder.add("b", "");
  EXPECT_THROW(builder.add("a", ""), InvalidArgumentError);
  EXPECT_THROW(builder.add("b", ""), InvalidArgumentError);
}

// Tables that TensorFlow wrote come out of our builder with the same bytes.
TEST(Table, BytesAreTensorFlows) {
  const TemporaryFolder folder;
  for (const char* name : {"bundle/types.index", "bundle/slices.index"}) {
    const std::string bytes = test::golden_bytes(name);
    write_bytes(folder / "table", bytes);
    EXPECT_EQ(table_of(entries_of(ReadFile(folder / "table", "test"))), bytes);
  }
}

// A block as it lies, its kind and its checksum.
std::string with_trailer(std::string block, char kind) {
  block.push_back(kind);
  const uint32_t crc = mask_crc(crc32c(block));
  put_fixed(block, crc);
  return block;
}
std::string handle(uint64_t offset, uint64_t size) {
  std::string bytes;
  put_varint(bytes, offset);
  put_varint(bytes, size);
  return bytes;
}
std::string entry(uint64_t shared, const std::string& key, const std::string& value) {
  std::string bytes;
  put_varint(bytes, shared);
  put_varint(bytes, key.size());
  put_varint(bytes, value.size());
  return bytes + key + value;
}
std::string block_of(const std::string& entries) {
  std::string bytes = entries;
  put_fixed(bytes, uint32_t{0});
  put_fixed(bytes, uint32_t{1});
  return bytes;
}
// A table with one block.
std::string table_with(const std::string& block, char kind = 0) {
  std::string table = with_trailer(block, kind);
  const uint64_t at = table.size();
  const std::string index = block_of(entry(0, "~", handle(0, block.size())));
  table += with_trailer(index, 0);
  std::string handles = handle(0, block.size()) + handle(at, index.size());
  handles.resize(40);
  table += handles;
  put_fixed(table, uint64_t{0xdb4775248b80fb57});
  return table;
}

TEST(Table, CompressedBlocksAreRead) {
  const TemporaryFolder folder;
  const std::string plain = block_of(entry(0, "a", "1") + entry(0, "b", "2"));
  std::string compressed;
  put_varint(compressed, plain.size());
  compressed.push_back(char((plain.size() - 1) << 2));
  write_bytes(folder / "table", table_with(compressed + plain, 1));
  EXPECT_EQ(entries_of(ReadFile(folder / "table", "test")), (Entries{{"a", "1"}, {"b", "2"}}));
}

TEST(Table, WhatBreaksTheRulesIsRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes, const std::string& what,
                           const TableLimits& limits = {}) {
    write_bytes(folder / "table", bytes);
    expect_error<DataLossError>([&] { entries_of(ReadFile(folder / "table", "test"), limits); }, what);
  };
  refused("", "at least 48 bytes");
  refused(std::string(48, 'x'), "are not a table's");
  refused(table_with(block_of(entry(0, "b", "") + entry(0, "a", ""))), "do not rise");
  refused(table_with(block_of(entry(0, "a", "") + entry(0, "a", ""))), "do not rise");
  refused(table_with(block_of(entry(1, "a", ""))), "shares more");
  refused(table_with(block_of("\x01")), "cut off");
  refused(table_with(block_of(std::string("\x00\x7f\x00", 3))), "beyond the end");
  refused(table_with(block_of(entry(0, "a", "")), 2), "unknown compression 2");
  refused(table_with("abc"), "no restarts");
  refused(table_with("\xff\xff\xff\xff"), "fewer bytes than restarts");
  refused(table_with("\xff\x7f", 1), "cannot come of so few");
  // Beginnings of keys that are shared over and over.
  std::string many = entry(0, std::string(1000, 'k') + char(1), "");
  for (int i = 2; i < 100; ++i) many += entry(1000, std::string(1, char(i)), "");
  refused(table_with(block_of(many)), "more than is allowed", {.bytes = {.always = 50000, .ratio = 10}});
  refused(table_with(block_of(many)), "limit of 100", {.key_bytes = 100});
  refused(table_with(block_of(many)), "limit of 64", {.block_bytes = 64});
}

TEST(Table, DamageIsSeenOrDoesNoHarm) {
  const TemporaryFolder folder;
  const Entries entries = random_entries(7, 60, 30);
  const std::string good = table_of(entries);
  std::mt19937 random(3);
  int seen = 0;
  for (int i = 0; i < 600; ++i) {
    std::string bad = good;
    if (i % 3 == 0) bad.resize(random() % bad.size());
    else bad[random() % bad.size()] ^= char(1 << (random() % 8));
    write_bytes(folder / "table", bad);
    try {
      EXPECT_EQ(entries_of(ReadFile(folder / "table", "test")), entries);
    } catch (const DataLossError&) { ++seen; }
  }
  EXPECT_GT(seen, 500);
}

TEST(ReadFile, Refusals) {
  const TemporaryFolder folder;
  expect_error<NotFoundError>([&] { ReadFile(folder / "none", "read"); }, "[read] ");
  expect_error<FailedPreconditionError>([&] { ReadFile("/dev/null", "read"); }, "folder or a device");
  expect_error<FailedPreconditionError>([&] { ReadFile(folder / "", "read"); }, "folder or a device");
  write_bytes(folder / "x", "abc");
  const ReadFile file(folder / "x", "read");
  EXPECT_EQ(file.read(1, 2), "bc");
  expect_error<DataLossError>([&] { (void)file.read(1, 3); }, "the file has 3");
  expect_error<DataLossError>([&] { (void)file.read(UINT64_MAX, 2); }, "the file has 3");
  expect_error<DataLossError>([&] { (void)file.read(0, SIZE_MAX); }, "the file has 3");
}

}  // namespace
}  // namespace rw::format
