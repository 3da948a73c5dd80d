// Numbers as text and back against printf and strtod, which must say the same in the C locale.
#include "rewind/base/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

#include "rewind/base/ascii.h"
#include "rewind/base/errno_text.h"

namespace rw {
namespace {

std::string printed(const char* format, int digits, double x) {
  char text[1000];
  std::snprintf(text, sizeof text, format, digits, x);
  // Under another locale, as the point that C writes.
  for (char& c : text) c = c == ',' ? '.' : c;
  return text;
}

TEST(NumberText, WritesWhatPrintfWrites) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const double any = std::bit_cast<double>(random());
    const double x = i % 3 == 0   ? any
                     : i % 3 == 1 ? double(int64_t(random() % 20001) - 10000) / 8
                                  : std::ldexp(double(random() % 1024), -int(random() % 1080));
    const int digits = int(random() % (i % 100 == 0 ? 400 : 20));
    EXPECT_EQ(fixed_text(x, digits), printed("%.*f", digits, x)) << digits;
    EXPECT_EQ(exponential_text(x, digits), printed("%.*e", digits, x)) << digits;
    EXPECT_EQ(general_text(x, digits), printed("%.*g", digits, x)) << digits;
    if (std::isnan(x)) continue;
    double back = 0;
    EXPECT_TRUE(parse_number(round_trip_text(x), &back));
    EXPECT_EQ(back, x);
  }
  EXPECT_EQ(fixed_text(-INFINITY, 2), "-inf");
  EXPECT_EQ(general_text(1234567.0), "1.23457e+06");
}

TEST(NumberText, RoundTripsAreShortWhereTheyCanBe) {
  EXPECT_EQ(round_trip_text(0.1f), "0.1");
  EXPECT_EQ(round_trip_text(1.0f / 3), "0.333333343");
  EXPECT_EQ(round_trip_text(1.0 / 3), "0.33333333333333331");
  EXPECT_EQ(round_trip_text(-std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(number_text(1234567), "1234567");
  EXPECT_EQ(number_text(1e-7), "1e-07");
  EXPECT_EQ(complex_text("1", "-2.5"), "(1-2.5j)");
  EXPECT_EQ(complex_text("-0", "nan"), "(-0+nanj)");
  EXPECT_EQ(complex_text("0", "1"), "1j");
}

// The value and how much of the text it is.
template <class T>
std::pair<size_t, T> read(std::string_view text) {
  T value = -1;
  const size_t length = read_number(text, &value);
  return {length, value};
}

TEST(NumberText, ReadsTheLongestNumber) {
  using Read = std::pair<size_t, double>;
  EXPECT_EQ(read<double>("1.5"), Read(3, 1.5));
  EXPECT_EQ(read<double>("1,5"), Read(1, 1));
  EXPECT_EQ(read<double>("+.5e1x"), Read(5, 5));
  EXPECT_EQ(read<double>("1e+"), Read(1, 1));
  EXPECT_EQ(read<double>("-0x1.8p1"), Read(8, -3));
  EXPECT_EQ(read<double>("0xg"), Read(1, 0));
  EXPECT_EQ(read<double>("-InfinitY"), Read(9, -INFINITY));
  EXPECT_EQ(read<double>("infinit"), Read(3, INFINITY));
  EXPECT_EQ(read<double>("nan(12)").first, 7u);
  for (const char* none : {"", "-", "+-1", ".", "e5", " 1", "x"})
    EXPECT_EQ(read<double>(none).first, 0u) << none;
}

TEST(NumberText, NumbersBeyondTheRangeAreInfinityOrZero) {
  for (const char* large : {"1e400", "0.00001e400", "0x1p5000", "1e99999999999999999999"}) {
    EXPECT_EQ(read<double>(large).second, INFINITY) << large;
    EXPECT_EQ(read<double>(large).first, std::strlen(large));
  }
  for (const char* small :
       {"1e-400", "10000e-400", "0x1p-5000", "0e99999999999999999999", "1e-99999999999999999999"})
    EXPECT_EQ(read<double>(small).second, 0) << small;
  EXPECT_EQ(read<double>("-1e400").second, -INFINITY);
  EXPECT_EQ(read<double>("4.9e-324").second, 5e-324);
  EXPECT_EQ(read<float>("1e39").second, INFINITY);
  EXPECT_EQ(read<float>("1e-45").second, 1e-45f);
  EXPECT_EQ(read<float>("1e-50").second, 0);
}

template <class T>
bool parses(std::string_view text, T want) {
  T value{};
  return parse_number(text, &value) && value == want;
}

TEST(NumberText, ParsesWholeTextsOnly) {
  EXPECT_TRUE(parses("1.5", 1.5f));
  EXPECT_TRUE(parses("+7", int32_t{7}));
  EXPECT_TRUE(parses("-9223372036854775808", std::numeric_limits<int64_t>::min()));
  EXPECT_TRUE(parses("18446744073709551615", std::numeric_limits<uint64_t>::max()));
  double number = 3;
  for (const char* bad : {"", "1,5", "1.5 ", "1.5f", "1.234.567"})
    EXPECT_FALSE(parse_number(bad, &number)) << bad;
  EXPECT_EQ(number, 3);
  int32_t integer = 3;
  for (const char* bad : {"", "+", "+-1", "1.0", "2147483648", "1.234", "0x10"})
    EXPECT_FALSE(parse_number(bad, &integer)) << bad;
  uint32_t natural = 3;
  for (const char* bad : {"-1", "-0", "4294967296"}) EXPECT_FALSE(parse_number(bad, &natural)) << bad;
}

TEST(NumberText, Digits) {
  EXPECT_EQ(natural_text(0, 10), "0");
  EXPECT_EQ(natural_text(31, 16, 4), "001f");
  EXPECT_EQ(natural_text(7, 8, 3), "007");
  EXPECT_EQ(natural_text(std::numeric_limits<uint64_t>::max(), 2).size(), 64u);
  EXPECT_EQ(right_aligned("12", 4), "  12");
  EXPECT_EQ(right_aligned("12345", 4), "12345");
}

TEST(NumberText, LettersAreThoseOfAscii) {
  EXPECT_EQ(ascii::to_upper(std::string("grün \xe4 iI1")), "GRüN \xe4 II1");
  EXPECT_EQ(ascii::to_lower(std::string("GRÜN \xc4 iI1")), "grÜn \xc4 ii1");
  EXPECT_FALSE(ascii::is_space('\xa0'));
  EXPECT_TRUE(ascii::is_space('\v'));
}

TEST(NumberText, SystemErrorsAreInEnglish) {
  EXPECT_EQ(errno_text(ENOENT), "No such file or directory");
  EXPECT_EQ(errno_text(12345), "error 12345");
}

}  // namespace
}  // namespace rw
