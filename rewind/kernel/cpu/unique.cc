// Distinct elements in the order of their first appearance, by an open hash table of their numbers.
#include <algorithm>
#include <bit>
#include <string_view>

#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/indexing.h"

namespace rw {
namespace {

constexpr DTypeSet kTypes = kRealTypes | set_of(DType::kString);

// Bools are compared as the bytes they are: memory of others may hold more than 0 and 1.
DType as_bytes(DType dtype) { return dtype == DType::kBool ? DType::kUint8 : dtype; }

uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 32);
}

// Equal elements hash alike: both zeros do. NaN equals nothing, itself included, so any hash will do; by its
// place, many of them do not collide.
template <class T>
uint64_t hash_of(const T& v) {
  if constexpr (std::is_same_v<T, std::string>) {
    return mix(std::hash<std::string_view>()(v));
  } else if constexpr (is_float_element<T>) {
    const double d = static_cast<double>(static_cast<Compute<T>>(v));
    if (d != d) return mix(reinterpret_cast<uintptr_t>(&v));
    return mix(std::bit_cast<uint64_t>(d == 0 ? 0.0 : d));
  } else {
    return mix(uint64_t(v));
  }
}

template <class T>
bool equal(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::string>) return a == b;
  else return static_cast<Compute<T>>(a) == static_cast<Compute<T>>(b);
}

// Finds or adds item numbers; `same(i, j)` compares items that the caller knows by number.
class Numbers {
 public:
  explicit Numbers(KernelContext& ctx) : ctx_(ctx) { resize(1024); }
  // The item that equals `item`, or `item` itself, which is then known when `add` is set.
  template <class Same>
  int64_t find(int64_t item, uint64_t hash, bool add, Same same) {
    for (uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
      if (slots_[at].item < 0) {
        if (add) {
          slots_[at] = {hash, item};
          if (++used_ * 2 > mask_) grow();
        }
        return item;
      }
      if (slots_[at].hash == hash && same(slots_[at].item, item)) return slots_[at].item;
    }
  }

 private:
  struct Slot {
    uint64_t hash;
    int64_t item;  // -1: free
  };
  void resize(uint64_t size) {
    mask_ = size - 1;
    slots_ = ctx_.scratch<Slot>(size_t(size));
    std::fill_n(slots_, size, Slot{0, -1});
  }
  void grow() {
    const Slot* old = slots_;
    const uint64_t size = mask_ + 1;
    resize(size * 4);
    for (const Slot* s = old; s != old + size; ++s) {
      if (s->item < 0) continue;
      uint64_t at = s->hash & mask_;
      while (slots_[at].item >= 0) at = (at + 1) & mask_;
      slots_[at] = *s;
    }
  }

  KernelContext& ctx_;
  uint64_t mask_ = 0;
  uint64_t used_ = 0;
  Slot* slots_ = nullptr;
};

void store(const View& out, int64_t at, int64_t value) {
  if (out.dtype == DType::kInt32) out.as<int32_t>()[at] = int32_t(value);
  else out.as<int64_t>()[at] = value;
}

// x seen as (outer, length, inner); item i is x[:, i, :].
void unique(KernelContext& ctx) {
  const View& x = ctx.in(0);
  int axis = 0;
  if (ctx.num_inputs() == 2 && ctx.in(1).size == 1) {
    const View& a = ctx.in(1);
    axis = int(a.dtype == DType::kInt32 ? *a.as<int32_t>() : *a.as<int64_t>());
    if (axis < 0) axis += x.rank();
  }
  int64_t outer = 1;
  int64_t inner = 1;
  for (int d = 0; d < axis; ++d) outer *= x.dim(d);
  for (int d = axis + 1; d < x.rank(); ++d) inner *= x.dim(d);
  const int64_t length = x.dim(axis);
  if (ctx.out(1).dtype == DType::kInt32 && length > INT32_MAX)
    ctx.fail("positions do not fit int32; ask for out_idx int64");

  const bool ok = dispatch<kTypes>(as_bytes(x.dtype), [&]<class T>() {
    const T* value = x.as<T>();
    auto each = [&](int64_t i, auto&& f) {
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t k = 0; k < inner; ++k)
          if (!f((o * length + i) * inner + k)) return false;
      return true;
    };
    Numbers table(ctx);
    int64_t* first = ctx.scratch<int64_t>(size_t(length));   // item that a distinct one appeared as
    int64_t* number = ctx.scratch<int64_t>(size_t(length));  // of the item's distinct one
    int64_t count = 0;
    for (int64_t i = 0; i < length; ++i) {
      uint64_t hash = 0;
      each(i, [&](int64_t at) {
        hash = mix(hash + hash_of(value[at]));
        return true;
      });
      const int64_t found = table.find(i, hash, true, [&](int64_t a, int64_t b) {
        const int64_t shift = (b - a) * inner;
        return each(a, [&](int64_t at) { return equal(value[at], value[at + shift]); });
      });
      if (found == i) {
        number[i] = count;
        first[count++] = i;
      } else {
        number[i] = number[found];
      }
      store(ctx.out(1), i, number[i]);
    }
    Shape shape = *x.shape;
    shape.set(axis, count);
    T* y = ctx.allocate_output(0, std::move(shape)).as<T>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < count; ++k)
        std::copy_n(value + (o * length + first[k]) * inner, inner, y + (o * count + k) * inner);
    if (ctx.num_outputs() < 3) return;
    int64_t* sizes = first;
    std::fill_n(sizes, count, 0);
    for (int64_t i = 0; i < length; ++i) ++sizes[number[i]];
    const View& counts = ctx.allocate_output(2, {count});
    for (int64_t k = 0; k < count; ++k) store(counts, k, sizes[k]);
  });
  if (!ok) ctx.fail_dtype(x.dtype);
}

// What of x is not in y, with its places.
void list_diff(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& y = ctx.in(1);
  if (ctx.out(1).dtype == DType::kInt32 && x.size > INT32_MAX)
    ctx.fail("positions do not fit int32; ask for index_dtype int64");
  const bool ok = dispatch<kTypes>(as_bytes(x.dtype), [&]<class T>() {
    const T* a = x.as<T>();
    const T* b = y.as<T>();
    Numbers table(ctx);
    for (int64_t k = 0; k < y.size; ++k)
      table.find(k, hash_of(b[k]), true, [&](int64_t i, int64_t j) { return equal(b[i], b[j]); });
    int64_t* kept = ctx.scratch<int64_t>(size_t(x.size));
    int64_t count = 0;
    for (int64_t k = 0; k < x.size; ++k) {
      // Numbers from y.size on stand for elements of x, which the table never holds.
      const int64_t query = y.size + k;
      const int64_t found =
          table.find(query, hash_of(a[k]), false, [&](int64_t i, int64_t) { return equal(b[i], a[k]); });
      if (found == query) kept[count++] = k;
    }
    T* out = ctx.allocate_output(0, {count}).as<T>();
    const View& places = ctx.allocate_output(1, {count});
    for (int64_t k = 0; k < count; ++k) {
      out[k] = a[kept[k]];
      store(places, k, kept[k]);
    }
  });
  if (!ok) ctx.fail_dtype(x.dtype);
}

}  // namespace

void register_unique_cpu_kernels() {
  for (const char* op : {"Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2"})
    register_kernel(op, DeviceType::kCpu, unique);
  register_kernel("ListDiff", DeviceType::kCpu, list_diff);
}

}  // namespace rw
