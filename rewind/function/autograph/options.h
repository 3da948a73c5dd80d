// How the innermost staged loop runs, said by the first statement of its body:
//
//   rw::autograph::set_loop_options({.maximum_iterations = 10,
//                                    .shape_invariants = {{v, rw::Shape({-1, 3})}}});
#pragma once

#include "rewind/tensor/tensor.h"

namespace rw::autograph {

// What stays true of a loop variable's shape.
struct ShapeInvariant {
  template <class T>
  ShapeInvariant(const T& v, Shape s) : variable(&v), shape(std::move(s)) {}  // NOLINT: {v, shape} in a list
  const void* variable;
  Shape shape;
};
struct LoopOptions {
  Tensor maximum_iterations = {};  // a scalar
  std::vector<ShapeInvariant> shape_invariants = {};
  int parallel_iterations = 10;  // accepted for graphs that leave
};

// Applies to the loop that is traced; on the host nothing happens, as in TensorFlow.
void set_loop_options(const LoopOptions& options);

}  // namespace rw::autograph
