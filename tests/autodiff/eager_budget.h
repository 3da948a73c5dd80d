// What tests of eager code under a memory budget share.
#pragma once

#include <cstring>

#include "rewind/rewind.h"

namespace rw {

struct Budget {
  explicit Budget(int64_t bytes) { memory::set_budget("CPU:0", bytes); }
  ~Budget() { memory::set_budget("CPU:0", 0); }
};

inline Tensor normal(std::vector<int64_t> shape, int64_t seed, int64_t which) {
  return random::stateless_normal(shape, constant(std::vector<int64_t>{seed, which}));
}

inline std::vector<float> bits(const Tensor& t) { return t.to_vector<float>(); }

inline bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// What is held now plus so much.
inline int64_t held_plus(int64_t bytes) {
  memory::trim();
  return memory::stats().reserved + bytes;
}

inline Tensor chain(Tensor x, const Tensor& y, int layers) {
  for (int i = 0; i < layers; ++i) x = x + sin(x * y) * 0.01f;
  return x;
}

struct Slopes {
  std::vector<float> value, dx;
};

inline Slopes run_chain(int layers, int64_t size = 8192) {
  const Tensor x = ones({size});
  const Tensor y = fill({size}, 0.5f);
  GradientTape tape;
  tape.watch(x);
  const Tensor z = chain(x, y, layers);
  Slopes s;
  s.dx = bits(tape.gradient(reduce_sum(z), x));
  s.value = bits(z);
  return s;
}

struct Spill {
  explicit Spill(int64_t bytes = 0, double speed = 1e15) {
    memory::set_spill("CPU:0", {.path = "/tmp", .bytes = bytes, .bytes_per_second = speed});
  }
  ~Spill() { memory::set_spill("CPU:0", {}); }
};

}  // namespace rw
