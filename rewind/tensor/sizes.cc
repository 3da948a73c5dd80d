#include "rewind/tensor/sizes.h"

#include <numeric>

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {
namespace {

Size combined(const Op& op, const Size& a, const Size& b) {
  const Tensor x = a.tensor();
  const Tensor y = b.tensor();
  return Size(apply_one(op, {&x, &y}));
}

}  // namespace

Tensor cast_ints(const Tensor& t, DType dtype) {
  return t.dtype() == dtype ? t : apply_one(RW_OP("Cast"), {&t}, {{"DstT", dtype}});
}

bool value_known(const Tensor& t) {
  const TensorImpl& impl = *t.impl();
  return impl.kind == TensorKind::kEager || (impl.kind == TensorKind::kSymbol && known_data(impl));
}

std::vector<int64_t> known_ints(const Tensor& t) {
  const auto list = [&]<class T>(T) {
    const auto view = t.data<T>();
    return std::vector<int64_t>(view.begin(), view.end());
  };
  switch (t.dtype()) {
    case DType::kInt64: return list(int64_t{});
    case DType::kInt32: return list(int32_t{});
    case DType::kInt16: return list(int16_t{});
    case DType::kInt8: return list(int8_t{});
    default: fail_invalid("sizes", "integers are wanted: got " + std::string(name_of(t.dtype())));
  }
}

Size::Size(const Tensor& scalar) {
  if (value_known(scalar)) number_ = known_ints(scalar)[0];
  else scalar_ = cast_ints(scalar, DType::kInt64);
}

Tensor Size::tensor(DType dtype) const {
  return known() ? scalar_tensor(number_, dtype) : cast_ints(scalar_, dtype);
}

Size operator+(const Size& a, const Size& b) {
  if (a.known() && b.known()) return a.number_ + b.number_;
  if (a.is(0)) return b;
  return b.is(0) ? a : combined(RW_OP("AddV2"), a, b);
}
Size operator-(const Size& a, const Size& b) {
  if (a.known() && b.known()) return a.number_ - b.number_;
  return b.is(0) ? a : combined(RW_OP("Sub"), a, b);
}
Size operator*(const Size& a, const Size& b) {
  if (a.known() && b.known()) return a.number_ * b.number_;
  if (a.is(1)) return b;
  return b.is(1) ? a : combined(RW_OP("Mul"), a, b);
}
Size operator/(const Size& a, const Size& b) {
  if (a.known() && b.known()) return a.number_ / b.number_;
  return b.is(1) ? a : combined(RW_OP("FloorDiv"), a, b);
}

Sizes sizes_of(const Tensor& t) {
  return sizes_of(t.shape(), [&] { return dims_tensor(t); });
}

Sizes sizes_of(const Shape& shape, FunctionRef<Tensor()> ask) {
  if (!shape.has_rank())
    fail_unimplemented("sizes",
                       "an op or its gradient needs the rank of a tensor whose rank is not known here");
  Sizes sizes;
  Tensor dims;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] >= 0) {
      sizes.emplace_back(shape[i]);
      continue;
    }
    if (!dims.defined()) dims = ask();
    sizes.push_back(element_of(dims, i));
  }
  return sizes;
}

Shape known_shape(const Sizes& sizes) {
  Shape shape;
  for (const Size& s : sizes) shape.append(s.known() ? s.number() : Shape::kUnknown);
  return shape;
}

Size product(const Sizes& sizes, size_t begin, size_t end) {
  Size p = 1;
  for (size_t i = begin; i < end; ++i) p = p * sizes[i];
  return p;
}

Size element_count(const Tensor& t) {
  if (const int64_t n = t.shape().num_elements(); n >= 0) return n;
  return Size(apply_one(RW_OP("Size"), {&t}, {{"out_type", DType::kInt64}}));
}

Tensor dims_tensor(const Sizes& sizes, DType dtype) {
  std::vector<int64_t> numbers;
  for (const Size& s : sizes)
    if (s.known()) numbers.push_back(s.number());
  if (numbers.size() == sizes.size()) return constant(numbers, dtype);
  std::vector<Tensor> scalars;
  for (const Size& s : sizes) scalars.push_back(s.tensor(dtype));
  return rw::apply(RW_OP("Pack"), scalars)[0];
}

Tensor dims_tensor(const Shape& shape, DType dtype) {
  return constant(std::vector<int64_t>(shape.begin(), shape.end()), dtype);
}

Tensor dims_tensor(const Tensor& t, DType dtype) {
  if (t.shape().fully_known()) return dims_tensor(t.shape(), dtype);
  const DType out = dtype == DType::kInt64 ? dtype : DType::kInt32;
  return cast_ints(apply_one(RW_OP("Shape"), {&t}, {{"out_type", out}}), dtype);
}

// With one size unknown the op itself finds it, unless there are no elements to count.
Tensor reshape_sizes(const Tensor& t, const Sizes& sizes) {
  int64_t unknown = 0, others = 1;
  for (const Size& s : sizes) {
    if (s.known()) others *= s.number();
    else ++unknown;
  }
  const Shape shape = known_shape(sizes);
  if (unknown == 0 && t.shape() == shape) return t;
  const Tensor dims = unknown <= 1 && others != 0 ? dims_tensor(shape) : dims_tensor(sizes);
  return apply_one(RW_OP("Reshape"), {&t, &dims});
}

Tensor broadcast_sizes(const Tensor& t, const Sizes& sizes) {
  const Shape shape = known_shape(sizes);
  if (shape.fully_known() && t.shape() == shape) return t;
  const Tensor dims = dims_tensor(sizes);
  return apply_one(RW_OP("BroadcastTo"), {&t, &dims});
}

Tensor fill_sizes(const Sizes& sizes, const Tensor& scalar) {
  const Tensor dims = dims_tensor(sizes);
  return apply_one(RW_OP("Fill"), {&dims, &scalar});
}

Tensor part_of_vector(const Tensor& vector, const Size& begin, const Size& end) {
  const Tensor from = dims_tensor(Sizes{begin});
  const Tensor count = dims_tensor(Sizes{end.is(-1) ? end : end - begin});
  return apply_one(RW_OP("Slice"), {&vector, &from, &count});
}

Size element_of(const Tensor& vector, const Size& index) {
  const Tensor at = index.tensor();
  const Tensor axis = constant(0);
  return Size(apply_one(RW_OP("GatherV2"), {&vector, &at, &axis}));
}

Tensor multiples_column(const Size& count, const Size& step) {
  if (count.known() && step.known()) {
    std::vector<int64_t> list(size_t(count.number()));
    for (size_t i = 0; i < list.size(); ++i) list[i] = int64_t(i) * step.number();
    return constant(list, Shape{count.number(), 1});
  }
  const Tensor numbers = reshape_sizes(numbers_below(count), {count, 1});
  const Tensor by = step.tensor();
  return apply_one(RW_OP("Mul"), {&numbers, &by});
}

Tensor numbers_below(const Size& count, DType dtype) {
  if (count.known()) {
    std::vector<int64_t> list(size_t(count.number()));
    std::iota(list.begin(), list.end(), 0);
    return constant(list, dtype);
  }
  const Tensor zero = scalar_tensor(int64_t{0}, dtype);
  const Tensor one = scalar_tensor(int64_t{1}, dtype);
  const Tensor limit = count.tensor(dtype);
  return apply_one(RW_OP("Range"), {&zero, &limit, &one});
}

}  // namespace rw
