#include "rewind/tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "rewind/base/dispatch.h"
#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/runtime/touch.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {
namespace {

const TensorImpl& checked(const TensorImpl* impl) {
  if (!impl)
    fail_precondition("tensor",
                      "this tensor is undefined: it was default-constructed, or is a gradient that is none");
  return *impl;
}

constexpr DTypeSet kNumbers = kRealTypes | set_of(DType::kBool);

// Element-by-element conversion for construction from C++ values; casts of tensors are the Cast op's.
void convert(const void* from, DType from_type, void* to, DType to_type, int64_t count) {
  if (contains(kComplexTypes, to_type)) {
    // The real parts, in front; then each to its place, the last first.
    const size_t part = size_of(to_type) / 2;
    convert(from, from_type, to, part == 4 ? DType::kFloat32 : DType::kFloat64, count);
    auto* bytes = static_cast<char*>(to);
    for (int64_t i = count; i-- > 0;) {
      std::memmove(bytes + 2 * size_t(i) * part, bytes + size_t(i) * part, part);
      std::memset(bytes + (2 * size_t(i) + 1) * part, 0, part);
    }
    return;
  }
  const bool ok = dispatch<kNumbers>(from_type, [&]<class S>() {
    const bool inner = dispatch<kNumbers>(to_type, [&]<class D>() {
      const auto* s = static_cast<const S*>(from);
      auto* d = static_cast<D*>(to);
      for (int64_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<D, Half> || std::is_same_v<D, Bfloat16>) d[i] = D(float(s[i]));
        else d[i] = static_cast<D>(static_cast<Compute<S>>(s[i]));
      }
    });
    if (!inner) fail_invalid("constant", "numbers do not convert to " + std::string(name_of(to_type)));
  });
  if (!ok) fail_invalid("constant", std::string(name_of(from_type)) + " values do not convert to numbers");
}

}  // namespace

void add_tensor_ref(const TensorImpl* impl) { impl->add_ref(); }
void drop_tensor_ref(TensorImpl* impl) {
  if (impl->drop_ref()) destroy(impl);
}

Tensor::Tensor(Ref<TensorImpl> impl) : impl_(impl.release()) {}

DType Tensor::dtype() const { return checked(impl_).dtype; }
const Shape& Tensor::shape() const { return checked(impl_).shape; }
int64_t Tensor::size() const {
  return checked(impl_).kind == TensorKind::kEager ? impl_->size : impl_->shape.num_elements();
}

int64_t Tensor::dim(int axis) const {
  const int r = rank();
  if (axis < -r || axis >= r)
    fail_out_of_range("tensor",
                      "axis " + std::to_string(axis) + " is not in a tensor of shape " + shape().to_string());
  return shape()[axis < 0 ? axis + r : axis];
}

std::string Tensor::device() const {
  const Device* d = checked(impl_).device();
  return d ? d->full_name() : std::string();
}

const void* Tensor::host_data() const {
  const TensorImpl& impl = checked(impl_);
  if (impl.kind == TensorKind::kSymbol) {
    if (const void* known = known_data(impl)) return known;
    fail_symbol_value(impl, "return it from the function and read it outside, or print it with rw::print");
  }
  if (impl.kind == TensorKind::kBatched) {
    fail_precondition("tensor",
                      "a tensor inside vectorized_map stands for a batch and has no single value; "
                      "return it and read it outside");
  }
  return settled_data(impl);
}

void Tensor::check_read(DType wanted) const {
  if (dtype() == wanted) return;
  fail_invalid("tensor", "the tensor holds " + std::string(name_of(dtype())) + ", " +
                             std::string(name_of(wanted)) + " was asked for; rw::cast converts");
}

void Tensor::check_item(DType wanted) const {
  check_read(wanted);
  host_data();
  if (size() != 1)
    fail_invalid("item", "the tensor must have one element: its shape is " + shape().to_string());
}

Tensor::operator bool() const {
  if (checked(impl_).kind == TensorKind::kSymbol && !known_data(*impl_))
    fail_symbol_value(
        *impl_,
        "so C++ cannot branch on it: rewind_autograph(target) in the CMakeLists.txt of your target turns "
        "if, while and for on tensors into graph control flow, or use rw::cond, rw::while_loop or rw::where");
  const void* data = host_data();
  if (size() != 1) {
    fail_invalid("bool", "only a tensor with one element is true or false: its shape is " +
                             shape().to_string() + "; rw::reduce_any and rw::reduce_all reduce");
  }
  bool result = false;
  if (dtype() == DType::kString) return !static_cast<const std::string*>(data)->empty();
  const bool known = dispatch<kNumbers>(dtype(), [&]<class T>() {
    result = static_cast<Compute<T>>(*static_cast<const T*>(data)) != Compute<T>(0);
  });
  if (!known)
    fail_invalid("bool", "a " + std::string(name_of(dtype())) + " tensor is neither true nor false");
  return result;
}

Tensor::operator int64_t() const {
  if (checked(impl_).kind == TensorKind::kSymbol && !known_data(*impl_))
    fail_symbol_value(
        *impl_,
        "so C++ cannot switch on it: rewind_autograph(target) in the CMakeLists.txt of your target turns "
        "switch (int64_t(t)) into graph control flow, or use rw::switch_case");
  const void* data = host_data();
  if (size() != 1)
    fail_invalid("int64_t",
                 "only a tensor with one element is a number: its shape is " + shape().to_string());
  int64_t result = 0;
  const bool known = dispatch<kIntTypes>(
      dtype(), [&]<class T>() { result = static_cast<int64_t>(*static_cast<const T*>(data)); });
  if (!known)
    fail_invalid("int64_t", "the tensor must hold an integer: it holds " + std::string(name_of(dtype())) +
                                "; rw::cast converts");
  return result;
}

Tensor tensor_from_bytes(const void* data, DType dtype, const Shape& shape) {
  if (is_host_only(dtype))
    fail_invalid("constant", std::string(name_of(dtype)) + " elements cannot be copied as bytes");
  Value value = Value::allocate(cpu_device(), dtype, shape);
  if (value.size > 0) std::memcpy(value.data, data, size_t(value.size) * size_of(dtype));
  return make_tensor(std::move(value));
}

Tensor tensor_from_strings(std::span<const std::string> values, const Shape& shape) {
  Value value = Value::allocate(cpu_device(), DType::kString, shape);
  if (int64_t(values.size()) != value.size)
    fail_invalid("constant",
                 std::to_string(values.size()) + " strings do not fill the shape " + shape.to_string());
  std::copy(values.begin(), values.end(), static_cast<std::string*>(value.data));
  return make_tensor(std::move(value));
}

Tensor tensor_from_elements(const void* data, DType from, DType to, const Shape& shape) {
  if (from == DType::kInvalid)
    fail_invalid("constant", "the number of values does not fill the shape " + shape.to_string());
  if (to == DType::kInvalid || to == from) return tensor_from_bytes(data, from, shape);
  Value value = Value::allocate(cpu_device(), to, shape);
  convert(data, from, value.data, to, value.size);
  return make_tensor(std::move(value));
}

Tensor from_blob(void* data, const Shape& shape, DType dtype, std::function<void(void*)> deleter) {
  if (is_host_only(dtype))
    fail_invalid("from_blob", "elements must be numbers: got " + std::string(name_of(dtype)));
  Value value;
  for (const int64_t d : shape)
    if (d < 0) fail_invalid("from_blob", "sizes must not be negative: got shape " + shape.to_string());
  if (!shape.checked_num_elements(&value.size))
    fail_invalid("from_blob", "the number of elements leaves int64: got shape " + shape.to_string());
  if (!data && value.size > 0) fail_invalid("from_blob", "the pointer must not be null");
  if (!deleter) deleter = [](void*) {};
  value.dtype = dtype;
  value.shape = shape;
  value.data = data;
  value.storage =
      Storage::wrap(Buffer(cpu_device(), data, size_t(value.size) * size_of(dtype), std::move(deleter)));
  return make_tensor(std::move(value));
}

Tensor scalar_tensor(double number, DType dtype) {
  if (!is_floating(dtype) && !contains(kComplexTypes, dtype)) {
    fail_invalid("constant", general_text(number) + " is a real number and does not convert to " +
                                 std::string(name_of(dtype)) + "; rw::cast converts tensors");
  }
  Value value = Value::allocate(cpu_device(), dtype, {});
  convert(&number, DType::kFloat64, value.data, dtype, 1);
  return make_tensor(std::move(value));
}

void check_fits(int64_t value, DType dtype) {
  bool fits = contains(kComplexTypes, dtype);
  dispatch<kRealTypes>(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) fits = std::in_range<T>(value);
    else fits = true;
  });
  if (!fits)
    fail_invalid("constant", std::to_string(value) + " does not fit a " + std::string(name_of(dtype)));
}

Tensor scalar_tensor(int64_t number, DType dtype) {
  check_fits(number, dtype);
  Value value = Value::allocate(cpu_device(), dtype, {});
  convert(&number, DType::kInt64, value.data, dtype, 1);
  return make_tensor(std::move(value));
}

Tensor constant(const char* value) { return constant(std::string(value)); }
Tensor constant(const std::string& value) { return tensor_from_strings({&value, 1}, {}); }
Tensor constant(const Tensor& value, DType dtype) {
  if (dtype != DType::kInvalid && value.dtype() != dtype)
    fail_invalid("constant", "the tensor is " + std::string(name_of(value.dtype())) + ", not " +
                                 std::string(name_of(dtype)) + "; rw::cast converts");
  return value;
}

namespace detail {

void enter_level(Nested* nested, size_t level, size_t count) {
  if (nested->dims.size() == level) nested->dims.push_back(int64_t(count));
  else if (nested->dims[level] != int64_t(count)) nested->ragged = true;
}
void fail_ragged() { fail_invalid("constant", "rows of nested lists must be equally long"); }

}  // namespace detail
}  // namespace rw
