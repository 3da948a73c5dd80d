#include "rewind/tensor/operand.h"

#include "rewind/base/error.h"
#include "rewind/tensor/variable.h"

namespace rw {

Operand::Operand(const Variable& variable) : owned_(variable.value()), tensor_(&owned_) {}

const Tensor& Operand::materialise(DType dtype) const {
  switch (kind_) {
    case Kind::kTensor: fail_internal(__FILE__, __LINE__, "a strong operand is a tensor");
    case Kind::kBool:
      if (dtype != DType::kInvalid && dtype != DType::kBool)
        fail_invalid("constant", "a bool does not convert to " + std::string(name_of(dtype)) +
                                     "; rw::cast converts tensors");
      owned_ = constant(integer_ != 0);
      break;
    case Kind::kInteger:
      owned_ = scalar_tensor(integer_, dtype == DType::kInvalid ? DType::kInt32 : dtype);
      break;
    case Kind::kReal:
      owned_ = scalar_tensor(real_, dtype == DType::kInvalid ? DType::kFloat32 : dtype);
      break;
    case Kind::kList:
      if (dtype == DType::kInvalid || dtype == owned_.dtype()) break;
      if (is_floating(owned_.dtype()) && !is_floating(dtype))
        fail_invalid("constant", "real numbers do not convert to " + std::string(name_of(dtype)) +
                                     "; rw::cast converts tensors");
      owned_ = tensor_from_elements(owned_.host_data(), owned_.dtype(), dtype, owned_.shape());
      break;
  }
  tensor_ = &owned_;
  return owned_;
}

OperandPair unify(const Operand& a, const Operand& b) {
  if (a.weak() && !b.weak()) return {a.tensor(b.dtype()), b.tensor()};
  if (b.weak() && !a.weak()) return {a.tensor(), b.tensor(a.dtype())};
  if (!a.weak()) return {a.tensor(), b.tensor()};
  // Two weak values: an integer beside a real number is one.
  const Tensor& x = a.tensor();
  const Tensor& y = b.tensor();
  return {x, y};
}

std::vector<Tensor> unify(std::initializer_list<const Operand*> operands) {
  DType dtype = DType::kInvalid;
  for (const Operand* o : operands)
    if (!o->weak() && dtype == DType::kInvalid) dtype = o->dtype();
  std::vector<Tensor> tensors;
  for (const Operand* o : operands) tensors.push_back(o->tensor(dtype));
  return tensors;
}

}  // namespace rw
