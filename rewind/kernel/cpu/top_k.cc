// The k largest of each row, and whether a class is among them. Elements become unsigned keys in their order,
// with the position below them, so that one comparison of whole numbers decides: larger first, of equal ones
// the first in the row. NaN comes after everything else.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

template <class T>
auto key_of(T v) {
  if constexpr (is_float_element<T>) {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    using U = std::conditional_t<std::is_same_v<T, double>, uint64_t, uint32_t>;
    const C x = static_cast<C>(v);
    if (x != x) return U{0};
    const U bits = std::bit_cast<U>(x == 0 ? C(0) : x);
    constexpr U kSign = U{1} << (sizeof(U) * 8 - 1);
    return U(bits & kSign ? ~bits : bits | kSign);
  } else {
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    if constexpr (std::is_signed_v<T>) return U(U(std::make_signed_t<U>(v)) ^ (U{1} << (sizeof(U) * 8 - 1)));
    else return U(v);
  }
}

// Keys of 32 bits and positions of 32 bits fit one word.
struct WideKey {
  uint64_t key;
  uint32_t place;  // 2^32 - 1 - position
  bool operator>(const WideKey& o) const { return key != o.key ? key > o.key : place > o.place; }
};
template <class U>
auto packed(U key, int64_t position) {
  if constexpr (sizeof(U) == 4) return uint64_t(key) << 32 | uint32_t(~uint32_t(position));
  else return WideKey{key, ~uint32_t(position)};
}
int64_t position_of(uint64_t k) { return int64_t(uint32_t(~uint32_t(k))); }
int64_t position_of(const WideKey& k) { return int64_t(uint32_t(~k.place)); }

// Sorts words by their upper half, largest first, keeping the order of equal ones: three passes of counting
// by 11 bits. `other` has room for as many; the result is in `keys`.
void radix_sort(uint64_t* keys, uint64_t* other, int64_t n) {
  constexpr int kBits = 11;
  constexpr int kBuckets = 1 << kBits;
  for (int shift = 32; shift < 64; shift += kBits) {
    int64_t start[kBuckets + 1] = {};
    const auto bucket = [shift](uint64_t key) { return kBuckets - 1 - int((key >> shift) & (kBuckets - 1)); };
    for (int64_t i = 0; i < n; ++i) ++start[bucket(keys[i]) + 1];
    for (int b = 0; b < kBuckets; ++b) start[b + 1] += start[b];
    for (int64_t i = 0; i < n; ++i) other[start[bucket(keys[i])]++] = keys[i];
    std::swap(keys, other);
  }
  // An odd number of passes leaves the result in the other array.
  std::copy_n(keys, n, other);
}

// The k first of `n` keys in descending order, at the front of `room`, which holds 2 n. A small k keeps a
// heap whose top is the least of the best so far; most elements then cost one comparison.
template <class T, class Key>
void choose(const T* row, int64_t n, int64_t k, Key* room) {
  const std::greater<> before;
  if (k < n && k <= std::max<int64_t>(8, n / 16)) {
    for (int64_t i = 0; i < k; ++i) room[i] = packed(key_of(row[i]), i);
    std::make_heap(room, room + k, before);
    for (int64_t i = k; i < n; ++i) {
      const Key key = packed(key_of(row[i]), i);
      if (!(key > room[0])) continue;
      std::pop_heap(room, room + k, before);
      room[k - 1] = key;
      std::push_heap(room, room + k, before);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) room[i] = packed(key_of(row[i]), i);
    if constexpr (std::is_same_v<Key, uint64_t>) {
      if (n >= 2048 && k > n / 4) return radix_sort(room, room + n, n);
    }
    if (k < n) std::nth_element(room, room + k, room + n, before);
  }
  std::sort(room, room + k, before);
}

void store(const View& out, int64_t at, int64_t value) {
  switch (out.dtype) {
    case DType::kInt16: out.as<int16_t>()[at] = int16_t(value); break;
    case DType::kInt32: out.as<int32_t>()[at] = int32_t(value); break;
    default: out.as<int64_t>()[at] = value; break;
  }
}

void top_k(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& values = ctx.out(0);
  const View& places = ctx.out(1);
  const int64_t n = x.shape->back();
  const int64_t k = values.shape->back();
  if (n > int64_t(UINT32_MAX)) ctx.fail("rows of more than 2^32 - 1 elements are not taken");
  if (places.dtype == DType::kInt16 && n > std::numeric_limits<int16_t>::max() + int64_t{1})
    ctx.fail("positions do not fit int16; ask for another index_type");
  if (values.size == 0) return;
  const int64_t rows = x.size / n;
  const bool ok = dispatch<kRealTypes>(x.dtype, [&]<class T>() {
    using Key = decltype(packed(key_of(T{}), 0));
    const int64_t pieces = std::min<int64_t>(num_threads(), rows);
    Key* room = ctx.scratch<Key>(size_t(pieces * n * 2));
    const int64_t grain = x.size < 8192 ? pieces : 1;
    parallel_for(pieces, grain, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        for (int64_t r = rows * p / pieces; r < rows * (p + 1) / pieces; ++r) {
          const T* row = x.as<T>() + r * n;
          Key* keys = room + p * n * 2;
          choose(row, n, k, keys);
          for (int64_t i = 0; i < k; ++i) {
            const int64_t at = position_of(keys[i]);
            values.as<T>()[r * k + i] = row[at];
            store(places, r * k + i, at);
          }
        }
      }
    });
  });
  if (!ok) ctx.fail_dtype(x.dtype);
}

// True when fewer than k classes of the row are more probable than the target. Numbers that are not finite,
// and targets that are no class, make it false.
void in_top_k(KernelContext& ctx) {
  const View& predictions = ctx.in(0);
  const View& targets = ctx.in(1);
  int64_t k = 0;
  if (ctx.num_inputs() == 3)
    k = ctx.in(2).dtype == DType::kInt32 ? *ctx.in(2).as<int32_t>() : *ctx.in(2).as<int64_t>();
  else k = ctx.attr<int64_t>("k");
  const int64_t rows = targets.size;
  const int64_t classes = predictions.dim(1);
  bool* out = ctx.out(0).as<bool>();
  parallel_for(rows, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, classes)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const float* row = predictions.as<float>() + r * classes;
                   const int64_t target =
                       targets.dtype == DType::kInt32 ? targets.as<int32_t>()[r] : targets.as<int64_t>()[r];
                   out[r] = false;
                   if (target < 0 || target >= classes || !std::isfinite(row[target])) continue;
                   int64_t better = 0;
                   bool finite = true;
                   for (int64_t c = 0; c < classes; ++c) {
                     finite &= std::isfinite(row[c]);
                     better += row[c] > row[target];
                   }
                   out[r] = finite && better < k;
                 }
               });
}

}  // namespace

void register_top_k_cpu_kernels() {
  register_kernel("TopK", DeviceType::kCpu, top_k);
  register_kernel("TopKV2", DeviceType::kCpu, top_k);
  register_kernel("InTopK", DeviceType::kCpu, in_top_k);
  register_kernel("InTopKV2", DeviceType::kCpu, in_top_k);
}

}  // namespace rw
