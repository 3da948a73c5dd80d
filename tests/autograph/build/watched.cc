// Stops, counts and errors are at the lines that are marked.
#include <rewind/rewind.h>

#include <cstdio>

rw::Tensor watched(rw::Tensor x, int big) {
  int factor = 2;
  if (x > 0) {
    int sum = big + factor;  // stop
    x = x * sum;
  } else {
    x = x - 1;  // never
  }
  for (rw::Tensor i = 0; i < 3; i += 1) {
    if (i == 1) continue;
    x = x + 1;  // twice
  }
  return x;
}

int main() {
  rw::run_functions_eagerly(true);
  const auto f = rw::function([](rw::Tensor x) { return watched(x, 2147483647); });
  std::printf("%g\n", f(rw::constant(3.0)).item<float>());
}
