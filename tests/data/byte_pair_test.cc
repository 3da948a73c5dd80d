// GPT-2's tokenizer on a small vocabulary of our own.
#include "rewind/data/byte_pair.h"

#include <gtest/gtest.h>

#include <fstream>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw::data {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(BytePair, Pieces) {
  EXPECT_EQ(split_gpt2("Hello world"), (Pieces{"Hello", " world"}));
  EXPECT_EQ(split_gpt2("I'll say it's 3.14!!"),
            (Pieces{"I", "'ll", " say", " it", "'s", " 3", ".", "14", "!!"}));
  EXPECT_EQ(split_gpt2("a  b   \n c"), (Pieces{"a", " ", " b", "   \n", " c"}));
  EXPECT_EQ(split_gpt2("x\n\ny\t"), (Pieces{"x", "\n", "\n", "y", "\t"}));
  EXPECT_EQ(split_gpt2("end  "), (Pieces{"end", "  "}));
  EXPECT_EQ(split_gpt2("Grüße 一二 ½x"), (Pieces{"Grüße", " 一二", " ½", "x"}));
  EXPECT_EQ(split_gpt2("'x ''s"), (Pieces{"'", "x", " ''", "s"}));
  EXPECT_EQ(split_gpt2("a\xff"
                       "b\xc3"),
            (Pieces{"a", "\xff", "b", "\xc3"}));
  EXPECT_EQ(split_gpt2(""), Pieces{});
}

struct Files {
  std::string vocab = testing::TempDir() + "vocab.json", merges = testing::TempDir() + "merges.txt";
  void write(const std::string& v, const std::string& m) const {
    std::ofstream(vocab, std::ios::binary) << v;
    std::ofstream(merges, std::ios::binary) << m;
  }
};

TEST(BytePair, EncodesAndDecodes) {
  const Files f;
  // \u0120 is how the alphabet writes a space.
  f.write(R"({"l": 0, "o": 1, "w": 2, "e": 3, "r": 4, "\u0120": 5, "lo": 6, "low": 7, "er": 8, "\u0120low": 9,
              "<|end|>": 10, "\ud83d\ude00": 11})",
          "#version: 0.2\nl o\nlo w\ne r\n\u0120 low\n");
  const BytePairTokenizer t(f.vocab, f.merges);
  EXPECT_EQ(t.vocab_size(), 12);
  EXPECT_EQ(t.encode("low lower"), (std::vector<int32_t>{7, 9, 8}));
  EXPECT_EQ(t.encode("olo"), (std::vector<int32_t>{1, 6}));
  EXPECT_EQ(t.encode(""), std::vector<int32_t>{});
  EXPECT_EQ(t.decode(t.encode("low lower  low")), "low lower  low");
  EXPECT_EQ(t.token_id("<|end|>"), 10);
  EXPECT_EQ(t.token_id("nothing"), -1);
  EXPECT_EQ(t.decode(std::vector<int32_t>{10}), "<|end|>");
  expect_error<InvalidArgumentError>([&] { t.encode("lox"); }, "byte 120 at 2 of the text");
  expect_error<OutOfRangeError>([&] { t.decode(std::vector<int32_t>{99}); }, "99 is no token");
  // A long piece takes no quadratic time.
  EXPECT_EQ(t.encode(std::string(200000, 'l')).size(), 200000u);
}

TEST(BytePair, DamagedFilesAreRefused) {
  const Files f;
  const auto open = [&] { BytePairTokenizer(f.vocab, f.merges); };
  f.write("{\"a\": 0, \"b\": 1, \"ab\": 2}", "a b\n");
  EXPECT_NO_THROW(open());
  f.write("{\"a\": 0, \"b\": 1}", "a b\n");
  expect_error<DataLossError>(open, "merges.txt: line 1: 'ab' is not in");
  f.write("{\"a\": 0, \"b\": 1, \"ab\": 2}", "#version\na b c\n");
  expect_error<DataLossError>(open, "line 2: expected two tokens");
  for (const char* bad :
       {"", "{", "{\"a\"", "{\"a\": }", "{\"a\": 1", "{\"a\": 1} x", "{\"a\": 99999999999}",
        "{\"a\": 1, \"a\": 2}", "{\"\\u12\": 1}", "{\"\\ud800\": 1}", "{\"\\q\": 1}", "[1]"}) {
    f.write(bad, "");
    expect_error<DataLossError>(open, "vocab.json");
  }
  expect_error<NotFoundError>([] { BytePairTokenizer("/nowhere/vocab.json", "/nowhere/merges.txt"); },
                              "/nowhere/vocab.json cannot be opened");
}

}  // namespace
}  // namespace rw::data
