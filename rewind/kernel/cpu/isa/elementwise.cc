// The elementwise tables of this instruction set, in one place.
#include "rewind/kernel/cpu/isa/isa.h"

namespace rw::RW_ISA {

const UnaryRow* arithmetic_rows();
const UnaryRow* exponential_rows();
const UnaryRow* trigonometric_rows();
const UnaryRow* special_rows();
const UnaryRow* bessel_rows();
const UnaryRow* integral_rows();
const UnaryRow* cast_rows();
const BinaryRow* binary_arithmetic_rows();
const BinaryRow* comparison_rows();
const BinaryRow* activation_grad_rows();
const BinaryRow* binary_special_rows();
const TernaryRow* ternary_rows();
TernaryLoop select_loop(size_t element_size);

const ElementwiseLoops* elementwise_loops() {
  static const UnaryRow* const unary[] = {arithmetic_rows(),
                                          exponential_rows(),
                                          trigonometric_rows(),
                                          special_rows(),
                                          bessel_rows(),
                                          integral_rows(),
                                          nullptr};
  static const BinaryRow* const binary[] = {binary_arithmetic_rows(), comparison_rows(),
                                            activation_grad_rows(), binary_special_rows(), nullptr};
  static const TernaryRow* const ternary[] = {ternary_rows(), nullptr};
  static const ElementwiseLoops all = {unary, binary, ternary, cast_rows(), select_loop};
  return &all;
}

}  // namespace rw::RW_ISA
