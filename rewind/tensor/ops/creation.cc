#include "rewind/tensor/ops/creation.h"

#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/sizes.h"

namespace rw {
namespace {

Tensor filled(const ShapeArgument& shape, const Tensor& value) {
  const Tensor dims = shape.tensor();
  return apply_one(RW_OP("Fill"), {&dims, &value});
}

Tensor number(int64_t value, DType dtype) {
  if (dtype == DType::kBool) return constant(value != 0);
  if (dtype == DType::kString && value == 0) return constant("");
  return scalar_tensor(value, dtype);
}

Tensor like(const Op& op, const Operand& x, DType dtype, int64_t value) {
  const Tensor& t = x.tensor();
  if (dtype == DType::kInvalid || dtype == t.dtype()) return apply_one(op, {&t});
  if (t.shape().fully_known()) return filled(t.shape(), number(value, dtype));
  return filled(apply_one(RW_OP("Shape"), {&t}), number(value, dtype));
}

// Python's order of the number types that range mixes.
int width(DType dtype) {
  static constexpr DType kOrder[] = {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64};
  const auto* at = std::find(std::begin(kOrder), std::end(kOrder), dtype);
  return int(at - std::begin(kOrder));
}

// An axis of size 1 at `axis`.
Tensor expanded(const Tensor& t, int axis) { return op2(RW_OP("ExpandDims"), t, constant(axis)); }

}  // namespace

Tensor convert_to_tensor(const Operand& value, DType dtype) { return constant(value.tensor(dtype), dtype); }

Tensor zeros(const ShapeArgument& shape, DType dtype) { return filled(shape, number(0, dtype)); }
Tensor ones(const ShapeArgument& shape, DType dtype) { return filled(shape, number(1, dtype)); }
Tensor fill(const ShapeArgument& dims, const Operand& value) { return filled(dims, value.tensor()); }
Tensor zeros_like(const Operand& x, DType dtype) { return like(RW_OP("ZerosLike"), x, dtype, 0); }
Tensor ones_like(const Operand& x, DType dtype) { return like(RW_OP("OnesLike"), x, dtype, 1); }

Tensor range(const Operand& limit, DType dtype) { return range(0, limit, 1, dtype); }

Tensor range(const Operand& start, const Operand& limit, const Operand& delta, DType dtype) {
  const Operand* all[] = {&start, &limit, &delta};
  if (dtype == DType::kInvalid) {
    // A strong type outside the usual order (int8, float16) decides; the others must agree with it.
    int widest = 0;
    for (const Operand* o : all) {
      const int w = width(o->weak() ? o->tensor().dtype() : o->dtype());
      if (w == 4) dtype = o->dtype();
      else widest = std::max(widest, w);
    }
    static constexpr DType kOrder[] = {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64};
    if (dtype == DType::kInvalid) dtype = kOrder[widest];
  }
  const Tensor a = cast_to(start.tensor(dtype), dtype);
  const Tensor b = cast_to(limit.tensor(dtype), dtype);
  const Tensor c = cast_to(delta.tensor(dtype), dtype);
  return apply_one(RW_OP("Range"), {&a, &b, &c});
}

Tensor linspace(const Operand& start, const Operand& stop, int64_t num, int axis) {
  if (num <= 0) fail_invalid("linspace", "num must be positive: got " + std::to_string(num));
  DType dtype = start.weak() ? start.default_dtype() : start.dtype();
  if (start.weak() && !stop.weak()) dtype = stop.dtype();
  else if (start.weak() && is_floating(stop.default_dtype())) dtype = stop.default_dtype();
  const Tensor& from = start.tensor(dtype);
  const Tensor& to = stop.tensor(dtype);
  if (from.dtype() != to.dtype())
    fail_invalid("linspace", "start and stop must have one dtype: got " + std::string(name_of(from.dtype())) +
                                 " and " + std::string(name_of(to.dtype())));
  // Written in differentiable ops: start + step * (1, 2, ...) between the two ends, which are exact.
  Shape shape;
  if (!broadcast_shapes(from.shape(), to.shape(), &shape)) {
    fail_invalid("linspace", "start and stop must broadcast together: got " + from.shape().to_string() +
                                 " and " + to.shape().to_string());
  }
  if (!shape.has_rank())
    fail_unimplemented("linspace", "start and stop must have known ranks: got " + from.shape().to_string() +
                                       " and " + to.shape().to_string());
  const Tensor dims = shape.fully_known() ? dims_tensor(shape)
                                          : op2(RW_OP("BroadcastArgs"), dims_tensor(from), dims_tensor(to));
  auto spread = [&](const Tensor& t) {
    if (shape.fully_known() && t.shape() == shape) return t;
    return op2(RW_OP("BroadcastTo"), t, dims);
  };
  if (axis < 0) axis += shape.rank() + 1;
  if (axis < 0 || axis > shape.rank())
    fail_invalid("linspace", "axis is outside the result: got " + std::to_string(axis));
  const Tensor first_given = expanded(spread(from), axis);
  const Tensor last_given = expanded(spread(to), axis);
  const DType result = !is_integer(dtype) ? dtype : size_of(dtype) <= 2 ? DType::kFloat32 : DType::kFloat64;
  const Tensor first = cast_to(first_given, result);
  const Tensor last = cast_to(last_given, result);
  if (num == 1) return first;
  // Of integers the difference is one too, as in TensorFlow.
  const Tensor difference = cast_to(op2(RW_OP("Sub"), last_given, first_given), result);
  const Tensor step = op2(RW_OP("RealDiv"), difference, scalar_tensor(double(num - 1), result));
  std::vector<int64_t> column(size_t(shape.rank()) + 1, 1);
  column[size_t(axis)] = num - 2;
  const Tensor counts = op2(RW_OP("Reshape"), cast_to(range(int64_t{1}, num - 1), result), constant(column));
  const Tensor between = op2(RW_OP("AddV2"), first, op2(RW_OP("Mul"), step, counts));
  const Tensor at = constant(axis);
  return apply(RW_OP("ConcatV2"), {&first, &between, &last, &at})[0];
}

Tensor eye(int64_t num_rows, const EyeOptions& options) {
  const int64_t columns = options.num_columns < 0 ? num_rows : options.num_columns;
  if (num_rows < 0) fail_invalid("eye", "num_rows must not be negative: got " + std::to_string(num_rows));
  if (columns > INT32_MAX) fail_invalid("eye", "num_columns is too large: got " + std::to_string(columns));
  const Tensor rows = range(num_rows);
  const Tensor one = one_hot(rows, columns, {.dtype = options.dtype});
  if (options.batch_shape.empty()) return one;
  Shape shape(options.batch_shape);
  shape.append(num_rows);
  shape.append(columns);
  return op2(RW_OP("BroadcastTo"), one, constant(shape.begin(), Shape{shape.rank()}));
}

Tensor one_hot(const Operand& indices, const Operand& depth, const OneHotOptions& options) {
  DType dtype = options.dtype;
  if (dtype == DType::kInvalid) {
    dtype = options.on_value.defined()    ? options.on_value.dtype()
            : options.off_value.defined() ? options.off_value.dtype()
                                          : DType::kFloat32;
  }
  const Tensor on = options.on_value.defined() ? options.on_value : number(1, dtype);
  const Tensor off = options.off_value.defined() ? options.off_value : number(0, dtype);
  for (const Tensor* t : {&on, &off}) {
    if (t->dtype() != dtype)
      fail_invalid("one_hot", "on_value, off_value and dtype must agree: got " +
                                  std::string(name_of(on.dtype())) + ", " +
                                  std::string(name_of(off.dtype())) + " and " + std::string(name_of(dtype)));
  }
  const Tensor& at = indices.tensor();
  const Tensor size = cast_to(depth.tensor(DType::kInt32), DType::kInt32);
  return apply_one(RW_OP("OneHot"), {&at, &size, &on, &off}, {{"axis", options.axis}});
}

}  // namespace rw
