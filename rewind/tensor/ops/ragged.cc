#include "rewind/tensor/ops/ragged.h"

#include "rewind/base/error.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/operators.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/sizes.h"

namespace rw {

Tensor RaggedRows::to_tensor(const Operand& default_value, const std::vector<int64_t>& shape) const {
  const Tensor sizes = shape.empty() ? constant(int64_t{-1}) : constant(shape);
  return apply_one(RW_OP("RaggedTensorToTensor"),
                   {&sizes, &values, &default_value.tensor(values.dtype()), &row_splits},
                   {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}});
}

Tensor RaggedRows::to_tensor() const {
  if (values.dtype() == DType::kString) return to_tensor("");
  return to_tensor(0);
}

namespace ragged {
RaggedRows range(const Operand& starts, const Operand& limits, const Operand& deltas) {
  const Operand* const all[] = {&starts, &limits, &deltas};
  DType dtype = DType::kInvalid;
  for (const Operand* o : all)
    if (!o->weak()) dtype = o->dtype();
  if (dtype == DType::kInvalid) {
    dtype = DType::kInt32;
    for (const Operand* o : all)
      if (is_floating(o->default_dtype())) dtype = DType::kFloat32;
  }
  auto out =
      apply(RW_OP("RaggedRange"), {&starts.tensor(dtype), &limits.tensor(dtype), &deltas.tensor(dtype)});
  return {out[1], out[0]};
}
}  // namespace ragged

Tensor bincount(const Operand& arr, const BincountOptions& o) {
  const Tensor& values = arr.tensor();
  const DType type = values.dtype();
  if (type != DType::kInt32 && type != DType::kInt64)
    fail_invalid("bincount", "arr must be int32 or int64: got " + std::string(name_of(type)));
  if (o.axis != 0 && o.axis != -1)
    fail_invalid("bincount", "axis must be 0 or -1: got " + std::to_string(o.axis));
  // One more than the largest, within the limits.
  const Tensor flat = reshape_sizes(values, {element_count(values)});
  const Tensor none = reshape_sizes(scalar_tensor(int64_t{-1}, type), {Size(1)});
  Tensor size = reduce_max(concat({none, flat}, 0)) + scalar_tensor(int64_t{1}, type);
  size = maximum(size, scalar_tensor(o.minlength, type));
  if (o.maxlength >= 0) size = minimum(size, scalar_tensor(o.maxlength, type));
  const Tensor weights = o.weights.defined() ? o.weights : zeros({0}, o.dtype);
  return apply_one(RW_OP("DenseBincount"), {o.axis == 0 ? &flat : &values, &size, &weights},
                   {{"binary_output", o.binary_output}});
}

}  // namespace rw
