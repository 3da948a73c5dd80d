// Local response normalisation along the channels:
//   norm[c] = bias + alpha * sum of x[c - radius .. c + radius]^2, out[c] = x[c] * norm[c]^-beta.
#include <algorithm>
#include <vector>

#include "rewind/base/dispatch.h"
#include "rewind/base/math/math.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/normalization.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr DTypeSet kTypes = set_of(DType::kFloat16, DType::kBfloat16, DType::kFloat32);

struct Lrn {
  int64_t radius;
  float bias, alpha, beta;
};
Lrn read(const KernelContext& ctx) {
  return {ctx.attr<int64_t>("depth_radius"), ctx.attr<float>("bias"), ctx.attr<float>("alpha"),
          ctx.attr<float>("beta")};
}

template <class T>
void norms(const Lrn& p, const T* x, float* norm, int64_t n) {
  for (int64_t c = 0; c < n; ++c) {
    float sum = 0;
    for (int64_t i = std::max<int64_t>(0, c - p.radius); i <= std::min(n - 1, c + p.radius); ++i)
      sum += static_cast<float>(x[i]) * static_cast<float>(x[i]);
    norm[c] = p.bias + p.alpha * sum;
  }
}

void lrn(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const Lrn p = read(ctx);
  if (x.size == 0) return;
  const int64_t n = x.shape->back();
  dispatch<kTypes>(x.dtype, [&]<class T>() {
    parallel_for(x.size / n, std::max<int64_t>(1, 512 / n), [&](int64_t begin, int64_t end) {
      std::vector<float> norm(static_cast<size_t>(n));
      for (int64_t r = begin; r < end; ++r) {
        const T* in = x.as<T>() + r * n;
        T* out = ctx.out(0).as<T>() + r * n;
        norms(p, in, norm.data(), n);
        for (int64_t c = 0; c < n; ++c)
          out[c] = static_cast<T>(static_cast<float>(in[c]) * scalar::pow(norm[size_t(c)], -p.beta));
      }
    });
  });
}

// dx[i] = g[i] norm[i]^-beta - 2 alpha beta x[i] sum over c near i of g[c] out[c] / norm[c].
void lrn_grad(KernelContext& ctx) {
  const View& x = ctx.in(1);
  const Lrn p = read(ctx);
  if (x.size == 0) return;
  const int64_t n = x.shape->back();
  dispatch<kTypes>(x.dtype, [&]<class T>() {
    parallel_for(x.size / n, std::max<int64_t>(1, 256 / n), [&](int64_t begin, int64_t end) {
      std::vector<float> norm(static_cast<size_t>(n)), ratio(static_cast<size_t>(n));
      for (int64_t r = begin; r < end; ++r) {
        const T* g = ctx.in(0).as<T>() + r * n;
        const T* in = x.as<T>() + r * n;
        const T* out = ctx.in(2).as<T>() + r * n;
        T* dx = ctx.out(0).as<T>() + r * n;
        norms(p, in, norm.data(), n);
        for (int64_t c = 0; c < n; ++c)
          ratio[size_t(c)] = static_cast<float>(g[c]) * static_cast<float>(out[c]) / norm[size_t(c)];
        for (int64_t i = 0; i < n; ++i) {
          float sum = 0;
          for (int64_t c = std::max<int64_t>(0, i - p.radius); c <= std::min(n - 1, i + p.radius); ++c)
            sum += ratio[size_t(c)];
          dx[i] = static_cast<T>(static_cast<float>(g[i]) * scalar::pow(norm[size_t(i)], -p.beta) -
                                 2.0f * p.alpha * p.beta * static_cast<float>(in[i]) * sum);
        }
      }
    });
  });
}

}  // namespace

void register_lrn_cpu_kernels() {
  register_kernel("LRN", DeviceType::kCpu, lrn);
  register_kernel("LRNGrad", DeviceType::kCpu, lrn_grad);
}

}  // namespace rw
