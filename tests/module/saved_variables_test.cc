#include "rewind/module/saved_variables.h"

#include <gtest/gtest.h>

#include "rewind/base/error.h"
#include "rewind/device/device.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

struct Block : Module {
  Variable w{random::normal({3, 2}), {.name = "w"}};
  Variable count{constant(int64_t(0)), {.trainable = false, .name = "count"}};
  RW_TRACK(w, count)
};
struct Net : Module {
  std::vector<std::shared_ptr<Block>> blocks{std::make_shared<Block>(), std::make_shared<Block>()};
  std::shared_ptr<Block> again = blocks[0];
  Variable scale{constant({1.0, 2.0}, bfloat16), {.name = "scale"}};
  RW_TRACK(blocks, again, scale)
};

TEST(SavedVariables, NamesArePathsOfMembersAndEachVariableIsThereOnce) {
  const Net net;
  std::vector<std::string> names;
  for (const NamedVariable& v : named_variables(net)) names.push_back(v.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"scale", "again/count", "again/w", "blocks/1/count", "blocks/1/w"}));
}

TEST(SavedVariables, AModuleGetsItsValuesBack) {
  const test::TemporaryFolder folder;
  const Net a, b;
  a.blocks[1]->count.assign(int64_t(41));
  save_weights(a, folder / "net.safetensors");
  EXPECT_TRUE(load_weights(b, folder / "net.safetensors").fits());
  EXPECT_EQ(b.blocks[1]->count.item<int64_t>(), 41);
  EXPECT_EQ(b.blocks[0]->w.to_vector<float>(), a.blocks[0]->w.to_vector<float>());
  EXPECT_EQ(b.scale.value().repr(), a.scale.value().repr());
}

struct Other : Module {
  Variable scale{constant({1.0, 2.0}, float32), {.name = "scale"}};
  Variable extra{1.0, {.name = "extra"}};
  RW_TRACK(scale, extra)
};

TEST(SavedVariables, WhatDoesNotFitIsListedAndNothingIsLoaded) {
  const test::TemporaryFolder folder;
  const Net net;
  save_weights(net, folder / "net");
  const Other other;
  for (const char* part : {"missing in the file: extra", "not expected in the file: ", "blocks/1/count",
                           "/net", "module \"other\"", "scale is (2,) float32, in the file (2,) bfloat16"})
    expect_error<InvalidArgumentError>([&] { load_weights(other, folder / "net"); }, part);
  const LoadReport report = load_weights(other, folder / "net", {.skip_mismatch = true});
  EXPECT_EQ(report.missing, std::vector<std::string>{"extra"});
  EXPECT_EQ(report.unexpected.size(), 4u);
  EXPECT_EQ(report.mismatched.size(), 1u);
  expect_error<NotFoundError>([&] { load_weights(other, folder / "gone"); }, "gone cannot be opened");
}

// Memory beside the variables: the value that is being read, no more.
TEST(SavedVariables, NothingIsDoubled) {
  const test::TemporaryFolder folder;
  struct Large : Module {
    std::vector<Variable> parts;
    Large() {
      for (int i = 0; i < 8; ++i) parts.emplace_back(fill({1 << 18}, float(i)));
    }
    RW_TRACK(parts)
  };
  const Large a;
  constexpr int64_t kPart = 4 << 18;
  Allocator& memory = cpu_device().allocator();
  auto growth = [&](auto&& f) {
    memory.reset_peak();
    const int64_t before = memory.stats().in_use;
    f();
    return memory.stats().peak - before;
  };
  EXPECT_LT(growth([&] { save_weights(a, folder / "x"); }), kPart);
  EXPECT_LT(growth([&] { load_weights(a, folder / "x"); }), 2 * kPart);
  EXPECT_EQ(a.parts[7].value()(100).item<float>(), 7.0f);
}

}  // namespace
}  // namespace rw
