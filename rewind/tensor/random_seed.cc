#include "rewind/tensor/random_seed.h"

#include <array>
#include <mutex>
#include <vector>

#include "rewind/kernel/random_streams.h"
#include "rewind/tensor/effect_log.h"

namespace rw {
namespace {

constexpr int64_t kMaxInt32 = 0x7fffffff;
constexpr int64_t kSeedOfUnseededGraphs = 87654321;

// The Mersenne twister of Matsumoto and Nishimura, seeded by a number as Python's random.Random seeds it:
// TensorFlow takes the ops' seeds from there.
class Twister {
 public:
  explicit Twister(int64_t seed) {
    const uint64_t size = seed < 0 ? uint64_t(0) - uint64_t(seed) : uint64_t(seed);
    std::vector<uint32_t> key{uint32_t(size)};
    if (size >> 32) key.push_back(uint32_t(size >> 32));
    state_[0] = 19650218;
    for (uint32_t i = 1; i < kSize; ++i)
      state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
    uint32_t i = 1;
    uint32_t j = 0;
    auto advance = [&] {
      if (++i < kSize) return;
      state_[0] = state_[kSize - 1];
      i = 1;
    };
    for (uint32_t k = kSize; k > 0; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key[j] + j;
      j = (j + 1) % uint32_t(key.size());
      advance();
    }
    for (uint32_t k = kSize - 1; k > 0; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) - i;
      advance();
    }
    state_[0] = 0x80000000u;
  }

  uint32_t word() {
    if (at_ == kSize) refill();
    uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  // randint(0, 2^31 - 1).
  int64_t integer() {
    for (;;)
      if (const uint32_t w = word(); w <= uint32_t(kMaxInt32)) return w;
  }

 private:
  static constexpr uint32_t kSize = 624;
  void refill() {
    for (uint32_t i = 0; i < kSize; ++i) {
      const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
      state_[i] = state_[(i + 397) % kSize] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0u);
    }
    at_ = 0;
  }
  std::array<uint32_t, kSize> state_;
  uint32_t at_ = kSize;
};

struct GlobalSeed {
  std::mutex mutex;
  std::optional<int64_t> seed;
  std::optional<Twister> op_seeds;
};

GlobalSeed& global_seed() {
  static auto* g = new GlobalSeed;
  return *g;
}

int64_t truncated(int64_t seed) { return ((seed % kMaxInt32) + kMaxInt32) % kMaxInt32; }

}  // namespace

void set_global_seed(std::optional<int64_t> seed) {
  GlobalSeed& g = global_seed();
  const std::lock_guard lock(g.mutex);
  g.seed = seed;
  g.op_seeds.reset();
  if (seed) g.op_seeds.emplace(*seed);
  forget_all_random();
}

static OpSeeds take_op_seeds(std::optional<int64_t> op_seed) {
  GlobalSeed& g = global_seed();
  const std::lock_guard lock(g.mutex);
  OpSeeds seeds;
  if (g.seed) {
    seeds = {truncated(*g.seed), truncated(op_seed ? *op_seed : g.op_seeds->integer()), !op_seed};
  } else if (op_seed) {
    seeds = {kSeedOfUnseededGraphs, truncated(*op_seed), false};
  } else {
    return seeds;
  }
  if (seeds.seed == 0 && seeds.seed2 == 0) seeds.seed2 = kMaxInt32;
  return seeds;
}

OpSeeds next_op_seeds(std::optional<int64_t> op_seed) {
  return happens_once([&] { return take_op_seeds(op_seed); });
}

SeedMark::SeedMark() {
  GlobalSeed& g = global_seed();
  const std::lock_guard lock(g.mutex);
  if (g.op_seeds) place_ = std::make_shared<const Twister>(*g.op_seeds);
}
void SeedMark::go_back() const {
  GlobalSeed& g = global_seed();
  const std::lock_guard lock(g.mutex);
  if (place_) g.op_seeds = *static_cast<const Twister*>(place_.get());
}

}  // namespace rw
