// From the start of the process to the first result of a SavedModel's signature, and with --latency the time
// of one call beside that of the same model made of Keras layers, which lies beside it as DIR.keras.
//   rewind_saved_model_start DIR [--latency]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

using rw::Tensor;

double now_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

// Of one sample; open sizes behind the first are a sentence's, 128.
std::map<std::string, Tensor> inputs_of(const rw::saved_model::SignatureFunction& f) {
  std::map<std::string, Tensor> inputs;
  for (const auto& [name, spec] : f.inputs()) {
    rw::Shape shape = spec.shape;
    for (int i = 0; i < shape.rank(); ++i)
      if (shape[i] < 0) shape.set(i, i == 0 ? 1 : 128);
    inputs[name] = rw::ones(shape, spec.dtype);
  }
  return inputs;
}

template <class F>
double median_ms(const F& f) {
  std::vector<double> times;
  for (int i = 0; i < 25; ++i) {
    const double start = now_ms();
    f();
    times.push_back(now_ms() - start);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string dir = argv[1];
  const auto loaded = rw::saved_model::load(dir);
  const auto& signature = loaded.signatures().at("serving_default");
  const auto inputs = inputs_of(signature);
  float sum = 0;
  for (const auto& [name, t] : signature(inputs)) sum += t.data<float>()[0];
  if (argc < 3) return sum == sum ? 0 : 1;

  auto model = rw::keras::models::load_model(dir + ".keras");
  std::vector<Tensor> ordered;
  for (const auto& [name, t] : inputs) ordered.push_back(t);
  const auto layers =
      rw::function([&](const std::vector<Tensor>& x) { return model.all(x, {.training = false})[0]; });
  layers(ordered);
  // By turns: the machine may be busy with something else for a while.
  std::vector<double> of_loaded, of_layers;
  for (int turn = 0; turn < 3; ++turn) {
    of_loaded.push_back(median_ms([&] { signature(inputs); }));
    of_layers.push_back(median_ms([&] { layers(ordered); }));
  }
  std::sort(of_loaded.begin(), of_loaded.end());
  std::sort(of_layers.begin(), of_layers.end());
  std::printf("%.4g %.4g\n", of_loaded[1], of_layers[1]);
}
