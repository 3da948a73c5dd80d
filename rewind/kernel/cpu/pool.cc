// Kernels of the pools. Outputs are made line by line, and gradients are gathered input line by input line,
// so that every element is summed by one thread in the order of the window's positions.
#include <algorithm>
#include <limits>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/window.h"
#include "rewind/kernel/cpu/pool.h"
#include "rewind/kernel/cpu/staging.h"
#include "rewind/kernel/cpu/window_lines.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr int64_t kGrain = 8192;  // elements
constexpr DTypeSet kStaged = kIntTypes | set_of(DType::kFloat32, DType::kFloat64);

template <int kSpatial>
WindowCall read(KernelContext& ctx, const Shape& input) {
  return read_pool({ctx.op(), ctx.attrs(), kSpatial}, input);
}

template <class Body>
void for_lines(int64_t lines, int64_t line_size, Body body) {
  parallel_for(lines, std::max<int64_t>(1, kGrain / std::max<int64_t>(line_size, 1)), body);
}

template <class T>
constexpr T kLowest = std::numeric_limits<T>::lowest();

template <int kSpatial>
void max_pool(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& result = ctx.out(0);
  const WindowCall call = read<kSpatial>(ctx, *x.shape);
  if (result.size == 0) return;
  const Staging staging(ctx, x.dtype, call.channels_first, true);
  const WindowLines w(call, call.channels);
  const void* input = staging.input(x);
  void* output = staging.output(result);
  const bool ok = dispatch<kStaged>(staging.dtype(), [&]<class T>() {
    const RunLoop2 loop = isa_loops().window->maximum[int(dtype_of<T>)];
    const T* in = static_cast<const T*>(input);
    T* out = static_cast<T*>(output);
    const int64_t c = w.channels;
    for_lines(w.out_lines(), w.out_line_size() * w.taps(), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        std::fill_n(out + line * w.out_line_size(), w.out_line_size(), kLowest<T>);
        w.taps_of_output(line, [&](int64_t, int64_t in_at, int64_t out_at, int64_t count) {
          loop(in + in_at, out + out_at, {count, c, w.in_step(), 0, c});
        });
      }
    });
  });
  if (!ok) ctx.fail_dtype(x.dtype);
  staging.finish(result, output);
}

// The tap that holds each maximum of an output line: the first one of equals. `best` receives the maxima.
template <class T>
void find_taps_of_line(const WindowLines& w, int64_t line, const T* in, T* best, int32_t* taps) {
  const ArgmaxLoop loop = isa_loops().window->argmax[int(dtype_of<T>)];
  const int64_t c = w.channels, first = line * w.out_line_size();
  std::fill_n(best, w.out_line_size(), kLowest<T>);
  std::fill_n(taps, w.out_line_size(), -1);
  w.taps_of_output(line, [&](int64_t tap, int64_t in_at, int64_t out_at, int64_t count) {
    loop(in + in_at, best + out_at - first, taps + out_at - first, int32_t(tap),
         {count, c, w.in_step(), 0, c});
  });
}

template <class T>
void find_taps(const WindowLines& w, const T* in, T* best, int32_t* taps) {
  for_lines(w.out_lines(), w.out_line_size() * w.taps(), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t first = line * w.out_line_size();
      find_taps_of_line(w, line, in, best + first, taps + first);
    }
  });
}

// The gradient where windows of neighbouring output lines do not meet: each output line has input lines of
// its own, so its maxima are found and used at once. `gradient` is like the output, `out` like the input.
template <class T>
void route_by_lines(KernelContext& ctx, const WindowLines& w, const T* in, const T* gradient, T* out) {
  const RouteLoop loop = isa_loops().window->route[int(dtype_of<T>)];
  const int64_t c = w.channels, size = w.out_line_size(), in_size = w.in_line_size();
  const int64_t lines = w.out_lines();
  const int64_t lanes = std::clamp<int64_t>(lines * size * w.taps() / kGrain, 1, num_threads());
  T* const best = ctx.scratch<T>(size_t(lanes * size));
  int32_t* const taps = ctx.scratch<int32_t>(size_t(lanes * size));
  parallel_for(lanes, 1, [&](int64_t first_lane, int64_t last_lane) {
    const int64_t lane = first_lane;
    int32_t* const mine = taps + lane * size;
    for (int64_t line = lines * first_lane / lanes; line < lines * last_lane / lanes; ++line) {
      find_taps_of_line(w, line, in, best + lane * size, mine);
      const int64_t image = line / w.y.out, oy = line % w.y.out;
      const int64_t top = oy == 0 ? 0 : oy * w.y.stride - w.y.before;
      const int64_t bottom = oy == w.y.out - 1 ? w.y.in : (oy + 1) * w.y.stride - w.y.before;
      const int64_t first = image * w.y.in + top, last = image * w.y.in + bottom;
      std::fill(out + first * in_size, out + last * in_size, T{});
      for (int64_t i = first; i < last; ++i)
        w.taps_of_input(i, [&](int64_t tap, int64_t in_at, int64_t out_at, int64_t count) {
          loop(gradient + out_at, mine + (out_at - line * size), int32_t(tap), out + in_at,
               {count, c, c, c, w.in_step()});
        });
      ctx.rows_done(first * w.x.in, last * w.x.in);
    }
  });
}

// kTwice: from a gradient like the input to one like the output, otherwise the other way.
template <int kSpatial, bool kTwice>
void max_pool_grad(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& grad = ctx.in(2);
  const View& result = ctx.out(0);
  const WindowCall call = read<kSpatial>(ctx, *x.shape);
  if (result.size == 0) return;
  const Staging staging(ctx, x.dtype, call.channels_first, true);
  const Staging grad_staging(ctx, grad.dtype, call.channels_first, true);
  const WindowLines w(call, call.channels);
  const void* input = staging.input(x);
  const void* gradient = grad_staging.input(grad);
  void* output = grad_staging.output(result);
  const bool by_lines =
      !kTwice && w.out_lines() > 0 && w.z.in == 1 && w.z.filter == 1 && w.y.stride >= w.y.filter;
  const bool ok = dispatch<kStaged>(staging.dtype(), [&]<class T>() {
    if (by_lines)
      return route_by_lines(ctx, w, static_cast<const T*>(input), static_cast<const T*>(gradient),
                            static_cast<T*>(output));
    const int64_t outputs = w.out_lines() * w.out_line_size();
    int32_t* taps = ctx.scratch<int32_t>(size_t(outputs));
    find_taps(w, static_cast<const T*>(input), ctx.scratch<T>(size_t(outputs)), taps);
    const RouteLoop loop = (kTwice ? isa_loops().window->pick : isa_loops().window->route)[int(dtype_of<T>)];
    const T* g = static_cast<const T*>(gradient);
    T* out = static_cast<T*>(output);
    const int64_t c = w.channels;
    const int64_t size = kTwice ? w.out_line_size() : w.in_line_size();
    for_lines(kTwice ? w.out_lines() : w.in_lines(), size * 2, [&](int64_t begin, int64_t end) {
      std::fill(out + begin * size, out + end * size, T{});
      for (int64_t line = begin; line < end; ++line) {
        if constexpr (kTwice)
          w.taps_of_output(line, [&](int64_t tap, int64_t in_at, int64_t out_at, int64_t count) {
            loop(g + in_at, taps + out_at, int32_t(tap), out + out_at, {count, c, w.in_step(), c, c});
          });
        else
          w.taps_of_input(line, [&](int64_t tap, int64_t in_at, int64_t out_at, int64_t count) {
            loop(g + out_at, taps + out_at, int32_t(tap), out + in_at, {count, c, c, c, w.in_step()});
          });
      }
    });
  });
  if (!ok) ctx.fail_dtype(x.dtype);
  grad_staging.finish(result, output);
  if (!by_lines)
    for_lines(result.size / w.channels, w.channels, [&](int64_t b, int64_t e) { ctx.rows_done(b, e); });
}

bool grad_reports_rows(const Op& op, const Attrs& attrs, DType dtype) {
  return dtype == DType::kFloat32 && attr_as<std::string>(op, attrs, "data_format").back() == 'C';
}

void max_pool_with_argmax(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& result = ctx.out(0);
  const WindowCall call = read<2>(ctx, *x.shape);
  if (result.size == 0) return;
  const Staging staging(ctx, x.dtype, false, true);
  const WindowLines w(call, call.channels);
  const bool with_batch = ctx.attr<bool>("include_batch_in_index");
  int32_t* taps = ctx.scratch<int32_t>(size_t(result.size));
  void* output = staging.output(result);
  const bool ok = dispatch<kStaged>(staging.dtype(), [&]<class T>() {
    find_taps(w, static_cast<const T*>(staging.input(x)), static_cast<T*>(output), taps);
  });
  if (!ok) ctx.fail_dtype(x.dtype);
  staging.finish(result, output);
  const int64_t c = call.channels;
  dispatch<set_of(DType::kInt32, DType::kInt64)>(ctx.out(1).dtype, [&]<class I>() {
    I* at = ctx.out(1).as<I>();
    for_lines(w.out_lines(), w.out_line_size(), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line)
        for (int64_t i = 0; i < w.out_line_size(); ++i) {
          const int64_t tap = std::max(0, taps[line * w.out_line_size() + i]);
          const int64_t iy = line % w.y.out * w.y.stride - w.y.before + tap / w.x.filter;
          const int64_t ix = i / c * w.x.stride - w.x.before + tap % w.x.filter;
          const int64_t image = with_batch ? line / w.y.out : 0;
          at[line * w.out_line_size() + i] = I(((image * w.y.in + iy) * w.x.in + ix) * c + i % c);
        }
    });
  });
}

// out = x / (inputs inside the window), run by run of an output line; in place when x is out.
template <class T>
void divide_line(const WindowLines& w, int64_t line, const T* x, T* out) {
  const int64_t oy = line % w.y.out;
  const int64_t oz = line / w.y.out % w.z.out;
  const int64_t rows = WindowLines::inside(w.y, oy) * WindowLines::inside(w.z, oz);
  for (int64_t ox = 0; ox < w.x.out; ++ox) {
    const T count = T(rows * WindowLines::inside(w.x, ox));
    const int64_t at = line * w.out_line_size() + ox * w.channels;
    for (int64_t c = 0; c < w.channels; ++c) out[at + c] = x[at + c] / count;
  }
}

template <int kSpatial>
void avg_pool(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& result = ctx.out(0);
  const WindowCall call = read<kSpatial>(ctx, *x.shape);
  if (result.size == 0) return;
  const Staging staging(ctx, x.dtype, call.channels_first, true);
  const WindowLines w(call, call.channels);
  const void* input = staging.input(x);
  void* output = staging.output(result);
  dispatch<set_of(DType::kFloat32, DType::kFloat64)>(staging.dtype(), [&]<class T>() {
    const RunLoop2 loop = isa_loops().window->add[int(dtype_of<T>)];
    const T* in = static_cast<const T*>(input);
    T* out = static_cast<T*>(output);
    const int64_t c = w.channels;
    for_lines(w.out_lines(), w.out_line_size() * w.taps(), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        std::fill_n(out + line * w.out_line_size(), w.out_line_size(), T{});
        w.taps_of_output(line, [&](int64_t, int64_t in_at, int64_t out_at, int64_t count) {
          loop(in + in_at, out + out_at, {count, c, w.in_step(), 0, c});
        });
        divide_line(w, line, out, out);
      }
    });
  });
  staging.finish(result, output);
}

template <int kSpatial>
void avg_pool_grad(KernelContext& ctx) {
  const View& grad = ctx.in(1);
  const View& result = ctx.out(0);
  const WindowCall call = read<kSpatial>(ctx, *result.shape);
  if (result.size == 0) return;
  const Staging staging(ctx, grad.dtype, call.channels_first, true);
  const WindowLines w(call, call.channels);
  const void* gradient = staging.input(grad);
  void* output = staging.output(result);
  dispatch<set_of(DType::kFloat32, DType::kFloat64)>(staging.dtype(), [&]<class T>() {
    const RunLoop2 loop = isa_loops().window->add[int(dtype_of<T>)];
    T* shares = ctx.scratch<T>(size_t(grad.size));
    for_lines(w.out_lines(), w.out_line_size(), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line)
        divide_line(w, line, static_cast<const T*>(gradient), shares);
    });
    T* out = static_cast<T*>(output);
    const int64_t c = w.channels;
    for_lines(w.in_lines(), w.in_line_size() * 2, [&](int64_t begin, int64_t end) {
      std::fill(out + begin * w.in_line_size(), out + end * w.in_line_size(), T{});
      for (int64_t line = begin; line < end; ++line)
        w.taps_of_input(line, [&](int64_t, int64_t in_at, int64_t out_at, int64_t count) {
          loop(shares + out_at, out + in_at, {count, c, c, 0, w.in_step()});
        });
    });
  });
  staging.finish(result, output);
}

}  // namespace

void register_pool_cpu_kernels() {
  register_kernel("MaxPool", DeviceType::kCpu, max_pool<2>);
  register_kernel("MaxPoolGrad", DeviceType::kCpu, {max_pool_grad<2, false>, nullptr, grad_reports_rows});
  register_kernel("MaxPoolGradGrad", DeviceType::kCpu, max_pool_grad<2, true>);
  register_kernel("MaxPoolWithArgmax", DeviceType::kCpu, max_pool_with_argmax);
  register_kernel("AvgPool", DeviceType::kCpu, avg_pool<2>);
  register_kernel("AvgPoolGrad", DeviceType::kCpu, avg_pool_grad<2>);
  register_kernel("MaxPool3D", DeviceType::kCpu, max_pool<3>);
  register_kernel("MaxPool3DGrad", DeviceType::kCpu, max_pool_grad<3, false>);
  register_kernel("MaxPool3DGradGrad", DeviceType::kCpu, max_pool_grad<3, true>);
  register_kernel("AvgPool3D", DeviceType::kCpu, avg_pool<3>);
  register_kernel("AvgPool3DGrad", DeviceType::kCpu, avg_pool_grad<3>);
}

}  // namespace rw
