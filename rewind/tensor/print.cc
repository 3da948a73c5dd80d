// Tensors as text: what TensorFlow's print(t) and repr(t) show.
#include <ostream>

#include "rewind/runtime/touch.h"
#include "rewind/tensor/float_text.h"
#include "rewind/tensor/numpy_format.h"
#include "rewind/tensor/tensor.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {
namespace {

// Text of several lines begins on a line of its own.
std::string on_own_lines(const std::string& text) {
  return text.find('\n') == std::string::npos ? text : "\n" + text;
}

std::string kind_text(const Tensor& t) {
  const bool batched = t.impl()->kind == TensorKind::kBatched;
  return std::string(batched ? "batched" : "symbolic") + ", shape=" + t.shape().to_string() +
         ", dtype=" + std::string(name_of(t.dtype()));
}

// A scalar as Python's own number of its value: the float32 0.1 is 0.10000000149011612.
std::string python_repr(const View& v) {
  switch (v.dtype) {
    case DType::kFloat64: return scalar_text(*v.as<double>(), DType::kFloat64);
    case DType::kFloat32: return scalar_text(double(*v.as<float>()), DType::kFloat64);
    case DType::kFloat16: return scalar_text(double(float(*v.as<Half>())), DType::kFloat64);
    case DType::kBfloat16: return scalar_text(double(float(*v.as<Bfloat16>())), DType::kFloat64);
    case DType::kComplex64:
      return complex_scalar_text(double(v.as<float>()[0]), double(v.as<float>()[1]), DType::kFloat64);
    default: return numpy_str(v);
  }
}

}  // namespace

std::string Tensor::to_string() const {
  if (!defined()) return "tf.Tensor(undefined)";
  if (impl()->kind != TensorKind::kEager) return "Tensor(" + kind_text(*this) + ")";
  const Value* value = impl();
  const Touched touched({&value, 1});
  View view = impl()->view();
  view.data = touched.data(0);
  return "tf.Tensor(" + on_own_lines(numpy_str(view)) + ", shape=" + shape().to_string() +
         ", dtype=" + std::string(name_of(dtype())) + ")";
}

std::string Tensor::repr() const {
  if (!defined()) return "<tf.Tensor: undefined>";
  if (impl()->kind != TensorKind::kEager) return "<tf.Tensor: " + kind_text(*this) + ">";
  const Value* value = impl();
  const Touched touched({&value, 1});
  View view = impl()->view();
  view.data = touched.data(0);
  const bool object = dtype() == DType::kResource || dtype() == DType::kVariant;
  const std::string text = view.rank() == 0 || object ? python_repr(view) : numpy_repr(view);
  return "<tf.Tensor: shape=" + shape().to_string() + ", dtype=" + std::string(name_of(dtype())) +
         (object ? ", value=" : ", numpy=") + on_own_lines(text) + ">";
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.to_string(); }

}  // namespace rw
