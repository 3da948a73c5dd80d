// AsString and StringToNumber: spellings of numbers, as TensorFlow 2.21 gives them.
#include <gtest/gtest.h>

#include <cmath>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

using Texts = std::vector<std::string>;

Texts texts(const Tensor& x, const strings::AsStringOptions& o) {
  return strings::as_string(x, o).to_vector<std::string>();
}

TEST(AsString, Flags) {
  const Tensor x = constant({0.0, -2.25, 1e10, double(NAN), double(-INFINITY)});
  EXPECT_EQ(texts(x, {.precision = 1, .width = 8}),
            (Texts{"     0.0", "    -2.2", "10000000000.0", "     nan", "    -inf"}));
  EXPECT_EQ(texts(x, {.precision = 1, .width = 8, .fill = "0"}),
            (Texts{"000000.0", "-00002.2", "10000000000.0", "     nan", "    -inf"}));
  EXPECT_EQ(texts(x, {.precision = 1, .width = 8, .fill = "-"}),
            (Texts{"0.0     ", "-2.2    ", "10000000000.0", "nan     ", "-inf    "}));
  EXPECT_EQ(texts(x, {.precision = 1, .scientific = true, .fill = "+"}),
            (Texts{"+0.0e+00", "-2.2e+00", "+1.0e+10", "+nan", "-inf"}));
  EXPECT_EQ(texts(x, {.precision = 3, .shortest = true, .fill = " "}),
            (Texts{" 0", "-2.25", " 1e+10", " nan", "-inf"}));
  EXPECT_EQ(texts(x, {.precision = 0, .fill = "#"}), (Texts{"0.", "-2.", "10000000000.", "nan", "-inf"}));
  EXPECT_EQ(texts(x, {.shortest = true, .fill = "#"}),
            (Texts{"0.00000", "-2.25000", "1.00000e+10", "nan", "-inf"}));
}

TEST(AsString, IntegersAndStrings) {
  EXPECT_EQ(texts(constant({7, -7}), {.width = 4, .fill = "0"}), (Texts{"0007", "-007"}));
  EXPECT_EQ(texts(constant({7, -7}), {.fill = "+"}), (Texts{"+7", "-7"}));
  EXPECT_EQ(texts(cast(constant({7, 200}), uint8), {.fill = "+"}), (Texts{"7", "200"}));
  EXPECT_EQ(texts(constant({true, false}), {.width = 9}), (Texts{"true", "false"}));
  EXPECT_EQ(texts(constant("long"), {.precision = 2, .width = 5, .fill = "0"}), (Texts{"   lo"}));
  EXPECT_EQ(texts(constant("long"), {.precision = 2, .width = 0}), (Texts{"long"}));
  expect_error<InvalidArgumentError>([] { texts(constant(1), {.precision = 2}); },
                                     "for floating-point numbers");
  expect_error<InvalidArgumentError>([] { texts(constant(1), {.fill = "x"}); }, "fill must be one of");
}

TEST(StringToNumber, Spellings) {
  const auto number = [](const std::string& text) {
    return strings::to_number(constant(text), float64).item<double>();
  };
  EXPECT_EQ(number("\t+1.5e1 "), 15);
  EXPECT_EQ(number("-0X1.8p1"), -3);
  EXPECT_EQ(number("1e400"), INFINITY);
  EXPECT_EQ(number("-InFinity"), -INFINITY);
  EXPECT_TRUE(std::isnan(number("nan(12)")));
  for (const char* bad : {"", " ", ".", "1e+", "1,5", "1 2", "1f", "0x", "+-1"})
    expect_error<InvalidArgumentError>([&] { number(bad); }, "is not a float64");
  EXPECT_THROW(number(std::string("1\0", 2)), InvalidArgumentError);
  EXPECT_EQ(strings::to_number(constant(" +007 "), int32).item<int32_t>(), 7);
  for (const char* bad : {"1.0", "2147483648", "0x10", "1.234", ""})
    expect_error<InvalidArgumentError>([&] { strings::to_number(constant(bad), int32); }, "is not a int32");
}

}  // namespace
}  // namespace rw
