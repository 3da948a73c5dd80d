// Weights in Keras' files, for check_keras_files.py, which has the same models.
//   keras_files load MODEL FILE OUT.npz [training] [by_name] [skip]   the weights that the model then has:
//   w0, w1, ...,
//                                                                   and with training those of its optimizer:
//                                                                   o0, ...
//   keras_files save MODEL IN.npz FILE [training]                   the model with such weights to a file
#include <cstdio>
#include <cstring>
#include <functional>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;         // NOLINT: a program of its own
using namespace rw::keras;  // NOLINT

struct Scale : LayerOf<Scale> {
  Variable offset, factor;
  void build(const Shape& input) override {
    offset = add_weight({.name = "offset", .shape = {input.back()}, .trainable = false});
    factor = add_weight({.name = "factor", .shape = {input.back()}});
  }
  Tensor call(const Tensor& x, const CallArgs&) override { return x * factor + offset; }
};

// A layer of layers.
struct Block : LayerOf<Block> {
  Dense zoom{4}, narrow{3};
  Scale scale;
  Tensor call(const Tensor& x, const CallArgs&) override { return scale(narrow(zoom(x))); }
  RW_TRACK(zoom, narrow, scale)
};

struct Net : Model {
  Dense stem{3}, tail{2}, hidden{3};
  std::vector<Dense> blocks{Dense(3), Dense(3)};
  std::map<std::string, Dense> by_name{{"a", Dense(3)}, {"b", Dense(3)}};
  std::vector<std::vector<Dense>> grid{{Dense(3)}, {Dense(3), Dense(3)}};
  Block block;
  Dense _private{3};
  Tensor call(const Tensor& x, const CallArgs&) override {
    Tensor y = hidden(stem(x));
    for (Dense& d : blocks) y = d(y);
    for (auto& [name, d] : by_name) y = d(y);
    for (auto& row : grid)
      for (Dense& d : row) y = d(y);
    return tail(_private(block(y)));
  }
  RW_TRACK(stem, tail, hidden, blocks, by_name, grid, block, _private)
};

std::shared_ptr<Model> dense(const Optimizer& optimizer) {
  auto m = std::make_shared<Sequential>(
      std::initializer_list<LayerRef>{Input({4}), Dense(3), Dropout(0.5), Dense(2)});
  m->compile({.optimizer = optimizer, .loss = "mse"});
  return m;
}
std::shared_ptr<Model> chain(const std::vector<LayerRef>& layers) {
  return std::make_shared<Sequential>(layers);
}
std::shared_ptr<Model> functional(const KerasTensors& x, const KerasTensors& y) {
  return std::make_shared<Model>(x, y);
}

std::shared_ptr<Model> shared() {
  const auto a = Input({4}), b = Input({4});
  const Dense same(3);
  return functional({a, b}, {Dense(2)(same(a) + same(b) * 2.0), Dense(1)(same(b))});
}
std::shared_ptr<Model> nested() {
  const Sequential inner({Dense(3), Dense(3)});
  const auto in = Input({3});
  const Model middle(in, Dense(3)(inner(in)));
  const auto x = Input({3});
  return functional(x, middle(inner(middle(x))));
}
std::shared_ptr<Model> attention() {
  const auto x = Input({5, 6});
  const auto y = MultiHeadAttention(2, 3, {.dropout = 0.1})({x, x});
  return functional(x, MultiHeadAttention(2, 4, {.value_dim = 5, .use_bias = false})({y, x, x}));
}

std::shared_ptr<Model> merges() {
  const auto a = Input({3}), b = Input({3});
  std::vector<KerasTensor> all{Add()({a, b}), Subtract()({a, b}), Multiply()({a, b}), Average()({a, b}),
                               a * b};
  all.push_back(Add()({Maximum()({a, b}), Minimum()({a, b})}));
  all.push_back(Dot(1)({a, b}));
  return functional({a, b}, Dense(2)(Concatenate()(all)));
}

using Models = std::map<std::string, std::function<std::shared_ptr<Model>()>>;

void add_layers(Models* models) {
  (*models)["convolutions"] = [] {
    return chain({Input({8, 8, 2}), Conv2D(4, 3, {.groups = 2}), DepthwiseConv2D(2, {.depth_multiplier = 2}),
                  SeparableConv2D(3, 2), Conv2DTranspose(2, 2, {.use_bias = false}), PReLU()});
  };
  (*models)["lines"] = [] {
    return chain(
        {Input({12, 2}), Conv1D(3, 3), DepthwiseConv1D(2), SeparableConv1D(3, 2), Conv1DTranspose(2, 2)});
  };
  (*models)["volumes"] = [] { return chain({Input({4, 4, 4, 1}), Conv3D(2, 2), Conv3DTranspose(1, 2)}); };
  (*models)["normalizations"] = [] {
    return chain({Input({3, 4}), BatchNormalization(), BatchNormalization({.scale = false}),
                  LayerNormalization(), GroupNormalization({.groups = 2}), Normalization()});
  };
  (*models)["recurrent"] = [] {
    return chain({Input({5, 3}), LSTM(4, {.return_sequences = true}), GRU(3, {.return_sequences = true}),
                  GRU(3, {.reset_after = false, .return_sequences = true}),
                  SimpleRNN(2, {.use_bias = false, .recurrent_dropout = 0.1})});
  };
  (*models)["wrappers"] = [] {
    return chain({Input({5, 3}), Bidirectional(LSTM(4, {.return_sequences = true})),
                  TimeDistributed(Dense(2)),
                  Bidirectional(GRU(2, {.return_sequences = true}), {.merge_mode = "sum"}),
                  TimeDistributed(BatchNormalization()), SimpleRNN(2)});
  };
  (*models)["embedding"] = [] {
    return chain({Input({5}), Embedding(10, 4), Flatten(), Dense(3, {.use_bias = false}),
                  layers::Activation("relu"), GaussianNoise(0.1)});
  };
  (*models)["images"] = [] {
    return chain({Input({8, 8, 2}), Rescaling(0.5), RandomFlip(), RandomRotation(0.1), ZeroPadding2D(1),
                  Conv2D(2, 3), Cropping2D(1), UpSampling2D(2), MaxPooling2D(2), AveragePooling2D(2),
                  SpatialDropout2D(0.1), GaussianDropout(0.1), LeakyReLU(), ELU(), ReLU(), Softmax(),
                  Conv2D(2, 1), GlobalAveragePooling2D(), Dense(2)});
  };
  (*models)["sequences"] = [] {
    return chain({Input({12, 2}), Masking(), Dense(3), ZeroPadding1D(1), Cropping1D(1), UpSampling1D(2),
                  MaxPooling1D(2), AveragePooling1D(2), Permute({2, 1}), Reshape({9, 2}),
                  GlobalMaxPooling1D(), RepeatVector(3), SpatialDropout1D(0.1), Dense(3), Flatten(),
                  Dense(1)});
  };
  (*models)["merges"] = merges;
  (*models)["attention"] = attention;
  (*models)["shared"] = shared;
  (*models)["nested"] = nested;
  (*models)["frozen"] = [] {
    const Dense frozen(3);
    frozen.set_trainable(false);
    const BatchNormalization still({.trainable = false});
    return chain({Input({4}), frozen, still, Scale(), Dense(2)});
  };
  (*models)["bfloat16"] = [] { return chain({Input({4}), Dense(3, {.dtype = "bfloat16"}), Dense(2)}); };
  (*models)["wider"] = [] { return chain({Input({4}), Dense(5), Dropout(0.5), Dense(2)}); };
  (*models)["named"] = [] {
    return chain({Input({4}), Dense(3, {.name = "first"}), Dense(2, {.name = "second"}), Dense(7)});
  };
  (*models)["subclass"] = [] {
    auto net = std::make_shared<Net>();
    (*net)(ones({1, 4}));
    return net;
  };
}

void add_optimizers(Models* models) {
  const auto add = [&](const std::string& name, auto make) {
    (*models)["optimizer_" + name] = [make] { return dense(make()); };
  };
  add("sgd", [] { return SGD(); });
  add("momentum", [] { return SGD({.momentum = 0.9, .nesterov = true}); });
  add("adam", [] { return Adam({.amsgrad = true}); });
  add("adamw", [] { return AdamW(); });
  add("adamax", [] { return Adamax(); });
  add("nadam", [] { return Nadam(); });
  add("rmsprop", [] { return RMSprop({.momentum = 0.5, .centered = true}); });
  add("adagrad", [] { return Adagrad(); });
  add("adadelta", [] { return Adadelta(); });
  add("ftrl", [] { return Ftrl(); });
  add("lion", [] { return Lion(); });
  add("average", [] { return Adam({.use_ema = true}); });
  add("accumulate", [] { return Adam({.gradient_accumulation_steps = 2}); });
  add("schedule",
      [] { return SGD({.learning_rate = optimizers::schedules::ExponentialDecay({0.1, 10, 0.5})}); });
  add("loss_scale", [] { return LossScaleOptimizer(SGD({.momentum = 0.9})); });
}

struct Options {
  bool training = false, by_name = false, skip = false;
};

std::vector<std::pair<std::string, Variable>> all_variables(const Model& model, bool training) {
  std::vector<std::pair<std::string, Variable>> list;
  for (const Variable& v : model.weights()) list.emplace_back("w" + std::to_string(list.size()), v);
  size_t i = 0;
  if (training) {
    model.optimizer().build(model.trainable_weights());
    for (const Variable& v : model.optimizer().variables()) list.emplace_back("o" + std::to_string(i++), v);
  }
  return list;
}

void run(const std::string& command, const Model& model, const std::string& from, const std::string& to,
         const Options& options) {
  if (command == "load") {
    const LoadReport report = model.load_weights(
        from,
        {.training_state = options.training, .skip_mismatch = options.skip, .by_name = options.by_name});
    for (const auto& list : {report.missing, report.unexpected, report.mismatched})
      for (const std::string& text : list) printf("%s\n", text.c_str());
    std::map<std::string, Tensor> arrays;
    for (const auto& [name, v] : all_variables(model, options.training)) arrays[name] = v.value();
    numpy::savez(to, arrays);
  } else {
    const auto arrays = numpy::load_npz(from);
    for (const auto& [name, v] : all_variables(model, options.training)) v.assign(arrays.at(name));
    model.save_weights(to, {.training_state = options.training});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  Models models;
  add_layers(&models);
  add_optimizers(&models);
  Options options;
  for (int i = 5; i < argc; ++i) {
    options.training |= !std::strcmp(argv[i], "training");
    options.by_name |= !std::strcmp(argv[i], "by_name");
    options.skip |= !std::strcmp(argv[i], "skip");
  }
  try {
    run(argv[1], *models.at(argv[2])(), argv[3], argv[4], options);
    return 0;
  } catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
