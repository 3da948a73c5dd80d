#include <cmath>
#include <cstdio>

#include "tests/interop/keras_training/cases.h"

namespace rw::interop {

static std::string wanted;  // NOLINT: set once by main

Tensor wave(const Shape& shape, int number, double scale) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(scale * std::sin(1.0 + 0.7 * double(i) + 1.3 * number) + 0.01 * number);
  return constant(values, shape);
}

Tensor shares(const Shape& shape, int number) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(0.5 + 0.45 * std::sin(1.0 + 0.7 * double(i) + 1.3 * number));
  return constant(values, shape);
}

Tensor rows(const Shape& shape, int number) {
  const Tensor x = shares(shape, number);
  return x / reduce_sum(x, -1, true);
}

Tensor ids(const Shape& shape, int limit, int number) {
  std::vector<int32_t> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int32_t((i * 7 + i / 3 + size_t(number)) % size_t(limit));
  return constant(values, shape);
}

Tensor hot(const Shape& shape, int classes, int number) {
  return one_hot(ids(shape, classes, number), classes);
}

void run(const std::string& name, const std::function<std::vector<Tensor>()>& compute) {
  if (name.find(wanted) == std::string::npos) return;
  printf("%s", name.c_str());
  try {
    for (const Tensor& t : compute())
      for (const double v : cast(t, float64).to_vector<double>()) printf(" %.9g", v);
  } catch (const std::exception& e) { printf(" error: %s", e.what()); }
  printf("\n");
}

}  // namespace rw::interop

int main(int argc, char** argv) {
  if (argc > 1) rw::interop::wanted = argv[1];
  rw::interop::run_losses();
  rw::interop::run_metrics();
  rw::interop::run_optimizers();
  rw::interop::run_schedules();
  rw::interop::run_initializers();
  rw::interop::run_activations();
  return 0;
}
