#include "rewind/kernel/kernel.h"

#include "rewind/base/error.h"
#include "rewind/op/families.h"
#include "rewind/op/rule_list.h"
#include "rewind/op/table.h"

namespace rw {

#define RW_DECLARE(family) void register_##family##_cpu_kernels();
RW_OP_FAMILIES(RW_DECLARE)
#undef RW_DECLARE

namespace {

RuleSlot slot_of(DeviceType device) {
  switch (device) {
    case DeviceType::kCpu: return RuleSlot::kCpuKernel;
    case DeviceType::kNull: return RuleSlot::kNullKernel;
    case DeviceType::kCuda: return RuleSlot::kCudaKernel;
  }
  return RuleSlot::kCpuKernel;
}

}  // namespace

void register_kernel_rules() {
#define RW_REGISTER(family) register_##family##_cpu_kernels();
  RW_OP_FAMILIES(RW_REGISTER)
#undef RW_REGISTER
}

void KernelContext::fail(const std::string& message) const { fail_invalid(op_.tag, message); }
void KernelContext::fail_dtype(DType dtype) const {
  fail_unimplemented(op_.tag, "there is no " + device_.name() + " kernel for " + std::string(name_of(dtype)));
}
void KernelContext::fail_out_of_range(const std::string& message) const {
  ::rw::fail_out_of_range(op_.tag, message);
}

void register_kernel(std::string_view op, DeviceType device, Kernel kernel, const void* data) {
  register_kernel(op, device, KernelEntry{kernel, data});
}

void register_kernel(std::string_view op, DeviceType device, const KernelEntry& entry) {
  set_rule(find_op(op), slot_of(device), entry);
}

const KernelEntry* find_kernel(const Op& op, DeviceType device) {
  return static_cast<const KernelEntry*>(op.rule(slot_of(device)));
}

}  // namespace rw
