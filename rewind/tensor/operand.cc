#include "rewind/tensor/operand.h"

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/variable.h"

namespace rw {

Operand::Operand(const Variable& variable) : owned_(variable.value()), tensor_(&owned_) {}

Operand::Operand(Number number) : owned_(std::move(number.tensor)), kind_(Kind::kNumber) {
  const DType dtype = owned_.dtype();
  list_type_ = is_floating(dtype) ? DType::kFloat32 : is_integer(dtype) ? DType::kInt32 : dtype;
}

// Python's number would be a bool, an integer or real; and converts where one would.
Tensor Operand::number_as(DType dtype) const {
  const DType from = owned_.dtype();
  if (from == dtype) return owned_;
  if (is_floating(from) && is_integer(dtype))
    fail_invalid("constant", "real numbers do not convert to " + std::string(name_of(dtype)) +
                                 "; rw::cast converts tensors");
  if (from == DType::kBool)
    fail_invalid("constant",
                 "a bool does not convert to " + std::string(name_of(dtype)) + "; rw::cast converts tensors");
  return apply_one(RW_OP("Cast"), {&owned_}, {{"DstT", dtype}});
}

Operand::Operand(std::initializer_list<Literal> list) {
  const detail::FlatLiterals flat = detail::flatten(list);
  set_list(flat.leaves, Shape(flat.dims));
}

void Operand::set_list(std::span<const Literal> leaves, const Shape& shape) {
  kind_ = Kind::kList;
  list_type_ = detail::common_type(leaves);
  if (list_type_ == DType::kString) {
    std::vector<std::string> texts;
    for (const Literal& leaf : leaves) texts.emplace_back(leaf.text());
    owned_ = tensor_from_strings(texts, shape);
    tensor_ = &owned_;
  } else if (is_floating(list_type_)) {
    std::vector<double> reals;
    for (const Literal& leaf : leaves) reals.push_back(leaf.real());
    owned_ = tensor_from_elements(reals.data(), DType::kFloat64, DType::kFloat64, shape);
  } else {
    std::vector<int64_t> integers;
    for (const Literal& leaf : leaves) integers.push_back(leaf.integer());
    owned_ = tensor_from_elements(integers.data(), DType::kInt64, list_type_, shape);
  }
}

// The list's elements in another type, where Python's would convert.
Tensor Operand::list_as(DType dtype) const {
  const DType from = owned_.dtype();
  if (dtype == from) return owned_;
  if (owned_.size() == 0)
    return dtype == DType::kString ? tensor_from_strings({}, owned_.shape())
                                   : tensor_from_elements(owned_.host_data(), from, dtype, owned_.shape());
  if (is_floating(from) && !is_floating(dtype))
    fail_invalid("constant", "real numbers do not convert to " + std::string(name_of(dtype)) +
                                 "; rw::cast converts tensors");
  if (is_integer(from) && is_integer(dtype)) {
    const Tensor wide = tensor_from_elements(owned_.host_data(), from, DType::kInt64, owned_.shape());
    for (const int64_t value : wide.data<int64_t>()) check_fits(value, dtype);
  }
  return tensor_from_elements(owned_.host_data(), from, dtype, owned_.shape());
}

Tensor Operand::stacked(std::initializer_list<Operand> list) {
  const Operands parts(list);
  return apply(RW_OP("Pack"), parts.tensors(), {{"axis", 0}})[0];
}

template <bool kOneType>
std::vector<Tensor> OperandList<kOneType>::as_one_type(std::initializer_list<Operand> list) {
  DType dtype = DType::kInvalid;
  for (const Operand& o : list)
    if (!o.weak() && o.tensor().defined() && dtype == DType::kInvalid) dtype = o.dtype();
  std::vector<Tensor> tensors;
  for (const Operand& o : list) tensors.push_back(o.tensor(dtype));
  return tensors;
}
template <bool kOneType>
std::vector<Tensor> OperandList<kOneType>::as_they_are(std::initializer_list<Operand> list) {
  std::vector<Tensor> tensors;
  for (const Operand& o : list) tensors.push_back(o.tensor());
  return tensors;
}
template class OperandList<true>;
template class OperandList<false>;

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
    case Kind::kNumber: owned_ = number_as(dtype == DType::kInvalid ? list_type_ : dtype); break;
    case Kind::kList: owned_ = list_as(dtype == DType::kInvalid ? list_type_ : dtype); break;
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
