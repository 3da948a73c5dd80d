// Unary elementwise kernels: the loops of isa/, casts, copies.
#include <cstring>
#include <string>

#include "rewind/kernel/cpu/elementwise.h"
#include "rewind/op/object.h"

namespace rw {
namespace {

void copy_elements(const View& from, const View& to) {
  if (from.dtype == DType::kString) {
    std::copy_n(from.as<std::string>(), from.size, to.as<std::string>());
  } else if (is_host_only(from.dtype)) {
    std::copy_n(from.as<Ref<Object>>(), from.size, to.as<Ref<Object>>());
  } else if (from.size != 0) {
    std::memcpy(to.data, from.data, size_t(from.size) * size_of(from.dtype));
  }
}

void copy_all(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) copy_elements(ctx.in(i), ctx.out(i));
}

}  // namespace

void register_cast_cpu_kernels();

void register_unary_cpu_kernels() {
  register_unary_loops();
  register_kernel("IdentityN", DeviceType::kCpu, copy_all);
  register_kernel("DeepCopy", DeviceType::kCpu, copy_all);
  register_cast_cpu_kernels();
}

}  // namespace rw
