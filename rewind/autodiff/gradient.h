// A gradient: none, a tensor, or slices of one that is zero elsewhere.
#pragma once

#include <memory>
#include <optional>

#include "rewind/tensor/tensor.h"

namespace rw {

// values[i] belongs at row indices[i] of a tensor of shape dense_shape; equal indices add up.
struct IndexedSlices {
  Tensor values;
  Tensor indices;
  Tensor dense_shape;  // int32 or int64
};

namespace detail {
Tensor summed(const IndexedSlices& slices);
}

class Gradient {
 public:
  Gradient() = default;                                    // none
  Gradient(Tensor tensor) : tensor_(std::move(tensor)) {}  // NOLINT: a tensor is a gradient
  Gradient(IndexedSlices slices)                           // NOLINT: so are slices
      : slices_(std::make_shared<const IndexedSlices>(std::move(slices))) {}

  bool none() const { return !tensor_.defined() && !slices_; }
  explicit operator bool() const { return !none(); }
  const IndexedSlices* slices() const { return slices_.get(); }  // nullptr unless sparse
  // As a tensor; slices are summed into place. Undefined when none.
  Tensor tensor() const { return slices_ ? detail::summed(*slices_) : tensor_; }
  operator Tensor() const { return tensor(); }  // NOLINT: a gradient becomes a tensor when asked

 private:
  Tensor tensor_;
  std::shared_ptr<const IndexedSlices> slices_;
};

std::ostream& operator<<(std::ostream& out, const Gradient& gradient);

// A template, so that braces are lists: see convert_to_tensor in tensor/ops/creation.h.
template <class G>
  requires std::is_same_v<G, IndexedSlices> || std::is_same_v<G, Gradient>
Tensor convert_to_tensor(const G& gradient) {
  return Gradient(gradient).tensor();
}

// Sum of two; none is the neutral element. Two sparse ones stay sparse.
Gradient add_gradients(Gradient a, Gradient b);

}  // namespace rw
