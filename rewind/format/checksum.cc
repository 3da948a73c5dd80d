#include "rewind/format/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace rw::format {
namespace {

constexpr uint64_t kOdd = 0xD6E8FEB86659FD93u;
constexpr size_t kLanes = 4;  // chains of multiplications that do not wait for each other

// A bijection of `state` for every word, and of the word for every state: no single change is lost.
uint64_t mixed(uint64_t state, uint64_t word) { return std::rotl((state ^ word) * kOdd, 29); }

}  // namespace

void Checksum::mix(uint64_t word) { state_ = mixed(state_, word); }

void Checksum::add(const void* data, size_t size) {
  const auto* at = static_cast<const unsigned char*>(data);
  mix(size);
  uint64_t lanes[kLanes] = {state_, state_ + 1, state_ + 2, state_ + 3};
  size_t left = size;
  for (; left >= sizeof(lanes); at += sizeof(lanes), left -= sizeof(lanes)) {
    uint64_t words[kLanes];
    std::memcpy(words, at, sizeof(words));
    for (size_t k = 0; k < kLanes; ++k) lanes[k] = mixed(lanes[k], words[k]);
  }
  for (const uint64_t lane : lanes) mix(lane);
  while (left > 0) {
    uint64_t word = 0;
    const size_t n = std::min(left, sizeof(word));
    std::memcpy(&word, at, n);
    mix(word);
    at += n;
    left -= n;
  }
  state_ ^= state_ >> 32;
}

}  // namespace rw::format
