// Trains a small network on Fashion-MNIST with a tape: 784-100-100-10, Adam, batches of 100.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "rewind/data/named.h"
#include "rewind/rewind.h"

namespace {

struct Dense : rw::Module {
  rw::Variable w, b;
  Dense(int64_t in, int64_t out)
      : w(rw::random::truncated_normal({in, out}, {.stddev = 1 / std::sqrt(double(in))}), {.name = "w"}),
        b(rw::zeros({out}), {.name = "b"}) {}
  rw::Tensor operator()(const rw::Tensor& x) const { return rw::matmul(x, w) + b; }
  RW_TRACK(w, b)
};

struct Network : rw::Module {
  Dense first{784, 100}, second{100, 100}, third{100, 10};
  rw::Tensor operator()(const rw::Tensor& x) const {
    return third(rw::nn::relu(second(rw::nn::relu(first(x)))));
  }
  RW_TRACK(first, second, third)
};

class Adam {
 public:
  explicit Adam(const std::vector<rw::Variable>& parameters) : parameters_(parameters) {
    for (const rw::Variable& p : parameters) {
      m_.emplace_back(rw::zeros_like(p), rw::VariableOptions{.trainable = false});
      v_.emplace_back(rw::zeros_like(p), rw::VariableOptions{.trainable = false});
    }
  }
  void apply_gradients(const std::vector<rw::Gradient>& gradients) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      rw::raw_op("ResourceApplyAdam", {parameters_[i].handle(), m_[i].handle(), v_[i].handle(), beta1_power_,
                                       beta2_power_, 1e-3f, 0.9f, 0.999f, 1e-7f, gradients[i]});
    }
    beta1_power_ *= 0.9f;
    beta2_power_ *= 0.999f;
  }

 private:
  std::vector<rw::Variable> parameters_, m_, v_;
  float beta1_power_ = 0.9f, beta2_power_ = 0.999f;
};

double accuracy(const Network& network, const rw::Tensor& images, const rw::Tensor& labels) {
  const rw::Tensor hits = rw::argmax(network(images), 1) == labels;
  return rw::reduce_mean(rw::cast(hits, rw::float32)).item<float>();
}

int train(int epochs) {
  rw::random::set_seed(1);
  const rw::data::ImageClasses data = rw::data::load_fashion_mnist();
  const auto pixels = [](const rw::Tensor& t) {
    return rw::cast(rw::reshape(t, {-1, 784}), rw::float32) / 255.0;
  };
  const rw::Tensor test_images = pixels(data.test_images);
  const rw::Tensor test_labels = rw::cast(data.test_labels, rw::int64);

  Network network;
  const std::vector<rw::Variable> parameters = network.trainable_variables();
  Adam adam(parameters);
  constexpr int64_t kBatch = 100;
  const int64_t count = data.train_images.dim(0);
  const auto batches = rw::data::Dataset::from_tensor_slices(
                           std::tuple{pixels(data.train_images), rw::cast(data.train_labels, rw::int64)})
                           .shuffle(count, {.seed = 1})
                           .batch(kBatch);
  const int64_t steps = batches.cardinality();
  std::printf("training %lld-100-100-10 on %lld images, %d epochs of %lld steps\n", 784LL,
              static_cast<long long>(count), epochs, static_cast<long long>(steps));
  const auto start = std::chrono::steady_clock::now();
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double total = 0;
    int64_t step = 0;
    for (auto [x, y] : batches) {
      rw::GradientTape tape;
      const rw::Tensor loss =
          rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(y, network(x)));
      adam.apply_gradients(tape.gradient(loss, parameters));
      total += loss.item<float>();
      if (++step % 20 == 0 || step == steps) {
        std::printf("\repoch %2d  step %3lld/%lld  loss %.4f", epoch, static_cast<long long>(step),
                    static_cast<long long>(steps), total / double(step));
        std::fflush(stdout);
      }
    }
    std::printf("  test accuracy %.4f\n", accuracy(network, test_images, test_labels));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%.1f s, %.2f ms a step\n", seconds, seconds * 1e3 / double(epochs * steps));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return train(argc > 1 ? std::atoi(argv[1]) : 5);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
