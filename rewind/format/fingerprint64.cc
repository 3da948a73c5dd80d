#include "rewind/format/fingerprint64.h"

#include <bit>
#include <cstring>
#include <utility>

namespace rw::format {
namespace {

constexpr uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

uint64_t fetch64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
uint64_t fetch32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
uint64_t rotate(uint64_t v, int by) { return std::rotr(v, by); }
uint64_t mix(uint64_t v) { return v ^ (v >> 47); }

uint64_t hash16(uint64_t u, uint64_t v, uint64_t mul) {
  const uint64_t a = mix((u ^ v) * mul);
  return mix((v ^ a) * mul) * mul;
}

uint64_t up_to_16(const char* s, size_t n) {
  if (n >= 8) {
    const uint64_t mul = k2 + n * 2, a = fetch64(s) + k2, b = fetch64(s + n - 8);
    return hash16(rotate(b, 37) * mul + a, (rotate(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return hash16(n + (fetch32(s) << 3), fetch32(s + n - 4), k2 + n * 2);
  if (n == 0) return k2;
  const uint32_t a = uint8_t(s[0]), b = uint8_t(s[n >> 1]), c = uint8_t(s[n - 1]);
  const uint32_t y = a + (b << 8), z = uint32_t(n) + (c << 2);
  return mix(y * k2 ^ z * k0) * k2;
}

uint64_t up_to_32(const char* s, size_t n) {
  const uint64_t mul = k2 + n * 2;
  const uint64_t a = fetch64(s) * k1, b = fetch64(s + 8), c = fetch64(s + n - 8) * mul,
                 d = fetch64(s + n - 16) * k2;
  return hash16(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + k2, 18) + c, mul);
}

uint64_t up_to_64(const char* s, size_t n) {
  const uint64_t mul = k2 + n * 2;
  const uint64_t a = fetch64(s) * k2, b = fetch64(s + 8), c = fetch64(s + n - 8) * mul,
                 d = fetch64(s + n - 16) * k2;
  const uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d;
  const uint64_t z = hash16(y, a + rotate(b + k2, 18) + c, mul);
  const uint64_t e = fetch64(s + 16) * mul, f = fetch64(s + 24);
  const uint64_t g = (y + fetch64(s + n - 32)) * mul, h = (z + fetch64(s + n - 24)) * mul;
  return hash16(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, mul);
}

using Pair = std::pair<uint64_t, uint64_t>;
Pair weak32(const char* s, uint64_t a, uint64_t b) {
  const uint64_t w = fetch64(s), x = fetch64(s + 8), y = fetch64(s + 16), z = fetch64(s + 24);
  a += w;
  b = rotate(b + a + z, 21);
  const uint64_t c = a;
  a += x + y;
  b += rotate(a, 44);
  return {a + z, b + c};
}

}  // namespace

uint64_t fingerprint64(std::string_view bytes) {
  const char* s = bytes.data();
  const size_t n = bytes.size();
  if (n <= 16) return up_to_16(s, n);
  if (n <= 32) return up_to_32(s, n);
  if (n <= 64) return up_to_64(s, n);
  constexpr uint64_t kSeed = 81;
  uint64_t x = kSeed, y = kSeed * k1 + 113, z = mix(y * k2 + 113) * k2;
  Pair v{0, 0}, w{0, 0};
  x = x * k2 + fetch64(s);
  const char* const end = s + (n - 1) / 64 * 64;
  const char* const last = end + ((n - 1) & 63) - 63;
  do {
    x = rotate(x + y + v.first + fetch64(s + 8), 37) * k1;
    y = rotate(y + v.second + fetch64(s + 48), 42) * k1;
    x ^= w.second;
    y += v.first + fetch64(s + 40);
    z = rotate(z + w.first, 33) * k1;
    v = weak32(s, v.second * k1, x + w.first);
    w = weak32(s + 32, z + w.second, y + fetch64(s + 16));
    std::swap(z, x);
    s += 64;
  } while (s != end);
  const uint64_t mul = k1 + ((z & 0xff) << 1);
  s = last;
  w.first += (n - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  x = rotate(x + y + v.first + fetch64(s + 8), 37) * mul;
  y = rotate(y + v.second + fetch64(s + 48), 42) * mul;
  x ^= w.second * 9;
  y += v.first * 9 + fetch64(s + 40);
  z = rotate(z + w.first, 33) * mul;
  v = weak32(s, v.second * mul, x + w.first);
  w = weak32(s + 32, z + w.second, y + fetch64(s + 16));
  std::swap(z, x);
  return hash16(hash16(v.first, w.first, mul) + mix(y) * k0 + z, hash16(v.second, w.second, mul) + x, mul);
}

}  // namespace rw::format
