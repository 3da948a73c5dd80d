#include "rewind/format/crc32c.h"

#include <array>
#include <cstring>

namespace rw::format {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78U;  // bits reversed

// A checksum is a linear function of its message: behind n more zero bytes it is a matrix over two elements
// times what it was. Column i is what bit i becomes.
using Matrix = std::array<uint32_t, 32>;

constexpr uint32_t times(const Matrix& m, uint32_t v) {
  uint32_t sum = 0;
  for (int i = 0; v != 0; v >>= 1, ++i)
    if (v & 1U) sum ^= m[size_t(i)];
  return sum;
}
constexpr Matrix squared(const Matrix& m) {
  Matrix square{};
  for (size_t i = 0; i < 32; ++i) square[i] = times(m, m[i]);
  return square;
}
// Matrices for 2^k zero bytes.
constexpr std::array<Matrix, 64> make_zero_powers() {
  Matrix bit{kPolynomial};
  for (size_t i = 1; i < 32; ++i) bit[i] = 1U << (i - 1);
  std::array<Matrix, 64> powers{};
  powers[0] = squared(squared(squared(bit)));
  for (size_t k = 1; k < 64; ++k) powers[k] = squared(powers[k - 1]);
  return powers;
}
constinit const std::array<Matrix, 64> kZeros = make_zero_powers();

uint32_t behind_zeros(uint32_t crc, uint64_t count) {
  for (size_t k = 0; count != 0; count >>= 1, ++k)
    if (count & 1U) crc = times(kZeros[k], crc);
  return crc;
}

// tables[j][b]: byte b followed by j zero bytes.
constexpr std::array<std::array<uint32_t, 256>, 8> make_tables() {
  std::array<std::array<uint32_t, 256>, 8> t{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1U) ? kPolynomial : 0U);
    t[0][b] = crc;
  }
  for (size_t b = 0; b < 256; ++b)
    for (size_t j = 1; j < 8; ++j) t[j][b] = (t[j - 1][b] >> 8) ^ t[0][t[j - 1][b] & 0xffU];
  return t;
}
constinit const auto kTables = make_tables();

uint64_t load(const unsigned char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

uint32_t by_tables(const unsigned char* p, size_t size, uint32_t crc) {
  for (; size >= 8; size -= 8, p += 8) {
    const uint64_t v = load(p) ^ crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(v >> (8 * i)) & 0xffU];
  }
  for (; size > 0; --size, ++p) crc = (crc >> 8) ^ kTables[0][(crc ^ *p) & 0xffU];
  return crc;
}

#if defined(__x86_64__)
// The processor's instruction takes three cycles and a new one can begin in each: three runs side by side.
[[gnu::target("sse4.2")]] uint32_t by_instruction(const unsigned char* p, size_t size, uint32_t crc32) {
  constexpr size_t kRun = 4096;
  uint64_t crc = crc32;
  static const Matrix behind_run = [] {
    Matrix m{};
    for (size_t i = 0; i < 32; ++i) m[i] = behind_zeros(1U << i, kRun);
    return m;
  }();
  for (; size >= 3 * kRun; size -= 3 * kRun, p += 3 * kRun) {
    uint64_t second = 0;
    uint64_t third = 0;
    for (size_t i = 0; i < kRun; i += 8) {
      crc = __builtin_ia32_crc32di(crc, load(p + i));
      second = __builtin_ia32_crc32di(second, load(p + kRun + i));
      third = __builtin_ia32_crc32di(third, load(p + 2 * kRun + i));
    }
    crc = times(behind_run, uint32_t(crc)) ^ second;
    crc = times(behind_run, uint32_t(crc)) ^ third;
  }
  for (; size >= 8; size -= 8, p += 8) crc = __builtin_ia32_crc32di(crc, load(p));
  crc32 = uint32_t(crc);
  for (; size > 0; --size, ++p) crc32 = __builtin_ia32_crc32qi(crc32, *p);
  return crc32;
}
#endif

}  // namespace

uint32_t crc32c(const void* data, size_t size, uint32_t before) {
  const auto* p = static_cast<const unsigned char*>(data);
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~by_instruction(p, size, ~before);
#endif
  return ~by_tables(p, size, ~before);
}

uint32_t crc32c_combine(uint32_t first, uint32_t second, uint64_t second_size) {
  return behind_zeros(first, second_size) ^ second;
}

}  // namespace rw::format
