// Brings a kernel's arrays to the form its loops work on: channels last, 16-bit floats as float. An array
// that already has that form is used where it lies.
#pragma once

#include "rewind/kernel/kernel.h"

namespace rw {

// (batch, channels, positions) <-> (batch, positions, channels).
void channels_to_last(const void* x, void* out, DType dtype, int64_t batch, int64_t channels,
                      int64_t positions);
void channels_to_first(const void* x, void* out, DType dtype, int64_t batch, int64_t channels,
                       int64_t positions);
void widen_to_float(const void* x, DType dtype, float* out, int64_t n);
void narrow_from_float(const float* x, DType dtype, void* out, int64_t n);

class Staging {
 public:
  // `widen`: 16-bit floats are worked on as float.
  Staging(KernelContext& ctx, DType dtype, bool channels_first, bool widen)
      : ctx_(ctx),
        dtype_(dtype),
        channels_first_(channels_first),
        widen_(widen && (dtype == DType::kFloat16 || dtype == DType::kBfloat16)) {}

  DType dtype() const { return widen_ ? DType::kFloat32 : dtype_; }  // what the loops see
  // An image-like input.
  const void* input(const View& v) const;
  // An input without a channel axis to move: a filter.
  const void* plain_input(const View& v) const;
  // Where the loops write an output; `finish` brings it home.
  void* output(const View& v) const;
  void finish(const View& v, void* staged) const;
  void* plain_output(const View& v) const;
  void plain_finish(const View& v, void* staged) const;

 private:
  struct Sizes {
    int64_t batch, channels, positions;
  };
  bool moves(const View& v) const;
  Sizes sizes(const View& v) const;

  KernelContext& ctx_;
  DType dtype_;
  bool channels_first_;
  bool widen_;
};

}  // namespace rw
