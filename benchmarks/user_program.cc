#include <cstdio>

#include <rewind/rewind.h>

int main() {
  rw::random::set_seed(1);
  const rw::Tensor x = rw::random::normal({64, 3});
  const rw::Tensor truth = rw::constant({{1.0}, {-2.0}, {0.5}});
  const rw::Tensor y = rw::matmul(x, truth);
  const rw::Variable w(rw::zeros({3, 1}));
  for (int step = 0; step < 100; ++step) {
    rw::GradientTape tape;
    const rw::Tensor loss = rw::reduce_mean(rw::square(rw::matmul(x, w) - y));
    const rw::Tensor g = tape.gradient(loss, w);
    w.assign_sub(g * 0.1);
    if (step % 20 == 0) std::printf("step %d loss %.4f\n", step, loss.item<float>());
  }
  std::printf("%s\n", w.value().to_string().c_str());
}
