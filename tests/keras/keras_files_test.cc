// Weights in Keras' files: where objects are, what is refused, what is left alone.
// interop/check_keras_files.py compares the files with Keras' own.
#include <gtest/gtest.h>

#include "rewind/format/hdf5.h"
#include "rewind/format/hdf5_writer.h"
#include "rewind/format/zip.h"
#include "rewind/keras/keras.h"
#include "rewind/keras/keras_files.h"
#include "rewind/keras/saved_objects.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

class KerasFiles : public testing::Test {
 protected:
  void SetUp() override { keras::clear_session(); }
  static keras::Sequential network(int64_t hidden = 4) {
    return keras::Sequential({keras::Input({3}), keras::Dense(hidden, {.activation = "tanh"}),
                              keras::BatchNormalization(), keras::Dense(1)});
  }
  static std::vector<std::vector<float>> values(const keras::Model& model) {
    std::vector<std::vector<float>> list;
    for (const Variable& v : model.weights()) list.push_back(v.to_vector<float>());
    return list;
  }
  static std::vector<std::string> paths(const keras::Model& model) {
    std::vector<std::string> list;
    for (const auto& object : keras::saved_objects(model))
      for (size_t i = 0; i < object.variables.size(); ++i)
        list.push_back(object.path + "/" + std::to_string(i));
    return list;
  }
  // What network() would have in files with zeros in place of its weights.
  format::Hdf5Group zeros_of(const keras::Model& model, keras::WeightsTree* tree) {
    const std::vector<Tensor> before = model.get_weights();
    for (const Variable& v : model.weights()) v.assign(zeros_like(v));
    keras::put_weights(model, tree);
    model.set_weights(before);
    return tree->root;
  }
  test::TemporaryFolder folder;
};

TEST_F(KerasFiles, ObjectsOfASequentialModel) {
  const auto model = network();
  model.save_weights(folder / "w.weights.h5");
  const format::Hdf5File file(folder / "w.weights.h5");
  EXPECT_EQ(file.root().names(), (std::vector<std::string>{"layers", "vars"}));
  EXPECT_EQ(file.root().at("layers").names(),
            (std::vector<std::string>{"batch_normalization", "dense", "dense_1"}));
  EXPECT_EQ(file.root().at("vars").attribute("name")->string(), "sequential");
  const auto kernel = file.root().at("layers/dense/vars/0");
  EXPECT_EQ(kernel.shape(), Shape({3, 4}));
  EXPECT_EQ(keras::read_tensor(kernel).to_vector<float>(), model.weights()[0].to_vector<float>());
  EXPECT_EQ(file.root().at("layers/batch_normalization/vars").names().size(), 4u);
}

TEST_F(KerasFiles, ObjectsOfLayersOfLayers) {
  const auto x = keras::Input({5, 6});
  auto y = keras::Bidirectional(keras::LSTM(2, {.return_sequences = true}))(x);
  y = keras::TimeDistributed(keras::Dense(3))(y);
  y = keras::MultiHeadAttention(1, 2)({y, y});
  y = keras::Sequential({keras::GRU(2)})(y);
  EXPECT_EQ(paths(keras::Model(x, y)),
            (std::vector<std::string>{
                "layers/bidirectional/backward_layer/cell/0", "layers/bidirectional/backward_layer/cell/1",
                "layers/bidirectional/backward_layer/cell/2", "layers/bidirectional/forward_layer/cell/0",
                "layers/bidirectional/forward_layer/cell/1", "layers/bidirectional/forward_layer/cell/2",
                "layers/time_distributed/layer/0", "layers/time_distributed/layer/1",
                "layers/multi_head_attention/query_dense/0", "layers/multi_head_attention/query_dense/1",
                "layers/multi_head_attention/key_dense/0", "layers/multi_head_attention/key_dense/1",
                "layers/multi_head_attention/value_dense/0", "layers/multi_head_attention/value_dense/1",
                "layers/multi_head_attention/output_dense/0", "layers/multi_head_attention/output_dense/1",
                "layers/sequential/layers/gru/cell/0", "layers/sequential/layers/gru/cell/1",
                "layers/sequential/layers/gru/cell/2"}));
}

struct FilesNet : keras::Model {
  keras::Dense stem{2, {.use_bias = false}}, hidden{2, {.use_bias = false}};
  std::vector<keras::Dense> blocks{keras::Dense(2, {.use_bias = false}),
                                   keras::Dense(2, {.use_bias = false})};
  Variable scale{1.f};
  Tensor call(const Tensor& x, const keras::CallArgs&) override {
    return blocks[1](blocks[0](hidden(stem(x)))) * scale;
  }
  RW_TRACK(stem, hidden, blocks, scale)
};

// Members in front of "layers" have their own names; the layers are counted all together.
TEST_F(KerasFiles, ObjectsOfAClassOfTheUsers) {
  FilesNet net;
  net(ones({1, 2}));
  EXPECT_EQ(paths(net), (std::vector<std::string>{"/0", "blocks/dense/0", "blocks/dense_1/0", "hidden/0",
                                                  "layers/dense/0"}));
  net.compile({.optimizer = keras::SGD({.momentum = 0.5}), .loss = "mse"});
  net.optimizer().build(net.trainable_weights());
  EXPECT_EQ(paths(net).size(), 5u + 2u + 5u);
  EXPECT_EQ(paths(net).back(), "optimizer/6");
}

TEST_F(KerasFiles, EveryExtensionBothWays) {
  for (const char* name : {"w.weights.h5", "w.h5", "w.hdf5", "w.npz", "w.safetensors", "w"}) {
    const auto first = network();
    first.save_weights(folder / name);
    const auto second = network();
    EXPECT_NE(values(second), values(first));
    second.load_weights(folder / name);
    EXPECT_EQ(values(second), values(first)) << name;
  }
}

TEST_F(KerasFiles, ArchivesAreReadFrom) {
  const auto model = network();
  keras::WeightsTree tree;
  zeros_of(model, &tree);
  const format::Hdf5Image image(tree.root);
  for (const bool deflated : {false, true}) {
    format::ZipWriter zip(folder / "m.keras");
    zip.add("config.json", "{}");
    zip.add("model.weights.h5", image.parts(), deflated);
    zip.commit();
    const auto other = network();
    other.load_weights(folder / "m.keras");
    for (const auto& v : values(other))
      EXPECT_TRUE(std::all_of(v.begin(), v.end(), [](float x) { return x == 0; }));
  }
  expect_error<InvalidArgumentError>([&] { model.save_weights(folder / "m.keras"); }, "save_model writes");
  EXPECT_FALSE(format::ZipFile(folder / "m.keras").entries().empty());
}

// Keras 2.13 has another name for "layers".
TEST_F(KerasFiles, OldNameOfLayers) {
  const auto model = network();
  keras::WeightsTree tree;
  format::Hdf5Group root = zeros_of(model, &tree);
  root.groups["_layer_checkpoint_dependencies"] = root.groups.at("layers");
  root.groups.erase("layers");
  format::write_hdf5(folder / "w.weights.h5", root);
  model.load_weights(folder / "w.weights.h5");
  EXPECT_EQ(values(model)[0], std::vector<float>(12, 0));
}

TEST_F(KerasFiles, WhatDoesNotFitIsListedAndNothingLoaded) {
  network(4).save_weights(folder / "w.weights.h5");
  const auto wider = network(5);
  const auto before = values(wider);
  for (const char* part :
       {"w.weights.h5 does not fit model \"sequential_1\": 3 objects could not be loaded: ",
        "dense_2/kernel is (3, 5), in the file (3, 4) (layers/dense/vars/0)", "skip_mismatch loads the rest"})
    expect_error<InvalidArgumentError>([&] { wider.load_weights(folder / "w.weights.h5"); }, part);
  EXPECT_EQ(values(wider), before);
  // An object's variables up to the first that does not fit.
  const LoadReport report = wider.load_weights(folder / "w.weights.h5", {.skip_mismatch = true});
  EXPECT_EQ(report.mismatched.size(), 3u);
  EXPECT_EQ(values(wider), before);

  const auto deeper = keras::Sequential({keras::Input({3}), keras::Dense(4), keras::BatchNormalization(),
                                         keras::Dense(1, {.use_bias = false}), keras::Dense(2)});
  expect_error<InvalidArgumentError>(
      [&] { deeper.load_weights(folder / "w.weights.h5"); },
      "layer \"dense_5\" (layers/dense_1/vars) expected 1 variable, the file has 2. Expected: kernel");
  expect_error<InvalidArgumentError>([&] { deeper.load_weights(folder / "w.weights.h5"); },
                                     "dense_6/kernel (layers/dense_2/vars/0)");
  const LoadReport skipped = deeper.load_weights(folder / "w.weights.h5", {.skip_mismatch = true});
  EXPECT_EQ(skipped.missing.size(), 2u);
}

TEST_F(KerasFiles, ObjectsThatOnlyTheFileHasAreLeftAlone) {
  const auto model = network();
  model.save_weights(folder / "w.weights.h5");
  const auto front = keras::Sequential({keras::Input({3}), keras::Dense(4)});
  const LoadReport report = front.load_weights(folder / "w.weights.h5");
  EXPECT_EQ(report.unexpected,
            (std::vector<std::string>{"layers/batch_normalization/vars", "layers/dense_1/vars"}));
  EXPECT_EQ(values(front)[0], values(model)[0]);
}

TEST_F(KerasFiles, TheOptimizerIsThere) {
  const Tensor x = random::stateless_normal({16, 3}, constant({1, 2})), y = reduce_sum(x, 1, true);
  const auto trained = [&](int epochs) {
    auto model = network();
    model.compile({.optimizer = keras::Adam(), .loss = "mse"});
    if (epochs) model.fit(x, y, {.epochs = epochs, .verbose = 0});
    return model;
  };
  for (const char* name : {"w.weights.h5", "w.h5"}) {
    auto first = trained(2);
    first.save_weights(folder / name, {.training_state = true});
    auto second = trained(0);
    second.load_weights(folder / name, {.training_state = true});
    EXPECT_EQ(second.optimizer().iterations().item<int64_t>(), 2) << name;
    for (auto* model : {&first, &second}) model->fit(x, y, {.verbose = 0, .shuffle = false});
    EXPECT_EQ(values(second), values(first)) << name;
  }
  // Without being asked for it is loaded where it has as many variables, as in Keras.
  auto unbuilt = trained(0);
  unbuilt.load_weights(folder / "w.weights.h5");
  EXPECT_EQ(unbuilt.optimizer().iterations().item<int64_t>(), 0);
  auto built = trained(1);
  built.load_weights(folder / "w.weights.h5");
  EXPECT_EQ(built.optimizer().iterations().item<int64_t>(), 2);
  auto other = network();
  other.compile({.optimizer = keras::SGD(), .loss = "mse"});
  expect_error<InvalidArgumentError>(
      [&] { other.load_weights(folder / "w.weights.h5", {.training_state = true}); },
      "(optimizer/vars) expected 2 variables, the file has 14");
  EXPECT_EQ(other.optimizer().iterations().item<int64_t>(), 0);
}

TEST_F(KerasFiles, OlderLayout) {
  const auto model = network();
  model.save_weights(folder / "w.h5");
  const format::Hdf5File file(folder / "w.h5");
  EXPECT_EQ(file.root().attribute("layer_names")->strings(),
            (std::vector<std::string>{"dense", "batch_normalization", "dense_1"}));
  EXPECT_EQ(file.root().attribute("backend")->string(), "tensorflow");
  EXPECT_EQ(file.root().at("dense").attribute("weight_names")->strings(),
            (std::vector<std::string>{"sequential/dense/kernel", "sequential/dense/bias"}));
  EXPECT_EQ(file.root().at("dense/sequential/dense/kernel").shape(), Shape({3, 4}));

  const auto fewer = keras::Sequential({keras::Input({3}), keras::Dense(4, {.name = "dense"})});
  expect_error<InvalidArgumentError>(
      [&] { fewer.load_weights(folder / "w.h5"); },
      "layer count mismatch: model \"sequential_1\" has 1 layer with weights, the file has 3");
  const LoadReport report = fewer.load_weights(folder / "w.h5", {.by_name = true});
  EXPECT_EQ(report.unexpected, (std::vector<std::string>{"batch_normalization", "dense_1"}));
  EXPECT_EQ(values(fewer)[0], values(model)[0]);
  expect_error<InvalidArgumentError>(
      [&] { network(5).load_weights(folder / "w.h5"); },
      "shape mismatch in layer #0 (named dense_2 in the model, dense in the file)");
  expect_error<InvalidArgumentError>([&] { fewer.load_weights(folder / "w.weights.h5", {.by_name = true}); },
                                     "by_name is for older .h5");
}

TEST_F(KerasFiles, BrainFloats) {
  const auto make = [] {
    return keras::Sequential({keras::Input({3}), keras::Dense(2, {.dtype = "bfloat16"})});
  };
  const auto first = make(), second = make();
  first.save_weights(folder / "w.weights.h5");
  const auto kernel = format::Hdf5File(folder / "w.weights.h5").root().at("layers/dense/vars/0");
  EXPECT_EQ(kernel.attribute("dtype")->string(), "bfloat16");
  second.load_weights(folder / "w.weights.h5");
  EXPECT_EQ(cast(second.weights()[0], float32).to_vector<float>(),
            cast(first.weights()[0], float32).to_vector<float>());
}

TEST_F(KerasFiles, DamagedFilesLoadNothing) {
  const auto model = network();
  model.save_weights(folder / "w.weights.h5");
  const std::string good = test::read_bytes(folder / "w.weights.h5");
  const auto other = network();
  const auto before = values(other);
  for (size_t size = 0; size < good.size(); size += 11) {
    test::write_bytes(folder / "cut.weights.h5", good.substr(0, size));
    expect_error<DataLossError>([&] { other.load_weights(folder / "cut.weights.h5"); }, "cut.weights.h5: ");
    EXPECT_EQ(values(other), before);
  }
  expect_error<NotFoundError>([&] { other.load_weights(folder / "none.weights.h5"); }, "none.weights.h5");
  expect_error<FailedPreconditionError>(
      [&] { keras::Sequential({keras::Dense(2)}).save_weights(folder / "w.weights.h5"); },
      "has no weights yet");
  EXPECT_EQ(test::read_bytes(folder / "w.weights.h5"), good);
}

}  // namespace
}  // namespace rw
