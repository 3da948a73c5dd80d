// Tensors from and to other libraries (numpy, PyTorch, JAX) by DLPack, without a copy.
#pragma once

#include "rewind/tensor/tensor.h"

struct DLManagedTensor;  // of <dlpack/dlpack.h>

namespace rw {

// Takes over `managed`: its deleter runs when the last tensor that uses the memory is gone. The memory must
// not be written to meanwhile. Copies (and frees at once) when the elements are not dense and row-major.
// Throws InvalidArgumentError, and does not take over, for devices other than the CPU, for types that Rewind
// lacks, and for tensors whose shape or memory cannot be read.
Tensor from_dlpack(DLManagedTensor* managed);
// Shares the tensor's memory; the caller calls the deleter once. The memory must not be written to.
DLManagedTensor* to_dlpack(const Tensor& tensor);

}  // namespace rw
