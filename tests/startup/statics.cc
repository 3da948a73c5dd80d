// Objects at namespace scope, made before and destroyed behind the library's own: this file is linked in
// front of it, and `first` is constructed first of all. REWIND_FIRST chooses what the process does first;
// nothing else may depend on it.
#include <rewind/keras/keras.h>
#include <rewind/rewind.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <string>

namespace {

using rw::keras::Sequential;
using rw::keras::layers::Dense;

void require(bool is, const char* what) {
  if (is) return;
  std::printf("%s: not so\n", what);
  std::fflush(stdout);
  std::_Exit(1);
}

float number(const rw::Tensor& t) { return t.item<float>(); }

// Each alone; the answers do not depend on the order.
void tensors() { require(number(rw::reduce_sum(rw::ones({3, 3}) * 2.0f)) == 18, "a sum"); }
void gradients() {
  const rw::Variable w(3.0f);
  rw::GradientTape tape;
  const rw::Tensor loss = w * w;
  const rw::Tensor slope = tape.gradient(loss, w);
  require(number(slope) == 6, "a gradient");
}
void functions() {
  const auto f = rw::function([](const rw::Tensor& x) { return rw::reduce_sum(rw::exp(x) * x); });
  require(number(f(rw::zeros({64}))) == 0, "a function");
}
void branches() {
  const auto f = rw::function([](const rw::Tensor& x) {
    return rw::cond(rw::reduce_sum(x) > 0.0f, [&] { return x * 2.0f; }, [&] { return -x; });
  });
  rw::GradientTape tape;
  const rw::Tensor x = rw::constant(3.0f);
  tape.watch(x);
  const rw::Tensor y = f(x);
  const rw::Tensor slope = tape.gradient(y, x);
  require(number(y) == 6 && number(slope) == 2, "a branch and its gradient");
}
void batches() {
  const rw::Tensor rows =
      rw::vectorized_map([](const rw::Tensor& row) { return rw::reduce_sum(row); }, rw::ones({4, 5}));
  require(number(rw::reduce_sum(rows)) == 20, "a batch");
}
void matrices() {
  require(
      number(rw::reduce_sum(rw::matmul(rw::ones({300, 300}), rw::ones({300, 300})))) == 300.0f * 300 * 300,
      "a product");
  require(std::abs(number(rw::linalg::trace(rw::linalg::expm(rw::zeros({3, 3})))) - 3) < 1e-5f, "expm");
}
void datasets() {
  float sum = 0;
  for (const rw::Tensor& t : rw::data::Dataset::from_tensor_slices(rw::ones({4, 2})).batch(2))
    sum += number(rw::reduce_sum(t));
  require(sum == 8, "a dataset");
}
void models() {
  Sequential model({Dense(3, {.kernel_initializer = "ones"})});
  require(number(rw::reduce_sum(model(rw::ones({2, 4})))) == 24, "a model");
  require(model.name().rfind("sequential", 0) == 0, "a model's name");
}

const std::map<std::string, std::function<void()>>& all() {
  static const auto* steps = new std::map<std::string, std::function<void()>>{
      {"tensors", tensors}, {"gradients", gradients}, {"functions", functions}, {"branches", branches},
      {"batches", batches}, {"matrices", matrices},   {"datasets", datasets},   {"models", models}};
  return *steps;
}
void run_all() {
  for (const auto& [name, step] : all()) step();
}

// Does everything before all other statics, and once more behind all destructors.
struct First {
  First() {
    if (const char* name = std::getenv("REWIND_FIRST")) all().at(name)();
    run_all();
  }
  ~First() {
    run_all();
    std::puts("done");
  }
};
const First first;

const rw::Tensor tensor = rw::constant({1.0f, 2.0f});
const rw::Variable variable(2.0f);
Sequential model({Dense(3), Dense(1)});
const rw::keras::Model* const built = (model.build_for(rw::Shape{-1, 4}), &model);
const auto twice = rw::function([](const rw::Tensor& x) { return x * 2.0f + variable; });
const float known = number(rw::reduce_sum(twice(tensor)));
rw::GradientTape tape;

}  // namespace

int main() {
  require(known == 10, "a static that a function computed");
  require(model(rw::ones({2, 4})).shape() == rw::Shape{2, 1}, "a static model");
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(rw::ones({8, 4}), rw::zeros({8, 1}), {.verbose = 0});
  require(number(twice(rw::constant(1.0f))) == 4, "a static function");
  return 0;
}
