#include "rewind/kernel/cpu/strided.h"

#include <algorithm>
#include <cstring>

#include "rewind/device/parallel.h"

namespace rw {
namespace {

constexpr int64_t kGrain = 16384;  // elements a thread should at least have
constexpr int64_t kTile = 16;      // of a transposing copy

struct Axis {
  int64_t size, from, to;
};
using Axes = SmallVector<Axis, 6>;

// Drops axes of size 1 and merges neighbours that one step walks through in both arrays.
Axes merged(const Strides& dims, const Strides& from, const Strides& to) {
  Axes axes;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1) axes.push_back({dims[d], from[d], to[d]});
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.to > b.to; });
  Axes out;
  for (const Axis& a : axes) {
    if (!out.empty() && out.back().from == a.from * a.size && out.back().to == a.to * a.size)
      out.back() = {out.back().size * a.size, a.from, a.to};
    else out.push_back(a);
  }
  if (out.empty()) out.push_back({1, 1, 1});
  return out;
}

template <class T>
void copy_row(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t n) {
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, size_t(n) * sizeof(T));
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

// Two axes at once: where the source runs along the outer one, small squares keep both sides in cache.
template <class T>
void copy_plane(const T* from, T* to, const Axis& outer, int64_t begin, int64_t end, const Axis& inner) {
  if (outer.from != 1) {
    for (int64_t i = begin; i < end; ++i)
      copy_row(from + i * outer.from, inner.from, to + i * outer.to, inner.to, inner.size);
    return;
  }
  for (int64_t i0 = begin; i0 < end; i0 += kTile)
    for (int64_t j0 = 0; j0 < inner.size; j0 += kTile)
      for (int64_t i = i0; i < std::min(end, i0 + kTile); ++i)
        for (int64_t j = j0; j < std::min(inner.size, j0 + kTile); ++j)
          to[i * outer.to + j * inner.to] = from[i * outer.from + j * inner.from];
}

template <class T>
void copy(const Strides& dims, const void* from_data, const Strides& from_strides, void* to_data,
          const Strides& to_strides) {
  for (const int64_t d : dims)
    if (d == 0) return;
  Axes axes = merged(dims, from_strides, to_strides);
  const T* from = static_cast<const T*>(from_data);
  T* to = static_cast<T*>(to_data);
  if (axes.size() == 1) {
    const Axis a = axes[0];
    parallel_for(a.size, kGrain, [&](int64_t begin, int64_t end) {
      copy_row(from + begin * a.from, a.from, to + begin * a.to, a.to, end - begin);
    });
    return;
  }
  const Axis inner = axes.back();
  axes.pop_back();
  // The plane's other axis: the one along which the source is dense, if any.
  size_t pick = axes.size() - 1;
  for (size_t d = 0; d < axes.size(); ++d)
    if (axes[d].from == 1) pick = d;
  const Axis outer = axes[pick];
  axes.erase(axes.begin() + pick);
  int64_t planes = 1;
  for (const Axis& a : axes) planes *= a.size;
  auto plane = [&](int64_t index, int64_t begin, int64_t end) {
    const T* f = from;
    T* t = to;
    for (size_t d = axes.size(); d-- > 0;) {
      f += index % axes[d].size * axes[d].from;
      t += index % axes[d].size * axes[d].to;
      index /= axes[d].size;
    }
    copy_plane(f, t, outer, begin, end, inner);
  };
  if (planes == 1) {
    const int64_t grain = (std::max<int64_t>(1, kGrain / inner.size) + kTile - 1) / kTile * kTile;
    parallel_for(outer.size, grain, [&](int64_t begin, int64_t end) { plane(0, begin, end); });
  } else {
    const int64_t grain = std::max<int64_t>(1, kGrain / (inner.size * outer.size));
    parallel_for(planes, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) plane(i, 0, outer.size);
    });
  }
}

}  // namespace

void copy_strided(size_t element_bytes, const Strides& dims, const void* from, const Strides& from_strides,
                  void* to, const Strides& to_strides) {
  switch (element_bytes) {
    case 1: return copy<uint8_t>(dims, from, from_strides, to, to_strides);
    case 2: return copy<uint16_t>(dims, from, from_strides, to, to_strides);
    case 4: return copy<uint32_t>(dims, from, from_strides, to, to_strides);
    default: return copy<uint64_t>(dims, from, from_strides, to, to_strides);
  }
}

Strides dense_strides(const Strides& dims) {
  Strides strides(dims.size());
  int64_t step = 1;
  for (size_t d = dims.size(); d-- > 0; step *= dims[d]) strides[d] = step;
  return strides;
}

}  // namespace rw
