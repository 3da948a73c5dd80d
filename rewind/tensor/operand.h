// An argument of a public op: a tensor, a variable, or a C++ value that takes the type of what stands beside
// it. It borrows tensors: it lives for one call.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "rewind/tensor/tensor.h"

namespace rw {

class Variable;

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
  Operand(const char* text) : owned_(constant(text)), tensor_(&owned_) {}         // NOLINT
  Operand(const std::string& text) : owned_(constant(text)), tensor_(&owned_) {}  // NOLINT
  // A list of literals; takes the other side's type too.
  template <class T>
    requires std::is_arithmetic_v<T>
  Operand(std::initializer_list<T> values)  // NOLINT
      : owned_(constant(std::vector<T>(values), literal_dtype<T>)), kind_(Kind::kList) {}
  template <Element T>
  Operand(const std::vector<T>& values) : owned_(constant(values)), tensor_(&owned_) {}  // NOLINT

  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  // Whether it has no type of its own.
  bool weak() const { return kind_ != Kind::kTensor && tensor_ == nullptr; }
  DType dtype() const { return tensor().dtype(); }
  const Shape& shape() const { return tensor().shape(); }
  // As a tensor; a weak value in its default type (int32, float32, bool).
  const Tensor& tensor() const { return tensor_ ? *tensor_ : materialise(DType::kInvalid); }
  // As a tensor of this type: a weak value converts where Python's would, a tensor stays as it is.
  const Tensor& tensor(DType dtype) const { return tensor_ ? *tensor_ : materialise(dtype); }

 private:
  enum class Kind : uint8_t { kTensor, kBool, kInteger, kReal, kList };
  const Tensor& materialise(DType dtype) const;

  mutable Tensor owned_;
  mutable const Tensor* tensor_ = nullptr;
  Kind kind_ = Kind::kTensor;
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

}  // namespace rw
