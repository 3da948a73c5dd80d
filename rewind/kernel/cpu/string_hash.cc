// Hashes of strings, in buckets: FarmHash's fingerprint, SipHash-2-4 with a key, and MurmurHash64A, which is
// TensorFlow's own. And the fingerprints themselves.
#include <bit>
#include <cstring>

#include "rewind/format/fingerprint64.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

uint64_t little_endian(const char* bytes, size_t count) {
  uint64_t v = 0;
  for (size_t i = 0; i < count; ++i) v |= uint64_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return v;
}

uint64_t murmur64(const std::string& s) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995, kSeed = 0xdecafcaffe;
  constexpr int kShift = 47;
  uint64_t h = kSeed ^ (s.size() * kMultiplier);
  const size_t whole = s.size() / 8 * 8;
  for (size_t at = 0; at < whole; at += 8) {
    uint64_t k = little_endian(s.data() + at, 8) * kMultiplier;
    k = (k ^ k >> kShift) * kMultiplier;
    h = (h ^ k) * kMultiplier;
  }
  if (whole < s.size()) h = (h ^ little_endian(s.data() + whole, s.size() - whole)) * kMultiplier;
  h = (h ^ h >> kShift) * kMultiplier;
  return h ^ h >> kShift;
}

class SipHash {
 public:
  SipHash(uint64_t k0, uint64_t k1)
      : v_{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
           k1 ^ 0x7465646279746573} {}
  uint64_t operator()(const std::string& s) const {
    SipHash h = *this;
    const size_t whole = s.size() / 8 * 8;
    for (size_t at = 0; at < whole; at += 8) h.take(little_endian(s.data() + at, 8));
    h.take(little_endian(s.data() + whole, s.size() - whole) | uint64_t(s.size()) << 56);
    h.v_[2] ^= 0xff;
    for (int i = 0; i < 4; ++i) h.round();
    return h.v_[0] ^ h.v_[1] ^ h.v_[2] ^ h.v_[3];
  }

 private:
  void take(uint64_t word) {
    v_[3] ^= word;
    round();
    round();
    v_[0] ^= word;
  }
  void round() {
    v_[0] += v_[1], v_[2] += v_[3];
    v_[1] = std::rotl(v_[1], 13) ^ v_[0], v_[3] = std::rotl(v_[3], 16) ^ v_[2];
    v_[0] = std::rotl(v_[0], 32);
    v_[2] += v_[1], v_[0] += v_[3];
    v_[1] = std::rotl(v_[1], 17) ^ v_[2], v_[3] = std::rotl(v_[3], 21) ^ v_[0];
    v_[2] = std::rotl(v_[2], 32);
  }
  uint64_t v_[4];
};

template <class Hash>
void buckets(KernelContext& ctx, Hash hash) {
  const auto count = uint64_t(ctx.attr<int64_t>("num_buckets"));
  for (int64_t i = 0; i < ctx.in(0).size; ++i)
    ctx.out(0).as<int64_t>()[i] = int64_t(hash(ctx.in(0).as<std::string>()[i]) % count);
}

void to_bucket(KernelContext& ctx) { buckets(ctx, murmur64); }
void to_bucket_fast(KernelContext& ctx) {
  buckets(ctx, [](const std::string& s) { return format::fingerprint64(s); });
}
void to_bucket_strong(KernelContext& ctx) {
  const auto key = ctx.attr<std::vector<int64_t>>("key");
  if (key.size() != 2) ctx.fail("key must be two numbers: got " + std::to_string(key.size()));
  buckets(ctx, SipHash(uint64_t(key[0]), uint64_t(key[1])));
}

// Of each data[i]: its bytes; of strings, the fingerprint of each, and of those where there are several.
void fingerprint(KernelContext& ctx) {
  const View& data = ctx.in(0);
  if (const std::string& method = *ctx.in(1).as<std::string>(); method != "farmhash64")
    ctx.fail("method must be 'farmhash64': got '" + method + "'");
  const int64_t rows = data.dim(0);
  if (rows == 0) return;
  const int64_t columns = data.size / rows;
  auto* out = ctx.out(0).as<char>();
  const auto put = [](char* to, uint64_t v) {
    for (int i = 0; i < 8; ++i) to[i] = char(v >> (8 * i));
  };
  const bool strings = data.dtype == DType::kString;
  if (!strings && is_host_only(data.dtype)) ctx.fail_dtype(data.dtype);
  std::string bytes;
  for (int64_t r = 0; r < rows; ++r) {
    std::string_view row;
    if (strings && columns == 1) {
      row = data.as<std::string>()[r];
    } else if (strings) {
      bytes.resize(size_t(columns) * 8);
      for (int64_t c = 0; c < columns; ++c)
        put(&bytes[size_t(c) * 8], format::fingerprint64(data.as<std::string>()[r * columns + c]));
      row = bytes;
    } else {
      const size_t size = size_t(columns) * size_of(data.dtype);
      row = {data.as<char>() + size_t(r) * size, size};
    }
    put(out + r * 8, format::fingerprint64(row));
  }
}

}  // namespace

void register_string_hash_cpu_kernels() {
  register_kernel("StringToHashBucket", DeviceType::kCpu, to_bucket);
  register_kernel("StringToHashBucketFast", DeviceType::kCpu, to_bucket_fast);
  register_kernel("StringToHashBucketStrong", DeviceType::kCpu, to_bucket_strong);
  register_kernel("Fingerprint", DeviceType::kCpu, fingerprint);
}

}  // namespace rw
