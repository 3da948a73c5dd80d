// One training step of a 784-100-100-10 network on 100 images, with Adam: eagerly, and as one function.
#include "benchmarks/training.h"

namespace bench {
namespace {

struct Layer {
  rw::Variable w, b;
  Layer(int64_t in, int64_t out) : w(rw::random::normal({in, out}, {.stddev = 0.05})), b(rw::zeros({out})) {}
  rw::Tensor operator()(const rw::Tensor& x) const { return rw::matmul(x, w) + b; }
};

struct Mlp {
  Layer first{784, 100}, second{100, 100}, third{100, 10};
  Adam adam{{first.w, first.b, second.w, second.b, third.w, third.b}};

  rw::Tensor step(const rw::Tensor& x, const rw::Tensor& y) const {
    rw::GradientTape tape;
    const rw::Tensor h = rw::nn::relu(first(rw::reshape(x, {100, 784})));
    const rw::Tensor logits = third(rw::nn::relu(second(h)));
    const rw::Tensor loss = rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(y, logits));
    adam.apply(tape.gradient(loss, adam.parameters));
    return loss;
  }
};

void mnist_mlp() {
  const int64_t held = rw::memory::stats().current;
  const rw::Tensor x = rw::random::uniform({100, 28, 28});
  const rw::Tensor y = rw::random::uniform({100}, {.minval = 0, .maxval = 10, .dtype = rw::int64});
  const Mlp model;
  const auto step = rw::function([&](rw::Tensor a, rw::Tensor b) { return model.step(a, b); });
  report_training("mnist_mlp", 20, 400, model.adam, held, [&] { step(x, y).item<float>(); });
  const double us = median_us(20, 400, [&] { model.step(x, y).item<float>(); });
  say("mnist_mlp", "rewind", "eager", {{"ms", us / 1e3}});
}

}  // namespace

std::vector<Workload> mnist_workloads() { return {{"mnist_mlp", mnist_mlp}}; }

}  // namespace bench
