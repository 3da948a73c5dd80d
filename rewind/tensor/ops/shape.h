// Shapes: the same elements under another shape, in another order, cut, joined, padded, repeated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewind/tensor/operand.h"
#include "rewind/tensor/ops/ints.h"

namespace rw {

// One size may be -1: it follows from the others. The elements are shared, not copied.
Tensor reshape(const Operand& tensor, const Ints& shape);
// Axis i of the result is axis perm[i] of the input; without perm the axes are turned round.
Tensor transpose(const Operand& a);
Tensor transpose(const Operand& a, const Ints& perm);
Tensor expand_dims(const Operand& input, const Ints& axis);
// Drops these axes, which must have size 1; all such axes by default.
Tensor squeeze(const Operand& input, const std::vector<int64_t>& axis = {});
// The input itself; throws InvalidArgumentError unless its shape fits.
Tensor ensure_shape(const Operand& x, const Shape& shape);

Tensor concat(const Operands& values, const Ints& axis);
Tensor stack(const Operands& values, int axis = 0);
std::vector<Tensor> unstack(const Operand& value, int axis = 0);
// split(x, 3): three equal parts; split(x, {2, -1}): parts of these sizes.
std::vector<Tensor> split(const Operand& value, const Sections& num_or_size_splits, const Ints& axis = 0);

Tensor slice(const Operand& input, const Ints& begin, const Ints& size);
struct StridedSliceOptions {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
};
// Strides are 1 by default. Usually written as x(Slice(1, 3), newaxis, ...): see tensor/indexing.h.
Tensor strided_slice(const Operand& input, const Ints& begin, const Ints& end,
                     const StridedSliceOptions& options = {});
Tensor strided_slice(const Operand& input, const Ints& begin, const Ints& end, const Ints& strides,
                     const StridedSliceOptions& options = {});

Tensor tile(const Operand& input, const Ints& multiples);
// mode: CONSTANT, REFLECT or SYMMETRIC.
Tensor pad(const Operand& tensor, const Paddings& paddings, const std::string& mode = "CONSTANT",
           const Operand& constant_values = 0);
Tensor reverse(const Operand& tensor, const Ints& axis);
Tensor reverse_sequence(const Operand& input, const Ints& seq_lengths, int seq_axis, int batch_axis = 0);
Tensor roll(const Operand& input, const Ints& shift, const Ints& axis);
// Each element (without axis, of the flattened input) this many times; one number, or one per element.
Tensor repeat(const Operand& input, const Ints& repeats, std::optional<int> axis = std::nullopt);

Tensor broadcast_to(const Operand& input, const Ints& shape);
Shape broadcast_static_shape(const Shape& shape_x, const Shape& shape_y);
Tensor broadcast_dynamic_shape(const Ints& shape_x, const Ints& shape_y);
// indexing: "xy" (the first two axes swapped, as for pictures) or "ij".
std::vector<Tensor> meshgrid(const MixedOperands& args, const std::string& indexing = "xy");

Tensor shape(const Operand& input, DType out_type = int32);
std::vector<Tensor> shape_n(const MixedOperands& input, DType out_type = int32);
Tensor size(const Operand& input, DType out_type = int32);
Tensor rank(const Operand& input);

Tensor space_to_batch(const Operand& input, const Ints& block_shape, const Paddings& paddings);
Tensor batch_to_space(const Operand& input, const Ints& block_shape, const Paddings& crops);

namespace math {
Tensor invert_permutation(const Ints& x);
}

namespace nn {
Tensor space_to_depth(const Operand& input, int block_size, const std::string& data_format = "NHWC");
Tensor depth_to_space(const Operand& input, int block_size, const std::string& data_format = "NHWC");
using rw::batch_to_space;
using rw::space_to_batch;
}  // namespace nn

}  // namespace rw
