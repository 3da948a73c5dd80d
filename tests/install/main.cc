#include <rewind/rewind.h>

#include <cstdio>

int main() {
  const rw::Variable w(3.0);
  rw::GradientTape tape;
  const rw::Tensor loss = w * w;
  const rw::Tensor g = tape.gradient(loss, w);
  std::printf("%g\n", g.item<float>());
  return g.item<float>() == 6.0f ? 0 : 1;
}
