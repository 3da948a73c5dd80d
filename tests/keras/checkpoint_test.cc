// Checkpoints of layers, models and optimizers: names, restoring before and behind building, training that
// goes on.
#include <gtest/gtest.h>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

using train::Checkpoint;

struct Blocks : keras::LayerOf<Blocks, keras::Model> {
  keras::Dense first{3};
  std::vector<keras::Dense> blocks = {keras::Dense(3), keras::Dense(3)};
  keras::metrics::Mean seen;
  Variable factor;
  Blocks() = default;
  void build(const Shape&) override {
    factor = add_weight({.name = "scale", .shape = {1}, .initializer = "ones"});
  }
  Tensor call(const Tensor& x, const keras::CallArgs&) override {
    return blocks[1](blocks[0](first(x))) * factor;
  }
  RW_TRACK(first, blocks, seen, factor)
};

class KerasCheckpoints : public testing::Test {
 protected:
  void SetUp() override {
    keras::clear_session();
    random::set_seed(5);
  }
  static std::vector<std::vector<float>> values(const keras::Model& model) {
    std::vector<std::vector<float>> list;
    for (const Variable& v : model.weights()) list.push_back(v.to_vector<float>());
    return list;
  }
  std::vector<std::string> keys(const std::string& path) const {
    const std::string end = "/.ATTRIBUTES/VARIABLE_VALUE";
    std::vector<std::string> list;
    for (const auto& [key, shape] : train::list_variables(path))
      if (key.ends_with(end)) list.push_back(key.substr(0, key.size() - end.size()));
    return list;
  }
  test::TemporaryFolder folder;
  const Tensor x = random::stateless_normal({16, 4}, constant({1, 2}));
  const Tensor y = reduce_sum(x, 1, true);
};

TEST_F(KerasCheckpoints, NamesOfASubclass) {
  Blocks model;
  (void)model(x);
  Checkpoint({{"model", model}}).write(folder / "c");
  EXPECT_EQ(keys(folder / "c"),
            (std::vector<std::string>{"model/blocks/0/_kernel", "model/blocks/0/bias",
                                      "model/blocks/1/_kernel", "model/blocks/1/bias", "model/factor",
                                      "model/first/_kernel", "model/first/bias"}));
  Blocks again;
  Checkpoint({{"model", again}}).read(folder / "c");
  EXPECT_EQ(again(x).to_vector<float>(), model(x).to_vector<float>());
}

TEST_F(KerasCheckpoints, LayersAreRestoredWhenTheyAreBuilt) {
  const auto make = [] {
    return keras::Sequential({keras::Dense(3, {.activation = "relu"}), keras::BatchNormalization(),
                              keras::LSTM(2), keras::Dense(1)});
  };
  const Tensor steps = reshape(x, {4, 4, 4});
  auto model = make();
  (void)model(steps);
  for (const Variable& v : model.weights())
    v.assign(abs(random::stateless_normal(v.shape(), constant({3, 4}))));
  Checkpoint({{"model", model}}).save(folder / "c");
  auto late = make();
  const Checkpoint ckpt({{"model", late}});
  const auto status = ckpt.restore(folder / "c-1");
  status.assert_existing_objects_matched();
  expect_error<FailedPreconditionError>([&] { status.assert_consumed(); },
                                        "model/_functional/_operations/1/_kernel");
  // The very first result is that of the values in the file, also in a function.
  const auto f = function([&](const Tensor& in) { return late(in); });
  EXPECT_EQ(f(steps).to_vector<float>(), model(steps).to_vector<float>());
  status.assert_consumed();
  EXPECT_EQ(values(late), values(model));
}

TEST_F(KerasCheckpoints, TheLastRestoreCounts) {
  auto model = keras::Sequential({keras::Dense(1)});
  (void)model(x);
  const Checkpoint ckpt({{"model", model}});
  for (const float value : {1.0F, 2.0F}) {
    for (const Variable& v : model.weights()) v.assign(fill(v.shape(), value));
    ckpt.save(folder / "c");
  }
  auto late = keras::Sequential({keras::Dense(1)});
  const Checkpoint other({{"model", late}});
  other.restore(folder / "c-1").expect_partial();
  other.restore(folder / "c-2").expect_partial();
  (void)late(x);
  EXPECT_EQ(late.weights()[0].to_vector<float>(), std::vector<float>(4, 2));
}

TEST_F(KerasCheckpoints, SlotsAreRestoredWhenTheyAreMade) {
  const auto make = [] {
    return keras::Sequential(
        {keras::Dense(5, {.activation = "tanh"}), keras::BatchNormalization(), keras::Dense(1)});
  };
  const auto step = [&](keras::Sequential& model, const keras::Optimizer& optimizer) {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(model(x, {.training = true}) - y));
    optimizer.apply_gradients(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
  };
  auto model = make();
  const keras::Optimizer optimizer = keras::Adam({.learning_rate = 0.05, .amsgrad = true});
  for (int i = 0; i < 3; ++i) step(model, optimizer);
  Checkpoint({{"model", model}, {"optimizer", optimizer}}).save(folder / "c");
  for (int i = 0; i < 3; ++i) step(model, optimizer);

  auto late = make();
  const keras::Optimizer other = keras::Adam({.learning_rate = 0.3, .amsgrad = true});
  const auto status = Checkpoint({{"model", late}, {"optimizer", other}}).restore(folder / "c-1");
  EXPECT_EQ(other.iterations().item<int64_t>(), 3);
  EXPECT_EQ(other.learning_rate().item<float>(), 0.05F);
  for (int i = 0; i < 3; ++i) step(late, other);
  EXPECT_EQ(values(late), values(model));
  status.assert_consumed();
}

TEST_F(KerasCheckpoints, CompiledModelsGoOn) {
  const auto make = [] {
    const auto in = keras::Input({4});
    auto model = keras::Model(in, keras::Dense(1)(keras::Dense(5, {.activation = "tanh"})(in)));
    model.compile({.optimizer = keras::RMSprop({.learning_rate = 0.02, .momentum = 0.5}), .loss = "mse"});
    return model;
  };
  const keras::FitOptions quiet{.epochs = 2, .verbose = 0, .shuffle = false};
  auto model = make();
  model.fit(x, y, quiet);
  Checkpoint root(model);
  root.write(folder / "c");
  model.fit(x, y, quiet);
  for (const bool trained : {false, true}) {
    auto other = make();
    if (trained) other.fit(x, y, quiet);
    const auto status = Checkpoint(other).read(folder / "c");
    other.fit(x, y, quiet);
    EXPECT_EQ(values(other), values(model)) << trained;
    status.assert_consumed();
  }
}

TEST_F(KerasCheckpoints, ModelsThatAreMovedAndCopied) {
  struct Holder {
    keras::Sequential model{keras::Dense(2)};
    Checkpoint ckpt{{{"model", model}}};
  };
  const auto make = [] { return Holder(); };
  Holder h = make();
  const keras::Sequential copy = h.model;
  (void)copy(x);
  h.ckpt.write(folder / "c");
  EXPECT_EQ(keys(folder / "c"), (std::vector<std::string>{"model/_functional/_operations/1/_kernel",
                                                          "model/_functional/_operations/1/bias"}));
}

TEST_F(KerasCheckpoints, MetricsByThemselves) {
  const keras::metrics::Mean mean;
  mean.update_state(3.0F);
  const Checkpoint ckpt({{"mean", mean}});
  ckpt.write(folder / "c");
  EXPECT_EQ(keys(folder / "c"), (std::vector<std::string>{"mean/count", "mean/total"}));
  mean.reset_state();
  ckpt.read(folder / "c").assert_consumed();
  EXPECT_EQ(mean.result().item<float>(), 3);
}

}  // namespace
}  // namespace rw
