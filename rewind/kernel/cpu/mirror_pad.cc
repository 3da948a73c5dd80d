// Mirrored pads and their gradient.
#include <algorithm>
#include <vector>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/shape_kernels.h"

namespace rw {
namespace {

// Along each axis the output is up to three runs: the mirrored front, the input, the mirrored back. Every
// combination is one box, with a negative step where it is mirrored.
struct Run {
  int64_t to, from, size, way;
};

void mirror_pad(KernelContext& ctx) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  if (y.size == 0) return;
  const IntVector paddings = host_ints(ctx.in(1)), from = dense_strides(*x.shape),
                  to = dense_strides(*y.shape);
  const int64_t skip = ctx.attr<std::string>("mode") == "REFLECT" ? 1 : 0;
  SmallVector<SmallVector<Run, 3>, 6> runs;
  for (int k = 0; k < x.rank(); ++k) {
    const int64_t before = paddings[2 * size_t(k)], after = paddings[2 * size_t(k) + 1], n = x.dim(k);
    auto& list = runs.emplace_back();
    list.push_back({before, 0, n, 1});
    if (before > 0) list.push_back({0, before - 1 + skip, before, -1});
    if (after > 0) list.push_back({before + n, n - 1 - skip, after, -1});
  }
  SmallVector<size_t, 6> at(runs.size(), 0);
  for (;;) {
    CopyAxes axes;
    int64_t to_offset = 0, from_offset = 0;
    for (size_t k = 0; k < runs.size(); ++k) {
      const Run& r = runs[k][at[k]];
      axes.push_back({r.size, to[k], r.way * from[k]});
      to_offset += r.to * to[k];
      from_offset += r.from * from[k];
    }
    strided_copy(x.dtype, element(x.dtype, y.data, to_offset), element(x.dtype, x.data, from_offset),
                 std::move(axes));
    size_t k = runs.size();
    while (k > 0 && ++at[k - 1] == runs[k - 1].size()) at[--k] = 0;
    if (k == 0) return;
  }
}

// Places of the padded axis that show element i: itself, then its images in front and behind.
SmallVector<int64_t, 3> images(int64_t i, int64_t n, int64_t before, int64_t after, int64_t skip) {
  SmallVector<int64_t, 3> list{before + i};
  const int64_t front = before - 1 + skip - i, back = before + 2 * n - 1 - skip - i;
  if (front >= 0 && (skip == 0 || i > 0)) list.push_back(front);
  if (back < before + n + after && (skip == 0 || i < n - 1)) list.push_back(back);
  return list;
}

template <class T>
void mirror_pad_grad_of(const View& dy, const View& dx, const IntVector& paddings, int64_t skip) {
  using C = Compute<T>;
  const int rank = dx.rank(), last = rank - 1;
  const IntVector strides = dense_strides(*dy.shape);
  const int64_t n = rank > 0 ? dx.dim(last) : 1, rows = dx.size / n;
  const int64_t before = rank > 0 ? paddings[2 * size_t(last)] : 0,
                after = rank > 0 ? paddings[2 * size_t(last) + 1] : 0;
  const int64_t front = std::min(before, n - skip), back = std::min(after, n - skip);
  parallel_for(rows, std::max<int64_t>(1, 8192 / n), [&](int64_t begin, int64_t end) {
    std::vector<C> sum(static_cast<size_t>(n));
    for (int64_t row = begin; row < end; ++row) {
      SmallVector<SmallVector<int64_t, 3>, 6> places;  // offsets of the rows of dy that show this one
      int64_t rest = row;
      for (int k = last - 1; k >= 0; --k) {
        auto list =
            images(rest % dx.dim(k), dx.dim(k), paddings[2 * size_t(k)], paddings[2 * size_t(k) + 1], skip);
        for (int64_t& p : list) p *= strides[size_t(k)];
        places.push_back(std::move(list));
        rest /= dx.dim(k);
      }
      std::fill(sum.begin(), sum.end(), C(0));
      SmallVector<size_t, 6> at(places.size(), 0);
      for (bool more = true; more;) {
        const T* from = dy.as<T>();
        for (size_t k = 0; k < places.size(); ++k) from += places[k][at[k]];
        for (int64_t i = 0; i < n; ++i) sum[size_t(i)] += static_cast<C>(from[before + i]);
        for (int64_t i = 0; i < front; ++i) sum[size_t(i + skip)] += static_cast<C>(from[before - 1 - i]);
        for (int64_t i = 0; i < back; ++i)
          sum[size_t(n - 1 - skip - i)] += static_cast<C>(from[before + n + i]);
        size_t k = places.size();
        while (k > 0 && ++at[k - 1] == places[k - 1].size()) at[--k] = 0;
        more = k > 0;
      }
      for (int64_t i = 0; i < n; ++i) dx.as<T>()[row * n + i] = static_cast<T>(sum[size_t(i)]);
    }
  });
}

void mirror_pad_grad(KernelContext& ctx) {
  const View &dy = ctx.in(0), &dx = ctx.out(0);
  if (dx.size == 0) return;
  const int64_t skip = ctx.attr<std::string>("mode") == "REFLECT" ? 1 : 0;
  const IntVector paddings = host_ints(ctx.in(1));
  const bool ok =
      dispatch<kRealTypes>(dy.dtype, [&]<class T>() { mirror_pad_grad_of<T>(dy, dx, paddings, skip); });
  if (!ok) ctx.fail_dtype(dy.dtype);
}

}  // namespace

void register_mirror_kernels() {
  register_kernel("MirrorPad", DeviceType::kCpu, mirror_pad);
  register_kernel("MirrorPadGrad", DeviceType::kCpu, mirror_pad_grad);
}

}  // namespace rw
