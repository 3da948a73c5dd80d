// Training through Keras layers: a step of the models of mnist_mlp, cnn_b64 and gpt_small, against the graphs
// written by hand, and what fit adds to a step with its data, a metric and a progress bar.
#include <functional>
#include <sstream>

#include "benchmarks/training.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

namespace keras = rw::keras;

keras::Sequential mlp() {
  return keras::Sequential({keras::Reshape({784}), keras::Dense(100, {.activation = "relu"}),
                            keras::Dense(100, {.activation = "relu"}), keras::Dense(10)});
}
keras::Sequential cnn() {
  return keras::Sequential({keras::Conv2D(32, 3, {.activation = "relu"}),
                            keras::Conv2D(64, 3, {.activation = "relu"}), keras::MaxPooling2D(),
                            keras::Flatten(), keras::Dense(128, {.activation = "relu"}), keras::Dense(10)});
}

// gpt_small as a model of layers: 256 tokens, width 384, 6 blocks of 6 heads, tokens read and guessed by one
// table.
struct Gpt : keras::Model {
  static constexpr int64_t kWords = 256, kTokens = 256, kWidth = 384, kHeads = 6;
  struct Block : keras::LayerOf<Block> {
    keras::LayerNormalization norm1{{.epsilon = 1e-5}}, norm2{{.epsilon = 1e-5}};
    keras::MultiHeadAttention attention{kHeads, kWidth / kHeads};
    keras::Dense wide{4 * kWidth, {.activation = [](const rw::Tensor& x) { return rw::nn::gelu(x, true); }}};
    keras::Dense narrow{kWidth};
    rw::Tensor call(const rw::Tensor& x, const keras::CallArgs&) override {
      const rw::Tensor normed = norm1(x);
      const rw::Tensor y = x + attention({normed, normed}, {.use_causal_mask = true});
      return y + narrow(wide(norm2(y)));
    }
    RW_TRACK(norm1, attention, norm2, wide, narrow)
  };
  keras::Embedding words{kWords, kWidth}, places{kTokens, kWidth};
  std::vector<Block> blocks = std::vector<Block>(6);
  keras::LayerNormalization norm{{.epsilon = 1e-5}};

  rw::Tensor call(const rw::Tensor& tokens, const keras::CallArgs&) override {
    rw::Tensor x = words(tokens) + places(rw::range(kTokens));
    for (const Block& b : blocks) x = b(x);
    return rw::matmul(norm(x), words.embeddings(), {.transpose_b = true});
  }
  RW_TRACK(words, places, blocks, norm)
};

// The bare step: forward, gradients, Adam.
template <class Model>
class Step {
 public:
  Step(Model model, rw::Tensor x, rw::Tensor y)
      : model_(std::move(model)), x_(std::move(x)), y_(std::move(y)) {}
  // Images of ten classes.
  Step(Model model, const rw::Shape& input)
      : Step(std::move(model), rw::random::uniform(input),
             rw::random::uniform({input[0]}, {.maxval = 10, .dtype = rw::int64})) {}
  void operator()() { function_(x_, y_).item<float>(); }

 private:
  rw::Tensor step(const rw::Tensor& x, const rw::Tensor& y) const {
    rw::GradientTape tape;
    const rw::Tensor loss = loss_of_(y, model_(x, {.training = true}));
    const auto weights = model_.trainable_variables();
    adam_.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  }
  Model model_;
  rw::Tensor x_, y_;
  keras::Adam adam_;
  keras::SparseCategoricalCrossentropy loss_of_{
      keras::SparseCategoricalCrossentropyOptions{.from_logits = true}};
  std::function<rw::Tensor(const rw::Tensor&, const rw::Tensor&)> function_ =
      rw::function([this](const rw::Tensor& x, const rw::Tensor& y) { return step(x, y); });
};

double median_of(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + long(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// Both by turns, as means over 200 steps, so that they see the same machine.
void keras_mnist() {
  constexpr int kSteps = 200, kRounds = 15;
  const rw::Tensor x = rw::random::uniform({100 * kSteps, 28, 28});
  const rw::Tensor y = rw::random::uniform({100 * kSteps}, {.maxval = 10, .dtype = rw::int64});
  Step step(mlp(), {100, 28, 28});
  auto model = mlp();
  model.compile({.optimizer = "adam",
                 .loss = keras::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  std::ostringstream drawn;
  std::vector<double> bare, fit;
  for (int round = 0; round <= kRounds; ++round) {
    const double start = now_us();
    for (int i = 0; i < kSteps; ++i) step();
    const double middle = now_us();
    model.fit(x, y,
              {.batch_size = 100, .callbacks = {keras::ProgressBar({.output = &drawn, .terminal = true})}});
    const double end = now_us();
    if (round == 0) continue;  // traces and compiles
    bare.push_back((middle - start) / kSteps / 1e3);
    fit.push_back((end - middle) / kSteps / 1e3);
  }
  say("keras_mnist", "rewind", "step", {{"ms", median_of(bare)}});
  say("keras_mnist", "rewind", "fit",
      {{"ms", median_of(fit)}, {"more_ms", median_of(fit) - median_of(bare)}});
}

// A step through layers and the graph by hand, by turns.
void compare(const char* work, int rounds, const std::function<void()>& layers,
             const std::function<void()>& by_hand) {
  std::vector<double> ours, hand;
  for (int i = -2; i < rounds; ++i) {
    const double start = now_us();
    layers();
    const double middle = now_us();
    by_hand();
    const double end = now_us();
    if (i < 0) continue;
    ours.push_back((middle - start) / 1e3);
    hand.push_back((end - middle) / 1e3);
  }
  const double a = median_of(ours), b = median_of(hand);
  say(work, "rewind", "step", {{"ms", a}, {"by_hand_ms", b}, {"more_percent", (a / b - 1) * 100}});
}

void keras_cnn() {
  Step step(cnn(), {64, 28, 28, 1});
  compare("keras_cnn", 101, [&] { step(); }, cnn_b64_step());
}

void keras_gpt_small() {
  const rw::random::UniformOptions token{.minval = 0, .maxval = int32_t(Gpt::kWords), .dtype = rw::int32};
  Step step(Gpt(), rw::random::uniform({4, Gpt::kTokens}, token),
            rw::random::uniform({4, Gpt::kTokens}, token));
  compare("keras_gpt_small", 15, [&] { step(); }, gpt_small_step());
}

}  // namespace

std::vector<Workload> keras_workloads() {
  return {{"keras_mnist", keras_mnist}, {"keras_cnn", keras_cnn}, {"keras_gpt_small", keras_gpt_small}};
}

}  // namespace bench
