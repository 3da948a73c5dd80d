#include "rewind/tensor/tensor_array.h"

#include <string>

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/list.h"
#include "rewind/tensor/sizes.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {
namespace {

bool is_eager(const Tensor& t) { return t.impl()->kind == TensorKind::kEager; }

Tensor as_int(const Tensor& t, DType dtype) {
  return t.dtype() == dtype ? t : apply_one(RW_OP("Cast"), {&t}, {{"DstT", dtype}});
}
int64_t number_of(const Tensor& t) { return t.item<int32_t>(); }

Shape rows_of(const char* what, const Shape& shape) {
  if (!shape.has_rank()) return shape;
  if (shape.rank() == 0) fail_invalid(what, "the value must have a first axis: it is a scalar");
  Shape rows = shape;
  rows.erase(0);
  return rows;
}

}  // namespace

TensorArray::TensorArray(DType dtype, const TensorArrayOptions& o)
    : dtype_(dtype),
      dynamic_size_(o.dynamic_size),
      infer_shape_(o.infer_shape || o.element_shape.has_rank()),
      clear_after_read_(o.clear_after_read),
      element_shape_(o.element_shape) {
  const Tensor size = as_int(o.size, DType::kInt32);
  if (value_known(size)) {
    if (number_of(size) < 0)
      fail_invalid("TensorArray", "the size must not be negative: got " + std::to_string(number_of(size)));
    if (!dynamic_size_) fixed_size_ = number_of(size);
  }
  flow_ = tensor_list_reserve(element_shape_tensor(), size, dtype);
  if (clear_after_read_) read_ = std::make_shared<std::set<int64_t>>();
}

TensorArray TensorArray::with_flow(const Tensor& flow) const {
  if (flow.dtype() != DType::kVariant)
    fail_invalid("TensorArray", "the flow must be a variant: got " + std::string(name_of(flow.dtype())));
  TensorArray next = *this;
  next.flow_ = flow;
  if (read_) next.read_ = std::make_shared<std::set<int64_t>>(*read_);
  return next;
}

Tensor TensorArray::element_shape_tensor() const {
  return element_shape_.has_rank() ? Ints(element_shape_).tensor() : constant(-1);
}

int64_t TensorArray::known_size() const {
  return is_eager(flow_) ? number_of(tensor_list_length(flow_)) : fixed_size_;
}

Tensor TensorArray::size() const {
  return !is_eager(flow_) && fixed_size_ >= 0 ? constant(int32_t(fixed_size_)) : tensor_list_length(flow_);
}

TensorArray TensorArray::fitting(const char* what, const Tensor& value, const Shape& element) const {
  if (value.dtype() != dtype_)
    fail_invalid(what, "the array holds " + std::string(name_of(dtype_)) + ", the value is " +
                           std::string(name_of(value.dtype())));
  if (!infer_shape_) return *this;
  if (!element_shape_.compatible_with(element))
    fail_invalid(what, "elements must have the array's shape " + element_shape_.to_string() + ": got " +
                           element.to_string());
  TensorArray next = *this;
  if (!element_shape_.has_rank()) next.element_shape_ = element;
  for (int i = 0; element.has_rank() && i < element_shape_.rank(); ++i)
    if (element_shape_[i] < 0) next.element_shape_.set(i, element[i]);
  return next;
}

void TensorArray::check_index(const char* what, const Tensor& index, bool may_grow) const {
  if (!is_eager(index) || !is_eager(flow_)) return;
  const int64_t i = number_of(index);
  if (i < 0) fail_out_of_range(what, "the index must not be negative: got " + std::to_string(i));
  const int64_t n = known_size();
  if (i >= n && !may_grow)
    fail_out_of_range(what, "the index must be below the array's size, " + std::to_string(n) + ": got " +
                                std::to_string(i) +
                                (dynamic_size_ ? "" : "; an array with dynamic_size grows by writing"));
}

Tensor TensorArray::read(const Operand& index) const {
  constexpr auto kWhat = "TensorArray.read";
  const Tensor at = as_int(index.tensor(), DType::kInt32);
  check_index(kWhat, at, false);
  if (read_ && is_eager(at) && is_eager(flow_) && !read_->insert(number_of(at)).second)
    fail_invalid(kWhat, "element " + std::to_string(number_of(at)) +
                            " was read before and is gone; clear_after_read = false keeps it");
  return tensor_list_get_item(flow_, at, element_shape_tensor(), dtype_);
}

TensorArray TensorArray::write(const Operand& index, const Operand& value) const {
  constexpr auto kWhat = "TensorArray.write";
  const Tensor at = as_int(index.tensor(), DType::kInt32);
  const Tensor& item = value.tensor(dtype_);
  check_index(kWhat, at, dynamic_size_);
  const TensorArray settings = fitting(kWhat, item, item.shape());
  TensorArray next = settings.with_flow(tensor_list_set_item(flow_, at, item, dynamic_size_));
  if (next.read_ && is_eager(at)) next.read_->erase(number_of(at));
  return next;
}

Tensor TensorArray::stack() const {
  return tensor_list_stack(flow_, element_shape_tensor(), dtype_, is_eager(flow_) ? -1 : fixed_size_);
}

Tensor TensorArray::concat() const {
  const Tensor none = constant(std::vector<int64_t>{});
  return tensor_list_concat(flow_, element_shape_tensor(), none, dtype_).first;
}

Tensor TensorArray::gather(const Ints& indices) const {
  return tensor_list_gather(flow_, as_int(indices.vector(), DType::kInt32), element_shape_tensor(), dtype_);
}

TensorArray TensorArray::unstack(const Operand& value) const {
  constexpr auto kWhat = "TensorArray.unstack";
  const Tensor& rows = value.tensor(dtype_);
  TensorArray next = fitting(kWhat, rows, rows_of(kWhat, rows.shape()));
  const int64_t count = rows.shape().has_rank() ? rows.dim(0) : -1;
  if (const int64_t n = known_size(); !dynamic_size_ && n >= 0 && count > n)
    fail_invalid(kWhat, std::to_string(count) + " rows do not fit an array of size " + std::to_string(n));
  next = next.with_flow(tensor_list_from_tensor(rows, next.element_shape_tensor()));
  if (next.read_) next.read_->clear();
  if (!dynamic_size_) next.fixed_size_ = count;
  return next;
}

TensorArray TensorArray::scatter(const Ints& indices, const Operand& value) const {
  constexpr auto kWhat = "TensorArray.scatter";
  const Tensor& rows = value.tensor(dtype_);
  const TensorArray settings = fitting(kWhat, rows, rows_of(kWhat, rows.shape()));
  const Tensor at = as_int(indices.vector(), DType::kInt32);
  if (is_eager(at) && is_eager(flow_)) {
    const int64_t n = known_size();
    for (const int32_t i : at.data<int32_t>())
      if (i < 0 || (i >= n && !dynamic_size_))
        fail_out_of_range(kWhat,
                          "indices must be in [0, " + std::to_string(n) + "): got " + std::to_string(i));
  }
  TensorArray next = settings.with_flow(tensor_list_scatter_into(flow_, rows, at));
  if (next.read_ && is_eager(at))
    for (const int32_t i : at.data<int32_t>()) next.read_->erase(i);
  return next;
}

TensorArray TensorArray::split(const Operand& value, const Ints& lengths) const {
  constexpr auto kWhat = "TensorArray.split";
  const Tensor& rows = value.tensor(dtype_);
  Shape element = rows_of(kWhat, rows.shape());
  if (element.has_rank()) element.insert(0, Shape::kUnknown);
  TensorArray next = fitting(kWhat, rows, element);
  const Tensor runs = as_int(lengths.vector(), DType::kInt64);
  const int64_t count = runs.shape().has_rank() ? runs.dim(0) : -1;
  if (const int64_t n = known_size(); !dynamic_size_ && n >= 0 && count >= 0 && count != n)
    fail_invalid(kWhat, "there must be as many lengths as elements, " + std::to_string(n) + ": got " +
                            std::to_string(count));
  next = next.with_flow(tensor_list_split(rows, next.element_shape_tensor(), runs));
  if (next.read_) next.read_->clear();
  if (!dynamic_size_) next.fixed_size_ = count;
  return next;
}

}  // namespace rw
