// Patterns: RE2's syntax and results, which tests/interop compares with TensorFlow's on random patterns; time
// and memory that no pattern can take without bound.
#include "rewind/base/regex/regex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace rw {
namespace {

std::string replaced(const std::string& text, const std::string& pattern, const std::string& rewrite,
                     bool all = true) {
  const Regex regex(pattern);
  return regex.error().empty() ? regex.replaced(text, rewrite, all) : "error: " + regex.error();
}

bool matches(const std::string& text, const std::string& pattern) {
  const Regex regex(pattern);
  EXPECT_EQ(regex.error(), "") << pattern;
  return regex.error().empty() && regex.matches_whole(text);
}

TEST(Regex, WholeTexts) {
  for (const auto& [pattern, text, want] : std::vector<std::tuple<std::string, std::string, bool>>{
           {"", "", true},
           {"", "a", false},
           {"a|ab", "ab", true},
           {"a*?b", "aaab", true},
           {"(ab)*", "ababab", true},
           {"(ab)*", "ababa", false},
           {".", "\xc3\xa4", true},
           {"..", "\xc3\xa4", false},
           {"\\C\\C", "\xc3\xa4", true},
           {".", "\xff", false},
           {".", "\n", false},
           {"(?s).", "\n", true},
           {"[^a]", "\n", true},
           {"[^a]", "\xf0\x9f\x98\x80", true},
           {"\\pL+", "h\xc3\xa4\xce\xb1\xe4\xb8\xad", true},
           {"\\pL+", "a1", false},
           {"\\p{Greek}+", "\xce\xb1\xce\xb2", true},
           {"\\P{^Greek}+", "\xce\xb1\xce\xb2", true},
           {"\\PL", "1", true},
           {"(?i)stra\xc3\x9f"
            "e",
            "STRA\xe1\xba\x9e"
            "E",
            true},
           {"(?i)k", "\xe2\x84\xaa", true},  // the sign of kelvin
           {"(?i:a)b", "Ab", true},
           {"(?i:a)b", "AB", false},
           {"a{2,3}", "aaa", true},
           {"a{2,3}", "aaaa", false},
           {"a{2,}", "aaaaa", true},
           {"a{,3}", "a{,3}", true},
           {"a{0}", "", true},
           {"\\x{1F600}", "\xf0\x9f\x98\x80", true},
           {"\\101\\0", std::string("A\0", 2), true},
           {"\\Qa.b*\\E+", "a.b**", true},
           {"[[:alpha:]_-]+", "aB_-", true},
           {"[[:^alpha:]]", "1", true},
           {"[]a]+", "]a", true},
           {"[a\\]]+", "]a", true},
           {"[\\d-z]+", "1-z", true},
           {"[\\s\\S]", "\n", true},
           {"\\s", "\v", false},
           {"[[:space:]]", "\v", true},
           {"^a$", "a", true},
           {"a$b", "a$b", false},
           {"(?m)a$\\n^b", "a\nb", true},
           {"a\\b \\bb", "a b", true},
           {"a\\Bb", "ab", true},
           {"(?U)a+", "aaa", true},
           {"(?P<name>a)(?P<other>b)", "ab", true},
           {".", "\xf4\x90\x80\x80", true},  // as RE2 has it
           {"[a-\\x{10FFFF}]", "\xe0\x80\x80", true},
           {"[b-\\x{10FFFE}]", "\xe0\x80\x80", false},
           {"a{99999999999}", "a{99999999999}", true},
           {"x*y{0,2}(|z)", "xxyz", true},
           {"[\\x00-\\x{10FFFF}]", "\xed\xa0\x80", true},
       })
    EXPECT_EQ(matches(text, pattern), want) << pattern << " and " << text;
}

TEST(Regex, Replacements) {
  EXPECT_EQ(replaced("hello world", "o", "0"), "hell0 w0rld");
  EXPECT_EQ(replaced("hello world", "o", "0", false), "hell0 world");
  EXPECT_EQ(replaced("a-b c-d", "(\\w)-(\\w)", "\\2+\\1 \\0 \\\\"), "b+a a-b \\ d+c c-d \\");
  EXPECT_EQ(replaced("abc", "", "-"), "-a-b-c-");
  EXPECT_EQ(replaced("\xc3\xa4\xff"
                     "b",
                     "", "-"),
            "-\xc3\xa4-\xff-b-");
  EXPECT_EQ(replaced("baac", "a*", "x"), "xbxcx");
  EXPECT_EQ(replaced("foo.foo", "^foo", "x"), "x.foo");
  EXPECT_EQ(replaced("foo\nfoo", "(?m)^foo$", "x"), "x\nx");
  EXPECT_EQ(replaced("cat concat", "\\bcat\\b", "dog"), "dog concat");
  EXPECT_EQ(replaced("aaa", "a{2}", "x"), "xa");
  EXPECT_EQ(replaced("abcd", "ab|abcd", "x"), "xcd");  // what stands first
  EXPECT_EQ(replaced("abcd", "(?:ab|abcd)(?:cd)?", "x"), "x");
  EXPECT_EQ(replaced("aXbX", ".*?X", "<\\0>"), "<aX><bX>");
  EXPECT_EQ(replaced("aXbX", ".*X", "<\\0>"), "<aXbX>");
  EXPECT_EQ(replaced("aaa", "(|a)*", "x"), "xaxaxax");
  EXPECT_EQ(replaced("ab", "(a)|(b)", "[\\1\\2]"), "[a][b]");
  EXPECT_EQ(replaced("abab", "(?:(a)|b)*", "[\\1]"), "[a]");
  EXPECT_EQ(replaced("ab", "a", "\\1"), "ab");  // there is no such group
  EXPECT_EQ(replaced("\xc3\xa4\xc3\xb6", "[\xc3\xa4\xc3\xb6]", "x"), "xx");
  EXPECT_EQ(replaced("one  two", "[\\s\xe2\x80\x83]+", " "), "one two");
}

TEST(Regex, WhatIsNoPattern) {
  for (const char* bad : {"(",
                          ")",
                          "a)",
                          "[",
                          "[a",
                          "[b-a]",
                          "[[:no:]]",
                          "*",
                          "a**",
                          "a*+",
                          "+",
                          "a|*",
                          "(*)",
                          "\\",
                          "\\q",
                          "\\1",
                          "\\8",
                          "(?=a)",
                          "(?!a)",
                          "(?<=a)",
                          "(?<n>a)",
                          "(?<!a)",
                          "(?P=n)",
                          "(?P<n>a)(?P<n>b)",
                          "(?P<>a)",
                          "(?z)",
                          "(?i",
                          "(?P<n",
                          "a{1001}",
                          "a{2,1}",
                          "(a{100}){100}",
                          "((a{10}){10}){11}",
                          "\\p{Nope}",
                          "\\pX",
                          "\\p",
                          "\\p{L",
                          "\\x{110000}",
                          "\\x{",
                          "\\xg",
                          "\\\xc3\xa4",
                          "\xff",
                          "a\xc3",
                          "\\E",
                          "\\Z",
                          "[\\b]",
                          "(?:\\pL{500}){2}\\pL{1000}\\pL{1000}",
                          "x{2}{3}",
                          "(?-)"})
    EXPECT_NE(Regex(bad).error(), "") << bad;
  EXPECT_NE(Regex("a(b").error().find("missing closing )"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "(";
  EXPECT_NE(Regex(deep).error(), "");
}

// What takes others exponential or quadratic time.
TEST(Regex, TimeIsLinear) {
  const auto seconds = [](const std::string& pattern, const std::string& text) {
    const Regex regex(pattern);
    EXPECT_EQ(regex.error(), "") << pattern;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(regex.matches_whole(text));
    (void)regex.replaced(text, "\\0", false);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const std::string many(100'000, 'a');
  for (const char* pattern : {"(a*)*b", "(a|a)*b", "(a|aa)+b", "(.*)(.*)(.*)(.*)(.*)b", "(a?){50}a{50}b",
                              "(x+x+)+y", "[ab]*a[ab]{15}c", "\\pL*\\PL{3}", "(?:a?b?c?){30}d"})
    EXPECT_LT(seconds(pattern, many), 20) << pattern;
  // 2^16 states, which do not all fit at once.
  std::string bits;
  for (uint32_t i = 0, x = 1; i < 200'000; ++i, x = x * 1664525u + 1013904223u) bits += x >> 31 ? 'a' : 'b';
  EXPECT_LT(seconds("[ab]*a[ab]{16}c", bits), 20);
}

TEST(Regex, ThreadsShareOne) {
  const Regex regex("(\\w+)@(\\w+)\\.com");
  std::vector<std::thread> threads;
  std::vector<std::string> results(8);
  for (size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) results[t] = regex.replaced("to ann@example.com!", "\\2 \\1", true);
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& r : results) EXPECT_EQ(r, "to example ann!");
}

}  // namespace
}  // namespace rw
