#include "rewind/kernel/random_streams.h"

#include <map>
#include <mutex>
#include <random>
#include <string>
#include <tuple>

namespace rw {
namespace {

using Name = std::tuple<std::string, DType, int64_t, int64_t>;

struct Streams {
  std::mutex mutex;
  std::map<Name, RandomStream> by_seed;
  RandomStream own;

  Streams() {
    std::random_device device;
    auto word = [&] { return uint64_t(device()) << 32 | device(); };
    own.key = word();
    own.high = word();
  }
};

Streams& streams() {
  static auto* all = new Streams;
  return *all;
}

}  // namespace

RandomStream reserve_random(std::string_view op, DType dtype, int64_t seed, int64_t seed2, uint64_t blocks) {
  Streams& s = streams();
  const std::lock_guard lock(s.mutex);
  RandomStream* stream = &s.own;
  if (seed != 0 || seed2 != 0) {
    const auto [at, fresh] = s.by_seed.try_emplace(Name(op, dtype, seed, seed2));
    stream = &at->second;
    if (fresh) *stream = {uint64_t(seed), 0, uint64_t(seed2)};
  }
  const RandomStream now = *stream;
  stream->low += blocks;
  stream->high += stream->low < blocks;
  return now;
}

void forget_random(std::string_view op, DType dtype, int64_t seed, int64_t seed2) {
  Streams& s = streams();
  const std::lock_guard lock(s.mutex);
  s.by_seed.erase(Name(op, dtype, seed, seed2));
}

void forget_all_random() {
  Streams& s = streams();
  const std::lock_guard lock(s.mutex);
  s.by_seed.clear();
}

}  // namespace rw
