// From the start of the process to the first gradient through a matrix product.
#include "rewind/rewind.h"

int main() {
  const rw::Tensor x = rw::ones({4, 3});
  const rw::Variable w(rw::ones({3, 2}));
  rw::GradientTape tape;
  const rw::Tensor loss = rw::reduce_sum(rw::matmul(x, w));
  const rw::Tensor g = tape.gradient(loss, w);
  return g.data<float>()[0] == 4.f ? 0 : 1;
}
