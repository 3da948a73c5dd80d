// TensorArray: a list of tensors of one dtype, written and read by place, as tf.TensorArray. Arrays do not
// change: write gives the next one, `a = a.write(i, x)`. Under a tape gradients flow through all of it.
#pragma once

#include <memory>
#include <set>

#include "rewind/tensor/operand.h"
#include "rewind/tensor/ops/ints.h"

namespace rw {

struct TensorArrayOptions {
  Tensor size = 0;            // int32 scalar
  bool dynamic_size = false;  // writes behind the end make the array longer
  // Reading a place twice is then an error, as in TensorFlow's eager arrays; in a trace it is not noticed.
  bool clear_after_read = true;
  // Of every element; sizes may be unknown. Unwritten elements read as zeros of it.
  Shape element_shape = Shape::unknown_rank();
  bool infer_shape = true;  // the elements written say the rest of element_shape, and must agree
};

class TensorArray {
 public:
  explicit TensorArray(DType dtype, const TensorArrayOptions& options = {});

  DType dtype() const { return dtype_; }
  const Shape& element_shape() const { return element_shape_; }
  bool dynamic_size() const { return dynamic_size_; }
  Tensor size() const;  // int32 scalar

  // Throw OutOfRangeError for a place outside the array; in a trace the run throws InvalidArgumentError.
  Tensor read(const Operand& index) const;
  [[nodiscard]] TensorArray write(const Operand& index, const Operand& value) const;

  Tensor stack() const;                      // all elements along a new first axis
  Tensor concat() const;                     // one behind the other along their first axes
  Tensor gather(const Ints& indices) const;  // these elements, stacked
  [[nodiscard]] TensorArray unstack(const Operand& value) const;                       // the rows of value
  [[nodiscard]] TensorArray scatter(const Ints& indices, const Operand& value) const;  // row i to indices[i]
  [[nodiscard]] TensorArray split(const Operand& value, const Ints& lengths) const;    // runs of rows

  // The list behind the array, a variant scalar: what a loop carries from step to step and a function takes
  // and returns. with_flow gives an array with this one's settings and another list.
  const Tensor& flow() const { return flow_; }
  TensorArray with_flow(const Tensor& flow) const;

 private:
  Tensor element_shape_tensor() const;
  // The settings with an element shape that also says `value`; throws when the two contradict each other.
  TensorArray fitting(const char* what, const Tensor& value, const Shape& element) const;
  void check_index(const char* what, const Tensor& index, bool may_grow) const;
  int64_t known_size() const;  // -1 in a trace of an array whose size is not fixed

  DType dtype_;
  bool dynamic_size_;
  bool infer_shape_;
  bool clear_after_read_;
  Shape element_shape_;
  int64_t fixed_size_ = -1;  // when it is known while tracing
  Tensor flow_;
  std::shared_ptr<std::set<int64_t>> read_;  // places read, of an eager array with clear_after_read
};

}  // namespace rw
