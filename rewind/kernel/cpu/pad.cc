// Kernels of pads with a constant, tiles, reversals and rolls.
#include <algorithm>

#include "rewind/kernel/cpu/shape_kernels.h"

namespace rw {
namespace {

void tile(KernelContext& ctx) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  if (y.size == 0) return;
  const IntVector multiples = host_ints(ctx.in(1)), from = dense_strides(*x.shape),
                  to = dense_strides(*y.shape);
  CopyAxes axes;
  for (int k = 0; k < x.rank(); ++k) {
    axes.push_back({multiples[size_t(k)], x.dim(k) * to[size_t(k)], 0});
    axes.push_back({x.dim(k), to[size_t(k)], from[size_t(k)]});
  }
  strided_copy(x.dtype, y.data, x.data, std::move(axes));
}

// The borders are filled axis by axis: in front of and behind the input along axis k, inside it along earlier
// axes, over the whole output along later ones. So each element is written once.
void pad(KernelContext& ctx) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  if (y.size == 0) return;
  const IntVector paddings = host_ints(ctx.in(1)), from = dense_strides(*x.shape),
                  to = dense_strides(*y.shape);
  const std::string none;
  const uint64_t zero[2] = {0, 0};
  const void* value = ctx.num_inputs() > 2        ? ctx.in(2).data
                      : x.dtype == DType::kString ? static_cast<const void*>(&none)
                                                  : zero;
  int64_t corner = 0;
  for (int k = 0; k < x.rank(); ++k) {
    const int64_t before = paddings[2 * size_t(k)], after = paddings[2 * size_t(k) + 1];
    const auto border = [&](int64_t at, int64_t size) {
      CopyAxes axes;
      for (int i = 0; i < x.rank(); ++i)
        axes.push_back({i < k ? x.dim(i) : i == k ? size : y.dim(i), to[size_t(i)], 0});
      strided_copy(x.dtype, element(x.dtype, y.data, corner + at * to[size_t(k)]), value, std::move(axes));
    };
    if (before > 0) border(0, before);
    if (after > 0) border(before + x.dim(k), after);
    corner += before * to[size_t(k)];
  }
  CopyAxes axes;
  for (int k = 0; k < x.rank(); ++k) axes.push_back({x.dim(k), to[size_t(k)], from[size_t(k)]});
  if (x.size > 0) strided_copy(x.dtype, element(x.dtype, y.data, corner), x.data, std::move(axes));
}

void reverse_axes(const View& x, const View& y, const SmallVector<bool, 8>& turned) {
  if (x.size == 0) return;
  const IntVector strides = dense_strides(*x.shape);
  CopyAxes axes;
  int64_t offset = 0;
  for (int k = 0; k < x.rank(); ++k) {
    const int64_t s = strides[size_t(k)];
    if (turned[size_t(k)]) offset += (x.dim(k) - 1) * s;
    axes.push_back({x.dim(k), s, turned[size_t(k)] ? -s : s});
  }
  strided_copy(x.dtype, y.data, element(x.dtype, x.data, offset), std::move(axes));
}

void reverse_v2(KernelContext& ctx) {
  const View& x = ctx.in(0);
  SmallVector<bool, 8> turned(size_t(x.rank()), false);
  for (const int64_t a : host_ints(ctx.in(1))) turned[size_t(a < 0 ? a + x.rank() : a)] = true;
  reverse_axes(x, ctx.out(0), turned);
}

void reverse_v1(KernelContext& ctx) {
  const IntVector flags = host_ints(ctx.in(1));
  SmallVector<bool, 8> turned;
  for (const int64_t f : flags) turned.push_back(f != 0);
  reverse_axes(ctx.in(0), ctx.out(0), turned);
}

void reverse_sequence(KernelContext& ctx) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  const int seq = ctx.attr<int>("seq_dim"), batch = ctx.attr<int>("batch_dim");
  const IntVector lengths = host_ints(ctx.in(1)), strides = dense_strides(*x.shape);
  const int64_t step = strides[size_t(seq)];
  for (size_t b = 0; b < lengths.size(); ++b) {
    const int64_t n = lengths[b];
    if (n < 0 || n > x.dim(seq))
      ctx.fail("lengths must lie in [0, " + std::to_string(x.dim(seq)) + "]: seq_lengths[" +
               std::to_string(b) + "] is " + std::to_string(n));
    if (x.size == 0) continue;
    const int64_t base = int64_t(b) * strides[size_t(batch)];
    const auto part = [&](int64_t to, int64_t from, int64_t size, int64_t from_step) {
      if (size == 0) return;
      CopyAxes axes;
      for (int k = 0; k < x.rank(); ++k) {
        if (k == seq) axes.push_back({size, step, from_step});
        else if (k != batch) axes.push_back({x.dim(k), strides[size_t(k)], strides[size_t(k)]});
      }
      strided_copy(x.dtype, element(x.dtype, y.data, base + to * step),
                   element(x.dtype, x.data, base + from * step), std::move(axes));
    };
    part(0, n - 1, n, -step);
    part(n, n, x.dim(seq) - n, step);
  }
}

// Each rolled axis falls into two runs; every combination of them is one box.
void roll(KernelContext& ctx) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  if (x.size == 0) return;
  const IntVector shifts = host_ints(ctx.in(1)), axes = host_ints(ctx.in(2)),
                  strides = dense_strides(*x.shape);
  IntVector shift(size_t(x.rank()), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t a = size_t(axes[i] < 0 ? axes[i] + x.rank() : axes[i]);
    const int64_t n = x.dim(int(a));
    shift[a] = ((shift[a] + shifts[i] % n) % n + n) % n;
  }
  SmallVector<int, 8> rolled;
  for (int k = 0; k < x.rank(); ++k)
    if (shift[size_t(k)] != 0) rolled.push_back(k);
  if (rolled.size() > 20) ctx.fail("too many rolled axes: got " + std::to_string(rolled.size()));
  for (uint32_t which = 0; which < (uint32_t{1} << rolled.size()); ++which) {
    CopyAxes box;
    for (int k = 0; k < x.rank(); ++k) box.push_back({x.dim(k), strides[size_t(k)], strides[size_t(k)]});
    int64_t to = 0, from = 0;
    for (size_t r = 0; r < rolled.size(); ++r) {
      const size_t k = size_t(rolled[r]);
      const int64_t n = x.dim(int(k)), s = shift[k];
      if ((which >> r) & 1) {
        from += (n - s) * strides[k];
        box[k].size = s;
      } else {
        to += s * strides[k];
        box[k].size = n - s;
      }
    }
    strided_copy(x.dtype, element(x.dtype, y.data, to), element(x.dtype, x.data, from), std::move(box));
  }
}

}  // namespace

void register_pad_kernels() {
  register_kernel("Tile", DeviceType::kCpu, tile);
  register_kernel("Pad", DeviceType::kCpu, pad);
  register_kernel("PadV2", DeviceType::kCpu, pad);
  register_kernel("ReverseV2", DeviceType::kCpu, reverse_v2);
  register_kernel("Reverse", DeviceType::kCpu, reverse_v1);
  register_kernel("ReverseSequence", DeviceType::kCpu, reverse_sequence);
  register_kernel("Roll", DeviceType::kCpu, roll);
}

}  // namespace rw
