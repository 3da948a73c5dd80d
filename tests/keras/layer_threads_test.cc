// Layers and models used by several threads: whoever comes first builds, once; each thread has losses of its
// own; training takes turns. Meant for the thread sanitizer.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "rewind/function/function.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 10;

// Runs body(thread) on threads that start together; what one throws is a failure of the test.
template <class Body>
void together(Body body, int count = kThreads) {
  std::barrier start(count);
  std::vector<std::string> errors{size_t(count)};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      try {
        body(t);
      } catch (const std::exception& e) { errors[size_t(t)] = e.what(); }
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& e : errors) EXPECT_EQ(e, "");
}

struct PlainScale : keras::Layer {
  Variable factor, offset;
  void build(const Shape& input) override {
    factor = add_weight({.name = "factor", .shape = {input.back()}, .initializer = "ones"});
    offset = add_weight({.name = "offset", .shape = {input.back()}, .initializer = "zeros"});
  }
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return x * factor + offset; }
};

struct TrackedNet : keras::Model {
  keras::Dense hidden{5, {.activation = "tanh"}}, out{2};
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return out(hidden(x)); }
  RW_TRACK(hidden, out)
};

struct UntrackedNet : keras::Model {  // its layers are found by the first call
  keras::Dense hidden{5}, out{2};
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return out(hidden(x)); }
};

// Builds its inner layer inside of its own build.
struct Wrapping : keras::LayerOf<Wrapping> {
  keras::Dense inner{3};
  Variable shift;
  void build(const Shape& input) override {
    inner.build_for(input);
    shift = add_weight({.name = "shift", .shape = {3}});
  }
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return inner(x) + shift; }
  RW_TRACK(inner)
};

keras::Sequential sequential() {
  return keras::Sequential({keras::Dense(6, {.activation = "relu"}), keras::BatchNormalization(),
                            keras::Sequential({keras::Dense(4), keras::Dense(2)})});
}

class LayerThreads : public testing::Test {
 protected:
  const Tensor x = random::stateless_normal({8, 3}, constant({1, 2}));
  const Tensor y = reduce_sum(x, 1, true);

  // All threads begin with a layer that is not built: some eagerly, some in a trace.
  template <class Make>
  void check_first_calls(Make make, size_t weights) {
    for (int round = 0; round < kRounds; ++round) {
      auto layer = make();
      const auto traced = function([&](const Tensor& v) { return layer(v); });
      std::vector<std::vector<float>> results(kThreads);
      together([&](int t) {
        results[size_t(t)] = (t % 2 == 0 ? Tensor(layer(x)) : Tensor(traced(x))).template to_vector<float>();
      });
      ASSERT_EQ(layer.weights().size(), weights);
      EXPECT_TRUE(layer.built());
      // A compiled function may round a product in another order than eager code.
      const std::vector<float> want = layer(x).template to_vector<float>();
      for (const std::vector<float>& r : results) {
        ASSERT_EQ(r.size(), want.size());
        for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(r[i], want[i], 1e-5f);
      }
    }
  }
};

TEST_F(LayerThreads, ALayer) {
  check_first_calls([] { return keras::Dense(3); }, 2);
  check_first_calls([] { return keras::BatchNormalization(); }, 4);
}
TEST_F(LayerThreads, ALayerOfTheUsers) {
  check_first_calls([] { return PlainScale(); }, 2);
  check_first_calls([] { return Wrapping(); }, 3);
}
TEST_F(LayerThreads, ASequentialModel) { check_first_calls(sequential, 10); }
TEST_F(LayerThreads, AFunctionalModel) {
  check_first_calls(
      [] {
        const auto in = keras::Input({3});
        return keras::Model(in, keras::Dense(2)(keras::Dense(4)(in)));
      },
      4);
}
TEST_F(LayerThreads, AModelOfTheUsers) {
  check_first_calls([] { return TrackedNet(); }, 4);
  check_first_calls([] { return UntrackedNet(); }, 4);
}

TEST_F(LayerThreads, RecurrentLayers) {
  const Tensor sequences = random::stateless_normal({2, 4, 3}, constant({1, 2}));
  for (int round = 0; round < 3; ++round) {
    auto layer = keras::Bidirectional(keras::GRU(2));
    together([&](int) { EXPECT_EQ(layer(sequences).shape(), (Shape{2, 4})); });
    EXPECT_EQ(layer.weights().size(), 6u);
  }
}

// Copies are the same layer.
TEST_F(LayerThreads, CopiesOfALayer) {
  for (int round = 0; round < kRounds; ++round) {
    const keras::Dense layer(3);
    const std::vector<keras::Dense> copies(kThreads, layer);
    together([&](int t) { copies[size_t(t)](x); });
    EXPECT_EQ(layer.weights().size(), 2u);
    EXPECT_EQ(copies[0](x).to_vector<float>(), copies[kThreads - 1](x).to_vector<float>());
  }
}

TEST_F(LayerThreads, FirstPredictions) {
  for (int round = 0; round < kRounds; ++round) {
    auto model = sequential();
    std::vector<std::vector<float>> results(kThreads);
    together([&](int t) {
      results[size_t(t)] = model.predict(x, {.batch_size = 4, .verbose = 0}).to_vector<float>();
    });
    EXPECT_EQ(model.weights().size(), 10u);
    for (const auto& r : results) EXPECT_EQ(r, results[0]);
  }
}

TEST_F(LayerThreads, ALayerOfSeveralModels) {
  for (int round = 0; round < kRounds; ++round) {
    const keras::Dense shared(3);
    std::vector<keras::Sequential> models;
    for (int t = 0; t < kThreads; ++t) models.push_back(keras::Sequential({shared, keras::Dense(2)}));
    together([&](int t) {
      if (t % 2 == 0) models[size_t(t)](x);
      else models[size_t(t)].predict(x, {.verbose = 0});
    });
    EXPECT_EQ(shared.weights().size(), 2u);
    for (const auto& m : models) {
      EXPECT_EQ(m.weights().size(), 4u);
      EXPECT_TRUE(same_variable(m.weights()[0], shared.weights()[0]));
    }
  }
}

TEST_F(LayerThreads, ModelsArePutTogether) {
  const keras::Dense shared(3);
  std::vector<std::optional<keras::Model>> models(kThreads);
  together([&](int t) {
    const auto in = keras::Input({3});
    models[size_t(t)].emplace(in, keras::Dense(2)(shared(in)));
  });
  for (const auto& m : models) EXPECT_EQ(m->weights().size(), 4u);
  EXPECT_EQ(shared.weights().size(), 2u);
}

// A layer that came later is built by the next call.
TEST_F(LayerThreads, FirstCallsAfterAdd) {
  for (int round = 0; round < kRounds; ++round) {
    auto model = sequential();
    model(x);
    model.add(keras::Dense(5));
    together([&](int) { EXPECT_EQ(model(x).shape(), (Shape{8, 5})); });
    EXPECT_EQ(model.weights().size(), 12u);
  }
}

TEST_F(LayerThreads, WeightsAreListedMeanwhile) {
  for (int round = 0; round < kRounds; ++round) {
    auto model = TrackedNet();
    together([&](int t) {
      if (t % 2 == 0) model(x);
      else EXPECT_EQ(model.weights().size() % 2, 0u);  // of whole layers
      model.losses();
      model.trainable_weights();
      model.name();
      model.class_name();
    });
    EXPECT_EQ(model.weights().size(), 4u);
  }
}

TEST_F(LayerThreads, LossesAreThoseOfTheThread) {
  const auto model = keras::Sequential({keras::Dense(
      2, {.kernel_initializer = "ones", .activity_regularizer = keras::regularizers::L2(1.0)})});
  std::vector<Tensor> inputs;
  for (int t = 0; t < kThreads; ++t) inputs.push_back(fill({2, 3}, float(t + 1)));
  together([&](int t) {
    const float want = 2.0f * 9.0f * float((t + 1) * (t + 1));  // two columns of sums of three
    for (int i = 0; i < 20; ++i) {
      model(inputs[size_t(t)]);
      const std::vector<Tensor> losses = model.losses();
      ASSERT_EQ(losses.size(), 1u);
      EXPECT_FLOAT_EQ(losses[0].item<float>(), want);
    }
  });
}

// One after the other: as if they had been called so.
TEST_F(LayerThreads, FitsTakeTurns) {
  const keras::FitOptions options{.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false};
  auto make = [] {
    auto model = keras::Sequential({keras::Dense(4, {.activation = "tanh", .kernel_initializer = "ones"}),
                                    keras::Dense(1, {.kernel_initializer = "ones"})});
    model.compile({.optimizer = keras::Adam({.learning_rate = 0.01}), .loss = "mse"});
    return model;
  };
  auto alone = make();
  for (int t = 0; t < kThreads; ++t) alone.fit(x, y, options);
  auto model = make();
  together([&](int) { model.fit(x, y, options); });
  const auto mine = model.weights(), want = alone.weights();
  ASSERT_EQ(mine.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(mine[i].to_vector<float>(), want[i].to_vector<float>());
  EXPECT_EQ(model.optimizer().variables().size(), 2 + 2 * 4u);
}

TEST_F(LayerThreads, SingleStepsTakeTurns) {
  auto model = sequential();
  model.compile({.optimizer = keras::SGD({.learning_rate = 0.01}), .loss = "mse", .metrics = {"mae"}});
  const Tensor target = zeros({8, 2});
  together([&](int t) {
    for (int i = 0; i < 5; ++i) {
      if (t == 0) model.evaluate(x, target, {.verbose = 0});
      else if (t == 1) model.test_on_batch(x, target);
      else EXPECT_TRUE(model.train_on_batch(x, target).get("mae").has_value());
    }
  });
  EXPECT_EQ(model.optimizer().iterations().item<int64_t>(), 10);
}

TEST_F(LayerThreads, OthersUseAModelThatTrains) {
  const test::TemporaryFolder folder;
  auto model = sequential();
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor target = zeros({8, 2});
  std::atomic<bool> done{false};
  together([&](int t) {
    if (t == 0) {
      model.fit(x, target, {.batch_size = 4, .epochs = 20, .verbose = 0});
      done = true;
    }
    do {
      if (t == 1) model.predict(x, {.verbose = 0});
      if (t == 2) model(x);
      if (t == 3 && model.built()) model.save_weights(folder / "w");
    } while (!done);
  });
  EXPECT_EQ(model.weights().size(), 10u);
}

TEST_F(LayerThreads, AnotherThreadEndsTraining) {
  auto model = sequential();
  model.compile({.optimizer = "sgd", .loss = "mse"});
  std::atomic<bool> done{false};
  together(
      [&](int t) {
        if (t == 0) {
          const auto history = model.fit(x, zeros({8, 2}), {.epochs = 100'000'000, .verbose = 0});
          EXPECT_LT(history.epoch.size(), 100'000'000u);
          done = true;
        }
        while (!done) model.set_stop_training(true);
      },
      2);
}

// What a build has made is gone when it fails.
TEST_F(LayerThreads, ABuildThatFails) {
  struct Fragile : keras::Layer {
    std::atomic<int>* builds;
    explicit Fragile(std::atomic<int>* n) : builds(n) {}
    Variable kernel;
    void build(const Shape& input) override {
      kernel = add_weight({.name = "kernel", .shape = {input.back()}, .initializer = "ones"});
      if (++*builds < 3) throw std::runtime_error("not yet");
    }
    Tensor call(const Tensor& v, const keras::CallArgs&) override { return v * kernel; }
  };
  std::atomic<int> builds{0}, failures{0};
  const Fragile layer(&builds);
  together([&](int) {
    try {
      layer(x);
    } catch (const std::runtime_error&) { ++failures; }
  });
  EXPECT_EQ(failures, 2);
  EXPECT_EQ(layer.weights().size(), 1u);
}

TEST_F(LayerThreads, AnOptimizerIsBuiltOnce) {
  for (int round = 0; round < kRounds; ++round) {
    const Variable v(zeros({3}));
    const keras::Adam adam;
    together([&](int) { adam.build({v}); });
    EXPECT_EQ(adam.variables().size(), 4u);
  }
}

TEST_F(LayerThreads, NamesAreGivenOnce) {
  for (int round = 0; round < kRounds; ++round) {
    const PlainScale layer;
    std::vector<std::string> names(kThreads);
    together([&](int t) { names[size_t(t)] = layer.name(); });
    for (const std::string& n : names) EXPECT_EQ(n, layer.name());
  }
}

}  // namespace
}  // namespace rw
