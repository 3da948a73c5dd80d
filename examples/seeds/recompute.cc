// Recomputation: a model whose call is a function and recomputed, a chain of checkpointed blocks, tapes of
// all kinds.
#include <cstdio>
#include <string>

#include "rewind/rewind.h"

namespace {

using rw::Tensor;

rw::Variable weights(int64_t rows, int64_t columns, double shift) {
  return rw::Variable(
      rw::reshape(rw::sin(rw::cast(rw::range(rows * columns), rw::float32) + shift), {rows, columns}));
}

struct MyModel : rw::Module {
  rw::Variable w1 = weights(4, 8, 0.0), w2 = weights(8, 8, 1.0), w3 = weights(8, 2, 2.0);
  Tensor layers(const Tensor& inputs) {
    const Tensor x = rw::nn::relu(rw::matmul(inputs, w1));
    return rw::matmul(rw::nn::relu(rw::matmul(x, w2)), w3);
  }
  RW_TRACK(w1, w2, w3)
};

void show(const std::vector<Tensor>& gradients) {
  for (const Tensor& g : gradients)
    std::printf("%s sum %.4f absolute %.4f\n", g.shape().to_string().c_str(), rw::reduce_sum(g).item<float>(),
                rw::reduce_sum(rw::abs(g)).item<float>());
}

void a_method_in_both() {
  MyModel model;
  auto eager_call = rw::recompute_grad([&](const Tensor& x) { return model.layers(x); });
  auto call = rw::function(eager_call);
  const Tensor inputs = rw::reshape(rw::cos(rw::cast(rw::range(12), rw::float32)), {3, 4});
  auto run = [&](const auto& f) {
    rw::GradientTape tape;
    tape.watch(inputs);
    const Tensor y = f(inputs);
    const Tensor loss = rw::reduce_mean(y * y);
    std::printf("loss %.5f\n", loss.item<float>());
    const auto g = tape.gradient(
        loss, std::vector<Tensor>{inputs, model.w1.handle(), model.w2.handle(), model.w3.handle()});
    show({g.begin(), g.end()});
  };
  run(call);
  run(eager_call);
}

struct Named {
  Tensor z;
};

void a_chain_of_blocks() {
  auto f = rw::checkpointable(
      [](Tensor x, const Tensor& y, const std::string& /*some_str*/, bool some_bool, const Named& named) {
        for (int i = 0; i < 20; ++i) x = x + (some_bool ? y * named.z : rw::sin(x * y * named.z));
        return x;
      });
  for (const bool flag : {true, false}) {
    const Tensor initial = rw::ones({1000});
    const Tensor y = rw::ones({1000}) + 1e-7;
    const Tensor z = rw::ones({1000}) + 1e-7;
    for (const bool checkpoint : {false, true}) {
      rw::GradientTape g;
      g.watch(std::vector<Tensor>{initial, y, z});
      Tensor x = initial;
      for (int i = 0; i < 10; ++i)
        x = checkpoint ? f.checkpoint(x, y, "a", flag, Named{.z = z}) : f(x, y, "a", flag, Named{.z = z});
      const Tensor loss = rw::reduce_sum(x);
      std::printf("loss %.3f\n", loss.item<float>() / 1000);
      std::vector<Tensor> list;
      for (const auto& d : g.gradient(loss, {initial, y, z})) list.push_back(d.tensor() / 1000.0);
      show(list);
    }
  }
}

void several_losses() {
  MyModel model;
  const Tensor images = rw::reshape(rw::cos(rw::cast(rw::range(8), rw::float32)), {2, 4});
  rw::GradientTape tape({.persistent = true});
  const Tensor predictions = rw::recompute_grad(&MyModel::layers)(model, images);
  const Tensor first = rw::reduce_sum(predictions);
  const Tensor second = rw::reduce_sum(predictions * predictions);
  for (const Tensor& loss : {first, second}) {
    const auto g = tape.gradient(loss, std::vector<rw::Variable>{model.w1, model.w3});
    show({g.begin(), g.end()});
  }
}

void tapes_in_tapes() {
  const Tensor x = rw::constant(1.5);
  auto cube = rw::recompute_grad([](const Tensor& t) { return t * t * t; });
  rw::GradientTape tape;
  tape.watch(x);
  Tensor slope;
  {
    rw::GradientTape inner_tape;
    inner_tape.watch(x);
    const Tensor y = cube(x);
    slope = inner_tape.gradient(y, x);
  }
  const Tensor bend = tape.gradient(slope, x);
  std::printf("%g %.1f\n", slope.item<float>(), bend.item<float>());
}

}  // namespace

int main() {
  a_method_in_both();
  a_chain_of_blocks();
  several_losses();
  tapes_in_tapes();
}
