#include "rewind/tensor/ops/training.h"

#include "rewind/tensor/apply.h"

namespace rw {
namespace {

// An input of a step: a variable's handle, or a number or tensor of the variable's type.
const Tensor* input(const Variable& v, DType) { return &v.handle(); }
const Tensor* input(const Operand& o, DType dtype) { return &o.tensor(dtype); }

// Indices keep their own type.
struct Rows {
  const Operand& indices;
};
const Tensor* input(const Rows& rows, DType) { return &rows.indices.tensor(); }

template <class... Inputs>
void step(const Op& op, const Attrs& attrs, const Variable& var, const Inputs&... inputs) {
  const DType dtype = var.dtype();
  apply(op, {&var.handle(), input(inputs, dtype)...}, attrs);
}

Attrs nesterov(bool use) { return use ? Attrs{{"use_nesterov", true}} : Attrs{}; }
Attrs slots(bool update) { return update ? Attrs{} : Attrs{{"update_slots", false}}; }

}  // namespace

void resource_apply_gradient_descent(const Variable& var, const Operand& alpha, const Operand& delta) {
  step(RW_OP("ResourceApplyGradientDescent"), {}, var, alpha, delta);
}

void resource_apply_momentum(const Variable& var, const Variable& accum, const Operand& lr,
                             const Operand& grad, const Operand& momentum, bool use_nesterov) {
  step(RW_OP("ResourceApplyMomentum"), nesterov(use_nesterov), var, accum, lr, grad, momentum);
}

void resource_apply_keras_momentum(const Variable& var, const Variable& accum, const Operand& lr,
                                   const Operand& grad, const Operand& momentum, bool use_nesterov) {
  step(RW_OP("ResourceApplyKerasMomentum"), nesterov(use_nesterov), var, accum, lr, grad, momentum);
}

void resource_apply_adam(const Variable& var, const Variable& m, const Variable& v, const AdamStep& s,
                         const Operand& grad, bool use_nesterov) {
  step(RW_OP("ResourceApplyAdam"), nesterov(use_nesterov), var, m, v, s.beta1_power, s.beta2_power, s.lr,
       s.beta1, s.beta2, s.epsilon, grad);
}

void resource_apply_adam_with_amsgrad(const Variable& var, const Variable& m, const Variable& v,
                                      const Variable& vhat, const AdamStep& s, const Operand& grad) {
  step(RW_OP("ResourceApplyAdamWithAmsgrad"), {}, var, m, v, vhat, s.beta1_power, s.beta2_power, s.lr,
       s.beta1, s.beta2, s.epsilon, grad);
}

void resource_apply_ada_max(const Variable& var, const Variable& m, const Variable& v,
                            const Operand& beta1_power, const Operand& lr, const Operand& beta1,
                            const Operand& beta2, const Operand& epsilon, const Operand& grad) {
  step(RW_OP("ResourceApplyAdaMax"), {}, var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad);
}

void resource_apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom, const Operand& lr,
                             const Operand& rho, const Operand& momentum, const Operand& epsilon,
                             const Operand& grad) {
  step(RW_OP("ResourceApplyRMSProp"), {}, var, ms, mom, lr, rho, momentum, epsilon, grad);
}

void resource_apply_centered_rms_prop(const Variable& var, const Variable& mg, const Variable& ms,
                                      const Variable& mom, const Operand& lr, const Operand& rho,
                                      const Operand& momentum, const Operand& epsilon, const Operand& grad) {
  step(RW_OP("ResourceApplyCenteredRMSProp"), {}, var, mg, ms, mom, lr, rho, momentum, epsilon, grad);
}

void resource_apply_adagrad_v2(const Variable& var, const Variable& accum, const Operand& lr,
                               const Operand& epsilon, const Operand& grad, bool update_slots) {
  step(RW_OP("ResourceApplyAdagradV2"), slots(update_slots), var, accum, lr, epsilon, grad);
}

void resource_apply_adadelta(const Variable& var, const Variable& accum, const Variable& accum_update,
                             const Operand& lr, const Operand& rho, const Operand& epsilon,
                             const Operand& grad) {
  step(RW_OP("ResourceApplyAdadelta"), {}, var, accum, accum_update, lr, rho, epsilon, grad);
}

void resource_sparse_apply_momentum(const Variable& var, const Variable& accum, const Operand& lr,
                                    const Operand& grad, const Operand& indices, const Operand& momentum,
                                    bool use_nesterov) {
  step(RW_OP("ResourceSparseApplyMomentum"), nesterov(use_nesterov), var, accum, lr, grad, Rows{indices},
       momentum);
}

void resource_sparse_apply_keras_momentum(const Variable& var, const Variable& accum, const Operand& lr,
                                          const Operand& grad, const Operand& indices,
                                          const Operand& momentum, bool use_nesterov) {
  step(RW_OP("ResourceSparseApplyKerasMomentum"), nesterov(use_nesterov), var, accum, lr, grad, Rows{indices},
       momentum);
}

void resource_sparse_apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom,
                                    const Operand& lr, const Operand& rho, const Operand& momentum,
                                    const Operand& epsilon, const Operand& grad, const Operand& indices) {
  step(RW_OP("ResourceSparseApplyRMSProp"), {}, var, ms, mom, lr, rho, momentum, epsilon, grad,
       Rows{indices});
}

void resource_sparse_apply_adagrad_v2(const Variable& var, const Variable& accum, const Operand& lr,
                                      const Operand& epsilon, const Operand& grad, const Operand& indices,
                                      bool update_slots) {
  step(RW_OP("ResourceSparseApplyAdagradV2"), slots(update_slots), var, accum, lr, epsilon, grad,
       Rows{indices});
}

void resource_sparse_apply_adadelta(const Variable& var, const Variable& accum, const Variable& accum_update,
                                    const Operand& lr, const Operand& rho, const Operand& epsilon,
                                    const Operand& grad, const Operand& indices) {
  step(RW_OP("ResourceSparseApplyAdadelta"), {}, var, accum, accum_update, lr, rho, epsilon, grad,
       Rows{indices});
}

}  // namespace rw
