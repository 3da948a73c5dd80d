// One training step of a small convolutional network on 64 images of 28 x 28, with Adam.
#include "benchmarks/training.h"

namespace bench {
namespace {

constexpr int64_t kBatch = 64;

rw::Variable weights(std::vector<int64_t> shape) {
  return rw::Variable(rw::random::normal(shape, {.stddev = 0.05}));
}
rw::Variable zeros(int64_t n) { return rw::Variable(rw::zeros({n})); }

struct Cnn {
  rw::Variable w1 = weights({3, 3, 1, 32}), b1 = zeros(32);
  rw::Variable w2 = weights({3, 3, 32, 64}), b2 = zeros(64);
  rw::Variable w3 = weights({9216, 128}), b3 = zeros(128);
  rw::Variable w4 = weights({128, 10}), b4 = zeros(10);
  Adam adam{{w1, b1, w2, b2, w3, b3, w4, b4}};

  rw::Tensor step(const rw::Tensor& x, const rw::Tensor& y) const {
    rw::GradientTape tape;
    rw::Tensor h = rw::nn::relu(rw::nn::bias_add(rw::nn::conv2d(x, w1, 1, "VALID"), b1));
    h = rw::nn::relu(rw::nn::bias_add(rw::nn::conv2d(h, w2, 1, "VALID"), b2));
    h = rw::reshape(rw::nn::max_pool(h, 2, 2, "VALID"), {kBatch, 9216});
    h = rw::nn::relu(rw::matmul(h, w3) + b3);
    const rw::Tensor logits = rw::matmul(h, w4) + b4;
    const rw::Tensor loss = rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(y, logits));
    adam.apply(tape.gradient(loss, adam.parameters));
    return loss;
  }
};

void cnn_b64() {
  const int64_t held = rw::memory::stats().current;
  const rw::Tensor x = rw::random::uniform({kBatch, 28, 28, 1});
  const rw::Tensor y = rw::random::uniform({kBatch}, {.minval = 0, .maxval = 10, .dtype = rw::int64});
  const Cnn model;
  const auto step = rw::function([&](rw::Tensor a, rw::Tensor b) { return model.step(a, b); });
  report_training("cnn_b64", 3, 20, model.adam, held, [&] { step(x, y).item<float>(); });
}

}  // namespace

std::function<void()> cnn_b64_step() {
  const auto model = std::make_shared<const Cnn>();
  const rw::Tensor x = rw::random::uniform({kBatch, 28, 28, 1});
  const rw::Tensor y = rw::random::uniform({kBatch}, {.minval = 0, .maxval = 10, .dtype = rw::int64});
  const auto step = rw::function([model](rw::Tensor a, rw::Tensor b) { return model->step(a, b); });
  return [=] { step(x, y).item<float>(); };
}

std::vector<Workload> cnn_workloads() { return {{"cnn_b64", cnn_b64}}; }

}  // namespace bench
