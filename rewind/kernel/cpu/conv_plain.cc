// Convolutions as matrix products of patches: a block of output positions is spread out as rows of the inputs
// that its windows cover (positions, filter positions * channels), and multiplied with the filter. Serves
// every type.
#include <algorithm>
#include <cstring>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/conv.h"
#include "rewind/kernel/cpu/gemm.h"

namespace rw {
namespace {

// A call with always three spatial axes, and what follows from it. A line is a run of output positions along
// the last spatial axis.
struct Patches {
  WindowAxis z, y, x;
  int64_t batch, channels, filter_in, out_channels, groups;

  explicit Patches(const ConvCall& call)
      : batch(call.window.batch),
        channels(call.window.channels),
        filter_in(call.filter_in),
        out_channels(call.out_channels),
        groups(call.groups()) {
    const WindowCall& w = call.window;
    if (w.spatial == 3) z = w.axes[0];
    y = w.axes[w.spatial - 2];
    x = w.axes[w.spatial - 1];
  }
  int64_t lines() const { return batch * z.out * y.out; }
  int64_t depth() const { return z.filter * y.filter * x.filter * filter_in; }
  int64_t group_out() const { return out_channels / groups; }
  bool is_product() const {  // the input itself is the matrix of patches
    auto trivial = [](const WindowAxis& a) {
      return a.filter == 1 && a.stride == 1 && a.before == 0 && a.after == 0;
    };
    return groups == 1 && trivial(z) && trivial(y) && trivial(x);
  }
  int64_t lines_per_block() const {
    constexpr int64_t kElements = 1 << 19;
    return std::clamp<int64_t>(kElements / std::max<int64_t>(1, x.out * depth()), 1, lines());
  }
};

// Writes the patches of lines [first, first + count) of a group.
template <class T>
void gather_patches(const Patches& p, const T* input, int64_t group, int64_t first, int64_t count,
                    T* patches) {
  const int64_t depth = p.depth();
  const int64_t run = p.filter_in;
  parallel_for(count, std::max<int64_t>(1, 16384 / (p.x.out * depth)), [&](int64_t begin, int64_t end) {
    for (int64_t l = begin; l < end; ++l) {
      const int64_t line = first + l;
      const int64_t oy = line % p.y.out;
      const int64_t oz = line / p.y.out % p.z.out;
      const int64_t n = line / (p.y.out * p.z.out);
      T* to = patches + l * p.x.out * depth;
      for (int64_t ox = 0; ox < p.x.out; ++ox)
        for (int64_t fz = 0; fz < p.z.filter; ++fz)
          for (int64_t fy = 0; fy < p.y.filter; ++fy) {
            const int64_t iz = oz * p.z.stride - p.z.before + fz * p.z.dilation;
            const int64_t iy = oy * p.y.stride - p.y.before + fy * p.y.dilation;
            const bool inside = iz >= 0 && iz < p.z.in && iy >= 0 && iy < p.y.in;
            const T* row = inside
                               ? input + ((n * p.z.in + iz) * p.y.in + iy) * p.x.in * p.channels + group * run
                               : nullptr;
            for (int64_t fx = 0; fx < p.x.filter; ++fx, to += run) {
              const int64_t ix = ox * p.x.stride - p.x.before + fx * p.x.dilation;
              if (inside && ix >= 0 && ix < p.x.in) std::copy_n(row + ix * p.channels, run, to);
              else std::fill_n(to, run, T{});
            }
          }
    }
  });
}

// The output line that input row `in` meets through filter row `f`; -1 if there is none.
int64_t meets(const WindowAxis& a, int64_t in, int64_t f) {
  const int64_t shifted = in + a.before - f * a.dilation;
  if (shifted < 0 || shifted % a.stride != 0 || shifted / a.stride >= a.out) return -1;
  return shifted / a.stride;
}

// Adds patches of lines [first, first + count) back to where they came from. Each input row is summed by one
// thread, in the order of the filter's positions.
template <class T>
void add_patches(const Patches& p, const T* patches, int64_t group, int64_t first, int64_t count, T* input) {
  const int64_t depth = p.depth();
  const int64_t run = p.filter_in;
  const int64_t image_lines = p.z.out * p.y.out;
  const int64_t first_image = first / image_lines;
  const int64_t images = (first + count - 1) / image_lines - first_image + 1;
  const int64_t rows = images * p.z.in * p.y.in;
  parallel_for(rows, std::max<int64_t>(1, 16384 / (p.x.out * depth)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t iy = r % p.y.in;
      const int64_t iz = r / p.y.in % p.z.in;
      const int64_t n = first_image + r / (p.y.in * p.z.in);
      T* row = input + ((n * p.z.in + iz) * p.y.in + iy) * p.x.in * p.channels + group * run;
      for (int64_t fz = 0; fz < p.z.filter; ++fz) {
        const int64_t oz = meets(p.z, iz, fz);
        if (oz < 0) continue;
        for (int64_t fy = 0; fy < p.y.filter; ++fy) {
          const int64_t oy = meets(p.y, iy, fy);
          if (oy < 0) continue;
          const int64_t line = (n * p.z.out + oz) * p.y.out + oy - first;
          if (line < 0 || line >= count) continue;
          const T* from = patches + line * p.x.out * depth + (fz * p.y.filter + fy) * p.x.filter * run;
          for (int64_t ox = 0; ox < p.x.out; ++ox, from += depth)
            for (int64_t fx = 0; fx < p.x.filter; ++fx) {
              const int64_t ix = ox * p.x.stride - p.x.before + fx * p.x.dilation;
              if (ix < 0 || ix >= p.x.in) continue;
              T* to = row + ix * p.channels;
              for (int64_t c = 0; c < run; ++c) to[c] += from[fx * run + c];
            }
        }
      }
    }
  });
}

template <class T>
void run(const ConvArgs& args) {
  const Patches p(args.call);
  const DType dtype = dtype_of<T>;
  Workspace workspace(args.ctx);
  const int64_t depth = p.depth();
  const int64_t width = p.group_out();
  const bool direct = p.is_product();
  const int64_t block = direct ? p.lines() : p.lines_per_block();
  T* patches = direct ? nullptr : args.ctx.scratch<T>(size_t(block * p.x.out * depth));
  const bool to_filter = args.pass == ConvPass::kFilterGrad;
  T* part = to_filter && block < p.lines() ? args.ctx.scratch<T>(size_t(depth * width)) : nullptr;
  const T* a = static_cast<const T*>(args.a);
  const T* b = static_cast<const T*>(args.b);
  T* out = static_cast<T*>(args.out);
  if (args.pass == ConvPass::kInputGrad && !direct)
    std::fill_n(out, p.batch * p.z.in * p.y.in * p.x.in * p.channels, T{});
  for (int64_t g = 0; g < p.groups; ++g) {
    for (int64_t first = 0; first < p.lines(); first += block) {
      const int64_t count = std::min(block, p.lines() - first);
      const int64_t m = count * p.x.out;
      const int64_t at = first * p.x.out * p.out_channels + g * width;  // in arrays like the output
      Gemm gemm_call;
      switch (args.pass) {
        case ConvPass::kForward:
          if (!direct) gather_patches(p, a, g, first, count, patches);
          gemm_call = {m, width, depth, false, false, depth, p.out_channels, p.out_channels};
          gemm(workspace, dtype, gemm_call, direct ? a : patches, b + g * width, out + at);
          break;
        case ConvPass::kInputGrad:
          gemm_call = {m, depth, width, false, true, p.out_channels, p.out_channels, depth};
          gemm(workspace, dtype, gemm_call, a + at, b + g * width, direct ? out : patches);
          if (!direct) add_patches(p, patches, g, first, count, out);
          break;
        case ConvPass::kFilterGrad: {
          if (!direct) gather_patches(p, a, g, first, count, patches);
          T* to = first == 0 ? out + g * width : part;
          gemm_call = {
              depth, width, m, true, false, depth, p.out_channels, first == 0 ? p.out_channels : width};
          gemm(workspace, dtype, gemm_call, direct ? a : patches, b + at, to);
          if (first == 0) break;
          for (int64_t r = 0; r < depth; ++r)
            for (int64_t c = 0; c < width; ++c)
              out[r * p.out_channels + g * width + c] += part[r * width + c];
          break;
        }
      }
    }
  }
}

}  // namespace

void conv_plain(DType dtype, const ConvArgs& args) {
  dispatch<set_of(DType::kFloat32, DType::kFloat64, DType::kInt32)>(dtype, [&]<class T>() { run<T>(args); });
}

}  // namespace rw
