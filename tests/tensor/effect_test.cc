// Printing, assertions, host functions, settings.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "rewind/rewind.h"

namespace rw {
namespace {

std::string printed(const std::function<void(const PrintOptions&)>& f) {
  const std::string path = ::testing::TempDir() + "rewind_printed.txt";
  std::remove(path.c_str());
  f({.output_stream = "file://" + path});
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Print, WritesTensorsBetweenWords) {
  const Tensor loss = constant({0.25, 1.0 / 3});
  EXPECT_EQ(printed([&](const PrintOptions& o) { print(o, "Step", 3, ": loss", loss); }),
            "Step 3 : loss [0.25 0.333333343]\n");
  EXPECT_EQ(printed([&](const PrintOptions& o) { print(o, constant("bare text")); }), "bare text\n");
  EXPECT_EQ(printed([&](const PrintOptions& o) { print(o, range(10), true); }), "[0 1 2 ... 7 8 9] True\n");
}

TEST(Print, RefusesStreamsItDoesNotKnow) {
  EXPECT_THROW(print(PrintOptions{.output_stream = "printer"}, "x"), InvalidArgumentError);
}

TEST(Debugging, AssertionsShowTheValues) {
  debugging::assert_equal(constant({1, 2}), constant({1, 2}));
  try {
    debugging::assert_less(constant({1, 5}), 3, "sizes");
    FAIL();
  } catch (const InvalidArgumentError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("sizes"), std::string::npos) << text;
    EXPECT_NE(text.find("1, 5"), std::string::npos) << text;
  }
  EXPECT_THROW(debugging::assert_positive(constant({0.0})), InvalidArgumentError);
  EXPECT_THROW(debugging::assert_near(constant(1.0), 1.1), InvalidArgumentError);
  debugging::assert_near(constant(1.0), 1.0000001);
  EXPECT_THROW(debugging::assert_rank(constant(1.0), 1), InvalidArgumentError);
  EXPECT_THROW(debugging::assert_type(constant(1.0), int32), InvalidArgumentError);
}

TEST(Debugging, CheckNumericsNamesWhatItFound) {
  const Tensor bad = constant({1.0, 0.0}) / constant({0.0, 0.0});
  try {
    debugging::check_numerics(bad, "layer 3");
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("layer 3 : Tensor had Inf and NaN"), std::string::npos) << e.what();
  }
}

TEST(HostFunction, RunsTheProgramsOwnCode) {
  const auto out = host_function(
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{constant(in[0].item<float>() * 2), constant("done")};
      },
      {constant(21.0)}, {float32, string});
  EXPECT_FLOAT_EQ(out[0].item<float>(), 42.0f);
  EXPECT_EQ(out[1].item<std::string>(), "done");
  EXPECT_THROW(host_function([](const auto& in) { return in; }, {constant(1.0)}, {int32}),
               InvalidArgumentError);
  EXPECT_THROW(raw_op("EagerPyFunc", {}, {{"token", "nobody"}, {"Tout", std::vector<DType>{}}}),
               NotFoundError);
}

TEST(Config, DevicesThreadsAndMemory) {
  EXPECT_EQ(config::list_physical_devices("CPU").at(0).name, "/physical_device:CPU:0");
  EXPECT_TRUE(config::list_physical_devices("GPU").empty());
  EXPECT_THROW(device("GPU:0"), NotFoundError);
  const auto before = memory::stats();
  const Tensor big = zeros({1 << 20});
  EXPECT_GE(memory::stats().current, before.current + (4 << 20));
  EXPECT_GE(memory::stats().peak, memory::stats().current);
}

TEST(Limits, TooBigATensorIsAnErrorAndTheProcessGoesOn) {
  EXPECT_THROW(zeros({int64_t{1} << 45}), ResourceExhaustedError);
  EXPECT_THROW(zeros({int64_t{1} << 40, int64_t{1} << 40}), InvalidArgumentError);
  EXPECT_FLOAT_EQ(reduce_sum(ones({10})).item<float>(), 10.0f);
}

}  // namespace
}  // namespace rw
