// Depthwise convolutions: every tap of the filter is a product of runs of channels (isa/window.cc). A channel
// multiplier is taken away first: the input is repeated along its channels.
#include <algorithm>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/conv.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/window.h"
#include "rewind/kernel/cpu/window_lines.h"

namespace rw {
namespace {

constexpr int64_t kGrain = 8192;  // elements

template <class T>
RunLoop3 multiply_add() {
  return isa_loops().window->multiply_add[int(dtype_of<T>)];
}

template <class T>
void forward(const WindowLines& w, const T* in, const T* filter, T* out) {
  const int64_t c = w.channels;
  const RunLoop3 loop = multiply_add<T>();
  parallel_for(w.out_lines(), std::max<int64_t>(1, kGrain / w.out_line_size()),
               [&](int64_t begin, int64_t end) {
                 std::fill(out + begin * w.out_line_size(), out + end * w.out_line_size(), T{});
                 for (int64_t line = begin; line < end; ++line)
                   w.taps_of_output(line, [&](int64_t tap, int64_t in_at, int64_t out_at, int64_t count) {
                     loop(in + in_at, filter + tap * c, out + out_at, {count, c, w.in_step(), 0, c});
                   });
               });
}

template <class T>
void input_grad(const WindowLines& w, const T* grad, const T* filter, T* out) {
  const int64_t c = w.channels;
  const RunLoop3 loop = multiply_add<T>();
  parallel_for(w.in_lines(), std::max<int64_t>(1, kGrain / w.in_line_size()),
               [&](int64_t begin, int64_t end) {
                 std::fill(out + begin * w.in_line_size(), out + end * w.in_line_size(), T{});
                 for (int64_t line = begin; line < end; ++line)
                   w.taps_of_input(line, [&](int64_t tap, int64_t in_at, int64_t out_at, int64_t count) {
                     loop(grad + out_at, filter + tap * c, out + in_at, {count, c, c, 0, w.in_step()});
                   });
               });
}

// Lines are summed in blocks of a size that the shape gives; the blocks' sums are added in order.
template <class T>
void filter_grad(KernelContext& ctx, const WindowLines& w, const T* in, const T* grad, T* out) {
  const int64_t c = w.channels;
  const RunLoop3 loop = multiply_add<T>();
  const int64_t size = w.taps() * c;
  const int64_t lines = w.out_lines();
  const int64_t block = std::max<int64_t>((lines + 63) / 64, 65536 / (w.out_line_size() * w.taps()));
  const int64_t blocks = (lines + block - 1) / block;
  T* parts = blocks == 1 ? out : ctx.scratch<T>(size_t(blocks * size));
  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    std::fill(parts + begin * size, parts + end * size, T{});
    for (int64_t b = begin; b < end; ++b)
      for (int64_t line = b * block; line < std::min(lines, (b + 1) * block); ++line)
        w.taps_of_output(line, [&](int64_t tap, int64_t in_at, int64_t out_at, int64_t count) {
          loop(in + in_at, grad + out_at, parts + b * size + tap * c, {count, c, w.in_step(), c, 0});
        });
  });
  if (blocks == 1) return;
  for (int64_t i = 0; i < size; ++i) {
    T sum = parts[i];
    for (int64_t b = 1; b < blocks; ++b) sum += parts[b * size + i];
    out[i] = sum;
  }
}

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
  const WindowCall& call = args.call.window;
  const int64_t multiplier = args.call.out_channels / call.channels;
  const WindowLines w(call, args.call.out_channels);
  const T* a = static_cast<const T*>(args.a);
  const T* b = static_cast<const T*>(args.b);
  T* out = static_cast<T*>(args.out);
  const int64_t inputs = call.batch * call.in_positions() * call.channels;
  if (args.pass == ConvPass::kForward) return forward(w, repeated(args.ctx, a, inputs, multiplier), b, out);
  if (args.pass == ConvPass::kFilterGrad)
    return filter_grad(args.ctx, w, repeated(args.ctx, a, inputs, multiplier), b, out);
  if (multiplier == 1) return input_grad(w, a, b, out);
  T* wide = args.ctx.scratch<T>(size_t(inputs * multiplier));
  input_grad(w, a, b, wide);
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
