#include <ostream>

#include "rewind/tensor/tensor.h"

namespace rw {

std::string Tensor::to_string() const { return shape().to_string(); }
std::string Tensor::repr() const { return shape().to_string(); }
std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.to_string(); }
Tensor Tensor::operator[](int64_t) const { return *this; }

}  // namespace rw
