#include "rewind/op/table.h"

#include <gtest/gtest.h>

#include "rewind/kernel/kernel.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

TEST(Schema, RoundTripsThroughText) {
  for (const Op* op : op_table().all()) {
    const std::string text = op->schema();
    OpTable& table = op_table();
    // The same text under another name parses to the same row.
    const std::string renamed = "RoundTrip" + text;
    const Op& copy = table.add(renamed).op();
    EXPECT_EQ(copy.schema(), renamed);
  }
}

TEST(Schema, BadTextShowsThePlace) {
  for (const char* text : {"", "Op", "Op(", "Op(x) -> ()", "Op(x: T) -> ()", "Op() -> (); a: wrong",
                           "Op() -> (); a: int = ", "Op() -> (); flag", "Op() -> () trailing"}) {
    EXPECT_THROW(op_table().add(text), InvalidArgumentError) << text;
  }
}

TEST(OpTable, NamesAreUniqueAndUnknownOnesGetAHint) {
  EXPECT_THROW(op_table().add("AddV2() -> ()"), AlreadyExistsError);
  try {
    find_op("Matmul");
    FAIL();
  } catch (const NotFoundError& e) {
    EXPECT_NE(std::string(e.what()).find("MatMul"), std::string::npos) << e.what();
  }
}

// What a user's program does to add an op: a row, a kernel, a gradient.
void add_twice_plus() {
  static bool done = false;
  if (done) return;
  done = true;
  op_table()
      .add("UserTwicePlus(x: T) -> (y: T); T: {float, double}; offset: float = 0.5")
      .shape(same_shape_as_input)
      .elementwise();
  register_kernel("UserTwicePlus", DeviceType::kCpu, [](KernelContext& ctx) {
    const float offset = ctx.attr<float>("offset");
    for (int64_t i = 0; i < ctx.in(0).size; ++i)
      ctx.out(0).as<float>()[i] = 2 * ctx.in(0).as<float>()[i] + offset;
  });
  register_gradient("UserTwicePlus", kNeedsNothing, [](GradContext& g) { g.set(0, g.grad() * 2.0); });
}

TEST(UserOp, RunsDifferentiatesAndBatches) {
  add_twice_plus();
  const Tensor x = constant({1.0, 2.0});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = raw_op("UserTwicePlus", {x}, {{"offset", 1.0}})[0];
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 5}));
  const Tensor g = tape.gradient(y, x);
  EXPECT_EQ(g.to_vector<float>(), (std::vector<float>{2, 2}));
  const Tensor mapped = vectorized_map([](const Tensor& e) { return raw_op("UserTwicePlus", {e})[0]; }, x);
  EXPECT_EQ(mapped.to_vector<float>(), (std::vector<float>{2.5, 4.5}));
}

TEST(Calls, AreCheckedAgainstTheRow) {
  add_twice_plus();
  const Tensor x = constant({1.0, 2.0});
  EXPECT_THROW(raw_op("UserTwicePlus", {}), InvalidArgumentError);
  EXPECT_THROW(raw_op("UserTwicePlus", {x, x}), InvalidArgumentError);
  EXPECT_THROW(raw_op("UserTwicePlus", {constant(1)}), InvalidArgumentError);
  EXPECT_THROW(raw_op("UserTwicePlus", {x}, {{"offset", "text"}}), InvalidArgumentError);
  EXPECT_THROW(raw_op("UserTwicePlus", {x}, {{"no_such", 1}}), InvalidArgumentError);
  EXPECT_THROW(raw_op("UserTwicePlus", {Tensor()}), InvalidArgumentError);
}

}  // namespace
}  // namespace rw
