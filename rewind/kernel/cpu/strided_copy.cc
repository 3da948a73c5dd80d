// The box is brought into a normal form first: no axes of size 1, steps in `to` positive and falling,
// neighbours that are one run merged, a short innermost run made one wider element. Then the innermost axis
// decides the loop: runs (memcpy), repeats (fill), a transpose (tiles of a cache line), or single steps.
#include "rewind/kernel/cpu/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/transpose_tile.h"
#include "rewind/op/object.h"

namespace rw {
namespace {

constexpr int64_t kGrainBytes = 128 << 10;

// Brings the axes into normal form; false when the box is empty. Moves the pointers where steps were turned
// round.
bool normalise(CopyAxes* axes, int64_t* to_offset, int64_t* from_offset) {
  CopyAxes kept;
  for (CopyAxis a : *axes) {
    if (a.size <= 0) return false;
    if (a.size == 1) continue;
    if (a.to < 0) {
      *to_offset += (a.size - 1) * a.to;
      *from_offset += (a.size - 1) * a.from;
      a.to = -a.to;
      a.from = -a.from;
    }
    size_t at = kept.size();
    while (at > 0 && kept[at - 1].to < a.to) --at;
    kept.insert(kept.begin() + at, a);
  }
  axes->clear();
  for (const CopyAxis& a : kept) {
    if (!axes->empty()) {
      CopyAxis& outer = axes->back();
      if (outer.to == a.size * a.to && outer.from == a.size * a.from) {
        outer = {outer.size * a.size, a.to, a.from};
        continue;
      }
    }
    axes->push_back(a);
  }
  return true;
}

// Walks the rows of all axes but the last `inner` ones.
struct Rows {
  const CopyAxes& axes;
  size_t outer;
  SmallVector<int64_t, 8> at;
  int64_t to = 0, from = 0;

  Rows(const CopyAxes& all, size_t num_outer, int64_t row) : axes(all), outer(num_outer), at(num_outer) {
    for (size_t k = outer; k-- > 0;) {
      at[k] = row % axes[k].size;
      row /= axes[k].size;
      to += at[k] * axes[k].to;
      from += at[k] * axes[k].from;
    }
  }
  void next() {
    for (size_t k = outer; k-- > 0;) {
      to += axes[k].to;
      from += axes[k].from;
      if (++at[k] < axes[k].size) return;
      to -= axes[k].size * axes[k].to;
      from -= axes[k].size * axes[k].from;
      at[k] = 0;
    }
  }
};

int64_t product(const CopyAxes& axes, size_t count) {
  int64_t n = 1;
  for (size_t k = 0; k < count; ++k) n *= axes[k].size;
  return n;
}

template <class T>
void copy_run(T* to, const T* from, int64_t n) {
  if constexpr (std::is_trivially_copyable_v<T>)
    std::memcpy(static_cast<void*>(to), from, size_t(n) * sizeof(T));
  else std::copy_n(from, n, to);
}

// Equal elements, in blocks that are built once.
template <class T>
void fill_run(T* to, const T& value, int64_t n) {
  if constexpr (!std::is_trivially_copyable_v<T>) {
    std::fill_n(to, n, value);
  } else {
    constexpr int64_t kBlock = 256 / int64_t(sizeof(T));
    const int64_t first = std::min(n, kBlock);
    for (int64_t i = 0; i < first; ++i) to[i] = value;
    int64_t i = first;
    for (; i + kBlock <= n; i += kBlock) std::memcpy(static_cast<void*>(to + i), to, 256);
    if (i < n) std::memcpy(static_cast<void*>(to + i), to, size_t(n - i) * sizeof(T));
  }
}

template <class T>
void copy_inner(T* to, const T* from, const CopyAxis& a, int64_t n) {
  if (a.to == 1 && a.from == 1) {
    copy_run(to, from, n);
  } else if (a.to == 1 && a.from == 0) {
    fill_run(to, *from, n);
  } else if (a.to == 1) {
    const int64_t step = a.from;
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
  } else {
    const int64_t to_step = a.to, from_step = a.from;
    for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

template <class T>
int64_t grain_of() {
  return std::max<int64_t>(1, kGrainBytes / int64_t(sizeof(T)) / (std::is_trivially_copyable_v<T> ? 1 : 8));
}

// Two innermost axes as one loop nest per row; the innermost is short, so that the walk outside must be rare.
template <class T>
void copy_pairs(T* to, const T* from, const CopyAxes& axes) {
  const CopyAxis middle = axes[axes.size() - 2], inner = axes.back();
  const size_t outer = axes.size() - 2;
  const int64_t rows = product(axes, outer);
  const auto block = [&](T* t, const T* f, int64_t n) {
    for (int64_t m = 0; m < n; ++m, t += middle.to, f += middle.from)
      for (int64_t i = 0; i < inner.size; ++i) t[i * inner.to] = f[i * inner.from];
  };
  const int64_t grain = std::max<int64_t>(1, grain_of<T>() / inner.size);
  parallel_for(rows * middle.size, grain, [&](int64_t begin, int64_t end) {
    Rows row(axes, outer, begin / middle.size);
    int64_t m = begin % middle.size;
    for (int64_t at = begin; at < end; row.next()) {
      const int64_t n = std::min(middle.size - m, end - at);
      block(to + row.to + m * middle.to, from + row.from + m * middle.from, n);
      at += n;
      m = 0;
    }
  });
}

template <class T>
void copy_rows(T* to, const T* from, const CopyAxes& axes) {
  const CopyAxis inner = axes.back();
  const size_t outer = axes.size() - 1;
  const int64_t total = product(axes, axes.size());
  parallel_for(total, grain_of<T>(), [&](int64_t begin, int64_t end) {
    Rows row(axes, outer, begin / inner.size);
    int64_t i = begin % inner.size;
    for (int64_t at = begin; at < end; row.next()) {
      const int64_t n = std::min(inner.size - i, end - at);
      copy_inner(to + row.to + i * inner.to, from + row.from + i * inner.from, inner, n);
      at += n;
      i = 0;
    }
  });
}

// The innermost axis is contiguous in `to`, the one before it in `from`.
template <class T>
void copy_transposed(T* to, const T* from, const CopyAxes& axes) {
  constexpr int64_t kBand = 64;  // rows of `to` that one task writes
  const CopyAxis i_axis = axes.back(), j_axis = axes[axes.size() - 2];
  const size_t outer = axes.size() - 2;
  const int64_t bands = (j_axis.size + kBand - 1) / kBand;
  const int64_t tasks = product(axes, outer) * bands;
  const int64_t band_size = std::min(kBand, j_axis.size) * i_axis.size;
  parallel_for(tasks, std::max<int64_t>(1, grain_of<T>() / band_size), [&](int64_t begin, int64_t end) {
    Rows row(axes, outer, begin / bands);
    int64_t band = begin % bands;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t j = band * kBand;
      transpose_band(to + row.to + j * j_axis.to, j_axis.to, from + row.from + j, i_axis.from, i_axis.size,
                     std::min(kBand, j_axis.size - j));
      if (++band == bands) {
        band = 0;
        row.next();
      }
    }
  });
}

template <class T>
void copy_box(T* to, const T* from, CopyAxes axes) {
  const CopyAxis inner = axes.back();
  if constexpr (std::is_trivially_copyable_v<T>) {
    if (inner.to == 1 && inner.from != 1 && inner.size >= 4) {
      for (size_t k = 0; k + 1 < axes.size(); ++k) {
        if (axes[k].from != 1 || axes[k].size < 4) continue;
        std::rotate(axes.begin() + k, axes.begin() + k + 1, axes.end() - 1);
        return copy_transposed(to, from, axes);
      }
    }
  }
  if (axes.size() > 1 && inner.size <= 16) return copy_pairs(to, from, axes);
  copy_rows(to, from, axes);
}

// Elements without alignment: a run of two floats travels as one of these.
template <int kBytes>
struct [[gnu::packed]] Bytes;
template <>
struct [[gnu::packed]] Bytes<1> {
  uint8_t v;
};
template <>
struct [[gnu::packed]] Bytes<2> {
  uint16_t v;
};
template <>
struct [[gnu::packed]] Bytes<4> {
  uint32_t v;
};
template <>
struct [[gnu::packed]] Bytes<8> {
  uint64_t v;
};
template <>
struct [[gnu::packed]] Bytes<16> {
  uint64_t v[2];
};

template <class F>
void by_width(int64_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f.template operator()<Bytes<1>>();
    case 2: return f.template operator()<Bytes<2>>();
    case 4: return f.template operator()<Bytes<4>>();
    case 8: return f.template operator()<Bytes<8>>();
    default: return f.template operator()<Bytes<16>>();
  }
}

// A short innermost run becomes one element of its width. Returns the width in bytes.
int64_t widen(CopyAxes* axes, int64_t width) {
  if (axes->size() < 2) return width;
  const CopyAxis inner = axes->back();
  if (inner.to != 1 || inner.from != 1) return width;
  const int64_t wide = inner.size * width;
  if (wide != 2 && wide != 4 && wide != 8 && wide != 16) return width;
  for (size_t k = 0; k + 1 < axes->size(); ++k)
    if ((*axes)[k].to % inner.size != 0 || (*axes)[k].from % inner.size != 0) return width;
  axes->pop_back();
  for (CopyAxis& a : *axes) {
    a.to /= inner.size;
    a.from /= inner.size;
  }
  return wide;
}

}  // namespace

void strided_copy(DType dtype, void* to, const void* from, CopyAxes axes) {
  int64_t to_offset = 0, from_offset = 0;
  if (!normalise(&axes, &to_offset, &from_offset)) return;
  to = element(dtype, to, to_offset);
  from = element(dtype, from, from_offset);
  if (axes.empty()) axes.push_back({1, 1, 1});
  if (dtype == DType::kString)
    return copy_box(static_cast<std::string*>(to), static_cast<const std::string*>(from), std::move(axes));
  if (is_host_only(dtype))
    return copy_box(static_cast<Ref<Object>*>(to), static_cast<const Ref<Object>*>(from), std::move(axes));
  const int64_t width = widen(&axes, int64_t(size_of(dtype)));
  by_width(width,
           [&]<class T>() { copy_box(static_cast<T*>(to), static_cast<const T*>(from), std::move(axes)); });
}

void fill_elements(DType dtype, void* to, const void* value, int64_t count) {
  strided_copy(dtype, to, value, {{count, 1, 0}});
}

void zero_elements(DType dtype, void* to, int64_t count) {
  if (count <= 0) return;
  if (dtype == DType::kString) {
    std::fill_n(static_cast<std::string*>(to), count, std::string());
  } else if (is_host_only(dtype)) {
    std::fill_n(static_cast<Ref<Object>*>(to), count, Ref<Object>());
  } else {
    const int64_t bytes = count * int64_t(size_of(dtype));
    parallel_for(bytes, kGrainBytes, [&](int64_t begin, int64_t end) {
      std::memset(static_cast<char*>(to) + begin, 0, size_t(end - begin));
    });
  }
}

}  // namespace rw
