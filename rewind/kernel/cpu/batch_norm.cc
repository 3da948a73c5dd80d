// Batch normalisation, over (rows, channels) in float. Statistics of a channel are summed in blocks of rows
// whose size the shape gives, and the blocks' sums in order.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/nn.h"
#include "rewind/kernel/cpu/normalization.h"
#include "rewind/kernel/cpu/staging.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

struct Matrix {
  int64_t rows, channels;
};

Matrix matrix_of(KernelContext& ctx, const View& x, bool channels_first) {
  const int64_t channels = x.dim(channels_first ? 1 : x.rank() - 1);
  if (channels == 0) ctx.fail("x must have channels: x is " + x.describe());
  return {x.size / channels, channels};
}

bool is_channels_first(const KernelContext& ctx) { return ctx.attr<std::string>("data_format")[1] == 'C'; }

// sums[c] = what `part(first row, rows, sums)` gives over all rows.
template <class Part>
void sum_rows(KernelContext& ctx, Matrix m, float* sums, Part part) {
  const int64_t block = std::clamp<int64_t>(65536 / m.channels, 64, 1024);
  const int64_t blocks = (m.rows + block - 1) / block;
  if (blocks == 0) return (void)std::fill_n(sums, m.channels, 0.0f);
  float* parts = ctx.scratch<float>(size_t(blocks * m.channels));
  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      part(b * block, std::min(block, m.rows - b * block), parts + b * m.channels);
  });
  for (int64_t c = 0; c < m.channels; ++c) {
    float total = parts[c];
    for (int64_t b = 1; b < blocks; ++b) total += parts[b * m.channels + c];
    sums[c] = total;
  }
}

// A vector per channel as floats (bfloat16 statistics are allowed).
const float* vector_of(KernelContext& ctx, const View& v) {
  if (v.dtype == DType::kFloat32) return v.as<float>();
  float* wide = ctx.scratch<float>(size_t(v.size));
  widen_to_float(v.data, v.dtype, wide, v.size);
  return wide;
}
void put(const View& v, const float* values) {
  if (v.dtype == DType::kFloat32) std::copy_n(values, v.size, v.as<float>());
  else narrow_from_float(values, v.dtype, v.data, v.size);
}

void batch_norm(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const bool first = is_channels_first(ctx);
  const Matrix m = matrix_of(ctx, x, first);
  const auto n = size_t(m.channels);
  const float epsilon = ctx.attr<float>("epsilon");
  const float factor = ctx.attr<float>("exponential_avg_factor");
  const float* scale = vector_of(ctx, ctx.in(1));
  const float* offset = vector_of(ctx, ctx.in(2));
  const float* old_mean = vector_of(ctx, ctx.in(3));
  const float* old_variance = vector_of(ctx, ctx.in(4));
  float* mean = ctx.scratch<float>(n);
  float* variance = ctx.scratch<float>(n);
  float* running_mean = ctx.scratch<float>(n);
  float* running_variance = ctx.scratch<float>(n);
  const Staging staging(ctx, x.dtype, first, true);
  const float* in = static_cast<const float*>(staging.input(x));
  const NnLoops& loops = *isa_loops().nn;
  if (!ctx.attr<bool>("is_training")) {
    for (float* to : {mean, running_mean}) std::copy_n(old_mean, n, to);
    for (float* to : {variance, running_variance}) std::copy_n(old_variance, n, to);
  } else if (m.rows == 0) {
    for (float* to : {mean, variance}) std::fill_n(to, n, 0.0f);
    for (float* to : {running_mean, running_variance})
      std::fill_n(to, n, std::numeric_limits<float>::quiet_NaN());
  } else {
    const float count = float(m.rows);
    sum_rows(ctx, m, mean, [&](int64_t row, int64_t rows, float* sums) {
      loops.column_sum[int(DType::kFloat32)](in + row * m.channels, sums, rows, m.channels);
    });
    for (size_t c = 0; c < n; ++c) mean[c] /= count;
    sum_rows(ctx, m, variance, [&](int64_t row, int64_t rows, float* sums) {
      const float* at = in + row * m.channels;
      loops.centered_product_sum(nullptr, at, mean, sums, rows, m.channels);
    });
    const float unbiased = count / std::max(1.0f, count - 1.0f);
    for (size_t c = 0; c < n; ++c) {
      variance[c] /= count;
      const float corrected = variance[c] * unbiased;
      running_mean[c] = factor == 1.0f ? mean[c] : (1.0f - factor) * old_mean[c] + factor * mean[c];
      running_variance[c] =
          factor == 1.0f ? corrected : (1.0f - factor) * old_variance[c] + factor * corrected;
    }
  }
  put(ctx.out(1), running_mean);
  put(ctx.out(2), running_variance);
  put(ctx.out(3), mean);
  put(ctx.out(4), variance);
  if (m.rows == 0) return;
  float* gain = ctx.scratch<float>(n);
  for (size_t c = 0; c < n; ++c) gain[c] = scale[c] / std::sqrt(variance[c] + epsilon);
  float* out = static_cast<float*>(staging.output(ctx.out(0)));
  parallel_for(m.rows, std::max<int64_t>(1, 16384 / m.channels), [&](int64_t begin, int64_t end) {
    loops.normalize(in + begin * m.channels, mean, gain, offset, out + begin * m.channels, end - begin,
                    m.channels);
  });
  staging.finish(ctx.out(0), out);
}

void batch_norm_grad(KernelContext& ctx) {
  const View& x = ctx.in(1);
  const bool first = is_channels_first(ctx);
  const Matrix m = matrix_of(ctx, x, first);
  const auto n = size_t(m.channels);
  const float epsilon = ctx.attr<float>("epsilon");
  const float* scale = vector_of(ctx, ctx.in(2));
  const float* mean = vector_of(ctx, ctx.in(3));
  const float* variance = vector_of(ctx, ctx.in(4));
  const Staging staging(ctx, x.dtype, first, true);
  const float* in = static_cast<const float*>(staging.input(x));
  const float* grad = static_cast<const float*>(staging.input(ctx.in(0)));
  const NnLoops& loops = *isa_loops().nn;
  float* grad_sum = ctx.scratch<float>(n);
  float* product_sum = ctx.scratch<float>(n);
  sum_rows(ctx, m, grad_sum, [&](int64_t row, int64_t rows, float* sums) {
    loops.column_sum[int(DType::kFloat32)](grad + row * m.channels, sums, rows, m.channels);
  });
  sum_rows(ctx, m, product_sum, [&](int64_t row, int64_t rows, float* sums) {
    const int64_t at = row * m.channels;
    loops.centered_product_sum(grad + at, in + at, mean, sums, rows, m.channels);
  });
  const bool training = ctx.attr<bool>("is_training");
  float* gain = ctx.scratch<float>(n);
  float* mean_grad = ctx.scratch<float>(n);
  float* slope = ctx.scratch<float>(n);
  float* scale_grad = ctx.scratch<float>(n);
  for (size_t c = 0; c < n; ++c) {
    const float inverse = 1.0f / std::sqrt(variance[c] + epsilon);
    scale_grad[c] = product_sum[c] * inverse;
    gain[c] = scale[c] * inverse;
    mean_grad[c] = training ? grad_sum[c] / float(m.rows) : 0.0f;
    slope[c] = training ? product_sum[c] / float(m.rows) * inverse * inverse : 0.0f;
  }
  put(ctx.out(1), scale_grad);
  put(ctx.out(2), grad_sum);
  const float zero = 0.0f;
  for (int i = 3; i < 5; ++i) put(ctx.out(i), &zero);
  if (m.rows == 0) return;
  float* out = static_cast<float*>(staging.output(ctx.out(0)));
  parallel_for(m.rows, std::max<int64_t>(1, 16384 / m.channels), [&](int64_t begin, int64_t end) {
    const int64_t at = begin * m.channels;
    loops.normalize_grad(grad + at, in + at, mean, mean_grad, slope, gain, out + at, end - begin, m.channels);
  });
  staging.finish(ctx.out(0), out);
}

}  // namespace

void register_batch_norm_cpu_kernels() {
  for (const char* op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
    register_kernel(op, DeviceType::kCpu, batch_norm);
  for (const char* op : {"FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"})
    register_kernel(op, DeviceType::kCpu, batch_norm_grad);
}

}  // namespace rw
