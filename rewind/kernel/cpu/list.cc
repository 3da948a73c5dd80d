// Lists of tensors share their elements' storage, so their kernels are the runtime's: runtime/list_ops.cc.

namespace rw {

void register_list_cpu_kernels() {}

}  // namespace rw
