#include "rewind/kernel/cpu/staging.h"

#include <algorithm>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"

namespace rw {
namespace {

// out[c, r] = x[r, c] for each matrix of a batch, in tiles that stay in cache.
template <class T>
void transpose(const T* x, T* out, int64_t batch, int64_t rows, int64_t columns) {
  constexpr int64_t kTile = 32;
  const int64_t bands = (columns + kTile - 1) / kTile;
  parallel_for(batch * bands, std::max<int64_t>(1, 16384 / (rows * kTile)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = x + i / bands * rows * columns;
      T* to = out + i / bands * rows * columns;
      const int64_t c0 = i % bands * kTile;
      const int64_t c1 = std::min(columns, c0 + kTile);
      for (int64_t r0 = 0; r0 < rows; r0 += kTile)
        for (int64_t c = c0; c < c1; ++c)
          for (int64_t r = r0; r < std::min(rows, r0 + kTile); ++r) to[c * rows + r] = from[r * columns + c];
    }
  });
}

void transpose_bytes(const void* x, void* out, DType dtype, int64_t batch, int64_t rows, int64_t columns) {
  if (batch * rows * columns == 0) return;
  switch (size_of(dtype)) {
    case 1:
      return transpose(static_cast<const uint8_t*>(x), static_cast<uint8_t*>(out), batch, rows, columns);
    case 2:
      return transpose(static_cast<const uint16_t*>(x), static_cast<uint16_t*>(out), batch, rows, columns);
    case 4:
      return transpose(static_cast<const uint32_t*>(x), static_cast<uint32_t*>(out), batch, rows, columns);
    default:
      return transpose(static_cast<const uint64_t*>(x), static_cast<uint64_t*>(out), batch, rows, columns);
  }
}

}  // namespace

void channels_to_last(const void* x, void* out, DType dtype, int64_t batch, int64_t channels,
                      int64_t positions) {
  transpose_bytes(x, out, dtype, batch, channels, positions);
}
void channels_to_first(const void* x, void* out, DType dtype, int64_t batch, int64_t channels,
                       int64_t positions) {
  transpose_bytes(x, out, dtype, batch, positions, channels);
}

void widen_to_float(const void* x, DType dtype, float* out, int64_t n) {
  dispatch<set_of(DType::kFloat16, DType::kBfloat16)>(dtype, [&]<class T>() {
    const T* v = static_cast<const T*>(x);
    parallel_for(n, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = static_cast<float>(v[i]);
    });
  });
}

void narrow_from_float(const float* x, DType dtype, void* out, int64_t n) {
  dispatch<set_of(DType::kFloat16, DType::kBfloat16)>(dtype, [&]<class T>() {
    T* o = static_cast<T*>(out);
    parallel_for(n, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) o[i] = static_cast<T>(x[i]);
    });
  });
}

bool Staging::moves(const View& v) const {
  if (!channels_first_) return false;
  const Sizes s = sizes(v);
  return s.channels != 1 && s.positions != 1;
}

Staging::Sizes Staging::sizes(const View& v) const {
  Sizes s{v.dim(0), v.dim(1), 1};
  for (int i = 2; i < v.rank(); ++i) s.positions *= v.dim(i);
  return s;
}

const void* Staging::input(const View& v) const {
  const void* x = v.data;
  if (moves(v)) {
    const Sizes s = sizes(v);
    void* moved = ctx_.scratch<char>(size_t(v.size) * size_of(dtype_));
    channels_to_last(x, moved, dtype_, s.batch, s.channels, s.positions);
    x = moved;
  }
  if (!widen_) return x;
  float* wide = ctx_.scratch<float>(size_t(v.size));
  widen_to_float(x, dtype_, wide, v.size);
  return wide;
}

const void* Staging::plain_input(const View& v) const {
  if (!widen_) return v.data;
  float* wide = ctx_.scratch<float>(size_t(v.size));
  widen_to_float(v.data, dtype_, wide, v.size);
  return wide;
}

void* Staging::output(const View& v) const {
  if (!widen_ && !moves(v)) return v.data;
  return ctx_.scratch<char>(size_t(v.size) * size_of(dtype()));
}

void Staging::finish(const View& v, void* staged) const {
  if (staged == v.data) return;
  if (!moves(v)) return narrow_from_float(static_cast<float*>(staged), dtype_, v.data, v.size);
  const void* narrow = staged;
  if (widen_) {
    void* room = ctx_.scratch<char>(size_t(v.size) * size_of(dtype_));
    narrow_from_float(static_cast<float*>(staged), dtype_, room, v.size);
    narrow = room;
  }
  const Sizes s = sizes(v);
  channels_to_first(narrow, v.data, dtype_, s.batch, s.channels, s.positions);
}

void* Staging::plain_output(const View& v) const {
  return widen_ ? static_cast<void*>(ctx_.scratch<float>(size_t(v.size))) : v.data;
}

void Staging::plain_finish(const View& v, void* staged) const {
  if (staged != v.data) narrow_from_float(static_cast<float*>(staged), dtype_, v.data, v.size);
}

}  // namespace rw
