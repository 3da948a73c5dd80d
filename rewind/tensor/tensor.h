// Tensor: a handle to an immutable array, one counted pointer wide. Eager tensors hold a buffer; in a trace
// the same handle stands for a value of the graph, and under vectorized_map for a batch of values. Any number
// of threads may use one.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/intrusive.h"
#include "rewind/base/shape.h"
#include "rewind/tensor/literal.h"

namespace rw {

struct TensorImpl;
class Index;
void add_tensor_ref(const TensorImpl* impl);
void drop_tensor_ref(TensorImpl* impl);

class Tensor {
 public:
  Tensor() = default;  // undefined: no value
  // As constant(value): 1 is int32, 1.0 float32.
  template <class T>
    requires std::is_arithmetic_v<T>
  Tensor(T value);  // NOLINT: numbers are scalars
  // So are strings. Constrained, so that braces with two pointers are never taken for one.
  Tensor(const char* text);  // NOLINT
  template <class T>
    requires std::is_same_v<T, std::string>
  Tensor(const T& text);  // NOLINT
  Tensor(const Tensor& other) : impl_(other.impl_) {
    if (impl_) add_tensor_ref(impl_);
  }
  Tensor(Tensor&& other) noexcept : impl_(other.impl_) { other.impl_ = nullptr; }
  Tensor& operator=(Tensor other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor() {
    if (impl_) drop_tensor_ref(impl_);
  }

  bool defined() const { return impl_ != nullptr; }
  DType dtype() const;
  const Shape& shape() const;
  int rank() const { return shape().rank(); }
  int64_t dim(int axis) const;  // negative axes count from the end
  int64_t size() const;         // number of elements
  std::string device() const;   // full name, as TensorFlow's

  // The only element. T must be the tensor's own type.
  template <class T>
  T item() const {
    check_item(dtype_of<T>);
    return *static_cast<const T*>(host_data());
  }
  // Elements in row-major order, in host memory; valid while this tensor lives. T must be the tensor's own
  // type.
  template <class T>
  std::span<const T> data() const {
    check_read(dtype_of<T>);
    return {static_cast<const T*>(host_data()), size_t(size())};
  }
  template <class T>
  std::vector<T> to_vector() const {
    const auto view = data<T>();
    return {view.begin(), view.end()};
  }
  const void* host_data() const;

  // A boolean or number with one element, as in Python's bool(t).
  explicit operator bool() const;
  // An integer with one element: switch (int64_t(t)).
  explicit operator int64_t() const;

  // One index per axis: numbers, slices, newaxis, ellipsis.
  template <class... I>
  Tensor operator()(const I&... indices) const;
  Tensor operator[](int64_t index) const;
  Tensor index(std::initializer_list<Index> indices) const;
  Tensor index(std::span<const Index> indices) const;

  // Along the first axis.
  class Iterator;
  Iterator begin() const;
  Iterator end() const;

  // "tf.Tensor([1. 2.], shape=(2,), dtype=float32)", as print(t) shows in TensorFlow.
  std::string to_string() const;
  // "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>", as repr(t).
  std::string repr() const;

  // For the library.
  explicit Tensor(Ref<TensorImpl> impl);
  TensorImpl* impl() const { return impl_; }

 private:
  void check_item(DType wanted) const;
  void check_read(DType wanted) const;
  TensorImpl* impl_ = nullptr;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

class Tensor::Iterator {
 public:
  using value_type = Tensor;
  using difference_type = int64_t;
  Iterator(Tensor tensor, int64_t at) : tensor_(std::move(tensor)), at_(at) {}
  Tensor operator*() const { return tensor_[at_]; }
  Iterator& operator++() {
    ++at_;
    return *this;
  }
  bool operator==(const Iterator& other) const { return at_ == other.at_; }

 private:
  Tensor tensor_;  // what it was when the loop began
  int64_t at_;
};

// ---- construction
// ---------------------------------------------------------------------------------------------

// Copies elements from the host. Strings are not taken here.
Tensor tensor_from_bytes(const void* data, DType dtype, const Shape& shape);
Tensor tensor_from_strings(std::span<const std::string> values, const Shape& shape);
// Shares the caller's memory; `deleter(ptr)` runs when the last tensor that uses it is gone.
Tensor from_blob(void* data, const Shape& shape, DType dtype, std::function<void(void*)> deleter = {});
template <Element T>
Tensor from_blob(T* data, const Shape& shape, std::function<void(void*)> deleter = {}) {
  return from_blob(static_cast<void*>(data), shape, dtype_of<T>, std::move(deleter));
}

// Converts a number to `dtype` as Python's number would be; throws InvalidArgumentError when it does not fit
// (1.5 in an int32, 300 in an int8).
Tensor scalar_tensor(double value, DType dtype);
Tensor scalar_tensor(int64_t value, DType dtype);
// The same check for an integer alone.
void check_fits(int64_t value, DType dtype);

// Python's types: int is int32, double float32; other C++ types keep their own.
template <class T>
inline constexpr DType literal_dtype = std::is_same_v<T, double> ? DType::kFloat32 : dtype_of<T>;

template <class T>
  requires std::is_arithmetic_v<T>
Tensor constant(T value, DType dtype = DType::kInvalid) {
  if (dtype == DType::kInvalid) dtype = literal_dtype<T>;
  if constexpr (std::is_same_v<T, bool>) {
    if (dtype == DType::kBool) return tensor_from_bytes(&value, DType::kBool, {});
  }
  if constexpr (std::is_floating_point_v<T>) return scalar_tensor(double(value), dtype);
  else return scalar_tensor(int64_t(value), dtype);
}
Tensor constant(const char* value);
Tensor constant(const std::string& value);
Tensor constant(const Tensor& value, DType dtype = DType::kInvalid);

// Elements of one C++ type, converted to `dtype` if that is given. A vector keeps its own type: doubles are
// float64. Sizes must fit.
Tensor tensor_from_elements(const void* data, DType from, DType to, const Shape& shape);
template <Element T>
Tensor constant(const std::vector<T>& values, DType dtype = DType::kInvalid) {
  return constant(values, Shape{int64_t(values.size())}, dtype);
}
template <Element T>
Tensor constant(const std::vector<T>& values, const Shape& shape, DType dtype = DType::kInvalid) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    if (int64_t(bytes.size()) != shape.num_elements())
      return tensor_from_elements(nullptr, DType::kInvalid, dtype, shape);
    return tensor_from_elements(bytes.data(), DType::kBool, dtype, shape);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return tensor_from_strings(values, shape);
  } else {
    if (int64_t(values.size()) != shape.num_elements())
      return tensor_from_elements(nullptr, DType::kInvalid, dtype, shape);
    return tensor_from_elements(values.data(), dtype_of<T>, dtype, shape);
  }
}
template <Element T>
Tensor constant(const T* data, const Shape& shape) {
  return tensor_from_bytes(data, dtype_of<T>, shape);
}

// Vectors of vectors: rows must be equally long.
namespace detail {
template <class T>
struct RowsOf {
  using Number = T;
  static constexpr bool kRows = false;
};
template <class E>
struct RowsOf<std::vector<E>> {
  using Number = typename RowsOf<E>::Number;
  static constexpr bool kRows = true;
};
// What a constant is made of: a vector of elements, at any depth.
template <class T>
concept Rows = RowsOf<T>::kRows && Element<typename RowsOf<T>::Number>;
}  // namespace detail
template <detail::Rows E>
Tensor constant(const std::vector<E>& rows, DType dtype = DType::kInvalid);

// Nested braces: constant({{1., 2.}, {3., 4.}}). Literals are Python's: 1. is float32. Braces are lists:
// constant({5}) has shape (1,), constant({}) is an empty float32 vector.
namespace detail {
struct Nested {
  std::vector<int64_t> dims;
  bool ragged = false;
};
void enter_level(Nested* nested, size_t level, size_t count);
[[noreturn]] void fail_ragged();
template <class T>
void flatten(const std::initializer_list<T>& list, size_t level, Nested* nested, std::vector<T>* values) {
  enter_level(nested, level, list.size());
  values->insert(values->end(), list.begin(), list.end());
}
template <class L, class T>
void flatten(const std::initializer_list<std::initializer_list<L>>& list, size_t level, Nested* nested,
             std::vector<T>* values) {
  enter_level(nested, level, list.size());
  for (const auto& inner : list) flatten(inner, level + 1, nested, values);
}
template <class T, class L>
Tensor nested_constant(const L& list, DType dtype) {
  Nested nested;
  std::vector<T> values;
  flatten(list, 0, &nested, &values);
  if (nested.ragged) fail_ragged();
  const DType to = dtype == DType::kInvalid ? literal_dtype<T> : dtype;
  return constant(values, Shape(nested.dims), to);
}
}  // namespace detail

template <Element T>
Tensor constant(std::initializer_list<T> v, DType dtype = DType::kInvalid) {
  return detail::nested_constant<T>(v, dtype);
}
template <Element T>
Tensor constant(std::initializer_list<std::initializer_list<T>> v, DType dtype = DType::kInvalid) {
  return detail::nested_constant<T>(v, dtype);
}
template <Element T>
Tensor constant(std::initializer_list<std::initializer_list<std::initializer_list<T>>> v,
                DType dtype = DType::kInvalid) {
  return detail::nested_constant<T>(v, dtype);
}
template <Element T>
Tensor constant(
    std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>> v,
    DType dtype = DType::kInvalid) {
  return detail::nested_constant<T>(v, dtype);
}

// Strings, and lists that mix integers and real numbers.
Tensor constant(std::initializer_list<Literal> v, DType dtype = DType::kInvalid);

namespace detail {
template <class T>
void flatten_rows(const std::vector<T>& rows, size_t level, Nested* nested, std::vector<T>* values) {
  enter_level(nested, level, rows.size());
  values->insert(values->end(), rows.begin(), rows.end());
}
template <class E, class T>
void flatten_rows(const std::vector<std::vector<E>>& rows, size_t level, Nested* nested,
                  std::vector<T>* values) {
  enter_level(nested, level, rows.size());
  for (const std::vector<E>& row : rows) flatten_rows(row, level + 1, nested, values);
}
}  // namespace detail
template <detail::Rows E>
Tensor constant(const std::vector<E>& rows, DType dtype) {
  detail::Nested nested;
  std::vector<typename detail::RowsOf<E>::Number> values;
  detail::flatten_rows(rows, 0, &nested, &values);
  if (nested.ragged) detail::fail_ragged();
  return constant(values, Shape(nested.dims), dtype);
}

template <class T>
  requires std::is_arithmetic_v<T>
Tensor::Tensor(T value) : Tensor(constant(value)) {}
inline Tensor::Tensor(const char* text) : Tensor(constant(text)) {}
template <class T>
  requires std::is_same_v<T, std::string>
Tensor::Tensor(const T& text) : Tensor(constant(text)) {}

}  // namespace rw

#include "rewind/tensor/indexing.h"
