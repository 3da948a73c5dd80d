// Layers where Keras cannot be compared bit by bit (random ones), and what layers refuse.
#include <gtest/gtest.h>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

const keras::CallArgs kTraining{.training = true};

float mean_of(const Tensor& t) { return reduce_mean(cast(t, float32)).item<float>(); }

TEST(KerasLayers, DropoutKeepsTheMeanAndOnlyTrains) {
  const keras::Dropout layer(0.25, {.seed = 3});
  const Tensor x = ones({200, 100});
  EXPECT_EQ(mean_of(layer(x) == x), 1);
  const Tensor y = layer(x, kTraining);
  EXPECT_NEAR(mean_of(y), 1.0, 0.02);
  EXPECT_NEAR(mean_of(y == 0.0), 0.25, 0.02);
  const keras::Dropout rows(0.5, {.noise_shape = {-1, 1}});
  const Tensor z = rows(x, kTraining);
  EXPECT_EQ(mean_of(reduce_max(z, 1) == reduce_min(z, 1)), 1);
}

TEST(KerasLayers, SpatialDropoutDropsWholeChannels) {
  const Tensor y = keras::SpatialDropout2D(0.5)(ones({8, 5, 5, 16}), kTraining);
  EXPECT_EQ(mean_of(reduce_max(y, {1, 2}) == reduce_min(y, {1, 2})), 1);
  EXPECT_NEAR(mean_of(y), 1.0, 0.3);
}

TEST(KerasLayers, RandomFlipsTurnSomeImagesOver) {
  const Tensor x = reshape(range(16, float32), {1, 4, 4, 1}) + zeros({64, 4, 4, 1});
  const keras::RandomFlip layer({.mode = "horizontal"});
  EXPECT_EQ(mean_of(layer(x, {.training = false}) == x), 1);
  const Tensor y = layer(x, kTraining);
  const Tensor same = reduce_all(y == x, {1, 2, 3}), turned = reduce_all(y == reverse(x, {2}), {1, 2, 3});
  EXPECT_EQ(mean_of(logical_or(same, turned)), 1);
  EXPECT_GT(mean_of(same), 0.2);
  EXPECT_GT(mean_of(turned), 0.2);
}

// As Keras' layers, in data pipelines: augment(x).
TEST(KerasLayers, RandomImagesAreForTrainingUnlessToldOtherwise) {
  const Tensor x = reshape(range(100, float32), {1, 10, 10, 1});
  const auto alone = keras::RandomCrop(4, 3);
  EXPECT_EQ(alone(x).shape(), Shape({1, 4, 3, 1}));
  auto model = keras::Sequential({keras::Input({10, 10, 1}), keras::RandomCrop(4, 3), keras::Dropout(0.5)});
  EXPECT_EQ(model(x).shape(), Shape({1, 4, 3, 1}));
  EXPECT_EQ(reduce_min(model(x + 1.0)).item<float>() > 0, true);  // dropout is not
  EXPECT_EQ(model(x, {.training = false}).shape(), x.shape());
  EXPECT_EQ(model.predict(x, {.verbose = 0}).shape(), x.shape());
}

TEST(KerasLayers, RotationByAQuarterTurn) {
  const Tensor x = reshape(range(9, float32), {1, 3, 3, 1});
  const Tensor angle = constant({1.5707963267948966});
  for (const char* interpolation : {"nearest", "bilinear"}) {
    const Tensor y = keras::rotate_images(x, angle, "reflect", interpolation, 0);
    const std::vector<float> turned{2, 5, 8, 1, 4, 7, 0, 3, 6};
    EXPECT_LT(reduce_max(abs(reshape(y, {9}) - constant(turned))).item<float>(), 1e-4f) << interpolation;
  }
  const Tensor zero = keras::rotate_images(x, constant({0.0}), "constant", "bilinear", 7);
  EXPECT_EQ(mean_of(zero == x), 1);
  EXPECT_EQ(keras::RandomRotation(0.1)(ones({2, 8, 8, 3}), kTraining).shape(), Shape({2, 8, 8, 3}));
}

TEST(KerasLayers, RandomCropTakesAWindow) {
  const Tensor x = reshape(range(100, float32), {1, 10, 10, 1});
  const Tensor y = keras::RandomCrop(4, 3)(x, kTraining);
  ASSERT_EQ(y.shape(), Shape({1, 4, 3, 1}));
  const auto v = y.to_vector<float>();
  EXPECT_EQ(v[1] - v[0], 1);
  EXPECT_EQ(v[3] - v[0], 10);
}

TEST(KerasLayers, NormalizationAdapts) {
  const Tensor x = random::stateless_normal({300, 4}, constant({1, 2})) * 3.0 + 5.0;
  keras::Normalization whole, parts;
  whole.adapt(x);
  parts.adapt({x(Slice(0, 100)), x(Slice(100, none))});
  const nn::Moments m = nn::moments(whole(x), {0});
  EXPECT_LT(reduce_max(abs(m.mean)).item<float>(), 1e-3f);
  EXPECT_LT(reduce_max(abs(m.variance - 1.0)).item<float>(), 1e-3f);
  EXPECT_LT(reduce_max(abs(whole(x) - parts(x))).item<float>(), 1e-3f);
}

TEST(KerasLayers, FrozenBatchNormalizationKeepsItsStatistics) {
  keras::BatchNormalization layer;
  const Tensor x = random::stateless_normal({64, 3}, constant({1, 2})) + 2.0;
  layer(x, kTraining);
  const auto mean = layer.weights()[2].to_vector<float>();
  EXPECT_GT(mean[0], 0.01f);
  layer.set_trainable(false);
  const Tensor frozen = layer(x, kTraining);
  EXPECT_EQ(layer.weights()[2].to_vector<float>(), mean);
  EXPECT_EQ(mean_of(frozen == layer(x)), 1);
}

TEST(KerasLayers, LongSequencesOfUnknownLengthLoopInTheGraph) {
  keras::LSTM layer(3, {.return_sequences = true});
  const Tensor x = random::stateless_normal({2, 7, 4}, constant({1, 2}));
  const Tensor want = layer(x);
  auto f = function([&](Tensor t) { return layer(t); }, {.input_signature = {{{{-1, -1, 4}, float32}}}});
  EXPECT_LT(reduce_max(abs(f(x) - want)).item<float>(), 1e-5f);
  EXPECT_EQ(f(ones({3, 50, 4})).shape(), Shape({3, 50, 3}));
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(KerasLayers, LambdaAndActivationInALine) {
  auto model =
      keras::Sequential({keras::Lambda([](const Tensor& x) { return x * 2.0; }), keras::Activation("relu")});
  EXPECT_EQ(model(constant({{-1.0, 3.0}})).to_vector<float>(), (std::vector<float>{0, 6}));
}

TEST(KerasLayers, MasksReachTheNextLayerThatUsesThem) {
  auto with = keras::Sequential({keras::Masking(), keras::GlobalAveragePooling1D()});
  const Tensor x = constant({{{1.0, 1.0}, {3.0, 3.0}, {0.0, 0.0}}});
  EXPECT_EQ(with(x).to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST(KerasLayers, MistakesNameTheLayer) {
  keras::clear_session();
  expect_error<InvalidArgumentError>(
      [] { keras::Conv2D(3, 3)(ones({2, 8})); },
      "Input 0 of layer \"conv2d\" is incompatible with the layer: expected min_ndim=4, found ndim=2");
  expect_error<InvalidArgumentError>(
      [] {
        keras::Conv2D c(3, 3);
        c(ones({1, 8, 8, 2}));
        c(ones({1, 8, 8, 3}));
      },
      "expected axis -1 of input shape to have value 2");
  expect_error<InvalidArgumentError>([] { keras::Conv2D(3, 3, {.padding = "some"}); }, "padding");
  expect_error<InvalidArgumentError>([] { keras::Conv2D(4, 3, {.groups = 3}); }, "groups");
  expect_error<InvalidArgumentError>([] { keras::Reshape({5})(ones({2, 8})); }, "total size");
  expect_error<InvalidArgumentError>([] { keras::LSTM(3)(ones({2, 8})); }, "expected ndim=3, found ndim=2");
  expect_error<InvalidArgumentError>([] { keras::Add()({ones({2, 3}), ones({2, 4})}); },
                                     "incompatible shapes");
  expect_error<InvalidArgumentError>([] { keras::Concatenate()({ones({2, 3}), ones({3, 3})}); },
                                     "matching shapes");
  expect_error<InvalidArgumentError>([] { keras::Dropout(1.5); }, "rate");
  expect_error<InvalidArgumentError>([] { keras::GroupNormalization({.groups = 3})(ones({2, 4})); },
                                     "divide");
  expect_error<InvalidArgumentError>([] { keras::MultiHeadAttention(2, 3)(ones({2, 3, 4})); },
                                     "query and value");
  expect_error<InvalidArgumentError>(
      [] { keras::Sequential({keras::Dense(2, {.name = "a"}), keras::Dense(2, {.name = "a"})}); },
      "unique names");
  expect_error<InvalidArgumentError>([] { keras::Dense(3, {.kernel_initializer = "nonsense"}); }, "nonsense");
  expect_error<NotFoundError>([] { keras::Sequential({keras::Dense(2)}).get_layer("x"); },
                              "No such layer: x");
  expect_error<InvalidArgumentError>([] { keras::LSTM(3, {.return_state = true})(ones({2, 3, 4})); },
                                     "gives 3 results");
}

TEST(KerasLayers, ASequentialCanGrow) {
  auto model = keras::Sequential({keras::Dense(4)});
  EXPECT_EQ(model(ones({2, 3})).shape(), Shape({2, 4}));
  model.add(keras::Dense(5));
  EXPECT_EQ(model(ones({2, 3})).shape(), Shape({2, 5}));
  EXPECT_EQ(model.weights().size(), 4u);
  model.pop();
  EXPECT_EQ(model(ones({2, 3})).shape(), Shape({2, 4}));
}

TEST(KerasLayers, StatefulLayersGoOnWhereTheyEnded) {
  const Tensor x = random::stateless_normal({2, 6, 4}, constant({1, 2}));
  const Tensor first = x(Slice(), Slice(0, 3)), second = x(Slice(), Slice(3, 6));
  keras::LSTM whole(3), parts(3, {.stateful = true});
  const auto want = whole(x).to_vector<float>();
  parts(first);
  parts.set_weights(whole.get_weights());
  parts.reset_state();
  auto run = function([&](const Tensor& part) { return parts(part); });
  for (int i = 0; i < 2; ++i) {
    run(first);
    EXPECT_EQ(run(second).to_vector<float>(), want);
    parts.reset_state();
  }
  EXPECT_EQ(parts.weights().size(), 3u);
  EXPECT_EQ(parts.variables().size(), 5u);
  expect_error<InvalidArgumentError>([&] { parts(ones({3, 3, 4})); },
                                     "it expects batches of 2, but it received one of 3");
  expect_error<InvalidArgumentError>([] { keras::GRU(3, {.stateful = true})(keras::Input({3, 4})); },
                                     "the size of its batches must be known");
  expect_error<FailedPreconditionError>([&] { whole.reset_state(); }, "is not stateful");
}

TEST(KerasLayers, ABackwardLayerOfItsOwn) {
  const Tensor x = random::stateless_normal({2, 6, 4}, constant({1, 2}));
  const keras::GRU back(5, {.go_backwards = true});
  const keras::Bidirectional both(keras::LSTM(3), {.backward_layer = back});
  const Tensor y = both(x);
  EXPECT_EQ(y.shape(), Shape({2, 8}));
  EXPECT_EQ(y(Slice(), Slice(3, 8)).to_vector<float>(), back(x).to_vector<float>());
  expect_error<InvalidArgumentError>(
      [] { keras::Bidirectional(keras::LSTM(3), {.backward_layer = keras::LSTM(3)}); }, "with go_backwards");
}

TEST(KerasLayers, OpsThatComplainInsideALayerNameIt) {
  keras::MultiHeadAttention attention(2, 4, {.name = "heads"});
  attention({ones({2, 8, 3}), ones({2, 8, 3})});
  expect_error<InvalidArgumentError>(
      [&] { attention({ones({2, 8, 4}), ones({2, 8, 4})}); },
      "in layer \"heads\", which received float32 (2, 8, 4), float32 (2, 8, 4)");
  const keras::LSTM memory(3, {.name = "memory"});
  expect_error<InvalidArgumentError>([&] { memory({ones({2, 8, 3}), ones({2, 4}), ones({2, 4})}); },
                                     "in layer \"memory\", which received float32 (2, 8, 3), float32 (2, 4)");
  const keras::Conv2D window(3, 3, {.name = "window"});
  expect_error<InvalidArgumentError>([&] { window(ones({2, 2, 5, 1})); },
                                     "the input of layer \"window\" is smaller than its window");
  auto model = keras::Sequential({keras::Input({4}), keras::Dense(3)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  expect_error<InvalidArgumentError>(
      [&] { model.fit(ones({8, 4}), ones({8, 2}), {.verbose = 0}); },
      "in the loss mean_squared_error, which received targets (8, 2) for outputs (8, 3)");
}

TEST(KerasLayers, DenseTakesWholeNumbers) {
  const keras::Dense layer(2, {.kernel_initializer = "ones"});
  EXPECT_EQ(layer(constant({{1, 2, 3}})).to_vector<float>(), (std::vector<float>{6, 6}));
}

TEST(KerasLayers, ModulesFindTheWeightsOfModels) {
  struct Holder : Module {
    keras::Sequential model{keras::Dense(4), keras::Dense(2)};
    RW_TRACK(model)
  } holder;
  holder.model(ones({1, 3}));
  EXPECT_EQ(holder.variables().size(), 4u);
}

struct Gone : keras::Layer {
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return x; }
};

TEST(KerasLayers, AUserLayerThatIsGoneIsNamed) {
  const auto x = keras::Input({3});
  const auto y = Gone()(x);
  keras::Model model(x, y);
  expect_error<FailedPreconditionError>([&] { model(ones({1, 3})); }, "keras::LayerOf<Gone>");
}

}  // namespace
}  // namespace rw
