// NaN while training: stopping by TerminateOnNaN, and the search for the op that made it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rewind/base/call_site.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace user_code {  // as users' code does, it stands outside of the library's namespace
namespace {

// A layer whose logarithm has no value where the sum is negative.
struct LogOfSum : rw::keras::LayerOf<LogOfSum> {
  rw::Tensor call(const rw::Tensor& x, const rw::keras::CallArgs&) override {
    return rw::math::log(rw::reduce_sum(x, 1, true));
  }
  static constexpr int kLine = __LINE__ - 2;
};

bool lines_are_known() {
  return rw::CallSite::here().describe().find("check_numerics_test.cc:") != std::string::npos;
}

}  // namespace
}  // namespace user_code

namespace rw {
namespace {

using user_code::LogOfSum;

class CheckNumerics : public testing::Test {
 protected:
  void SetUp() override {
    keras::clear_session();
    random::set_seed(2);
  }
  void TearDown() override { debugging::disable_check_numerics(); }
  const Tensor x = random::stateless_normal({32, 3}, constant({1, 2}));
  const Tensor y = reduce_sum(x, 1, true);
};

keras::Sequential bad_model(bool eagerly) {
  auto model = keras::Sequential({keras::Input({3}), keras::Dense(3), LogOfSum()});
  model.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = eagerly});
  return model;
}

TEST_F(CheckNumerics, TerminateOnNaNEndsTraining) {
  auto model = bad_model(false);
  struct Count : keras::Callback {
    void on_train_batch_end(int64_t, keras::Logs&) override { ++steps; }
    int steps = 0;
  };
  const auto count = std::make_shared<Count>();
  const auto history = model.fit(
      x, y, {.batch_size = 4, .epochs = 3, .verbose = 0, .callbacks = {count, keras::TerminateOnNaN()}});
  EXPECT_EQ(count->steps, 1);
  EXPECT_EQ(history.epoch.size(), 1u);
  EXPECT_TRUE(std::isnan(history["loss"][0]));
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InvalidArgumentError& e) { return e.what(); }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST_F(CheckNumerics, FitNamesTheFirstOpCompiledAndEager) {
  for (const bool eagerly : {false, true}) {
    auto model = bad_model(eagerly);
    debugging::enable_check_numerics();
    const std::string text = message_of([&] { model.fit(x, y, {.verbose = 0}); });
    EXPECT_NE(text.find("[check_numerics]"), std::string::npos) << text;
    EXPECT_NE(text.find("output 0 of Log"), std::string::npos) << text;
    EXPECT_NE(text.find("float32"), std::string::npos) << text;
    EXPECT_NE(text.find(" NaN and 0 infinite of 32 elements"), std::string::npos) << text;
    if (!user_code::lines_are_known()) continue;  // no llvm-symbolizer or addr2line here
    EXPECT_NE(text.find("check_numerics_test.cc:" + std::to_string(LogOfSum::kLine)), std::string::npos)
        << text;
  }
}

TEST_F(CheckNumerics, AFunctionThatWasTracedBeforeIsTracedAgain) {
  const auto f = function([](const Tensor& a) { return 1.0 / a; });
  const Tensor zero = constant({1.0, 0.0});
  EXPECT_TRUE(std::isinf(f(zero).to_vector<float>()[1]));
  debugging::enable_check_numerics();
  expect_error<InvalidArgumentError>([&] { f(zero); }, "output 0 of ");
  expect_error<InvalidArgumentError>([&] { f(zero); }, "0 NaN and 1 infinite of 2 elements");
  EXPECT_EQ(f(constant({1.0, 2.0})).to_vector<float>(), (std::vector<float>{1, 0.5}));
  debugging::disable_check_numerics();
  EXPECT_TRUE(std::isinf(f(zero).to_vector<float>()[1]));
}

TEST_F(CheckNumerics, GradientsAreCheckedToo) {
  const Variable w(0.0);
  debugging::enable_check_numerics();
  // The value is fine, the derivative of sqrt at 0 is not.
  const auto loss = [&] { return sqrt(w); };
  expect_error<InvalidArgumentError>(
      [&] {
        GradientTape tape;
        const Tensor l = loss();
        tape.gradient(l, w);
      },
      "infinite of 1 elements");
  const auto step = function([&] {
    GradientTape tape;
    const Tensor l = loss();
    return Tensor(tape.gradient(l, w));
  });
  expect_error<InvalidArgumentError>([&] { step(); }, "infinite of 1 elements");
}

TEST_F(CheckNumerics, BadInputsAreToldFromBadOps) {
  debugging::enable_check_numerics();
  const Tensor nan = constant(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()});
  expect_error<InvalidArgumentError>([&] { nan + 1.0; }, "it came in: input 0 has 1 NaN");
  expect_error<InvalidArgumentError>([&] { math::log(constant({-1.0})); }, "all inputs were finite");
}

TEST_F(CheckNumerics, SoundTrainingGivesTheSameBits) {
  auto trained = [&](bool checked) {
    SetUp();
    auto model = keras::Sequential({keras::Input({3}), keras::Dense(8, {.activation = "relu"}),
                                    keras::BatchNormalization(), keras::Dropout(0.2),
                                    keras::LayerNormalization(), keras::Dense(1)});
    model.compile({.optimizer = "adam", .loss = "mse"});
    if (checked) debugging::enable_check_numerics();
    model.fit(x, y, {.batch_size = 8, .epochs = 2, .verbose = 0});
    debugging::disable_check_numerics();
    return model.weights()[0].to_vector<float>();
  };
  EXPECT_EQ(trained(true), trained(false));
}

TEST_F(CheckNumerics, LoopsAndBranches) {
  debugging::enable_check_numerics();
  const auto f = function([](const Tensor& start) {
    return while_loop([](const Tensor& a) { return a < 100.0; },
                      [](const Tensor& a) { return a + math::log(a); }, start);
  });
  expect_error<InvalidArgumentError>([&] { f(constant(-1.0)); }, "output 0 of Log");
  const auto g = function(
      [](const Tensor& a) { return cond(a > 0.0, [&] { return math::log(a); }, [&] { return sqrt(a); }); });
  EXPECT_EQ(g(constant(1.0)).item<float>(), 0.0f);
  expect_error<InvalidArgumentError>([&] { g(constant(-1.0)); }, "output 0 of Sqrt");
}

}  // namespace
}  // namespace rw
