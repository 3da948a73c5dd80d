#include "rewind/keras/keras_tensor.h"

#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/layers/input_layer.h"
#include "rewind/keras/operation.h"
#include "rewind/tensor/ops/binary.h"
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

using Binary = Tensor (*)(const Operand&, const Operand&);

KerasTensor between(const char* name, Binary f, const KerasTensor& a, const KerasTensor& b) {
  return Operation(name, [f](const std::vector<Tensor>& x) { return f(x[0], x[1]); })(std::vector{a, b});
}
// A number takes the symbolic side's type.
Tensor fitted(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : cast(t, dtype); }
KerasTensor between(const char* name, Binary f, const KerasTensor& a, const Tensor& b) {
  const Tensor fixed = fitted(b, a.dtype());
  return Operation(name, [f, fixed](const std::vector<Tensor>& x) { return f(x[0], fixed); })(std::vector{a});
}
KerasTensor between(const char* name, Binary f, const Tensor& a, const KerasTensor& b) {
  const Tensor fixed = fitted(a, b.dtype());
  return Operation(name, [f, fixed](const std::vector<Tensor>& x) { return f(fixed, x[0]); })(std::vector{b});
}

}  // namespace

#define RW_KERAS_OPERATOR(symbol, name, function)                           \
  KerasTensor operator symbol(const KerasTensor& a, const KerasTensor& b) { \
    return between(name, function, a, b);                                   \
  }                                                                         \
  KerasTensor operator symbol(const KerasTensor& a, const Tensor& b) {      \
    return between(name, function, a, b);                                   \
  }                                                                         \
  KerasTensor operator symbol(const Tensor& a, const KerasTensor& b) { return between(name, function, a, b); }
RW_KERAS_OPERATOR(+, "Add", rw::add)
RW_KERAS_OPERATOR(-, "Subtract", rw::subtract)
RW_KERAS_OPERATOR(*, "Multiply", rw::multiply)
RW_KERAS_OPERATOR(/, "TrueDivide", rw::truediv)
#undef RW_KERAS_OPERATOR

KerasTensor operator-(const KerasTensor& x) {
  return Operation("Negative", [](const std::vector<Tensor>& v) { return negative(v[0]); })(std::vector{x});
}

}  // namespace rw::keras
