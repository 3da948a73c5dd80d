// Gradients of the matrix products: products of the gradient with the other factor, transposed by attributes.
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

template <bool kBatch>
constexpr const char* kTurnA = kBatch ? "adj_x" : "transpose_a";
template <bool kBatch>
constexpr const char* kTurnB = kBatch ? "adj_y" : "transpose_b";

template <bool kBatch>
Tensor product(const Op& op, const Tensor& a, const Tensor& b, bool turn_a, bool turn_b) {
  if (!turn_a && !turn_b) return apply_one(op, {&a, &b});
  if (!turn_b) {
    static const Attrs attrs{{kTurnA<kBatch>, true}};
    return apply_one(op, {&a, &b}, attrs);
  }
  if (!turn_a) {
    static const Attrs attrs{{kTurnB<kBatch>, true}};
    return apply_one(op, {&a, &b}, attrs);
  }
  static const Attrs attrs{{kTurnA<kBatch>, true}, {kTurnB<kBatch>, true}};
  return apply_one(op, {&a, &b}, attrs);
}

template <bool kBatch>
void product_gradient(GradContext& g) {
  const Op& op = g.op();
  const bool ta = g.attr<bool>(kTurnA<kBatch>);
  const bool tb = g.attr<bool>(kTurnB<kBatch>);
  if (g.wants(0)) {
    const Tensor& b = g.input(1);
    const Tensor da =
        ta ? product<kBatch>(op, b, g.grad(), tb, true) : product<kBatch>(op, g.grad(), b, false, !tb);
    g.set(0, da.shape() == g.input_shape(0) ? da : sum_to_shape(da, g.input_shape(0)));
  }
  if (g.wants(1)) {
    const Tensor& a = g.input(0);
    const Tensor db =
        tb ? product<kBatch>(op, g.grad(), a, true, ta) : product<kBatch>(op, a, g.grad(), !ta, false);
    g.set(1, db.shape() == g.input_shape(1) ? db : sum_to_shape(db, g.input_shape(1)));
  }
}

}  // namespace

void register_matmul_gradients() {
  register_gradient("MatMul", kNeedsInputs, product_gradient<false>);
  register_gradient("BatchMatMul", kNeedsInputs, product_gradient<true>);
  register_gradient("BatchMatMulV2", kNeedsInputs, product_gradient<true>);
}

}  // namespace rw
