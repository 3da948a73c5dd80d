// Kernels of the creation ops.
#include <algorithm>
#include <cstring>

#include "rewind/base/dispatch.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr DTypeSet kAll = kRealTypes | set_of(DType::kBool, DType::kString);

void fill(KernelContext& ctx) {
  const View& out = ctx.out(0);
  const bool ok = dispatch<kAll>(out.dtype, [&]<class T>() { std::fill_n(out.as<T>(), out.size, *ctx.in(1).as<T>()); });
  if (!ok) ctx.fail_dtype(out.dtype);
}

template <int kValue>
void constant_like(KernelContext& ctx) {
  const View& out = ctx.out(0);
  const bool ok = dispatch<kRealTypes | set_of(DType::kBool)>(
      out.dtype, [&]<class T>() { std::fill_n(out.as<T>(), out.size, static_cast<T>(static_cast<Compute<T>>(kValue))); });
  if (!ok && !(kValue == 0 && out.dtype == DType::kString)) ctx.fail_dtype(out.dtype);
}

}  // namespace

void register_creation_cpu_kernels() {
  register_kernel("Fill", DeviceType::kCpu, fill);
  register_kernel("OnesLike", DeviceType::kCpu, constant_like<1>);
  register_kernel("ZerosLike", DeviceType::kCpu, constant_like<0>);
}

}  // namespace rw
