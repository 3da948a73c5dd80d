// Kernels of image resizing. Gradients add into the image's own array: threads share out images and blocks of
// channels, so that each element is summed by one thread in the order of the pixels.
#include <algorithm>
#include <cmath>
#include <vector>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/pool.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

struct Flags {
  bool align_corners, half_pixel_centers;
};
Flags flags_of(const KernelContext& ctx) {
  return {ctx.attr<bool>("align_corners"), ctx.attr<bool>("half_pixel_centers")};
}

float scale_of(int64_t from, int64_t to, Flags flags) {
  return flags.align_corners && to > 1 ? float(from - 1) / float(to - 1) : float(from) / float(to);
}

// Between which two pixels an output pixel lies, and how far.
struct Between {
  int64_t low, high;
  float share;  // of the high one
};
std::vector<Between> places(int64_t from, int64_t to, Flags flags) {
  const float scale = scale_of(from, to, flags);
  std::vector<Between> list(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    const float at = flags.half_pixel_centers ? (float(i) + 0.5f) * scale - 0.5f : float(i) * scale;
    const float floor = std::floor(at);
    list[size_t(i)] = {std::clamp<int64_t>(int64_t(floor), 0, from - 1),
                       std::clamp<int64_t>(int64_t(std::ceil(at)), 0, from - 1), at - floor};
  }
  return list;
}

std::vector<int64_t> nearest_places(int64_t from, int64_t to, Flags flags) {
  const float scale = scale_of(from, to, flags);
  std::vector<int64_t> list(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    const float at = flags.half_pixel_centers ? (float(i) + 0.5f) * scale : float(i) * scale;
    list[size_t(i)] =
        std::clamp<int64_t>(int64_t(flags.align_corners ? std::round(at) : std::floor(at)), 0, from - 1);
  }
  return list;
}

constexpr int64_t kGrain = 8192;

void resize_bilinear(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  const int64_t h = x.dim(1), w = x.dim(2), c = x.dim(3), width = out.dim(2);
  const auto rows = places(h, out.dim(1), flags_of(ctx));
  const auto columns = places(w, width, flags_of(ctx));
  const bool ok = dispatch<kRealTypes>(x.dtype, [&]<class T>() {
    const T* in = x.as<T>();
    parallel_for(
        out.dim(0) * out.dim(1), std::max<int64_t>(1, kGrain / (width * c)), [&](int64_t begin, int64_t end) {
          for (int64_t line = begin; line < end; ++line) {
            const int64_t n = line / out.dim(1);
            const Between& y = rows[size_t(line % out.dim(1))];
            const T* top = in + (n * h + y.low) * w * c;
            const T* bottom = in + (n * h + y.high) * w * c;
            float* o = out.as<float>() + line * width * c;
            for (int64_t ox = 0; ox < width; ++ox, o += c) {
              const Between& p = columns[size_t(ox)];
              for (int64_t i = 0; i < c; ++i) {
                const auto at = [i, c](const T* row, int64_t column) {
                  return static_cast<float>(static_cast<Compute<T>>(row[column * c + i]));
                };
                const float upper = at(top, p.low) + (at(top, p.high) - at(top, p.low)) * p.share;
                const float lower = at(bottom, p.low) + (at(bottom, p.high) - at(bottom, p.low)) * p.share;
                o[i] = upper + (lower - upper) * y.share;
              }
            }
          }
        });
  });
  if (!ok) ctx.fail_dtype(x.dtype);
}

// Runs body(image, first channel, last channel) so that no two threads meet in an element.
template <class Body>
void by_images_and_channels(int64_t images, int64_t channels, Body body) {
  constexpr int64_t kBlock = 16;
  const int64_t blocks = (channels + kBlock - 1) / kBlock;
  parallel_for(images * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kBlock;
      body(i / blocks, first, std::min(channels, first + kBlock));
    }
  });
}

// Sums in C and rounds to T at the end.
template <class T, class Add>
void sum_into(KernelContext& ctx, const View& out, Add add) {
  using C = Compute<T>;
  C* sums;
  if constexpr (std::is_same_v<T, C>) sums = out.as<T>();
  else sums = ctx.scratch<C>(size_t(out.size));
  std::fill_n(sums, out.size, C{});
  add(sums);
  if constexpr (!std::is_same_v<T, C>)
    for (int64_t i = 0; i < out.size; ++i) out.as<T>()[i] = static_cast<T>(sums[i]);
}

void resize_bilinear_grad(KernelContext& ctx) {
  const View& grad = ctx.in(0);
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  const int64_t h = out.dim(1), w = out.dim(2), c = out.dim(3), height = grad.dim(1), width = grad.dim(2);
  const auto rows = places(h, height, flags_of(ctx));
  const auto columns = places(w, width, flags_of(ctx));
  dispatch<kFloatTypes>(out.dtype, [&]<class T>() {
    using C = Compute<T>;
    sum_into<T>(ctx, out, [&](C* sums) {
      by_images_and_channels(out.dim(0), c, [&](int64_t n, int64_t c0, int64_t c1) {
        C* image = sums + n * h * w * c;
        for (int64_t oy = 0; oy < height; ++oy)
          for (int64_t ox = 0; ox < width; ++ox) {
            const Between& y = rows[size_t(oy)];
            const Between& x = columns[size_t(ox)];
            const float* g = grad.as<float>() + ((n * height + oy) * width + ox) * c;
            const float high_y = y.share, low_y = 1 - y.share, high_x = x.share, low_x = 1 - x.share;
            for (int64_t i = c0; i < c1; ++i) {
              image[(y.low * w + x.low) * c + i] += C(g[i] * low_y * low_x);
              image[(y.low * w + x.high) * c + i] += C(g[i] * low_y * high_x);
              image[(y.high * w + x.low) * c + i] += C(g[i] * high_y * low_x);
              image[(y.high * w + x.high) * c + i] += C(g[i] * high_y * high_x);
            }
          }
      });
    });
  });
}

void resize_nearest(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  const int64_t h = x.dim(1), w = x.dim(2), c = x.dim(3), height = out.dim(1), width = out.dim(2);
  const auto rows = nearest_places(h, height, flags_of(ctx));
  const auto columns = nearest_places(w, width, flags_of(ctx));
  const bool ok = dispatch<kRealTypes>(x.dtype, [&]<class T>() {
    parallel_for(out.dim(0) * height, std::max<int64_t>(1, kGrain / (width * c)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t line = begin; line < end; ++line) {
                     const T* row = x.as<T>() + (line / height * h + rows[size_t(line % height)]) * w * c;
                     T* o = out.as<T>() + line * width * c;
                     for (int64_t ox = 0; ox < width; ++ox)
                       std::copy_n(row + columns[size_t(ox)] * c, c, o + ox * c);
                   }
                 });
  });
  if (!ok) ctx.fail_dtype(x.dtype);
}

void resize_nearest_grad(KernelContext& ctx) {
  const View& grad = ctx.in(0);
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  const int64_t h = out.dim(1), w = out.dim(2), c = out.dim(3), height = grad.dim(1), width = grad.dim(2);
  const auto rows = nearest_places(h, height, flags_of(ctx));
  const auto columns = nearest_places(w, width, flags_of(ctx));
  const bool ok = dispatch<kRealTypes>(out.dtype, [&]<class T>() {
    using C = Compute<T>;
    sum_into<T>(ctx, out, [&](C* sums) {
      by_images_and_channels(out.dim(0), c, [&](int64_t n, int64_t c0, int64_t c1) {
        for (int64_t oy = 0; oy < height; ++oy)
          for (int64_t ox = 0; ox < width; ++ox) {
            const T* g = grad.as<T>() + ((n * height + oy) * width + ox) * c;
            C* to = sums + ((n * h + rows[size_t(oy)]) * w + columns[size_t(ox)]) * c;
            for (int64_t i = c0; i < c1; ++i) to[i] += static_cast<C>(g[i]);
          }
      });
    });
  });
  if (!ok) ctx.fail_dtype(out.dtype);
}

}  // namespace

void register_resize_cpu_kernels() {
  register_kernel("ResizeBilinear", DeviceType::kCpu, resize_bilinear);
  register_kernel("ResizeBilinearGrad", DeviceType::kCpu, resize_bilinear_grad);
  register_kernel("ResizeNearestNeighbor", DeviceType::kCpu, resize_nearest);
  register_kernel("ResizeNearestNeighborGrad", DeviceType::kCpu, resize_nearest_grad);
}

}  // namespace rw
