// Variables of a layer's own that are not made by add_weight: listed by RW_TRACK, or found when call() reads
// them.
#include <gtest/gtest.h>

#include <filesystem>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

using Texts = std::vector<std::string>;

Texts names(const std::vector<Variable>& list) {
  Texts out;
  for (const Variable& v : list) out.push_back(keras::weight_name(v));
  return out;
}
Variable variable(const char* name, bool trainable = true) {
  return Variable(ones({2}), {.trainable = trainable, .name = name});
}

struct Listed : keras::LayerOf<Listed> {
  Variable w = variable("w"), count = variable("count", false), b = variable("b"), later;
  keras::Dense inner{2, {.name = "inner"}};
  void build(const Shape&) override { later = add_weight({.name = "later", .shape = {2}}); }
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return inner(x * w + b + later); }
  RW_TRACK(w, count, b, inner)
};

struct Forgotten : keras::LayerOf<Forgotten> {
  Variable w = variable("w"), state = variable("state", false);
  std::vector<Variable> more{variable("m0"), variable("m1")};
  keras::Dense inner{2, {.name = "inner"}};
  Tensor call(const Tensor& x, const keras::CallArgs&) override {
    return inner(x * w + more[0] * more[1] + state);
  }
};

// Not LayerOf, and no handle in the object itself.
struct Net : keras::Model {
  struct Parts {
    Variable w = variable("w");
  };
  std::shared_ptr<Parts> parts = std::make_shared<Parts>();
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return reduce_sum(x * parts->w, -1, true); }
};

TEST(KerasTrackedVariables, ListedOnesAreWeightsInOrder) {
  keras::clear_session();
  Listed layer;
  EXPECT_EQ(names(layer.trainable_weights()), (Texts{"w", "b"}));
  layer(ones({3, 2}));
  EXPECT_EQ(names(layer.weights()), (Texts{"w", "b", "later", "count", "kernel", "bias"}));
  EXPECT_EQ(names(layer.non_trainable_weights()), (Texts{"count"}));
  auto model = keras::Sequential({Listed()});
  model(ones({3, 2}));
  EXPECT_EQ(model.weights().size(), 6u);
  model.set_trainable(false);
  EXPECT_TRUE(model.trainable_weights().empty());
}

TEST(KerasTrackedVariables, WhatCallReadsIsFound) {
  keras::clear_session();
  Forgotten eager;
  eager(ones({3, 2}));
  EXPECT_EQ(names(eager.weights()), (Texts{"w", "m0", "m1", "kernel", "bias"}));
  const auto i = keras::Input({2});
  const keras::Model symbolic(i, Forgotten()(i));
  EXPECT_EQ(symbolic.trainable_weights().size(), 5u);
  Forgotten traced;
  auto f = function([&](const Tensor& x) { return traced(x); });
  f(ones({3, 2}));
  EXPECT_EQ(traced.weights().size(), 5u);
}

TEST(KerasTrackedVariables, FoundOnesTrain) {
  keras::clear_session();
  Net net;
  net.compile({.optimizer = keras::SGD({.learning_rate = 0.1}), .loss = "mse"});
  const auto history = net.fit(ones({16, 2}), zeros({16, 1}), {.epochs = 3, .verbose = 0});
  EXPECT_LT(history["loss"].back(), history["loss"].front() * 0.5);
  EXPECT_EQ(net.count_params(), 2);
}

TEST(KerasTrackedVariables, WeightsOfOtherLayersAndOfLambdasStayTheirs) {
  keras::clear_session();
  struct Tied : keras::LayerOf<Tied> {
    explicit Tied(keras::Embedding t) : table(std::move(t)) {}
    keras::Embedding table;
    Tensor call(const Tensor& x, const keras::CallArgs&) override {
      return matmul(x, table.embeddings(), {.transpose_b = true});
    }
  };
  keras::Embedding table(5, 3);
  const auto i = keras::Input({4}, {.dtype = int32});
  Tied tied(table);
  const auto y = table(i);
  const keras::Model model(i, tied(y));
  EXPECT_EQ(model.weights().size(), 1u);
  EXPECT_TRUE(tied.weights().empty());
  const Variable knob(2.0);
  const auto j = keras::Input({2});
  const keras::Model scaled(j, keras::Lambda([knob](const Tensor& x) { return x * knob; })(j));
  EXPECT_TRUE(scaled.weights().empty());
}

TEST(KerasTrackedVariables, ModulesSeeAllOfALayer) {
  keras::clear_session();
  struct Holder : Module {
    Listed layer;
    RW_TRACK(layer)
  };
  Holder holder;
  holder.layer(ones({3, 2}));
  EXPECT_EQ(holder.variables().size(), 6u);
}

TEST(KerasTrackedVariables, AreSavedAndLoaded) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "tracked_variables.safetensors").string();
  auto from = keras::Sequential({Listed(), Forgotten()});
  from(ones({3, 2}));
  EXPECT_EQ(from.weights().size(), 11u);
  int number = 0;
  for (const Variable& v : from.weights()) v.assign(fill(v.shape(), constant(float(++number))));
  from.save_weights(path);
  auto to = keras::Sequential({Listed(), Forgotten()});
  to(ones({3, 2}));
  EXPECT_TRUE(to.load_weights(path).fits());
  for (size_t k = 0; k < to.weights().size(); ++k)
    EXPECT_EQ(to.weights()[k].to_vector<float>(), from.weights()[k].to_vector<float>()) << k;
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace rw
