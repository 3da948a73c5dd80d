// What a kernel and a shape rule see of a tensor: where it lies, its sizes, its type. Elements are dense and
// in row-major order. A view owns nothing.
#pragma once

#include <string>

#include "rewind/base/dtype.h"
#include "rewind/base/shape.h"

namespace rw {

struct View {
  void* data = nullptr;  // may be null when size is 0, or when a shape rule must do without the value
  const Shape* shape = nullptr;
  DType dtype = DType::kInvalid;
  int64_t size = 0;  // number of elements

  int rank() const { return shape->rank(); }
  int64_t dim(int axis) const { return (*shape)[axis]; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  // "float32(2, 3)", for messages.
  std::string describe() const { return std::string(name_of(dtype)) + shape->to_string(); }
};

}  // namespace rw
