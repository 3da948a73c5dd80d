// Optimizers' steps on variables, in place: one pass over the variable, its slots and the gradient. Scalars
// take the variable's type. Not differentiable. What stands here are the steps that Keras' optimizers use;
// every other one is reached by its row: raw_op("ResourceApplyFtrl", ...).
#pragma once

#include "rewind/tensor/operand.h"
#include "rewind/tensor/variable.h"

namespace rw {

// var -= alpha * delta
void resource_apply_gradient_descent(const Variable& var, const Operand& alpha, const Operand& delta);

// accum = momentum * accum + grad; var -= lr * accum
void resource_apply_momentum(const Variable& var, const Variable& accum, const Operand& lr,
                             const Operand& grad, const Operand& momentum, bool use_nesterov = false);
// accum = momentum * accum - lr * grad; var += accum
void resource_apply_keras_momentum(const Variable& var, const Variable& accum, const Operand& lr,
                                   const Operand& grad, const Operand& momentum, bool use_nesterov = false);

struct AdamStep {
  const Operand& beta1_power;  // beta1 to the number of steps
  const Operand& beta2_power;
  const Operand& lr;
  const Operand& beta1;
  const Operand& beta2;
  const Operand& epsilon;
};
// m += (1 - beta1) (grad - m); v += (1 - beta2) (grad^2 - v);
// var -= lr sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + epsilon)
void resource_apply_adam(const Variable& var, const Variable& m, const Variable& v, const AdamStep& step,
                         const Operand& grad, bool use_nesterov = false);
// The same with the largest v so far in the denominator.
void resource_apply_adam_with_amsgrad(const Variable& var, const Variable& m, const Variable& v,
                                      const Variable& vhat, const AdamStep& step, const Operand& grad);
void resource_apply_ada_max(const Variable& var, const Variable& m, const Variable& v,
                            const Operand& beta1_power, const Operand& lr, const Operand& beta1,
                            const Operand& beta2, const Operand& epsilon, const Operand& grad);

// ms += (1 - rho) (grad^2 - ms); mom = momentum * mom + lr * grad / sqrt(ms + epsilon); var -= mom
void resource_apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom, const Operand& lr,
                             const Operand& rho, const Operand& momentum, const Operand& epsilon,
                             const Operand& grad);
void resource_apply_centered_rms_prop(const Variable& var, const Variable& mg, const Variable& ms,
                                      const Variable& mom, const Operand& lr, const Operand& rho,
                                      const Operand& momentum, const Operand& epsilon, const Operand& grad);

// accum += grad^2; var -= lr * grad / (sqrt(accum) + epsilon)
void resource_apply_adagrad_v2(const Variable& var, const Variable& accum, const Operand& lr,
                               const Operand& epsilon, const Operand& grad, bool update_slots = true);
void resource_apply_adadelta(const Variable& var, const Variable& accum, const Variable& accum_update,
                             const Operand& lr, const Operand& rho, const Operand& epsilon,
                             const Operand& grad);

// Steps on the rows that `indices` names; grad holds one row each. A row named twice is stepped twice.
void resource_sparse_apply_momentum(const Variable& var, const Variable& accum, const Operand& lr,
                                    const Operand& grad, const Operand& indices, const Operand& momentum,
                                    bool use_nesterov = false);
void resource_sparse_apply_keras_momentum(const Variable& var, const Variable& accum, const Operand& lr,
                                          const Operand& grad, const Operand& indices,
                                          const Operand& momentum, bool use_nesterov = false);
void resource_sparse_apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom,
                                    const Operand& lr, const Operand& rho, const Operand& momentum,
                                    const Operand& epsilon, const Operand& grad, const Operand& indices);
void resource_sparse_apply_adagrad_v2(const Variable& var, const Variable& accum, const Operand& lr,
                                      const Operand& epsilon, const Operand& grad, const Operand& indices,
                                      bool update_slots = true);
void resource_sparse_apply_adadelta(const Variable& var, const Variable& accum, const Variable& accum_update,
                                    const Operand& lr, const Operand& rho, const Operand& epsilon,
                                    const Operand& grad, const Operand& indices);

}  // namespace rw
