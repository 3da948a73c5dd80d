// One training step of a 784-100-100-10 network on 100 images, with Adam.
#include "benchmarks/workload.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

struct Layer {
  rw::Variable w, b;
  Layer(int64_t in, int64_t out) : w(rw::random::normal({in, out}, {.stddev = 0.05})), b(rw::zeros({out})) {}
  rw::Tensor operator()(const rw::Tensor& x) const { return rw::matmul(x, w) + b; }
};

struct Adam {
  std::vector<rw::Variable> m, v;
  rw::Variable beta1_power{0.9f, {.trainable = false}}, beta2_power{0.999f, {.trainable = false}};
  explicit Adam(const std::vector<rw::Variable>& parameters) {
    for (const rw::Variable& p : parameters) {
      m.emplace_back(rw::zeros_like(p), rw::VariableOptions{.trainable = false});
      v.emplace_back(rw::zeros_like(p), rw::VariableOptions{.trainable = false});
    }
  }
  void apply(const std::vector<rw::Gradient>& grads, const std::vector<rw::Variable>& parameters) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      rw::raw_op("ResourceApplyAdam", {parameters[i].handle(), m[i].handle(), v[i].handle(), beta1_power,
                                       beta2_power, 1e-3f, 0.9f, 0.999f, 1e-7f, grads[i]});
    }
    beta1_power.assign(beta1_power * 0.9f);
    beta2_power.assign(beta2_power * 0.999f);
  }
};

void mnist_mlp() {
  const rw::Tensor x = rw::random::uniform({100, 28, 28});
  const rw::Tensor y = rw::random::uniform({100}, {.minval = 0, .maxval = 10, .dtype = rw::int64});
  const Layer first(784, 100), second(100, 100), third(100, 10);
  const std::vector<rw::Variable> parameters{first.w, first.b, second.w, second.b, third.w, third.b};
  Adam adam(parameters);
  const double us = median_us(20, 400, [&] {
    rw::GradientTape tape;
    const rw::Tensor h = rw::nn::relu(first(rw::reshape(x, {100, 784})));
    const rw::Tensor logits = third(rw::nn::relu(second(h)));
    const rw::Tensor loss = rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(y, logits));
    adam.apply(tape.gradient(loss, parameters), parameters);
    loss.item<float>();
  });
  say("mnist_mlp", "rewind", "eager", {{"ms", us / 1e3}});
}

}  // namespace

std::vector<Workload> mnist_workloads() { return {{"mnist_mlp", mnist_mlp}}; }

}  // namespace bench
