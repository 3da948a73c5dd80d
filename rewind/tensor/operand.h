// An argument of a public op: a tensor, a variable, or a C++ value that takes the type of what stands beside
// it. It borrows tensors: it lives for one call.
#pragma once

#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "rewind/tensor/tensor.h"

namespace rw {

class Variable;

namespace detail {
// What an array in braces is made of; char is not, whose arrays are strings.
template <class T>
concept Listed = Element<T> || std::is_same_v<T, const char*>;
}  // namespace detail

class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(&tensor) {}  // NOLINT: arguments are written as they are
  Operand(const Variable& variable);                   // NOLINT
  template <class T>
    requires std::is_arithmetic_v<T>
  Operand(T value) {  // NOLINT
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::kBool;
      integer_ = value;
    } else if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::kReal;
      real_ = double(value);
    } else {
      kind_ = Kind::kInteger;
      integer_ = int64_t(value);
    }
  }
  Operand(const char* text) : owned_(text), tensor_(&owned_) {}  // NOLINT
  template <class T>
    requires std::is_same_v<T, std::string>
  Operand(const T& text) : owned_(text), tensor_(&owned_) {}  // NOLINT
  // Braces are lists, as deep as they are nested. A list of numbers takes the other side's type too.
  Operand(std::initializer_list<Literal> list);  // NOLINT
  template <detail::Listed T>
  Operand(const T* list, const Shape& shape) {
    const std::vector<Literal> leaves(list, list + shape.num_elements());
    set_list(leaves, shape);
  }
  // With tensors among them they are stacked. A template, so that lists of literals alone are taken above.
  template <class = void>
  Operand(std::initializer_list<Operand> list) : owned_(stacked(list)), tensor_(&owned_) {}  // NOLINT
  template <class T>
    requires Element<T> || detail::Rows<T>
  Operand(const std::vector<T>& values) : owned_(constant(values)), tensor_(&owned_) {}  // NOLINT

  // A number that a trace computes: a tensor with one element that takes the other side's type, as a C++
  // number does. Without one it is an int32, float32 or bool.
  struct Number {
    Tensor tensor;
  };
  explicit Operand(Number number);

  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  // Whether it has no type of its own.
  bool weak() const { return kind_ != Kind::kTensor && tensor_ == nullptr; }
  DType dtype() const { return tensor().dtype(); }
  // Of a weak value: the type that it has where nothing else gives it one.
  DType default_dtype() const {
    return kind_ == Kind::kBool      ? DType::kBool
           : kind_ == Kind::kInteger ? DType::kInt32
           : kind_ == Kind::kReal    ? DType::kFloat32
                                     : list_type_;
  }
  const Shape& shape() const { return tensor().shape(); }
  // As a tensor; a weak value in its default type (int32, float32, bool).
  const Tensor& tensor() const { return tensor_ ? *tensor_ : materialise(DType::kInvalid); }
  // As a tensor of this type: a weak value converts where Python's would, a tensor stays as it is.
  const Tensor& tensor(DType dtype) const { return tensor_ ? *tensor_ : materialise(dtype); }

 private:
  enum class Kind : uint8_t { kTensor, kBool, kInteger, kReal, kList, kNumber };
  const Tensor& materialise(DType dtype) const;
  Tensor list_as(DType dtype) const;
  Tensor number_as(DType dtype) const;
  void set_list(std::span<const Literal> leaves, const Shape& shape);
  static Tensor stacked(std::initializer_list<Operand> list);

  mutable Tensor owned_;  // of a traced number; of a list: its elements, real ones as float64, which holds
                          // them as written
  mutable const Tensor* tensor_ = nullptr;
  Kind kind_ = Kind::kTensor;
  DType list_type_ = DType::kInvalid;  // of a list or a traced number that nothing else gives a type
  union {
    int64_t integer_ = 0;
    double real_;
  };
};

// Two operands as tensors: a weak one takes the other's type.
struct OperandPair {
  const Tensor& a;
  const Tensor& b;
};
OperandPair unify(const Operand& a, const Operand& b);
// Any number of operands as tensors of the first strong one's type.
std::vector<Tensor> unify(std::initializer_list<const Operand*> operands);

// An argument that is a list of tensors: a vector of them, or braces with what operands are made from. In a
// list of one type literals take that of the tensors beside them.
template <bool kOneType>
class OperandList {
 public:
  OperandList(const std::vector<Tensor>& tensors) : tensors_(&tensors) {}  // NOLINT
  OperandList(std::initializer_list<Operand> list)                         // NOLINT
      : owned_(kOneType ? as_one_type(list) : as_they_are(list)), tensors_(&owned_) {}
  template <std::input_iterator It>
  OperandList(It first, It last) : owned_(first, last), tensors_(&owned_) {}

  OperandList(const OperandList&) = delete;
  OperandList& operator=(const OperandList&) = delete;

  const std::vector<Tensor>& tensors() const { return *tensors_; }

 private:
  static std::vector<Tensor> as_one_type(std::initializer_list<Operand> list);
  static std::vector<Tensor> as_they_are(std::initializer_list<Operand> list);
  std::vector<Tensor> owned_;
  const std::vector<Tensor>* tensors_;
};
using Operands = OperandList<true>;
using MixedOperands = OperandList<false>;

}  // namespace rw
