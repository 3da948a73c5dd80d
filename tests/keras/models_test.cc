// Whole models in files, and from configs. interop/check_keras_models.py compares the files with Keras' own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "rewind/format/json.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

struct Doubled : keras::LayerOf<Doubled> {
  double times = 2;
  Variable shift;
  void build(const Shape& in) override { shift = add_weight({.name = "shift", .shape = {in.back()}}); }
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return x * times + shift; }
  RW_CONFIG(times)
};

class KerasModels : public testing::Test {
 protected:
  void SetUp() override {
    keras::clear_session();
    random::set_seed(3);
    keras::saving::register_keras_serializable<Doubled>("test", "Doubled");
  }
  static std::vector<std::vector<float>> values(const keras::Model& model) {
    std::vector<std::vector<float>> list;
    for (const Variable& v : model.weights()) list.push_back(v.to_vector<float>());
    return list;
  }
  // Two inputs, a shared layer, a model inside, a class of the program's own.
  static keras::Model functional() {
    const auto a = keras::Input({4}, {.name = "a"}), b = keras::Input({4}, {.name = "b"});
    const keras::Dense shared(3, {.activation = "tanh"});
    const keras::Sequential inner({keras::Input({3}), keras::Dense(3), keras::BatchNormalization()});
    Doubled own;
    own.times = 3;
    auto x = inner(shared(a)) + shared(b) * 2.0F;
    return {keras::KerasTensors{a, b}, {keras::Dense(2)(own(x)), keras::Dense(1)(x)}};
  }
  test::TemporaryFolder folder;
  const Tensor x = random::stateless_normal({12, 4}, constant({1, 2}));
  const Tensor y2 = x(Slice(), Slice(0, 2)), y1 = reduce_sum(x, 1, true);
};

TEST_F(KerasModels, GoOnTrainingFromEitherFile) {
  auto model = functional();
  model.compile({.optimizer = keras::Adam({.learning_rate = 0.01, .amsgrad = true}),
                 .loss = {"mse", "mae"},
                 .loss_weights = {1.0, 0.5},
                 .output_metrics = {{"mae"}, {}}});
  const keras::FitOptions quiet{.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false};
  model.fit({x, x}, {y2, y1}, quiet);
  model.save(folder / "m.keras");
  keras::models::save_model(model, folder / "m.h5");
  const auto before = values(model);
  model.fit({x, x}, {y2, y1}, quiet);
  for (const char* name : {"m.keras", "m.h5"}) {
    auto again = keras::models::load_model(folder / name);
    EXPECT_EQ(values(again), before) << name;
    EXPECT_TRUE(again.compiled());
    again.fit({x, x}, {y2, y1}, quiet);
    EXPECT_EQ(values(again), values(model)) << name;
    again.save(folder / (std::string("again-") + name));
    EXPECT_EQ(values(keras::models::load_model(folder / (std::string("again-") + name))), values(model));
    EXPECT_FALSE(keras::models::load_model(folder / name, {.compile = false}).compiled());
  }
}

TEST_F(KerasModels, WhatCannotBeLoadedOrSaved) {
  const keras::Sequential model({keras::Input({4}), keras::Dense(2)});
  saved_model::save(model, folder / "exported");
  expect_error<InvalidArgumentError>([&] { keras::models::load_model(folder / "exported"); },
                                     "keras::TFSMLayer(\"");
  std::filesystem::create_directories(folder / "empty");
  expect_error<InvalidArgumentError>([&] { keras::models::load_model(folder / "empty"); },
                                     "is a folder: expected");
  expect_error<NotFoundError>([&] { keras::models::load_model(folder / "no.keras"); }, "no.keras");
  expect_error<NotFoundError>([&] { keras::models::load_model(folder / "no.h5"); }, "no.h5");
  expect_error<InvalidArgumentError>([&] { keras::models::load_model(folder / "m.pt"); },
                                     "expected a .keras file");
  std::ofstream(folder / "text.keras") << "no archive";
  expect_error<DataLossError>([&] { keras::models::load_model(folder / "text.keras"); }, "text.keras");
  model.save_weights(folder / "w.h5");
  expect_error<InvalidArgumentError>([&] { keras::models::load_model(folder / "w.h5"); }, "weights alone");
  expect_error<InvalidArgumentError>([&] { model.save(folder / "m.onnx"); }, "the extension says the format");
  model.save(folder / "m.keras");
  expect_error<AlreadyExistsError>([&] { model.save(folder / "m.keras", {.overwrite = false}); },
                                   "is there already");
  struct Unknown : keras::LayerOf<Unknown> {
    Tensor call(const Tensor& in, const keras::CallArgs&) override { return in; }
  };
  const keras::Sequential own({keras::Input({4}), Unknown()});
  expect_error<UnimplementedError>([&] { own.save(folder / "own.keras"); }, "has no config");
  EXPECT_FALSE(std::filesystem::exists(folder / "own.keras"));
}

TEST_F(KerasModels, UnknownClassesAndCodeAreNamed) {
  const auto json = [](const std::string& layer) {
    return R"({"class_name": "Sequential", "config": {"name": "s", "layers": [)" + layer + "]}}";
  };
  expect_error<InvalidArgumentError>(
      [&] {
        keras::models::model_from_json(
            json(R"({"class_name": "Zoom", "config": {"name": "z"}, "registered_name": "shop>Zoom"})"));
      },
      "register_keras_serializable<Zoom>(\"shop\", \"Zoom\")");
  expect_error<UnimplementedError>(
      [&] {
        keras::models::model_from_json(json(
            R"({"class_name": "Lambda", "config": {"name": "l", "function": {"class_name": "__lambda__", "config": {"code": "x"}}}})"));
      },
      "layer \"l\" is a Lambda with Python code");
}

// Without a package: a class that Python was given by custom_objects, or one of Keras' that is not here.
TEST_F(KerasModels, ClassesByTheirPlainNames) {
  const auto model = keras::models::model_from_json(
      R"({"module": "keras", "class_name": "Sequential", "config": {"name": "s", "layers": [
        {"module": "keras.layers", "class_name": "Doubled", "config": {"name": "d", "times": 5.0}, "registered_name": null}],
        "build_input_shape": [null, 2]}, "registered_name": null})");
  EXPECT_EQ(model(ones({1, 2}) * 2.0F).to_vector<float>()[0] - model.weights()[0].to_vector<float>()[0], 10);
  // A name of the library's own stays with it.
  struct Dense : keras::LayerOf<Dense> {
    Tensor call(const Tensor& in, const keras::CallArgs&) override { return in; }
  };
  keras::saving::register_keras_serializable<Dense>("test", "Dense");
  const keras::Sequential lines({keras::Input({2}), keras::Dense(3)});
  EXPECT_EQ(keras::models::clone_model(lines).weights().size(), 2U);
  const keras::Sequential own({keras::Input({2}), Dense()});
  EXPECT_EQ(keras::models::clone_model(own).weights().size(), 0U);
  EXPECT_NE(model.to_json().find("test>Doubled"), std::string::npos);
}

// A call of the model goes before what a call in the graph says, as in Keras 3.
TEST_F(KerasModels, TrainingFlagsOfTheGraph) {
  const auto in = keras::Input({4});
  const keras::BatchNormalization norm;
  const keras::Model model(in, norm(in, {.training = false}));
  const auto mean = [&] { return norm.weights()[2].to_vector<float>(); };
  (void)model(x);
  EXPECT_EQ(mean(), std::vector<float>(4, 0));
  (void)model(x, {.training = true});
  EXPECT_NE(mean(), std::vector<float>(4, 0));
  const keras::Dropout drop(0.5);
  const keras::Model always(in, drop(in, {.training = true}));
  EXPECT_NE(always(x).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(always(x, {.training = false}).to_vector<float>(), x.to_vector<float>());
  // Files keep it.
  model.save(folder / "m.keras");
  EXPECT_NE(keras::models::load_model(folder / "m.keras").to_json().find(R"("kwargs": {"training": false})"),
            std::string::npos);
}

// As Keras 3 writes the mask that an Embedding makes.
TEST_F(KerasModels, MasksAsArgumentsOfCalls) {
  const auto tensor = [](const char* name, const char* shape, const char* dtype) {
    return std::string(R"({"class_name": "__keras_tensor__", "config": {"shape": )") + shape +
           R"(, "dtype": ")" + dtype + R"(", "keras_history": [")" + name + R"(", 0, 0]}})";
  };
  const std::string ids = tensor("ids", "[null, 3]", "int32");
  const std::string json =
      R"({"class_name": "Functional", "config": {"name": "m", "layers": [
        {"module": "keras.layers", "class_name": "InputLayer", "config": {"batch_shape": [null, 3], "dtype": "int32", "name": "ids"}, "name": "ids", "inbound_nodes": []},
        {"module": "keras.layers", "class_name": "Embedding", "config": {"name": "e", "input_dim": 5, "output_dim": 2, "mask_zero": false}, "name": "e", "inbound_nodes": [{"args": [)" +
      ids + R"(], "kwargs": {}}]},
        {"module": "keras.src.ops.numpy", "class_name": "NotEqual", "config": {"name": "n"}, "name": "n", "inbound_nodes": [{"args": [)" +
      ids + R"(, 0], "kwargs": {}}]},
        {"module": "keras.layers", "class_name": "LSTM", "config": {"name": "l", "units": 2}, "name": "l", "inbound_nodes": [{"args": [)" +
      tensor("e", "[null, 3, 2]", "float32") + R"(], "kwargs": {"training": false, "mask": )" +
      tensor("n", "[null, 3]", "bool") + R"(}}]}],
        "input_layers": ["ids", 0, 0], "output_layers": ["l", 0, 0]}})";
  const auto model = keras::models::model_from_json(json);
  const auto copy = keras::models::clone_model(model);
  copy.set_weights(model.get_weights());
  for (const auto& m : {model, copy}) {
    const Tensor out = m(constant({{1, 2, 0}, {1, 2, 3}, {1, 2, 4}}));
    const auto v = out.to_vector<float>();
    const Tensor padded = m(constant({{1, 2, 0}}));
    EXPECT_EQ(padded.to_vector<float>(), (std::vector<float>{v[0], v[1]}));
    EXPECT_NE(v[2], v[4]);
    // What is masked leaves the state as it was: two steps and a masked third are two steps.
    const auto cut = [&](int last) { return m(constant({{1, 2, last}})).to_vector<float>(); };
    EXPECT_NE(cut(0), cut(3));
  }
  EXPECT_EQ(values(copy), values(model));
}

TEST_F(KerasModels, FunctionsInGraphsOfKeras2) {
  const auto model = keras::models::model_from_json(
      R"({"class_name": "Functional", "config": {"name": "m", "layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 4], "dtype": "float32", "sparse": false, "ragged": false, "name": "x"}, "name": "x", "inbound_nodes": []},
        {"class_name": "TFOpLambda", "config": {"name": "tf.math.multiply", "trainable": true, "dtype": "float32", "function": "math.multiply"}, "name": "tf.math.multiply", "inbound_nodes": [["x", 0, 0, {"y": 2.0, "name": null}]]},
        {"class_name": "TFOpLambda", "config": {"name": "tf.math.subtract", "trainable": true, "dtype": "float32", "function": "math.subtract"}, "name": "tf.math.subtract", "inbound_nodes": [["_CONSTANT_VALUE", -1, 1.0, {"y": ["tf.math.multiply", 0, 0], "name": null}]]},
        {"class_name": "SlicingOpLambda", "config": {"name": "g", "trainable": true, "dtype": "float32", "function": "__operators__.getitem"}, "name": "g", "inbound_nodes": [["tf.math.subtract", 0, 0, {"slice_spec": [{"start": null, "stop": null, "step": null}, {"start": 1, "stop": 3, "step": null}]}]]},
        {"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "Activation", "config": {"name": "a", "activation": "relu"}}], "build_input_shape": [null, 2]}, "name": "s", "inbound_nodes": [[["g", 0, 0, {}]]]}],
        "input_layers": [["x", 0, 0]], "output_layers": [["s", 1, 0]]}})");
  EXPECT_EQ(model(constant({{1.F, -1.F, 0.25F, 1.F}})).to_vector<float>(), (std::vector<float>{3, 0.5}));
  expect_error<UnimplementedError>(
      [&] {
        keras::models::model_from_json(
            R"({"class_name": "Functional", "config": {"name": "m", "layers": [
              {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 4], "dtype": "float32", "name": "x"}, "name": "x", "inbound_nodes": []},
              {"class_name": "TFOpLambda", "config": {"name": "f", "function": "signal.fft"}, "name": "f", "inbound_nodes": [["x", 0, 0, {}]]}],
              "input_layers": [["x", 0, 0]], "output_layers": [["f", 0, 0]]}})");
      },
      "layer \"f\" of the model calls tf.signal.fft");
}

// Statistics and drawn numbers are those of one step after another, as in Keras.
TEST_F(KerasModels, TimeDistributedTrainsStepByStep) {
  const Tensor steps = reshape(x, {3, 4, 4});
  const keras::BatchNormalization inside, alone;
  const keras::TimeDistributed all{keras::LayerRef(inside)};
  const Tensor got = all(steps, {.training = true});
  std::vector<Tensor> want;
  for (const Tensor& step : unstack(steps, 1)) want.push_back(alone(step, {.training = true}));
  EXPECT_EQ(got.to_vector<float>(), stack(want, 1).to_vector<float>());
  EXPECT_EQ(inside.weights()[2].to_vector<float>(), alone.weights()[2].to_vector<float>());
}

TEST_F(KerasModels, LayersOfASavedModel) {
  const keras::Sequential model(
      {keras::Input({4}), keras::Dense(3, {.activation = "tanh"}), keras::Dropout(0.5)});
  saved_model::save(model, folder / "exported");
  const keras::TFSMLayer served(folder / "exported", {.call_endpoint = "serving_default"});
  const keras::TFSMLayer called(folder / "exported");
  EXPECT_EQ(served(x).to_vector<float>(), model(x).to_vector<float>());
  EXPECT_EQ(called(x).to_vector<float>(), model(x).to_vector<float>());
  EXPECT_EQ(called.trainable_weights().size(), 2U);
  // It trains inside of another model, and comes back from its file.
  auto outer = keras::Sequential({keras::Input({4}), called, keras::Dense(1)});
  outer.compile({.optimizer = keras::SGD({.learning_rate = 0.1}), .loss = "mse"});
  const auto before = outer.weights()[0].to_vector<float>();
  outer.fit(x, y1, {.verbose = 0});
  EXPECT_NE(outer.weights()[0].to_vector<float>(), before);
  outer.save(folder / "outer.keras");
  expect_error<InvalidArgumentError>([&] { keras::models::load_model(folder / "outer.keras"); }, "safe_mode");
  const auto again = keras::models::load_model(folder / "outer.keras", {.safe_mode = false});
  EXPECT_EQ(again(x).to_vector<float>(), outer(x).to_vector<float>());
  expect_error<InvalidArgumentError>([&] { keras::TFSMLayer(folder / "exported", {.call_endpoint = "no"}); },
                                     "neither a function nor a signature");
}

// A copy constructor of its own, which begins with its base.
struct CopiedByHand : keras::LayerOf<CopiedByHand, keras::Model> {
  keras::Dense dense{2};
  CopiedByHand() = default;
  CopiedByHand(const CopiedByHand& other) : LayerOf(other), dense(other.dense) {}
  CopiedByHand& operator=(const CopiedByHand&) = default;
  Tensor call(const Tensor& in, const keras::CallArgs&) override { return dense(in) * 2.0F; }
  RW_TRACK(dense)
};
struct OfModelItself : keras::Model {
  keras::Dense dense{2};
  OfModelItself() = default;
  OfModelItself(const OfModelItself& other) : keras::Model(other), dense(other.dense) {}
  Tensor call(const Tensor& in, const keras::CallArgs&) override { return dense(in) * 3.0F; }
  RW_TRACK(dense)
};

TEST_F(KerasModels, ModelsOfOtherClassesAsModels) {
  const keras::Sequential chain(
      {keras::Input({4}), keras::Dense(3, {.activation = "tanh"}), keras::Dense(2)});
  keras::Model model = chain;
  EXPECT_EQ(model(x).to_vector<float>(), chain(x).to_vector<float>());
  EXPECT_EQ(model.layers().size(), 2U);
  EXPECT_EQ(model.weights().size(), 4U);
  EXPECT_EQ(model.summary_text(), chain.summary_text());
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(x, y2, {.verbose = 0});
  EXPECT_EQ(model.predict(x, {.verbose = 0}).to_vector<float>(), chain(x).to_vector<float>());
  model.save(folder / "chain.keras");
  EXPECT_EQ(keras::models::load_model(folder / "chain.keras")(x).to_vector<float>(),
            chain(x).to_vector<float>());

  // A temporary, another value for the variable, one model in a list of models.
  keras::Model other = keras::Sequential({keras::Dense(5)});
  EXPECT_EQ(other(x).shape(), Shape({12, 5}));
  other = keras::Sequential({keras::Dense(3), keras::Dense(1)});
  EXPECT_EQ(other(x).shape(), Shape({12, 1}));
  EXPECT_EQ(other.layers().size(), 2U);
  const std::vector<keras::Model> list{chain, functional()};
  EXPECT_EQ(list[0](x).to_vector<float>(), chain(x).to_vector<float>());

  const CopiedByHand by_hand;
  const CopiedByHand copy = by_hand;
  const keras::Model as_model = by_hand;
  EXPECT_EQ(as_model(x).to_vector<float>(), copy(x).to_vector<float>());
  EXPECT_EQ(by_hand(x).to_vector<float>(), copy(x).to_vector<float>());
  const OfModelItself itself;
  const OfModelItself again = itself;
  const keras::Model of_itself = itself;
  EXPECT_EQ(of_itself(x).to_vector<float>(), again(x).to_vector<float>());
  EXPECT_EQ(itself(x).to_vector<float>(), again(x).to_vector<float>());
}

TEST_F(KerasModels, StructuresOfInputsAndOutputs) {
  // As Keras writes a model of {"left": [a, b], "right": {"deep": c}} with a list in a dictionary as its
  // outputs.
  const auto a = keras::Input({4}, {.name = "a"}), b = keras::Input({4}, {.name = "b"}),
             c = keras::Input({4}, {.name = "c"});
  const keras::Model flat({a, b, c}, {keras::Dense(2)(a + c), keras::Dense(1)(b), keras::Dense(3)(c)});
  auto config = format::parse_json(flat.to_json(), "a model");
  format::Json& graph = config["config"];
  const format::Json::Array in = *graph["input_layers"].list(), out = *graph["output_layers"].list();
  format::Json inputs, outputs;
  inputs["right"]["deep"] = in[2];
  inputs["left"] = format::Json::Array{in[0], in[1]};
  outputs["u"] = format::Json::Array{out[0], out[1]};
  outputs["v"] = out[2];
  graph["input_layers"] = inputs;
  graph["output_layers"] = outputs;
  const auto model = keras::models::model_from_config(config);
  EXPECT_EQ(model.inputs().size(), 3U);
  EXPECT_EQ(model.inputs()[2].name(), "c");
  const auto again = format::parse_json(model.to_json(), "a model");
  EXPECT_EQ(*again.find("config")->find("output_layers"), outputs);
  EXPECT_EQ(*again.find("config")->find("input_layers"), inputs);

  saved_model::save(model, folder / "exported");
  const auto loaded = saved_model::load(folder / "exported");
  using saved_model::Dict, saved_model::Value;
  const Dict given{{"left", std::vector<Tensor>{x, x * 2.0F}}, {"right", Dict{{"deep", x * 3.0F}}}};
  const Value result = loaded.function("serve").call_structured({given});
  const std::vector<Tensor> want = model.all({x, x * 2.0F, x * 3.0F});
  EXPECT_EQ(result.at("u")[0].tensor().to_vector<float>(), want[0].to_vector<float>());
  EXPECT_EQ(result.at("u")[1].tensor().to_vector<float>(), want[1].to_vector<float>());
  EXPECT_EQ(result.at("v").tensor().to_vector<float>(), want[2].to_vector<float>());
  const auto served = loaded.signatures().at("serving_default")({{"a", x}, {"b", x * 2.0F}, {"c", x * 3.0F}});
  EXPECT_EQ(served.at("output_2").to_vector<float>(), want[2].to_vector<float>());
}

TEST_F(KerasModels, NumbersOfConfigsKeepTheirDigits) {
  const keras::Sequential model(
      {keras::Input({2}),
       keras::Normalization({.mean = constant({0.5F, 0.25F}), .variance = constant({4.0F, 0.0625F})})});
  std::string json = model.to_json();
  ASSERT_NE(json.find("[0.5, 0.25]"), std::string::npos) << json;
  json.replace(json.find("[0.5, 0.25]"), 11, "[0.485, 0.1]");
  const keras::Model again = keras::models::model_from_json(json);
  EXPECT_NE(again.to_json().find("[0.485, 0.1]"), std::string::npos) << again.to_json();
  EXPECT_EQ(again(constant({{2.485F, 0.35F}})).shape(), Shape({1, 2}));
  EXPECT_NEAR(again(constant({{2.485F, 0.35F}}))[0][0].item<float>(), 1, 1e-6);
  EXPECT_NEAR(again(constant({{2.485F, 0.35F}}))[0][1].item<float>(), 1, 1e-6);
}

}  // namespace
}  // namespace rw
