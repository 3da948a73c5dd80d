// Kernels of the creation ops.
#include <algorithm>
#include <complex>
#include <cstring>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr DTypeSet kAll = kRealTypes | set_of(DType::kBool, DType::kString);
constexpr int64_t kGrain = 65536;

// dispatch(), and over complex numbers.
template <DTypeSet kSet, class F>
bool dispatch_with_complex(DType dtype, F&& f) {
  if (dtype == DType::kComplex64) return f.template operator()<std::complex<float>>(), true;
  if (dtype == DType::kComplex128) return f.template operator()<std::complex<double>>(), true;
  return dispatch<kSet>(dtype, f);
}

template <class T>
void fill_with(T* out, int64_t n, const T& value) {
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) { std::fill(out + begin, out + end, value); });
}

void fill(KernelContext& ctx) {
  const View& out = ctx.out(0);
  const bool ok = dispatch_with_complex<kAll>(
      out.dtype, [&]<class T>() { fill_with(out.as<T>(), out.size, *ctx.in(1).as<T>()); });
  if (!ok) ctx.fail_dtype(out.dtype);
}

template <int kValue>
void constant_like(KernelContext& ctx) {
  const View& out = ctx.out(0);
  constexpr DTypeSet kNumbers = kRealTypes | set_of(DType::kBool);
  const bool ok = dispatch_with_complex<kNumbers>(out.dtype, [&]<class T>() {
    fill_with(out.as<T>(), out.size, static_cast<T>(static_cast<Compute<T>>(kValue)));
  });
  if (!ok && !(kValue == 0 && out.dtype == DType::kString)) ctx.fail_dtype(out.dtype);
}

void constant(KernelContext& ctx) {
  const View& out = ctx.out(0);
  const auto value = ctx.attr<HostTensor>("value");
  const bool ok = dispatch_with_complex<kAll>(out.dtype, [&]<class T>() {
    std::copy_n(static_cast<const T*>(value.data.get()), out.size, out.as<T>());
  });
  if (!ok) ctx.fail_dtype(out.dtype);
}

// Memory is not handed out as it comes: what an op returns must not depend on what was there before.
void empty(KernelContext& ctx) {
  const View& out = ctx.out(0);
  if (!is_host_only(out.dtype)) std::memset(out.data, 0, size_t(out.size) * size_of(out.dtype));
}

// start + i * delta; 16-bit floats are rounded after each of the two operations, as in TensorFlow.
void range(KernelContext& ctx) {
  const View& out = ctx.out(0);
  const bool ok = dispatch<kRealTypes>(out.dtype, [&]<class T>() {
    using C = Compute<T>;
    auto rounded = [](C x) { return static_cast<C>(static_cast<T>(x)); };
    const C start = static_cast<C>(*ctx.in(0).as<T>());
    const C delta = static_cast<C>(*ctx.in(2).as<T>());
    for (int64_t i = 0; i < out.size; ++i)
      out.as<T>()[i] = static_cast<T>(C(start + rounded(C(rounded(static_cast<C>(i)) * delta))));
  });
  if (!ok) ctx.fail_dtype(out.dtype);
}

void linspace(KernelContext& ctx) {
  const View& out = ctx.out(0);
  const bool ok = dispatch<kFloatTypes>(out.dtype, [&]<class T>() {
    using C = Compute<T>;
    const C start = static_cast<C>(*ctx.in(0).as<T>());
    const C stop = static_cast<C>(*ctx.in(1).as<T>());
    const C step = out.size > 1 ? (stop - start) / static_cast<C>(out.size - 1) : C(0);
    for (int64_t i = 0; i < out.size; ++i) out.as<T>()[i] = static_cast<T>(start + step * static_cast<C>(i));
    if (out.size > 1) out.as<T>()[out.size - 1] = static_cast<T>(stop);
  });
  if (!ok) ctx.fail_dtype(out.dtype);
}

// (prefix, suffix) indices to (prefix, depth, suffix). Indices outside [0, depth) have no place: all is off.
template <class T, class I>
void one_hot_as(KernelContext& ctx, int64_t suffix, int64_t depth) {
  const I* indices = ctx.in(0).as<I>();
  T* out = ctx.out(0).as<T>();
  const T& on = *ctx.in(2).as<T>();
  fill_with(out, ctx.out(0).size, *ctx.in(3).as<T>());
  for (int64_t i = 0; i < ctx.in(0).size; ++i) {
    const auto k = static_cast<int64_t>(indices[i]);
    if (k >= 0 && k < depth) out[(i / suffix * depth + k) * suffix + i % suffix] = on;
  }
}

void one_hot(KernelContext& ctx) {
  const View& indices = ctx.in(0);
  const auto axis = ctx.attr<int64_t>("axis");
  int64_t suffix = 1;
  for (int a = axis < 0 ? indices.rank() : int(axis); a < indices.rank(); ++a) suffix *= indices.dim(a);
  const int64_t depth = *ctx.in(1).as<int32_t>();
  constexpr DTypeSet kIndex = set_of(DType::kUint8, DType::kInt8, DType::kInt32, DType::kInt64);
  const bool ok = dispatch<kAll>(ctx.out(0).dtype, [&]<class T>() {
    dispatch<kIndex>(indices.dtype, [&]<class I>() { one_hot_as<T, I>(ctx, suffix, depth); });
  });
  if (!ok) ctx.fail_dtype(ctx.out(0).dtype);
}

}  // namespace

void register_creation_cpu_kernels() {
  register_kernel("Const", DeviceType::kCpu, constant);
  register_kernel("Empty", DeviceType::kCpu, empty);
  register_kernel("Fill", DeviceType::kCpu, fill);
  register_kernel("OnesLike", DeviceType::kCpu, constant_like<1>);
  register_kernel("ZerosLike", DeviceType::kCpu, constant_like<0>);
  register_kernel("Range", DeviceType::kCpu, range);
  register_kernel("LinSpace", DeviceType::kCpu, linspace);
  register_kernel("OneHot", DeviceType::kCpu, one_hot);
}

}  // namespace rw
