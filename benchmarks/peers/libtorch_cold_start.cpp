// From the start of the process to the first gradient through a matrix product, in libtorch.
#include <torch/torch.h>

int main() {
  auto x = torch::ones({4, 3});
  auto w = torch::ones({3, 2}, torch::requires_grad());
  torch::matmul(x, w).sum().backward();
  return w.grad()[0][0].item<float>() == 4.f ? 0 : 1;
}
