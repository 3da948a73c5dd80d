// Tiles of a matrix product. Both factors are packed into panels, so that a tile reads memory in order
// whatever the transposes: panel i of width w holds, for each depth p, the w values (i * w + j, p), j < w,
// with zeros past the edge.
#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/vectors.h"

namespace rw::RW_ISA {
namespace {

constexpr int kRows = kVectorBytes == 64 ? 8 : kVectorBytes == 32 ? 6 : 4;
constexpr int kVectors = 2;  // across a tile

// Narrow integers are computed modulo 2^32, 16-bit floats in float.
template <class T>
using Acc = std::conditional_t<is_float_element<T>, Compute<T>,
                               std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

template <class A>
constexpr int kCols = kLanesOf<A> * kVectors;

template <class T>
void pack(const void* from, int64_t step, int64_t depth_step, int64_t count, int64_t depth, int width,
          void* to) {
  using A = Acc<T>;
  const T* x = static_cast<const T*>(from);
  A* out = static_cast<A*>(to);
  for (int64_t first = 0; first < count; first += width, x += width * step) {
    const int used = int(count - first < width ? count - first : width);
    if (used == width && step == 1) {
      for (int64_t p = 0; p < depth; ++p, out += width)
        for (int j = 0; j < width; ++j) out[j] = static_cast<A>(x[p * depth_step + j]);
      continue;
    }
    for (int j = 0; j < width; ++j)
      if (j < used)
        for (int64_t p = 0; p < depth; ++p) out[p * width + j] = static_cast<A>(x[p * depth_step + j * step]);
      else
        for (int64_t p = 0; p < depth; ++p) out[p * width + j] = A(0);
    out += depth * width;
  }
}

// c (rows x cols, at most kRows x kCols) gets, or is increased or decreased by, the product of two panels.
template <class T>
RW_MAY_CONTRACT void tile(const void* a, const void* b, int64_t depth, void* to, int64_t ldc, int rows,
                          int cols, GemmMode mode) {
  RW_CONTRACT_HERE
  using A = Acc<T>;
  using V = VectorOf<A>;
  const A* __restrict x = static_cast<const A*>(a);
  const A* __restrict y = static_cast<const A*>(b);
  A* c = static_cast<A*>(to);
  V sums[kRows][kVectors] = {};
  for (int64_t p = 0; p < depth; ++p, x += kRows, y += kCols<A>) {
    V right[kVectors];
    for (int v = 0; v < kVectors; ++v)
      right[v] = *reinterpret_cast<const LooseVectorOf<A>*>(y + v * kLanesOf<A>);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const V left = x[i] - V{};
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[i][v] += left * right[v];
    }
  }
  if (rows == kRows && cols == kCols<A>) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        auto* at = reinterpret_cast<LooseVectorOf<A>*>(c + i * ldc + v * kLanesOf<A>);
        *at = mode == GemmMode::kSet   ? sums[i][v]
              : mode == GemmMode::kAdd ? V(*at) + sums[i][v]
                                       : V(*at) - sums[i][v];
      }
    return;
  }
  A edge[kRows][kCols<A>];
  __builtin_memcpy(edge, sums, sizeof(edge));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      A& at = c[i * ldc + j];
      at = mode == GemmMode::kSet ? edge[i][j] : mode == GemmMode::kAdd ? at + edge[i][j] : at - edge[i][j];
    }
}

template <class T>
void finish(const void* from, void* to, int64_t n) {
  const Acc<T>* x = static_cast<const Acc<T>*>(from);
  T* out = static_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(x[i]);
}

}  // namespace

const GemmBlocks* gemm_blocks() {
  static constinit GemmBlocks blocks[24] = {};
  if (!blocks[int(DType::kFloat32)].tile) {
    for (int i = 0; i < 24; ++i)
      dispatch<kRealTypes>(DType(i), [&]<class T>() {
        blocks[i] = {kRows, kCols<Acc<T>>, sizeof(Acc<T>), pack<T>, tile<T>, finish<T>};
      });
  }
  return blocks;
}

}  // namespace rw::RW_ISA
