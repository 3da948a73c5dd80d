// Models that train inside budgets: a ResNet-50 (8 images of 128 x 128), a U-Net (4 of 128 x 128, 32 channels
// at the top), and an LSTM of 200 steps (batch 32, 256 units) as a plain loop of C++.
#include <cmath>

#include "benchmarks/budget.h"

namespace bench {
namespace {

using rw::Tensor;
using rw::Variable;

struct ConvNorm : rw::Module {
  Variable filter, scale, offset, mean, variance;
  int64_t stride;

  ConvNorm(int64_t size, int64_t in, int64_t out, int64_t stride = 1)
      : Module("conv_norm"),
        filter(
            rw::random::normal({size, size, in, out}, {.stddev = std::sqrt(2.0 / double(size * size * in))})),
        scale(rw::ones({out})),
        offset(rw::zeros({out})),
        mean(rw::zeros({out}), {.trainable = false}),
        variance(rw::ones({out}), {.trainable = false}),
        stride(stride) {}
  Tensor operator()(const Tensor& x) const {
    const auto n = rw::nn::fused_batch_norm(rw::nn::conv2d(x, filter, stride, "SAME"), scale, offset);
    mean.assign(mean * 0.9f + n.batch_mean * 0.1f);
    variance.assign(variance * 0.9f + n.batch_variance * 0.1f);
    return n.y;
  }
  RW_TRACK(filter, scale, offset, mean, variance)
};

struct Bottleneck : rw::Module {
  ConvNorm narrow, middle, wide;
  std::optional<ConvNorm> shortcut;

  Bottleneck(int64_t in, int64_t width, int64_t stride)
      : Module("bottleneck"),
        narrow(1, in, width),
        middle(3, width, width, stride),
        wide(1, width, 4 * width) {
    if (in != 4 * width || stride != 1) shortcut.emplace(1, in, 4 * width, stride);
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor y = wide(rw::nn::relu(middle(rw::nn::relu(narrow(x)))));
    return rw::nn::relu(y + (shortcut ? (*shortcut)(x) : x));
  }
  RW_TRACK(narrow, middle, wide, shortcut)
};

struct ResNet50 : rw::Module {
  ConvNorm stem{7, 3, 64, 2};
  std::vector<std::unique_ptr<Bottleneck>> blocks;
  Variable w, b;

  ResNet50()
      : Module("resnet50"), w(rw::random::normal({2048, 1000}, {.stddev = 0.01})), b(rw::zeros({1000})) {
    int64_t in = 64;
    for (const auto& [width, count] : {std::pair{64, 3}, {128, 4}, {256, 6}, {512, 3}}) {
      for (int i = 0; i < count; ++i) {
        blocks.push_back(std::make_unique<Bottleneck>(in, width, i == 0 && width > 64 ? 2 : 1));
        in = 4 * width;
      }
    }
  }
  Tensor loss(const Tensor& x, const Tensor& y) const {
    Tensor h = rw::nn::max_pool(rw::nn::relu(stem(x)), 3, 2, "SAME");
    for (const auto& block : blocks) h = (*block)(h);
    const Tensor logits = rw::matmul(rw::reduce_mean(h, {1, 2}), w) + b;
    return rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(y, logits));
  }
  RW_TRACK(stem, blocks, w, b)
};

struct UNet : rw::Module {
  static constexpr int kLevels = 4;
  static constexpr int64_t kTop = 32;
  std::vector<std::unique_ptr<ConvNorm>> down, up;
  std::vector<Variable> widen;  // filters of the transposed convolutions
  Variable last;

  UNet() : Module("unet"), last(rw::random::normal({1, 1, kTop, 2}, {.stddev = 0.1})) {
    int64_t in = 3;
    for (int level = 0; level <= kLevels; ++level) {
      const int64_t width = kTop << level;
      down.push_back(std::make_unique<ConvNorm>(3, in, width));
      down.push_back(std::make_unique<ConvNorm>(3, width, width));
      in = width;
    }
    for (int level = kLevels; level-- > 0;) {
      const int64_t width = kTop << level;
      widen.emplace_back(rw::random::normal({2, 2, width, 2 * width}, {.stddev = 0.05}));
      up.push_back(std::make_unique<ConvNorm>(3, 2 * width, width));
      up.push_back(std::make_unique<ConvNorm>(3, width, width));
    }
  }
  Tensor loss(const Tensor& x, const Tensor& y) const {
    std::vector<Tensor> across;
    Tensor h = x;
    for (size_t level = 0; level <= kLevels; ++level) {
      if (level > 0) h = rw::nn::max_pool(h, 2, 2, "VALID");
      for (size_t k = 0; k < 2; ++k) h = rw::nn::relu((*down[2 * level + k])(h));
      across.push_back(h);
    }
    for (size_t i = 0; i < kLevels; ++i) {
      const Tensor& beside = across[kLevels - 1 - i];
      const std::vector<int32_t> sizes{int32_t(beside.dim(0)), int32_t(beside.dim(1)), int32_t(beside.dim(2)),
                                       int32_t(beside.dim(3))};
      h = rw::concat({beside, rw::nn::conv2d_transpose(h, widen[i], rw::constant(sizes), 2)}, -1);
      for (size_t k = 0; k < 2; ++k) h = rw::nn::relu((*up[2 * i + k])(h));
    }
    const Tensor logits = rw::nn::conv2d(h, last, 1, "SAME");
    return rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(y, logits));
  }
  RW_TRACK(down, up, widen, last)
};

struct Lstm : rw::Module {
  static constexpr int64_t kBatch = 32, kUnits = 256, kSteps = 200;
  Variable input, state, bias, out;

  Lstm()
      : Module("lstm"),
        input(rw::random::normal({kUnits, 4 * kUnits}, {.stddev = 0.05})),
        state(rw::random::normal({kUnits, 4 * kUnits}, {.stddev = 0.05})),
        bias(rw::zeros({4 * kUnits})),
        out(rw::random::normal({kUnits, 16}, {.stddev = 0.05})) {}
  // x: (steps, batch, units)
  Tensor loss(const Tensor& x, const Tensor& y) const {
    Tensor h = rw::zeros({kBatch, kUnits});
    Tensor c = h;
    for (int64_t t = 0; t < kSteps; ++t) {
      const std::vector<Tensor> gates =
          rw::split(rw::matmul(x[t], input) + rw::matmul(h, state) + bias, 4, 1);
      c = rw::math::sigmoid(gates[1]) * c + rw::math::sigmoid(gates[0]) * rw::math::tanh(gates[2]);
      h = rw::math::sigmoid(gates[3]) * rw::math::tanh(c);
    }
    return rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(y, rw::matmul(h, out)));
  }
  RW_TRACK(input, state, bias, out)
};

template <class M>
struct Trained {
  M model;
  Adam adam{model.trainable_variables(), 1e-4f};

  Tensor train(const Tensor& x, const Tensor& y) const {
    rw::GradientTape tape;
    const Tensor loss = model.loss(x, y);
    adam.apply(tape.gradient(loss, adam.parameters));
    return loss;
  }
};

template <class M>
MakeSession session(std::vector<int64_t> input, std::vector<int64_t> labels, int64_t classes) {
  return [=](int64_t budget) {
    const Tensor x = rw::random::normal(input);
    const Tensor y =
        rw::random::uniform(labels, {.minval = 0, .maxval = double(classes), .dtype = rw::int64});
    return session_of(std::make_shared<Trained<M>>(), budget, std::pair{x, y});
  };
}

}  // namespace

std::vector<Workload> budget_workloads() {
  return {
      {"resnet50_budget",
       [] { run_in_budgets("resnet50_budget", session<ResNet50>({8, 128, 128, 3}, {8}, 1000), {50, 30}); }},
      {"unet_budget",
       [] { run_in_budgets("unet_budget", session<UNet>({4, 128, 128, 3}, {4, 128, 128}, 2), {50, 30}); }},
      {"lstm_budget",
       [] { run_in_budgets("lstm_budget", session<Lstm>({Lstm::kSteps, 32, 256}, {32}, 16), {50}, 25); }}};
}

}  // namespace bench
