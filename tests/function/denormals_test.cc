// Denormals in ops: flushed as TensorFlow's CPU kernels do, eagerly and compiled, and never in the code
// around them.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

#include "rewind/base/float_mode.h"
#include "rewind/kernel/kernel.h"
#include "rewind/op/shape_rules.h"
#include "rewind/op/table.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNormal = std::numeric_limits<float>::min();  // 1.2e-38
const float kTiny = std::bit_cast<float>(0x000116c2u);        // 1e-40

std::vector<uint32_t> bits_of(const Tensor& t) {
  std::vector<uint32_t> bits;
  for (const float v : t.data<float>()) bits.push_back(std::bit_cast<uint32_t>(v));
  return bits;
}

// The compiler would take a product by 1 for its factor.
float times_one(float x) {
  volatile float factor = 1;
  return x * factor;
}
bool flushes_here() { return std::bit_cast<uint32_t>(times_one(kTiny)) == 0; }

class Denormals : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kFlush == 0) GTEST_SKIP() << "no such mode on this processor";
    ASSERT_FALSE(flushes_here());
  }
  void TearDown() override {
    config::set_flush_denormals(true);
    EXPECT_FALSE(flushes_here());
  }
};

// f eagerly, in a function of an argument, and of a constant that the compiler folds.
void expect_values(const char* what, const std::function<Tensor(Tensor)>& f, const Tensor& x,
                   const std::vector<float>& want) {
  auto traced = function([&](Tensor v) { return f(v); });
  auto folded = function([&] { return f(x); });
  for (const auto& [how, got] : {std::pair{"eager", f(x)}, {"compiled", traced(x)}, {"folded", folded()}}) {
    ASSERT_EQ(size_t(got.shape().num_elements()), want.size()) << what;
    for (size_t i = 0; i < want.size(); ++i) {
      const float v = got.data<float>()[i];
      if (std::isnan(want[i])) EXPECT_TRUE(std::isnan(v)) << what << ", " << how << " " << i;
      else
        EXPECT_EQ(std::bit_cast<uint32_t>(v), std::bit_cast<uint32_t>(want[i]))
            << what << ", " << how << " " << i << ": " << v << ", want " << want[i];
    }
  }
}

// TensorFlow 2.21's results, but for the sign of a zero where an op of its kind loses it.
TEST_F(Denormals, ArithmeticTakesThemForZeros) {
  const Tensor x = constant(std::vector<float>{kTiny, -kTiny, kNormal, 0, 2 * kNormal});
  const float n = kNormal, nan = NAN;
  expect_values("x + 0", [](Tensor x) { return x + 0.0; }, x, {0, 0, n, 0, 2 * n});
  expect_values("x + x", [](Tensor x) { return x + x; }, x, {0, -0.0f, 2 * n, 0, 4 * n});
  expect_values("x * 1", [](Tensor x) { return x * 1.0; }, x, {0, -0.0f, n, 0, 2 * n});
  expect_values("x / 1", [](Tensor x) { return x / 1.0; }, x, {0, -0.0f, n, 0, 2 * n});
  expect_values("x - 0", [](Tensor x) { return x - 0.0; }, x, {0, -0.0f, n, 0, 2 * n});
  expect_values("x * 2^24", [](Tensor x) { return x * 0x1p24; }, x, {0, -0.0f, n * 0x1p24f, 0, n * 0x1p25f});
  expect_values("x / 2", [](Tensor x) { return x * 0.5; }, x, {0, -0.0f, 0, 0, n});
  expect_values("1 / x", [](Tensor x) { return 1.0 / x; }, x, {kInf, -kInf, 1 / n, kInf, 0.5f / n});
  expect_values("x / x", [](Tensor x) { return x / x; }, x, {nan, nan, 1, nan, 1});
  expect_values("sqrt", [](Tensor x) { return sqrt(abs(x)); }, x, {0, 0, std::sqrt(n), 0, std::sqrt(2 * n)});
  expect_values("rsqrt", [](Tensor x) { return math::rsqrt(x); }, x,
                {kInf, -kInf, 0x1p63f, kInf, 1 / std::sqrt(2 * n)});
  expect_values("exp", [](Tensor x) { return exp(x); }, x, {1, 1, 1, 1, 1});
  expect_values("sign", [](Tensor x) { return sign(x); }, x, {0, 0, 1, 0, 1});
  expect_values("maximum", [](Tensor x) { return maximum(x, -1.0); }, x, {0, -0.0f, n, 0, 2 * n});
  expect_values("minimum", [](Tensor x) { return minimum(x, 1.0); }, x, {0, -0.0f, n, 0, 2 * n});
  expect_values("relu", [](Tensor x) { return nn::relu(x); }, x, {0, -0.0f, n, 0, 2 * n});
  expect_values("clip", [](Tensor x) { return clip_by_value(x, -1.0, 1.0); }, x, {0, -0.0f, n, 0, 2 * n});
  expect_values("ceil", [](Tensor x) { return math::ceil(x); }, x, {0, -0.0f, 1, 0, 1});
  expect_values("floor", [](Tensor x) { return floor(x); }, x, {0, -0.0f, 0, 0, 0});
  expect_values("sum", [](Tensor x) { return reduce_sum(x); }, x, {3 * n});
  expect_values("max", [](Tensor x) { return reduce_max(x(Slice(0, 2))); }, x, {0});
  expect_values("prod", [](Tensor x) { return reduce_prod(x(Slice(0, 2))); }, x, {-0.0f});
  expect_values("there and back", [](Tensor x) { return cast(cast(x, float64), float32); }, x,
                {0, -0.0f, n, 0, 2 * n});
  const auto betainc = [](Tensor x) {
    return math::betainc(fill({5}, constant(2.0)), fill({5}, constant(3.0)), x);
  };
  expect_values("betainc", betainc, constant(std::vector<float>{kTiny, 0, 3 * kTiny, kTiny, 1}),
                {0, 0, 0, 0, 1});
  expect_values("near underflow", [](Tensor x) { return exp(x); }, constant({-87.0, -87.5, -100.0}),
                {std::exp(-87.0f), 0, 0});
  const auto holds = [](Tensor condition) { return cast(condition, float32); };
  expect_values("x == 0", [&](Tensor x) { return holds(x == 0.0); }, x, {1, 1, 0, 1, 0});
  expect_values("x < 0", [&](Tensor x) { return holds(x < 0.0); }, x, {0, 0, 0, 0, 0});
  expect_values("x > 0", [&](Tensor x) { return holds(x > 0.0); }, x, {0, 0, 1, 0, 1});
  expect_values("bool", [&](Tensor x) { return holds(cast(x, bool_)); }, x, {0, 0, 1, 0, 1});
}

// The other 16-bit and larger types as in the test above; TensorFlow looks at the bits of these.
TEST_F(Denormals, SmallFloatsAreTrue) {
  const auto holds = [](Tensor x) { return cast(cast(x, bool_), float32); };
  for (const auto& [dtype, tiny] : {std::pair{bfloat16, 0x1p-133}, {float16, 0x1p-24}}) {
    const Tensor x = cast(constant({double(tiny), -double(tiny), 1.0, 0.0, -0.0}), dtype);
    const Tensor kept = dtype == bfloat16
                            ? bitcast(constant(std::vector<uint16_t>{1, 0x8001, 0x3f80, 0, 0x8000}), bfloat16)
                            : x;
    expect_values("bool of a small float", holds, kept, {1, 1, 1, 0, 0});
  }
}

// Few elements are computed without the mode when it makes no difference.
TEST_F(Denormals, FewElementsInAnyModeOfTheCaller) {
  const float n = kNormal;
  for (const int size : {1, 2, 4, 15, 16, 17, 40}) {
    const auto filled = [&](float v) { return constant(std::vector<float>(size_t(size), v)); };
    const std::vector<float> zeros(size_t(size), 0.0f);
    expect_values("sum", [&](Tensor x) { return x + filled(-n); }, filled(1.5f * n), zeros);
    expect_values("product", [&](Tensor x) { return x * filled(0x1p-63f); }, filled(0x1p-64f), zeros);
    expect_values("just below", [&](Tensor x) { return x * filled(0x1.fffffep-1f); }, filled(n), zeros);
    expect_values(
        "input", [&](Tensor x) { return x + filled(1); }, filled(kTiny),
        std::vector<float>(size_t(size), 1.0f));
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      for (const float sign : {1.f, -1.f}) {
        const Tensor a = filled(sign), b = filled(sign * 0x1.8p-24f), c = filled(-sign * 0x1p-26f);
        std::fesetround(mode);
        const Tensor up = a + b, down = a + c;
        std::fesetround(FE_TONEAREST);
        EXPECT_EQ(up.data<float>()[0], sign * (1 + 0x1p-23f)) << size;
        EXPECT_EQ(down.data<float>()[size_t(size) - 1], sign) << size;
      }
    }
  }
}

// A reduction along axes of one element only reshapes.
TEST_F(Denormals, ReductionsOfOneElementKeepThem) {
  const std::vector<float> values = {kTiny, -kTiny, kNormal, -0.0f, 2};
  const Tensor x = constant(values);
  const auto column = [](const Tensor& x) { return reshape(identity(x), {5, 1}); };
  expect_values("sum", [&](Tensor x) { return reduce_sum(column(x), {1}); }, x, values);
  expect_values("prod", [&](Tensor x) { return reduce_prod(column(x), {1}); }, x, values);
  expect_values("max", [&](Tensor x) { return reduce_max(column(x), {1}); }, x, values);
  expect_values("fused", [&](Tensor x) { return -reduce_sum(-column(x), {1}); }, x, values);
  expect_values("all", [](Tensor x) { return reduce_prod(x(Slice(1, 2))); }, x, {-kTiny});
}

TEST_F(Denormals, MovesAndBitsKeepThem) {
  const std::vector<float> values = {kTiny, -kTiny, kNormal, 0};
  const Tensor x = constant(values);
  const float t = kTiny, n = kNormal;
  expect_values("identity", [](Tensor x) { return identity(x); }, x, values);
  expect_values("neg", [](Tensor x) { return -x; }, x, {-t, t, -n, -0.0f});
  expect_values("abs", [](Tensor x) { return abs(x); }, x, {t, t, n, 0});
  expect_values("concat", [](Tensor x) { return concat({x, x}, 0); }, x, {t, -t, n, 0, t, -t, n, 0});
  expect_values("reverse", [](Tensor x) { return reverse(x, {0}); }, x, {0, n, -t, t});
  expect_values("gather", [](Tensor x) { return gather(x, constant({1, 0})); }, x, {-t, t});
  expect_values("where", [](Tensor x) { return where(x == 0.0, x, 7.0); }, x, {t, -t, 7, 0});
  expect_values("where it is larger", [](Tensor x) { return where(x > -1.0, x, -1.0); }, x, values);
  expect_values("nextafter", [](Tensor x) { return math::nextafter(x, ones_like(x)); }, x,
                {std::nextafter(t, 1.0f), std::nextafter(-t, 1.0f), std::nextafter(n, 1.0f),
                 std::numeric_limits<float>::denorm_min()});
  EXPECT_EQ(bitcast(x, int32).to_vector<int32_t>()[0], 0x000116c2);
  EXPECT_EQ(bits_of(strings::to_number(constant("1e-40"))), (std::vector<uint32_t>{0x000116c2}));
  std::ostringstream text;
  text << constant(std::vector<float>{kTiny});
  EXPECT_NE(text.str().find("1.e-40"), std::string::npos) << text.str();
}

TEST_F(Denormals, Float16KeepsItsOwnAndBfloat16Flushes) {
  const Tensor h = cast(constant({6e-8, 1e-6, -1e-7, 6e-5}), float16);
  const Tensor wide = cast(h, float32);
  EXPECT_EQ(bits_of(wide), (std::vector<uint32_t>{0x33800000, 0x35880000, 0xb4000000, 0x387bc000}));
  EXPECT_EQ(bits_of(cast(h * cast(1.0, float16), float32)), bits_of(wide));
  auto f = function([](Tensor v) { return cast(v * cast(1.0, float16), float32); });
  EXPECT_EQ(bits_of(f(h)), bits_of(wide));
  const Tensor b = cast(constant(std::vector<float>{kTiny, kNormal}), bfloat16);
  EXPECT_EQ(bits_of(cast(b, float32)), (std::vector<uint32_t>{0x00010000, 0x00800000}));
  EXPECT_EQ(bits_of(cast(b * cast(1.0, bfloat16), float32)), (std::vector<uint32_t>{0, 0x00800000}));
}

TEST_F(Denormals, Float64FlushesBelowItsOwnLimit) {
  const Tensor x = constant(std::vector<double>{1e-310, 1e-300, 1e-40});
  EXPECT_EQ((x * 1.0).to_vector<double>(), (std::vector<double>{0, 1e-300, 1e-40}));
  EXPECT_EQ(bits_of(cast(x, float32)), (std::vector<uint32_t>{0, 0, 0}));
}

TEST_F(Denormals, TheSwitchBringsThemBack) {
  const Tensor x = constant(std::vector<float>{kTiny, -kTiny});
  auto f = function([](Tensor v) { return v * 1.0 + 0.0; });
  EXPECT_TRUE(config::get_flush_denormals());
  EXPECT_EQ(bits_of(f(x)), (std::vector<uint32_t>{0, 0}));
  config::set_flush_denormals(false);
  EXPECT_FALSE(config::get_flush_denormals());
  EXPECT_EQ(bits_of(f(x)), bits_of(x));
  EXPECT_EQ(bits_of(x * 1.0), bits_of(x));
  EXPECT_EQ(bits_of(maximum(x, -1.0)), bits_of(x));
  config::set_flush_denormals(true);
  EXPECT_EQ(bits_of(f(x)), (std::vector<uint32_t>{0, 0}));
}

TEST_F(Denormals, TheCallersCodeDoesNotFlush) {
  const Tensor x = constant(std::vector<float>{kTiny});
  EXPECT_TRUE((x * 1.0).shape() == x.shape());
  EXPECT_FALSE(flushes_here());
  EXPECT_THROW(matmul(x, x), InvalidArgumentError);
  EXPECT_FALSE(flushes_here());
  auto f = function([](Tensor v) {
    EXPECT_FALSE(flushes_here());
    return debugging::check_numerics(v / 0.0, "no");
  });
  EXPECT_THROW(f(x), InvalidArgumentError);
  EXPECT_FALSE(flushes_here());
  GradientTape tape;
  tape.watch(x);
  const auto square = custom_gradient([](const Tensor& v) {
    EXPECT_FALSE(flushes_here());
    return with_gradient(v * v, [v](const Tensor& g) {
      EXPECT_FALSE(flushes_here());
      return g * v;
    });
  });
  const Tensor y = square(x);
  EXPECT_FALSE(flushes_here());
  (void)tape.gradient(y, x);
  EXPECT_FALSE(flushes_here());
}

// As TensorFlow's: what an op calls runs as the op does, functions of datasets as the loop over them.
TEST_F(Denormals, CodeThatOpsCall) {
  static bool seen = false;
  if (!op_table().find("FlushProbe")) {
    op_table().add("FlushProbe(x: float) -> (y: float)").shape(same_shape_as_input);
    register_kernel("FlushProbe", DeviceType::kCpu, [](KernelContext& ctx) {
      seen = flushes_here();
      ctx.out(0).as<float>()[0] = times_one(ctx.in(0).as<float>()[0]);
    });
  }
  const Tensor x = constant(kTiny);
  EXPECT_EQ(bits_of(raw_op("FlushProbe", {x})[0]), (std::vector<uint32_t>{0}));
  EXPECT_TRUE(seen);
  bool host = false;
  host_function(
      [&](const std::vector<Tensor>& in) {
        host = flushes_here();
        return in;
      },
      {x}, {float32});
  EXPECT_TRUE(host);
  std::atomic<int> calls{0}, flushing{0};
  for (const int64_t threads : {0, 2}) {
    const auto ds = data::Dataset::range(8)
                        .map(
                            [&](Tensor i) {
                              ++calls;
                              flushing += flushes_here();
                              return cast(i, float32) * kTiny;
                            },
                            {.num_parallel_calls = threads})
                        .prefetch(2);
    for (const Tensor& element : ds) EXPECT_EQ(bits_of(element), (std::vector<uint32_t>{0}));
    auto sum = function([&](Tensor start) {
      return for_each(ds, start, [](Tensor sum, Tensor element) { return sum + element; });
    });
    EXPECT_EQ(bits_of(sum(constant(0.0f))), (std::vector<uint32_t>{0}));
  }
  EXPECT_GE(calls, 32);
  EXPECT_EQ(flushing, 0);
}

// The reciprocal of the largest number is a denormal; what is computed by way of it is not lost.
TEST_F(Denormals, ReciprocalsOfTheLargestNumbers) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  for (const char* op : {"BesselI0", "BesselI1"})
    EXPECT_EQ(raw_op(op, {constant(kLargest, float64)})[0].item<double>(),
              std::numeric_limits<double>::infinity());
  EXPECT_NEAR(raw_op("BesselI0e", {constant(kLargest, float64)})[0].item<double>() * 1e154, 0.29754, 1e-4);
}

}  // namespace
}  // namespace rw
