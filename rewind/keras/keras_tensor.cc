#include "rewind/keras/keras_tensor.h"

#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/layers/input_layer.h"
#include "rewind/keras/operation.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {

const Shape& KerasTensor::shape() const { return node_->shapes.at(index_); }
DType KerasTensor::dtype() const { return node_->dtypes.at(index_); }
std::string KerasTensor::name() const { return node_->layer.name(); }

KerasTensor Input(const Shape& shape, const InputOptions& options) {
  Shape full = shape;
  full.insert(0, options.batch_size);
  return InputLayer(full, {.dtype = options.dtype, .name = options.name}).output();
}

namespace {

KerasTensor between(const char* name, const KerasTensor& a, const KerasTensor& b) {
  return Operation(name, {Tensor(), Tensor()})(std::vector{a, b});
}
// A number takes the symbolic side's type, unless it is a fraction beside integers.
Tensor fitted(const Tensor& t, DType dtype) {
  return t.dtype() == dtype || (is_floating(t.dtype()) && !is_floating(dtype)) ? t : cast(t, dtype);
}
KerasTensor between(const char* name, const KerasTensor& a, const Tensor& b) {
  return Operation(name, {Tensor(), fitted(b, a.dtype())})(std::vector{a});
}
KerasTensor between(const char* name, const Tensor& a, const KerasTensor& b) {
  return Operation(name, {fitted(a, b.dtype()), Tensor()})(std::vector{b});
}

}  // namespace

#define RW_KERAS_OPERATOR(symbol, name)                                                                   \
  KerasTensor operator symbol(const KerasTensor& a, const KerasTensor& b) { return between(name, a, b); } \
  KerasTensor operator symbol(const KerasTensor& a, const Tensor& b) { return between(name, a, b); }      \
  KerasTensor operator symbol(const Tensor& a, const KerasTensor& b) { return between(name, a, b); }
RW_KERAS_OPERATOR(+, "Add")
RW_KERAS_OPERATOR(-, "Subtract")
RW_KERAS_OPERATOR(*, "Multiply")
RW_KERAS_OPERATOR(/, "TrueDivide")
#undef RW_KERAS_OPERATOR

KerasTensor operator-(const KerasTensor& x) { return Operation("Negative", {Tensor()})(std::vector{x}); }

}  // namespace rw::keras
