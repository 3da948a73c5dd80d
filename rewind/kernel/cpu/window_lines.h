// Walks windows by lines: runs along the last spatial axis, channels last. A tap is one position of the
// window; for a line of outputs (or of inputs) each tap gives runs of channels at constant steps. Up to three
// spatial axes.
#pragma once

#include <algorithm>

#include "rewind/op/window.h"

namespace rw {

struct WindowLines {
  WindowAxis z, y, x;
  int64_t batch, channels;

  WindowLines(const WindowCall& w, int64_t channel_count) : batch(w.batch), channels(channel_count) {
    if (w.spatial == 3) z = w.axes[0];
    y = w.axes[w.spatial - 2];
    x = w.axes[w.spatial - 1];
  }
  int64_t out_lines() const { return batch * z.out * y.out; }
  int64_t in_lines() const { return batch * z.in * y.in; }
  int64_t out_line_size() const { return x.out * channels; }
  int64_t in_line_size() const { return x.in * channels; }
  int64_t taps() const { return z.filter * y.filter * x.filter; }
  int64_t in_step() const {
    return x.stride * channels;
  }  // from a run of inputs to the next; outputs: `channels`

  // f(tap, in_at, out_at, count) for every tap that an output line meets: `count` runs, the first of them at
  // these elements of the input's and the output's arrays.
  template <class F>
  void taps_of_output(int64_t line, F f) const {
    const int64_t oy = line % y.out;
    const int64_t oz = line / y.out % z.out;
    const int64_t n = line / (y.out * z.out);
    for (int64_t fz = 0; fz < z.filter; ++fz) {
      const int64_t iz = oz * z.stride - z.before + fz * z.dilation;
      if (iz < 0 || iz >= z.in) continue;
      for (int64_t fy = 0; fy < y.filter; ++fy) {
        const int64_t iy = oy * y.stride - y.before + fy * y.dilation;
        if (iy < 0 || iy >= y.in) continue;
        row_taps((fz * y.filter + fy) * x.filter, ((n * z.in + iz) * y.in + iy) * in_line_size(),
                 line * out_line_size(), f);
      }
    }
  }

  // The same for an input line.
  template <class F>
  void taps_of_input(int64_t line, F f) const {
    const int64_t iy = line % y.in;
    const int64_t iz = line / y.in % z.in;
    const int64_t n = line / (y.in * z.in);
    for (int64_t fz = 0; fz < z.filter; ++fz) {
      const int64_t oz = output_of(z, iz, fz);
      if (oz < 0) continue;
      for (int64_t fy = 0; fy < y.filter; ++fy) {
        const int64_t oy = output_of(y, iy, fy);
        if (oy < 0) continue;
        row_taps((fz * y.filter + fy) * x.filter, line * in_line_size(),
                 ((n * z.out + oz) * y.out + oy) * out_line_size(), f);
      }
    }
  }

  // How many inputs lie inside the window of an output, along one axis.
  static int64_t inside(const WindowAxis& a, int64_t out) {
    const int64_t first = out * a.stride - a.before;
    return std::max<int64_t>(0, std::min(first + a.filter, a.in) - std::max<int64_t>(first, 0));
  }

 private:
  // The output that input `in` meets through filter position `f`; -1 if there is none.
  static int64_t output_of(const WindowAxis& a, int64_t in, int64_t f) {
    const int64_t shifted = in + a.before - f * a.dilation;
    if (shifted < 0 || shifted % a.stride != 0 || shifted / a.stride >= a.out) return -1;
    return shifted / a.stride;
  }

  template <class F>
  void row_taps(int64_t first_tap, int64_t in_line, int64_t out_line, F f) const {
    for (int64_t fx = 0; fx < x.filter; ++fx) {
      const int64_t shift = fx * x.dilation - x.before;  // input = output * stride + shift
      const int64_t begin = shift >= 0 ? 0 : (-shift + x.stride - 1) / x.stride;
      const int64_t end = std::min(x.out, x.in - shift <= 0 ? 0 : (x.in - shift + x.stride - 1) / x.stride);
      if (begin < end)
        f(first_tap + fx, in_line + (begin * x.stride + shift) * channels, out_line + begin * channels,
          end - begin);
    }
  }
};

}  // namespace rw
