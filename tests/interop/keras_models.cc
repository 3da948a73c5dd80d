// Whole models from Keras' files, for check_keras_models.py.
//   keras_models run FILE DATA.npz OUT.npz [STEPS [SAVED ...]]
// FILE is loaded; DATA has inputs x0, x1, ... and targets y0, ...; OUT gets the outputs p0, ..., then after
// STEPS training steps their losses l0, ..., outputs q0, ..., weights w0, ... and the optimizer's variables
// o0, ... The model is then saved to each SAVED.
//   keras_models error FILE [unsafe]      loads, and prints the error
//   keras_models tfsm DIR ENDPOINT TRAINING_ENDPOINT DATA.npz OUT.npz
// A TFSMLayer: its results p0, ..., in training t0, ..., of a model around it after three steps q0; counts
// has how many weights train and do not.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;         // NOLINT: a program of its own
using namespace rw::keras;  // NOLINT

struct Scale : LayerOf<Scale> {
  double start = 1.0;
  Variable factor, offset;
  void build(const Shape& input) override {
    factor =
        add_weight({.name = "factor", .shape = {input.back()}, .initializer = initializers::Constant(start)});
    offset =
        add_weight({.name = "offset", .shape = {input.back()}, .initializer = "zeros", .trainable = false});
  }
  Tensor call(const Tensor& x, const CallArgs&) override { return x * factor + offset; }
  RW_CONFIG(start)
};

struct Net : LayerOf<Net, Model> {
  Dense hidden{3, {.activation = "tanh"}};
  std::vector<Dense> blocks{Dense(3), Dense(3)};
  Dense out{2};
  double factor = 1.0;
  Tensor call(const Tensor& x, const CallArgs&) override {
    Tensor y = hidden(x) * factor;
    for (const Dense& d : blocks) y = d(y) + y;
    return out(y);
  }
  RW_TRACK(hidden, blocks, out)
  RW_CONFIG(factor)
};

std::vector<Tensor> numbered(const std::map<std::string, Tensor>& arrays, const std::string& letter) {
  std::vector<Tensor> list;
  for (auto at = arrays.find(letter + "0"); at != arrays.end();
       at = arrays.find(letter + std::to_string(list.size())))
    list.push_back(at->second);
  return list;
}

void run(int argc, char** argv) {
  Model model = models::load_model(argv[2]);
  const auto data = numpy::load_npz(argv[3]);
  const std::vector<Tensor> x = numbered(data, "x"), y = numbered(data, "y");
  std::map<std::string, Tensor> out;
  const auto put = [&](const std::string& letter, const std::vector<Tensor>& list) {
    for (size_t i = 0; i < list.size(); ++i) out[letter + std::to_string(i)] = list[i];
  };
  put("p", model.all(x, {.training = false}));
  const int steps = argc > 5 ? std::atoi(argv[5]) : 0;
  for (int i = 0; i < steps; ++i) {
    const Logs logs = model.train_on_batch(x, y);
    std::vector<double> numbers;
    for (const auto& [name, value] : logs.items()) numbers.push_back(value);
    out["l" + std::to_string(i)] = constant(numbers);
  }
  if (steps > 0) put("q", model.all(x, {.training = false}));
  put("w", model.get_weights());
  if (model.compiled()) {
    std::vector<Tensor> values;
    for (const Variable& v : model.optimizer().variables()) values.push_back(v.value());
    put("o", values);
  }
  for (auto& [name, value] : out)
    if (value.dtype() == bfloat16 || value.dtype() == float16) value = cast(value, float32);
  numpy::savez(argv[4], out);
  for (int i = 6; i < argc; ++i) model.save(argv[i]);
}

// A SavedModel's functions as a layer: alone and in a model that trains.
void tfsm(char** argv) {
  const TFSMLayer layer(argv[2], {.call_endpoint = argv[3], .call_training_endpoint = argv[4]});
  const auto data = numpy::load_npz(argv[5]);
  const std::vector<Tensor> x = numbered(data, "x");
  std::map<std::string, Tensor> out;
  const auto put = [&](const std::string& letter, const std::vector<Tensor>& list) {
    for (size_t i = 0; i < list.size(); ++i) out[letter + std::to_string(i)] = list[i];
  };
  put("p", layer.all(x, {.training = false}));
  put("t", layer.all(x, {.training = true}));
  out["counts"] = constant(std::vector<int64_t>{int64_t(layer.trainable_weights().size()),
                                                int64_t(layer.non_trainable_weights().size())});
  KerasTensors inputs = Input(Shape({x[0].shape()[1]}));
  Model model(inputs, Dense(1, {.kernel_initializer = "ones"})(layer.all(inputs.list())[0]));
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  for (int i = 0; i < 3; ++i) model.train_on_batch(x, data.at("y0"));
  put("q", model.all(x, {.training = false}));
  numpy::savez(argv[6], out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  saving::register_keras_serializable<Scale>("interop", "Scale");
  saving::register_keras_serializable<Net>("interop", "Net");
  saving::register_keras_serializable("interop", "twice",
                                      Activation([](const Tensor& x) { return x * 2.0; }));
  saving::register_keras_serializable("interop", "cubed",
                                      Loss([](const Tensor& y_true, const Tensor& y_pred) -> LossValues {
                                        return {reduce_mean(pow(abs(y_true - y_pred), 3.0F), -1)};
                                      }));
  try {
    if (!std::strcmp(argv[1], "run")) run(argc, argv);
    else if (!std::strcmp(argv[1], "tfsm")) tfsm(argv);
    else models::load_model(argv[2], {.safe_mode = argc < 4});
    return 0;
  } catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
