// Pipelines alone, and the whole training loop of seed 002 in one function with its data.
#include "benchmarks/training.h"
#include "rewind/data/named.h"

namespace bench {
namespace {

struct Loaded {
  rw::Tensor images, labels, test_images, test_labels;
  Loaded() {
    const rw::data::ImageClasses d = rw::data::load_fashion_mnist();
    images = rw::cast(d.train_images, rw::float32) / 255.0;
    labels = rw::cast(d.train_labels, rw::int64);
    test_images = rw::cast(d.test_images, rw::float32) / 255.0;
    test_labels = rw::cast(d.test_labels, rw::int64);
  }
};

// One epoch of 60,000 images: shuffle, batches of 100, prefetch.
RW_DO_NOT_CONVERT void data_pipeline() {
  const Loaded d;
  const auto ds = rw::data::Dataset::from_tensor_slices(std::tuple{d.images, d.labels})
                      .shuffle(60000)
                      .batch(100)
                      .prefetch(2);
  int64_t seen = 0;
  const double us = median_us(2, 9, [&] {
    seen = 0;
    for (auto [x, y] : ds) seen += x.dim(0);
  });
  say("data_pipeline", "rewind", "", {{"samples_per_s", double(seen) / us * 1e6}, {"ms", us / 1e3}});
}

struct Layer {
  rw::Variable w, b;
  Layer(int64_t in, int64_t out) : w(rw::random::normal({in, out}, {.stddev = 0.05})), b(rw::zeros({out})) {}
  rw::Tensor operator()(const rw::Tensor& x) const { return rw::matmul(x, w) + b; }
};

struct Trained {
  Layer first{784, 100}, second{100, 100}, third{100, 10};
  Adam adam{{first.w, first.b, second.w, second.b, third.w, third.b}};
  rw::Variable hits{0.0f, {.trainable = false}}, count{0.0f, {.trainable = false}};

  rw::Tensor logits(const rw::Tensor& x) const {
    const rw::Tensor h = rw::nn::relu(first(rw::reshape(x, {-1, 784})));
    return third(rw::nn::relu(second(h)));
  }
  rw::Tensor step(const rw::Tensor& x, const rw::Tensor& y) const {
    rw::GradientTape tape;
    const rw::Tensor z = logits(x);
    const rw::Tensor loss = rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(y, z));
    adam.apply(tape.gradient(loss, adam.parameters));
    hits.assign_add(rw::reduce_sum(rw::cast(rw::argmax(z, 1) == y, rw::float32)));
    count.assign_add(100.0f);
    return loss;
  }
};

void mnist_in_graph() {
  const Loaded d;
  const auto ds = rw::data::Dataset::from_tensor_slices(std::tuple{d.images, d.labels})
                      .take(20000)
                      .shuffle(20000)
                      .batch(100)
                      .repeat()
                      .prefetch(2);
  const Trained model;
  const auto measure = [&](const char* form, const auto& train) {
    double start = now_us();
    train().template item<float>();
    const double first = (now_us() - start) / 1e6;
    const double s = median_us(0, 3, [&] { train().template item<float>(); }) / 1e6;
    const rw::Tensor right = rw::argmax(model.logits(d.test_images), 1) == d.test_labels;
    const double accuracy = rw::reduce_mean(rw::cast(right, rw::float32)).item<float>();
    say("mnist_in_graph_1000_steps", "rewind", form,
        {{"s", s}, {"first_call_s", first}, {"test_acc", accuracy}});
  };
#ifdef BENCH_AUTOGRAPH
  measure("", rw::function([&] {
            rw::Tensor loss = 0.0;
            for (auto [x, y] : ds.take(1000)) loss = model.step(x, y);
            return loss;
          }));
#endif
  measure("by hand", rw::function([&] {
            return rw::for_each(ds.take(1000), rw::constant(0.0f),
                                [&](rw::Tensor, rw::Tensor x, rw::Tensor y) { return model.step(x, y); });
          }));
}

}  // namespace

std::vector<Workload> data_workloads() {
  return {{"data_pipeline", data_pipeline}, {"mnist_in_graph_1000_steps", mnist_in_graph}};
}

}  // namespace bench
