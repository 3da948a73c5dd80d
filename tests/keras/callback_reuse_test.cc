// Callbacks that are used again: after a fit that threw, by a second model, by a fit inside of a fit. And the
// weights of examples and classes that exclude each other.
#include <gtest/gtest.h>

#include <sstream>

#include "rewind/data/dataset.h"
#include "rewind/keras/keras.h"
#include "rewind/keras/progress_bar.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

struct Throws : keras::Callback {
  void on_train_batch_end(int64_t, keras::Logs&) override { throw std::runtime_error("enough"); }
};
struct Nothing : keras::Callback {};

class CallbackReuse : public testing::Test {
 protected:
  static keras::Sequential compiled() {
    auto model = keras::Sequential({keras::Dense(2, {.activation = "softmax"})});
    model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy"});
    return model;
  }
  const Tensor x = ones({8, 3});
  const Tensor y = constant(std::vector<int32_t>{0, 1, 0, 1, 0, 1, 0, 1});
  const Tensor w = ones({8});
};

TEST_F(CallbackReuse, NoHostBehindAFitThatThrew) {
  const auto callback = std::make_shared<Nothing>();
  {
    auto model = compiled();
    EXPECT_THROW(model.fit(x, y, {.verbose = 0, .callbacks = {callback, Throws()}}), std::runtime_error);
    expect_error<FailedPreconditionError>([&] { callback->host(); }, "during training only");
    model.set_stop_training(true);  // nobody trains
    model.fit(x, y, {.verbose = 0, .callbacks = {callback}});
  }
  EXPECT_EQ(callback->host_or_null(), nullptr);
  auto other = compiled();
  other.evaluate(x, y, {.verbose = 0, .callbacks = {callback}});
  EXPECT_EQ(callback->host_or_null(), nullptr);
  other.predict(x, {.verbose = 0, .callbacks = {callback}});
  EXPECT_EQ(callback->host_or_null(), nullptr);
}

TEST_F(CallbackReuse, EarlyStoppingAfterAFitThatThrew) {
  const auto stop = std::make_shared<keras::EarlyStopping>(
      keras::EarlyStoppingOptions{.monitor = "loss", .min_delta = 1e9, .restore_best_weights = true});
  {
    auto model = compiled();
    EXPECT_THROW(model.fit(x, y, {.epochs = 5, .verbose = 0, .callbacks = {stop, Throws()}}),
                 std::runtime_error);
  }
  auto model = compiled();
  EXPECT_EQ(model.fit(x, y, {.epochs = 5, .verbose = 0, .callbacks = {stop}}).epoch.size(), 2u);
}

TEST_F(CallbackReuse, AFitInsideOfAFit) {
  auto inner = compiled(), outer = compiled();
  struct Watch : keras::Callback {
    void on_train_batch_end(int64_t, keras::Logs&) override { seen.push_back(&host()); }
    std::vector<keras::TrainingHost*> seen;
  };
  const auto watch = std::make_shared<Watch>();
  struct Trains : keras::Callback {
    std::function<void()> train;
    explicit Trains(std::function<void()> f) : train(std::move(f)) {}
    void on_train_batch_begin(int64_t, keras::Logs&) override { train(); }
  };
  bool throws = false;
  const Trains trains([&] {
    keras::FitOptions options{.batch_size = 8, .verbose = 0, .callbacks = {watch}};
    if (throws) options.callbacks.emplace_back(Throws());
    try {
      inner.fit(x, y, options);
    } catch (const std::runtime_error&) { EXPECT_TRUE(throws); }
    inner.evaluate(x, y, {.verbose = 0, .callbacks = {watch}});
  });
  for (const bool t : {false, true}) {
    throws = t;
    watch->seen.clear();
    outer.fit(x, y, {.batch_size = 4, .epochs = 1, .verbose = 0, .callbacks = {watch, trains}});
    ASSERT_EQ(watch->seen.size(), 4u);  // inner, outer, inner, outer
    EXPECT_EQ(watch->seen[1], watch->seen[3]);
    EXPECT_NE(watch->seen[0], watch->seen[1]);
    EXPECT_EQ(watch->host_or_null(), nullptr);
  }
}

TEST_F(CallbackReuse, ACallbackInAListOfTheUsers) {
  const auto inside = std::make_shared<Nothing>();
  const auto list = std::make_shared<keras::CallbackList>(std::vector<keras::CallbackRef>{inside});
  auto model = compiled();
  EXPECT_THROW(model.fit(x, y, {.verbose = 0, .callbacks = {list, Throws()}}), std::runtime_error);
  EXPECT_EQ(inside->host_or_null(), nullptr);
}

TEST_F(CallbackReuse, ABarThatSawAnExceptionShowsAnEvaluation) {
  std::ostringstream out;
  const auto bar =
      std::make_shared<keras::ProgressBar>(keras::ProgressBarOptions{.output = &out, .terminal = false});
  auto model = compiled();
  EXPECT_THROW(model.fit(x, y, {.verbose = 2, .callbacks = {bar, Throws()}}), std::runtime_error);
  out.str("");
  model.evaluate(x, y, {.verbose = 2, .callbacks = {bar}});
  EXPECT_NE(out.str(), "");
}

TEST_F(CallbackReuse, CompiledAnewInAHook) {
  auto model = compiled();
  struct Compiles : keras::Callback {
    keras::Sequential* model;
    explicit Compiles(keras::Sequential* m) : model(m) {}
    void on_train_batch_end(int64_t, keras::Logs&) override {
      model->compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy"});
    }
  };
  const auto history =
      model.fit(x, y, {.batch_size = 4, .epochs = 2, .verbose = 0, .callbacks = {Compiles(&model)}});
  EXPECT_EQ(history.epoch.size(), 2u);
  model.fit(x, y, {.verbose = 0});
}

// Keras: "You cannot `class_weight` and `sample_weight` at the same time."
TEST_F(CallbackReuse, ClassWeightsExcludeSampleWeights) {
  const std::map<int64_t, double> classes{{0, 1.0}, {1, 2.0}};
  const char* rule = "class_weight and sample_weight cannot be given at the same time";
  auto model = compiled();
  model(x);
  const auto before = model.weights()[0].to_vector<float>();
  expect_error<InvalidArgumentError>(
      [&] { model.fit(x, y, {.verbose = 0, .class_weight = classes, .sample_weight = w}); }, rule);
  const auto weighted = data::Dataset::from_tensor_slices(std::tuple{x, y, w}).batch(4);
  expect_error<InvalidArgumentError>([&] { model.fit(weighted, {.verbose = 0, .class_weight = classes}); },
                                     rule);
  const auto plain = data::Dataset::from_tensor_slices(std::tuple{x, y}).batch(4);
  expect_error<InvalidArgumentError>([&] { model.fit(plain, {.verbose = 0, .sample_weight = w}); },
                                     "sample_weight goes with arrays");
  expect_error<InvalidArgumentError>([&] { model.evaluate(plain, {.verbose = 0, .sample_weight = w}); },
                                     "sample_weight goes with arrays");
  EXPECT_EQ(model.weights()[0].to_vector<float>(), before);
  model.fit(plain, {.verbose = 0, .class_weight = classes});
  model.fit(weighted, {.verbose = 0});
  model.fit(x, y, {.verbose = 0, .validation_data = keras::ValidationData{x, y, w}, .class_weight = classes});
}

}  // namespace
}  // namespace rw
