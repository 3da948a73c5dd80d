// Layers as handles: building, names, weights, sharing, training flag, losses, freezing, errors.
#include <gtest/gtest.h>

#include "rewind/keras/functional_graph.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

std::vector<std::string> paths(const std::vector<Variable>& list) {
  std::vector<std::string> out;
  for (const Variable& v : list) out.push_back(keras::weight_path(v));
  return out;
}
using Paths = std::vector<std::string>;

class KerasLayer : public testing::Test {
 protected:
  void SetUp() override { keras::clear_session(); }
};

TEST_F(KerasLayer, SequentialBuildsOnFirstCallAndNamesAsKeras) {
  auto model =
      keras::Sequential({keras::Reshape({784}), keras::Dense(100, {.activation = "relu"}), keras::Dense(10)});
  EXPECT_TRUE(model.weights().empty());
  const Tensor y = model(ones({2, 28, 28}));
  EXPECT_EQ(y.shape(), Shape({2, 10}));
  EXPECT_EQ(paths(model.weights()), (Paths{"sequential/dense/kernel", "sequential/dense/bias",
                                           "sequential/dense_1/kernel", "sequential/dense_1/bias"}));
  EXPECT_EQ(model.count_params(), 79510);
  EXPECT_EQ(model(ones({5, 28, 28})).shape(), Shape({5, 10}));
}

TEST_F(KerasLayer, WhatNobodyHoldsGoesAway) {
  std::weak_ptr<keras::GraphNode> input;
  std::weak_ptr<keras::LayerState> first, last;
  {
    const auto in = keras::Input({3});
    const auto out = keras::Dense(2)(in);
    const keras::Model model(in, out);
    model(ones({1, 3}));
    input = in.node();
    first = in.node()->layer.state();
    last = out.node()->layer.state();
    EXPECT_FALSE(input.expired());
  }
  EXPECT_TRUE(input.expired());
  EXPECT_TRUE(first.expired());
  EXPECT_TRUE(last.expired());
}

TEST_F(KerasLayer, TrainsInsideAFunctionThatBuildsIt) {
  auto model = keras::Sequential({keras::Dense(8, {.activation = "tanh"}), keras::Dense(1)});
  auto step = function([&](Tensor x, Tensor y) {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(model(x) - y));
    const auto weights = model.trainable_variables();
    const auto grads = tape.gradient(loss, weights);
    for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(0.1 * grads[i].tensor());
    return loss;
  });
  const Tensor x = random::stateless_normal({32, 3}, constant({1, 2}));
  const Tensor y = reduce_sum(x, 1, true);
  const float first = step(x, y).item<float>();
  for (int i = 0; i < 60; ++i) step(x, y);
  EXPECT_LT(step(x, y).item<float>(), first * 0.2f);
  EXPECT_EQ(step.tracing_count(), 1);
  EXPECT_EQ(model.weights().size(), 4u);
}

struct Scale : keras::Layer {
  Variable factor;
  void build(const Shape& input) override {
    factor = add_weight({.name = "factor", .shape = {input.back()}, .initializer = "ones"});
  }
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return x * factor; }
};

TEST_F(KerasLayer, CopiesAreTheSameLayer) {
  Scale a;
  Scale b = a;  // made before the weights are
  a(ones({2, 3}));
  b(ones({2, 3}));
  a.weights()[0].assign(constant({1.0, 2.0, 3.0}));
  EXPECT_EQ(b(ones({1, 3})).to_vector<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(b.weights().size(), 1u);
  EXPECT_EQ(a.name(), "scale");
  auto one = keras::Sequential({a});
  auto two = keras::Sequential({b, keras::Dense(2)});
  one(ones({1, 3}));
  two(ones({1, 3}));
  EXPECT_TRUE(same_variable(one.weights()[0], two.weights()[0]));
  EXPECT_TRUE(same_variable(one.weights()[0], a.weights()[0]));
}

struct Net : keras::Model {
  keras::Dense b{3}, a{4};
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return a(b(x)); }
  RW_TRACK(b, a)
};
struct Untracked : keras::Model {
  keras::Dense first{3}, second{4};
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return second(first(x)); }
};

TEST_F(KerasLayer, SubclassesFindTheirLayers) {
  Net net;
  net(ones({2, 5}));
  EXPECT_EQ(paths(net.weights()),
            (Paths{"net/dense/kernel", "net/dense/bias", "net/dense_1/kernel", "net/dense_1/bias"}));
  Untracked other;
  other(ones({2, 5}));
  EXPECT_EQ(other.weights().size(), 4u);
  EXPECT_EQ(other.layers().size(), 2u);
}

struct TrainingFlag : keras::LayerOf<TrainingFlag> {
  Tensor call(const Tensor& x, const keras::CallArgs& args) override {
    return args.is_training() ? x + 1.0 : x;
  }
};

TEST_F(KerasLayer, TrainingFlagReachesLayersInside) {
  auto inner = keras::Sequential({TrainingFlag(), TrainingFlag()});
  auto model = keras::Sequential({inner, TrainingFlag()});
  EXPECT_EQ(model(zeros({1, 1})).item<float>(), 0);
  EXPECT_EQ(model(zeros({1, 1}), {.training = true}).item<float>(), 3);
  EXPECT_EQ(model(zeros({1, 1}), {.training = false}).item<float>(), 0);
}

struct Activity : keras::LayerOf<Activity> {
  Tensor call(const Tensor& x, const keras::CallArgs&) override {
    add_loss(reduce_sum(x));
    return x;
  }
};

TEST_F(KerasLayer, LossesAreOfTheLastCall) {
  auto model = keras::Sequential(
      {Activity(),
       keras::Dense(1, {.kernel_initializer = "ones", .kernel_regularizer = keras::regularizers::L2(0.5)})});
  for (int i = 0; i < 2; ++i) {
    model(ones({1, 4}));
    const auto losses = model.losses();
    ASSERT_EQ(losses.size(), 2u);
    EXPECT_EQ(losses[0].item<float>(), 4);
    EXPECT_EQ(losses[1].item<float>(), 2);
  }
}

TEST_F(KerasLayer, FreezingHidesWeightsFromTraining) {
  auto inner = keras::Sequential({keras::Dense(4)});
  auto model = keras::Sequential({inner, keras::Dense(2)});
  model(ones({1, 3}));
  inner.set_trainable(false);
  EXPECT_EQ(paths(model.trainable_weights()),
            (Paths{"sequential_1/dense_1/kernel", "sequential_1/dense_1/bias"}));
  EXPECT_EQ(model.non_trainable_weights().size(), 2u);
  inner.set_trainable(true);
  EXPECT_EQ(model.trainable_weights().size(), 4u);
}

TEST_F(KerasLayer, GetAndSetWeights) {
  keras::Dense d(2);
  d(ones({1, 3}));
  d.set_weights({ones({3, 2}), constant({1.0, 2.0})});
  EXPECT_EQ(d(ones({1, 3})).to_vector<float>(), (std::vector<float>{4, 5}));
  EXPECT_EQ(d.get_weights()[1].to_vector<float>(), (std::vector<float>{1, 2}));
  expect_error<InvalidArgumentError>([&] { d.set_weights({ones({3, 2})}); },
                                     "has 2 weights, got a list of 1");
  expect_error<InvalidArgumentError>([&] { d.set_weights({ones({2, 2}), ones({2})}); },
                                     "dense/kernel has shape (3, 2)");
}

TEST_F(KerasLayer, WrongInputsNameTheLayer) {
  keras::Dense d(2);
  d(ones({1, 3}));
  expect_error<InvalidArgumentError>(
      [&] { d(ones({1, 4})); },
      "Input 0 of layer \"dense\" is incompatible with the layer: expected axis -1 of input shape to have "
      "value 3, but received input with shape (1, 4)");
  expect_error<InvalidArgumentError>([&] { d(ones({3})); }, "expected min_ndim=2, found ndim=1");
  expect_error<FailedPreconditionError>([&] { keras::Dense(3).count_params(); }, "not built");
  expect_error<InvalidArgumentError>([&] { keras::Dense(0); }, "units");
}

TEST_F(KerasLayer, MixedPolicyComputesInBfloat16) {
  keras::Dense d(2, {.dtype = "mixed_bfloat16"});
  EXPECT_EQ(d(ones({1, 3})).dtype(), bfloat16);
  EXPECT_EQ(d.weights()[0].dtype(), float32);
}

TEST_F(KerasLayer, FunctionalModelsShareLayersAndHaveSeveralOutputs) {
  auto x = keras::Input({4}), z = keras::Input({4});
  keras::Dense shared(3, {.kernel_initializer = "ones"});
  auto a = shared(x), b = shared(z);
  auto sum = a + b * 2.0;
  auto y = keras::Dense(2)(sum);
  keras::Model model({x, z}, {sum, y});
  EXPECT_EQ(model.weights().size(), 4u);
  EXPECT_EQ(y.shape(), Shape({-1, 2}));
  const auto out = model.all({ones({5, 4}), ones({5, 4})});
  EXPECT_EQ(out[0][0].to_vector<float>(), (std::vector<float>{12, 12, 12}));
  EXPECT_EQ(out[1].shape(), Shape({5, 2}));
  EXPECT_EQ(paths(model.weights())[0], "dense/kernel");
  keras::Model front(x, a);
  EXPECT_EQ(front(ones({1, 4})).to_vector<float>(), (std::vector<float>{4, 4, 4}));
  expect_error<InvalidArgumentError>([&] { keras::Model(x, sum); }, "Graph disconnected");
  expect_error<InvalidArgumentError>([&] { front(ones({1, 5})); },
                                     "expected shape (None, 4), but received input with shape (1, 5)");
  auto outer = keras::Sequential({keras::Input({4}), front, keras::Dense(1)});
  EXPECT_EQ(outer(ones({2, 4})).shape(), Shape({2, 1}));
  EXPECT_TRUE(same_variable(outer.weights()[0], shared.weights()[0]));
}

}  // namespace
}  // namespace rw
