// Convolutions on raw memory, channels last. Elements are float, double or int32; the bits of a result depend
// on shapes and values, not on the number of threads.
#pragma once

#include "rewind/kernel/kernel.h"
#include "rewind/op/window.h"

namespace rw {

enum class ConvPass { kForward, kInputGrad, kFilterGrad };

// (input, filter) -> output, (gradient, filter) -> input's gradient, (input, gradient) -> filter's gradient.
// Nothing is empty. Results other than filter gradients are reported by rows (KernelContext::rows_done).
struct ConvArgs {
  KernelContext& ctx;
  ConvPass pass;
  const ConvCall& call;
  const void* a;
  const void* b;
  void* out;
};

// By patches and matrix products, for every type.
void conv_plain(DType dtype, const ConvArgs& args);
// By Winograd's algorithm, for float: 3x3 filters over many channels, chosen by the shapes. False: not for
// it.
bool conv_winograd(const ConvArgs& args);
// By oneDNN, for float. False when it has no way.
bool conv_onednn(const ConvArgs& args);
// Depthwise ones; the filter is (height, width, in, multiplier).
void conv_depthwise(DType dtype, const ConvArgs& args);

}  // namespace rw
