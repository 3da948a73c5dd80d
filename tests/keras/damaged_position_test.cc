// Training positions that are damaged or of another training: an error, never a training that looks right.
#include <gtest/gtest.h>

#include <climits>

#include "rewind/data/dataset.h"
#include "rewind/format/safetensors.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

struct EndAfter : keras::Callback {
  explicit EndAfter(int64_t when) : left(when) {}
  void on_train_batch_end(int64_t, keras::Logs&) override {
    if (--left == 0) host().stop_training = true;
  }
  int64_t left;
};

class DamagedPosition : public testing::Test {
 protected:
  void SetUp() override {
    keras::clear_session();
    random::set_seed(3);
  }
  static keras::Sequential compiled(const char* metric = "mae") {
    auto model = keras::Sequential({keras::Input({2}), keras::Dense(1)});
    model.compile({.optimizer = keras::SGD({.learning_rate = 0.01, .momentum = 0.9}),
                   .loss = "mse",
                   .metrics = {metric}});
    return model;
  }
  static std::vector<std::vector<float>> values(const keras::Model& model) {
    std::vector<std::vector<float>> list;
    for (const Variable& v : model.weights()) list.push_back(v.to_vector<float>());
    return list;
  }
  // Five batches an epoch, and two epochs.
  keras::FitOptions options(int64_t steps_per_epoch = 0) const {
    return {.batch_size = 8, .epochs = 2, .verbose = 0, .steps_per_epoch = steps_per_epoch};
  }
  keras::TrainingPosition stopped(keras::Sequential& model, int64_t steps, int64_t steps_per_epoch = 0) {
    auto o = options(steps_per_epoch);
    o.callbacks = {EndAfter(steps)};
    return model.fit(x, y, o).position;
  }
  void refused(const keras::TrainingPosition& position, const std::string& part,
               int64_t steps_per_epoch = 0) {
    auto model = compiled();
    const auto before = values(model);
    auto o = options(steps_per_epoch);
    o.resume_from = position;
    expect_error<InvalidArgumentError>([&] { model.fit(x, y, o); }, part);
    EXPECT_EQ(values(model), before);
  }
  const Tensor x = random::stateless_normal({40, 2}, constant({1, 2}));
  const Tensor y = reduce_sum(x, 1, true);
};

TEST_F(DamagedPosition, NumbersMustLieInTheTraining) {
  auto model = compiled();
  const auto good = stopped(model, 7);
  ASSERT_EQ(good.epoch, 1);
  ASSERT_EQ(good.step, 2);
  auto with = [&](auto change) {
    auto at = good;
    change(at);
    return at;
  };
  for (const int epoch : {-1, -65281, 3, INT_MAX, INT_MIN})
    refused(with([&](auto& at) { at.epoch = epoch; }), "its epoch must lie in [0, 2], got");
  refused(with([](auto& at) { at.epoch = 2; }), "there are 2 epochs");
  refused(with([](auto& at) { at.epoch = 0; }), "the pass over the arrays");
  refused(with([](auto& at) { at.step = -1; }), "its step must not be negative");
  for (const int64_t step : {int64_t(6), INT64_MAX})
    refused(with([&](auto& at) { at.step = step; }), "epochs have 5 steps");
  for (const int64_t step : {0, 1, 3, 4, 5})  // behind step 5 an epoch is over, but the data stand elsewhere
    refused(with([&](auto& at) { at.step = step; }), "the pass over the arrays");
  refused(with([](auto& at) { at.data.clear(); }), "does not say where the data stood");
  refused(with([](auto& at) { at.metrics.clear(); }), "the state of other metrics");
  refused(with([](auto& at) { at.metrics.pop_back(); }), "the state of other metrics");
  refused(with([](auto& at) { at.metrics[0] = ones({3}); }), "the state of other metrics");
}

// The bytes of a pass over arrays: 'arrays', rows, seed, passes, row.
TEST_F(DamagedPosition, PassesThatNeverWere) {
  auto model = compiled();
  auto at = stopped(model, 7);
  const size_t passes = at.data.size() - 2 * 9 + 1, row = at.data.size() - 8;
  auto number = [&](size_t place, int64_t value) {
    auto damaged = at;
    std::memcpy(damaged.data.data() + place, &value, sizeof(value));
    return damaged;
  };
  for (const int64_t n : {int64_t(3), INT64_MAX, int64_t(1) << 40})
    refused(number(passes, n), "the pass over");
  refused(number(passes, 0), "the pass over");
  refused(number(passes, -1), "the position");
  for (const int64_t n : {0, 8, 15, 17, 40}) refused(number(row, n), "the pass over");
  refused(number(row, 41), "the position");
}

// Good ones of every step are taken, in epochs that are passes, longer or shorter.
TEST_F(DamagedPosition, EveryPositionOfATrainingIsTaken) {
  for (const int64_t each : {0, 2, 3, 5, 9}) {
    SetUp();
    auto whole = compiled();
    keras::FitOptions o = options(each);
    o.epochs = 5;
    whole.fit(x, y, o);
    const auto total = whole.optimizer().iterations().item<int64_t>();
    for (int64_t stop = 1; stop <= total; ++stop) {
      SetUp();
      auto model = compiled();
      auto first = o;
      first.callbacks = {EndAfter(stop)};
      auto rest = o;
      rest.resume_from = model.fit(x, y, first).position;
      rest.resume_from = model
                             .fit(x, y,
                                  [&] {
                                    auto more = rest;
                                    more.callbacks = {EndAfter(1)};
                                    return more;
                                  }())
                             .position;  // and from there again
      model.fit(x, y, rest);
      EXPECT_EQ(values(model), values(whole)) << each << " " << stop;
    }
  }
}

TEST_F(DamagedPosition, BeforeTheFirstStep) {
  struct Keep : keras::Callback {
    void on_train_begin(keras::Logs&) override { position = host().position(); }
    keras::TrainingPosition position;
  };
  const auto keep = std::make_shared<Keep>();
  for (const bool dataset : {false, true}) {
    SetUp();
    auto model = compiled();
    const auto ds = data::Dataset::from_tensor_slices(std::tuple{x, y}).batch(8);
    auto run = [&](keras::FitOptions o) { return dataset ? model.fit(ds, o) : model.fit(x, y, o); };
    auto o = options();
    o.callbacks = {keep};
    run(o);
    auto rest = options();
    rest.resume_from = keep->position;
    EXPECT_EQ(run(rest).epoch.size(), 2u);
    EXPECT_EQ(model.optimizer().iterations().item<int64_t>(), 20);
  }
}

TEST_F(DamagedPosition, AFileIsReturnedWithItsPosition) {
  const test::TemporaryFolder folder;
  auto model = compiled();
  const auto at = stopped(model, 7);
  model.save_weights(folder / "weights", {.position = at});  // without the state of the optimizer
  model.save_weights(folder / "all", {.training_state = true, .position = at});
  for (const char* name : {"weights", "all"}) {
    const auto loaded = compiled().load_weights(folder / name);
    ASSERT_TRUE(loaded.position.has_value());
    EXPECT_EQ(loaded.position->epoch, 1);
    EXPECT_EQ(loaded.position->step, 2);
    EXPECT_EQ(loaded.position->data, at.data);
  }
}

TEST_F(DamagedPosition, PartsOfAPositionAreMissed) {
  const test::TemporaryFolder folder;
  auto model = compiled();
  model.save_weights(folder / "whole", {.training_state = true, .position = stopped(model, 7)});
  const format::SafetensorsFile file(folder / "whole");
  std::vector<std::vector<char>> bytes;
  for (const auto& e : file.entries()) file.read(e, bytes.emplace_back(e.size).data());
  for (size_t without = 0; without < file.entries().size(); ++without) {
    std::vector<format::SafetensorsArray> arrays;
    for (size_t i = 0; i < file.entries().size(); ++i) {
      const auto& e = file.entries()[i];
      if (i != without) arrays.push_back({e.name, e.dtype, e.shape, bytes[i].data()});
    }
    format::write_safetensors(folder / "part", arrays, file.metadata());
    const auto fresh = compiled();
    const auto before = values(fresh);
    EXPECT_THROW(fresh.load_weights(folder / "part", {.training_state = true}), DataLossError)
        << file.entries()[without].name;
    EXPECT_EQ(values(fresh), before);
  }
}

// Random bytes of the file change: an error, or the training that would have been.
TEST_F(DamagedPosition, AnyByteOfTheFile) {
  const test::TemporaryFolder folder;
  auto whole = compiled();
  whole.fit(x, y, options());
  SetUp();
  auto model = compiled();
  model.save_weights(folder / "w", {.training_state = true, .position = stopped(model, 7)});
  const std::string good = test::read_bytes(folder / "w");
  uint32_t random = 7;
  auto draw = [&](size_t below) {
    random = random * 1664525u + 1013904223u;
    return size_t(random >> 8) % below;
  };
  int refused = 0, resumed = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bad = good;
    for (size_t n = 1 + draw(3); n > 0; --n) bad[draw(bad.size())] ^= char(1u << draw(8));
    test::write_bytes(folder / "bad", bad);
    auto again = compiled();
    try {
      const auto loaded = again.load_weights(folder / "bad", {.training_state = true});
      auto rest = options();
      rest.resume_from = loaded.position;
      again.fit(x, y, rest);
      EXPECT_EQ(values(again), values(whole));
      ++resumed;
    } catch (const Error&) { ++refused; }
  }
  EXPECT_GT(refused, 350);
  EXPECT_EQ(refused + resumed, 400);
}

}  // namespace
}  // namespace rw
