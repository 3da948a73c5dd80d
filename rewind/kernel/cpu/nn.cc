// Kernels of softmax, cross entropy, biases and L2 loss: shapes and threads around the loops of isa/nn.cc.
#include <algorithm>
#include <cstring>
#include <vector>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/nn.h"
#include "rewind/kernel/cpu/normalization.h"
#include "rewind/kernel/kernel.h"

namespace rw {

namespace {

constexpr int64_t kRowGrain = 8192;  // elements of exp work a thread should at least have

char* at(const View& v, int64_t offset) {
  return static_cast<char*>(v.data) + offset * int64_t(size_of(v.dtype));
}

bool is_16_bit(DType dtype) { return size_of(dtype) == 2; }

// Calls body(begin, end, work) on ranges of rows; `work` is what the 16-bit loops need.
template <class Body>
void for_rows(DType dtype, int64_t rows, int64_t classes, Body body) {
  parallel_for(
      rows, std::max<int64_t>(1, kRowGrain / std::max<int64_t>(classes, 1)), [&](int64_t begin, int64_t end) {
        std::vector<float> work(is_16_bit(dtype) ? size_t(softmax_block_rows(classes) * classes) : 0);
        body(begin, end, work.data());
      });
}

template <SoftmaxLoop (NnLoops::*kLoops)[kNumDTypes]>
void softmax(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  const SoftmaxLoop loop = (isa_loops().nn->*kLoops)[int(x.dtype)];
  if (!loop) ctx.fail_dtype(x.dtype);
  if (x.size == 0) return;
  const int64_t classes = x.shape->back();
  for_rows(x.dtype, x.size / classes, classes, [&](int64_t begin, int64_t end, float* work) {
    loop(at(x, begin * classes), at(out, begin * classes), work, end - begin, classes);
  });
}

MatrixSteps steps_of(const View& v) { return {v.dim(0) == 1 ? 0 : v.dim(1), v.dim(1) == 1 ? 0 : 1}; }

void cross_entropy(KernelContext& ctx) {
  const View& features = ctx.in(0);
  const View& labels = ctx.in(1);
  const View& loss = ctx.out(0);
  const View& backprop = ctx.out(1);
  const CrossEntropyLoop loop = isa_loops().nn->cross_entropy[int(features.dtype)];
  if (!loop) ctx.fail_dtype(features.dtype);
  const int64_t rows = backprop.dim(0);
  const int64_t classes = backprop.dim(1);
  if (rows == 0) return;
  if (classes == 0) return (void)std::memset(loss.data, 0, size_t(rows) * size_of(loss.dtype));
  MatrixSteps fs = steps_of(features);
  const MatrixSteps ls = steps_of(labels);
  if (classes == 1) fs.column = 1;
  for_rows(features.dtype, rows, classes, [&](int64_t begin, int64_t end, float* work) {
    loop(at(features, begin * fs.row), fs, at(labels, begin * ls.row), ls, at(loss, begin),
         at(backprop, begin * classes), work, end - begin, classes);
  });
}

void sparse_cross_entropy(KernelContext& ctx) {
  const View& features = ctx.in(0);
  const View& labels = ctx.in(1);
  const View& loss = ctx.out(0);
  const View& backprop = ctx.out(1);
  const SparseCrossEntropyLoop loop = isa_loops().nn->sparse_cross_entropy[int(features.dtype)];
  if (!loop) ctx.fail_dtype(features.dtype);
  const int64_t rows = features.dim(0);
  const int64_t classes = features.dim(1);
  if (rows == 0) return;
  const int64_t* indices = labels.as<int64_t>();
  if (labels.dtype == DType::kInt32) {
    int64_t* wide = ctx.scratch<int64_t>(size_t(rows));
    std::copy_n(labels.as<int32_t>(), rows, wide);
    indices = wide;
  }
  for (int64_t r = 0; r < rows; ++r) {
    if (indices[r] < 0 || indices[r] >= classes)
      ctx.fail("a label must be in [0, " + std::to_string(classes) + "), the classes of the logits: labels[" +
               std::to_string(r) + "] is " + std::to_string(indices[r]));
  }
  for_rows(features.dtype, rows, classes, [&](int64_t begin, int64_t end, float* work) {
    loop(at(features, begin * classes), indices + begin, at(loss, begin), at(backprop, begin * classes), work,
         end - begin, classes);
  });
}

// value seen as (rows, channels, inner).
struct BiasShape {
  int64_t rows = 1, channels = 1, inner = 1;
};
BiasShape bias_shape(const View& value, bool channels_first) {
  BiasShape s;
  const int axis = channels_first ? 1 : value.rank() - 1;
  s.channels = value.dim(axis);
  for (int i = 0; i < axis; ++i) s.rows *= value.dim(i);
  for (int i = axis + 1; i < value.rank(); ++i) s.inner *= value.dim(i);
  return s;
}

template <bool kHasFormat>
void bias_add(KernelContext& ctx) {
  const View& value = ctx.in(0);
  const View& out = ctx.out(0);
  const BiasAddLoop loop = isa_loops().nn->bias_add[int(value.dtype)];
  if (!loop) ctx.fail_dtype(value.dtype);
  if (value.size == 0) return;
  const BiasShape s = bias_shape(value, kHasFormat && ctx.attr<std::string>("data_format") == "NCHW");
  const int64_t row = s.channels * s.inner;
  parallel_for(s.rows, std::max<int64_t>(1, 16384 / row), [&](int64_t begin, int64_t end) {
    loop(at(value, begin * row), ctx.in(1).data, at(out, begin * row), end - begin, s.channels, s.inner);
  });
}

// Channels last: rows are summed in blocks of a fixed size, the blocks' sums then in order.
template <class T>
void sum_channels_last(KernelContext& ctx, const BiasShape& s) {
  using C = Compute<T>;
  const ColumnSumLoop loop = isa_loops().nn->column_sum[int(dtype_of<T>)];
  const int64_t block = std::clamp<int64_t>(65536 / s.channels, 64, 1024);
  const int64_t blocks = (s.rows + block - 1) / block;
  C* sums = ctx.scratch<C>(size_t(blocks * s.channels));
  const T* x = ctx.in(0).as<T>();
  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      loop(x + b * block * s.channels, sums + b * s.channels, std::min(block, s.rows - b * block),
           s.channels);
  });
  T* out = ctx.out(0).as<T>();
  for (int64_t c = 0; c < s.channels; ++c) {
    C total = sums[c];
    for (int64_t b = 1; b < blocks; ++b) total += sums[b * s.channels + c];
    out[c] = static_cast<T>(total);
  }
}

template <class T>
void sum_channels_first(KernelContext& ctx, const BiasShape& s) {
  using C = Compute<T>;
  const FlatSumLoop loop = isa_loops().nn->flat_sum[int(dtype_of<T>)];
  const T* x = ctx.in(0).as<T>();
  T* out = ctx.out(0).as<T>();
  parallel_for(s.channels, std::max<int64_t>(1, 16384 / (s.rows * s.inner)), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      C total{};
      for (int64_t r = 0; r < s.rows; ++r) {
        C part;
        loop(x + (r * s.channels + c) * s.inner, &part, s.inner);
        total += part;
      }
      out[c] = static_cast<T>(total);
    }
  });
}

void bias_add_grad(KernelContext& ctx) {
  const View& grad = ctx.in(0);
  const bool channels_first = ctx.attr<std::string>("data_format") == "NCHW";
  const bool ok = dispatch<kRealTypes>(grad.dtype, [&]<class T>() {
    if (grad.size == 0) return (void)std::fill_n(ctx.out(0).as<T>(), ctx.out(0).size, T{});
    const BiasShape s = bias_shape(grad, channels_first);
    if (channels_first) sum_channels_first<T>(ctx, s);
    else sum_channels_last<T>(ctx, s);
  });
  if (!ok) ctx.fail_dtype(grad.dtype);
}

void l2_loss(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const bool ok = dispatch<kFloatTypes>(x.dtype, [&]<class T>() {
    using C = Compute<T>;
    constexpr int64_t kBlock = 16384;
    const FlatSumLoop loop = isa_loops().nn->square_sum[int(x.dtype)];
    const int64_t blocks = (x.size + kBlock - 1) / kBlock;
    C* sums = ctx.scratch<C>(size_t(blocks));
    parallel_for(blocks, 2, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        loop(x.as<T>() + b * kBlock, sums + b, std::min(kBlock, x.size - b * kBlock));
    });
    C total{};
    for (int64_t b = 0; b < blocks; ++b) total += sums[b];
    *ctx.out(0).as<T>() = static_cast<T>(total / C(2));
  });
  if (!ok) ctx.fail_dtype(x.dtype);
}

}  // namespace

void register_nn_cpu_kernels() {
  register_kernel("Softmax", DeviceType::kCpu, softmax<&NnLoops::softmax>);
  register_kernel("LogSoftmax", DeviceType::kCpu, softmax<&NnLoops::log_softmax>);
  register_kernel("SoftmaxCrossEntropyWithLogits", DeviceType::kCpu, cross_entropy);
  register_kernel("SparseSoftmaxCrossEntropyWithLogits", DeviceType::kCpu, sparse_cross_entropy);
  register_kernel("BiasAdd", DeviceType::kCpu, bias_add<true>);
  register_kernel("BiasAddV1", DeviceType::kCpu, bias_add<false>);
  register_kernel("BiasAddGrad", DeviceType::kCpu, bias_add_grad);
  register_kernel("L2Loss", DeviceType::kCpu, l2_loss);
  register_batch_norm_cpu_kernels();
  register_lrn_cpu_kernels();
  register_attention_cpu_kernels();
}

}  // namespace rw
