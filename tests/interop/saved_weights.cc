// Files for check_safetensors.py, which compares them with those of the real safetensors library and Keras.
//   saved_weights copy IN OUT      reads a file and writes its arrays again
//   saved_weights save OUT         the model below with its weights, trained for a few steps
//   saved_weights predict IN       the model with weights from a file: its outputs, one line each
#include <cmath>
#include <cstdio>
#include <cstring>

#include "rewind/format/safetensors.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;         // NOLINT: a program of its own
using namespace rw::keras;  // NOLINT

void copy(const char* from, const char* to) {
  const format::SafetensorsFile file(from);
  std::vector<std::string> bytes;
  std::vector<format::SafetensorsArray> arrays;
  bytes.reserve(file.entries().size());
  for (const auto& e : file.entries()) {
    bytes.emplace_back(e.size, '\0');
    file.read(e, bytes.back().data());
    arrays.push_back({e.name, e.dtype, e.shape, bytes.back().data()});
  }
  format::write_safetensors(to, arrays, file.metadata());
}

Tensor images() {
  std::vector<float> values(4 * 8 * 8 * 2);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(std::sin(0.37 * double(i)));
  return constant(values, {4, 8, 8, 2});
}

Model network() {
  const auto x = Input({8, 8, 2});
  auto y = Conv2D(3, 3, {.padding = "same"})(x);
  y = BatchNormalization()(y);
  y = Reshape({8, 24})(y);
  y = Bidirectional(LSTM(5, {.return_sequences = true}))(y);
  y = MultiHeadAttention(2, 4)({y, y});
  y = LayerNormalization()(y);
  y = GlobalAveragePooling1D()(y);
  return Model(x, Dense(3)(Dense(6, {.activation = "relu"})(y)));
}

void print(const Tensor& t) {
  for (const float v : t.to_vector<float>()) printf("%.9g\n", double(v));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 4 && !std::strcmp(argv[1], "copy")) {
      copy(argv[2], argv[3]);
      return 0;
    }
    random::set_seed(1);
    auto model = network();
    if (argc == 3 && !std::strcmp(argv[1], "save")) {
      model.compile({.optimizer = Adam({.learning_rate = 0.01}), .loss = "mse"});
      model.fit(images(), ones({4, 3}), {.epochs = 5, .verbose = 0});
      model.save_weights(argv[2]);
    } else if (argc == 3 && !std::strcmp(argv[1], "predict")) {
      model.load_weights(argv[2]);
    } else {
      return 2;
    }
    print(model(images()));
    return 0;
  } catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
