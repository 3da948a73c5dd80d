// Depthwise convolutions: every tap of the filter is a product of runs of channels (isa/window.cc). A channel
// multiplier is taken away first: the input is repeated along its channels.
#include <algorithm>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/conv.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/window.h"

namespace rw {
namespace {

// Outputs [begin, end) along an axis whose input lies inside for filter position f.
struct Inside {
  int64_t begin, end;
};
Inside inside(const WindowAxis& a, int64_t f) {
  const int64_t shift = f * a.dilation - a.before;  // input = output * stride + shift
  const int64_t begin = shift >= 0 ? 0 : (-shift + a.stride - 1) / a.stride;
  const int64_t end = a.in - shift <= 0 ? 0 : (a.in - shift + a.stride - 1) / a.stride;
  return {begin, std::clamp(end, begin, std::max(begin, a.out))};
}

template <class T>
struct Depthwise {
  const WindowAxis& y;
  const WindowAxis& x;
  int64_t batch, channels;
  RunLoop3 multiply_add = isa_loops().window->multiply_add[int(dtype_of<T>)];

  // All taps of one filter row between an input line and an output line: which of the three is summed is up
  // to the caller's pointers. `steps` are those of (input, output, filter) in runs.
  template <class F>
  void taps(F f) const {
    for (int64_t fx = 0; fx < x.filter; ++fx) {
      const Inside o = inside(x, fx);
      if (o.begin >= o.end) continue;
      const int64_t ix = o.begin * x.stride - x.before + fx * x.dilation;
      f(fx, ix * channels, o.begin * channels, o.end - o.begin);
    }
  }

  void forward(const T* in, const T* filter, T* out) const {
    const int64_t c = channels;
    parallel_for(batch * y.out, std::max<int64_t>(1, 8192 / (x.out * c)), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        T* o = out + line * x.out * c;
        std::fill_n(o, x.out * c, T{});
        for (int64_t fy = 0; fy < y.filter; ++fy) {
          const int64_t iy = line % y.out * y.stride - y.before + fy * y.dilation;
          if (iy < 0 || iy >= y.in) continue;
          const T* row = in + (line / y.out * y.in + iy) * x.in * c;
          taps([&](int64_t fx, int64_t in_at, int64_t out_at, int64_t count) {
            multiply_add(row + in_at, filter + (fy * x.filter + fx) * c, o + out_at,
                         {count, c, x.stride * c, 0, c});
          });
        }
      }
    });
  }

  void input_grad(const T* grad, const T* filter, T* out) const {
    const int64_t c = channels;
    parallel_for(batch * y.in, std::max<int64_t>(1, 8192 / (x.in * c)), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        T* o = out + line * x.in * c;
        std::fill_n(o, x.in * c, T{});
        for (int64_t fy = 0; fy < y.filter; ++fy) {
          const int64_t shifted = line % y.in + y.before - fy * y.dilation;
          if (shifted < 0 || shifted % y.stride != 0 || shifted / y.stride >= y.out) continue;
          const T* row = grad + (line / y.in * y.out + shifted / y.stride) * x.out * c;
          taps([&](int64_t fx, int64_t in_at, int64_t out_at, int64_t count) {
            multiply_add(row + out_at, filter + (fy * x.filter + fx) * c, o + in_at,
                         {count, c, c, 0, x.stride * c});
          });
        }
      }
    });
  }

  // Lines are summed in blocks of a size that the shape gives; the blocks' sums are added in order.
  void filter_grad(KernelContext& ctx, const T* in, const T* grad, T* out) const {
    const int64_t c = channels;
    const int64_t size = y.filter * x.filter * c;
    const int64_t lines = batch * y.out;
    const int64_t block = std::max<int64_t>((lines + 63) / 64, 65536 / (x.out * c * y.filter * x.filter));
    const int64_t blocks = (lines + block - 1) / block;
    T* parts = blocks == 1 ? out : ctx.scratch<T>(size_t(blocks * size));
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        T* part = parts + b * size;
        std::fill_n(part, size, T{});
        for (int64_t line = b * block; line < std::min(lines, (b + 1) * block); ++line)
          for (int64_t fy = 0; fy < y.filter; ++fy) {
            const int64_t iy = line % y.out * y.stride - y.before + fy * y.dilation;
            if (iy < 0 || iy >= y.in) continue;
            const T* row = in + (line / y.out * y.in + iy) * x.in * c;
            const T* g = grad + line * x.out * c;
            taps([&](int64_t fx, int64_t in_at, int64_t out_at, int64_t count) {
              multiply_add(row + in_at, g + out_at, part + (fy * x.filter + fx) * c,
                           {count, c, x.stride * c, c, 0});
            });
          }
      }
    });
    if (blocks == 1) return;
    for (int64_t i = 0; i < size; ++i) {
      T sum = parts[i];
      for (int64_t b = 1; b < blocks; ++b) sum += parts[b * size + i];
      out[i] = sum;
    }
  }
};

// Every element `times` times.
template <class T>
const T* repeated(KernelContext& ctx, const T* x, int64_t n, int64_t times) {
  if (times == 1) return x;
  T* out = ctx.scratch<T>(size_t(n * times));
  parallel_for(n, std::max<int64_t>(1, 16384 / times), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::fill_n(out + i * times, times, x[i]);
  });
  return out;
}

template <class T>
void run(const ConvArgs& args) {
  const WindowCall& w = args.call.window;
  const int64_t multiplier = args.call.out_channels / w.channels;
  const Depthwise<T> d{w.axes[0], w.axes[1], w.batch, args.call.out_channels};
  const T* a = static_cast<const T*>(args.a);
  const T* b = static_cast<const T*>(args.b);
  T* out = static_cast<T*>(args.out);
  const int64_t inputs = w.batch * w.in_positions() * w.channels;
  if (args.pass == ConvPass::kForward) return d.forward(repeated(args.ctx, a, inputs, multiplier), b, out);
  if (args.pass == ConvPass::kFilterGrad)
    return d.filter_grad(args.ctx, repeated(args.ctx, a, inputs, multiplier), b, out);
  if (multiplier == 1) return d.input_grad(a, b, out);
  T* wide = args.ctx.scratch<T>(size_t(inputs * multiplier));
  d.input_grad(a, b, wide);
  parallel_for(inputs, std::max<int64_t>(1, 16384 / multiplier), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T sum{};
      for (int64_t j = 0; j < multiplier; ++j) sum += wide[i * multiplier + j];
      out[i] = sum;
    }
  });
}

}  // namespace

void conv_depthwise(DType dtype, const ConvArgs& args) {
  dispatch<set_of(DType::kFloat32, DType::kFloat64)>(dtype, [&]<class T>() { run<T>(args); });
}

}  // namespace rw
