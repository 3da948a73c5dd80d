// Optimizers' steps on variables: rows. Shapes of variables are checked when the step runs.
#include "rewind/op/table.h"

namespace rw {
namespace {

void update_shape(ShapeContext& ctx) {
  int i = 0;
  for (const ArgDef& arg : ctx.op().inputs) {
    const bool is_array = arg.name == "grad" || arg.name == "delta" || arg.name == "indices";
    if (arg.dtype != DType::kResource && !is_array) ctx.require_scalar(i);
    if (arg.name == "indices") ctx.require_rank(i, 1);
    ++i;
  }
}

// The last part of every row: T is {number}, and the attributes that all share.
std::string row(const std::string& name, const std::string& inputs, bool sparse, const char* attrs = "") {
  return name + "(" + inputs + ") -> (); T: {number}; " + (sparse ? "Tindices: {int32, int64}; " : "") +
         "use_locking: bool = false; " + attrs + "stateful";
}

// A step on whole tensors and, where it has a sparse form, on the rows that `indices`, the input after grad,
// names.
struct Step {
  const char* name;
  const char* inputs;
  const char* attrs = "";
  bool sparse = false;
};

constexpr const char* kNesterov = "use_nesterov: bool = false; ";
constexpr const char* kUpdateSlots = "update_slots: bool = true; ";
constexpr const char* kLinearByRate = "multiply_linear_by_lr: bool = false; ";

const Step kSteps[] = {
    {"Momentum", "var: resource, accum: resource, lr: T, grad: T, momentum: T", kNesterov, true},
    {"KerasMomentum", "var: resource, accum: resource, lr: T, grad: T, momentum: T", kNesterov, true},
    {"Adam",
     "var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, "
     "epsilon: T, "
     "grad: T",
     kNesterov},
    {"AdamWithAmsgrad",
     "var: resource, m: resource, v: resource, vhat: resource, beta1_power: T, beta2_power: T, lr: T, beta1: "
     "T, "
     "beta2: T, epsilon: T, grad: T"},
    {"AdaMax",
     "var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: "
     "T"},
    {"RMSProp", "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T",
     "", true},
    {"CenteredRMSProp",
     "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, "
     "grad: T",
     "", true},
    {"Adagrad", "var: resource, accum: resource, lr: T, grad: T", kUpdateSlots, true},
    {"AdagradV2", "var: resource, accum: resource, lr: T, epsilon: T, grad: T", kUpdateSlots, true},
    {"Adadelta", "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T",
     "", true},
    {"Ftrl", "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, lr_power: T",
     kLinearByRate, true},
    {"FtrlV2",
     "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, "
     "lr_power: T",
     kLinearByRate, true},
    {"ProximalAdagrad", "var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T", "", true},
    {"AddSign", "var: resource, m: resource, lr: T, alpha: T, sign_decay: T, beta: T, grad: T"},
    {"PowerSign", "var: resource, m: resource, lr: T, logbase: T, sign_decay: T, beta: T, grad: T"},
};

}  // namespace

void register_training_ops(OpTable& t) {
  t.add(row("ResourceApplyGradientDescent", "var: resource, alpha: T, delta: T", false)).shape(update_shape);
  t.add(row("ResourceApplyProximalGradientDescent", "var: resource, alpha: T, l1: T, l2: T, delta: T", false))
      .shape(update_shape);
  t.add(row("ResourceSparseApplyProximalGradientDescent",
            "var: resource, alpha: T, l1: T, l2: T, grad: T, indices: Tindices", true))
      .shape(update_shape);
  for (const Step& s : kSteps) {
    t.add(row(std::string("ResourceApply") + s.name, s.inputs, false, s.attrs)).shape(update_shape);
    if (!s.sparse) continue;
    const std::string grad = "grad: T";
    std::string inputs = s.inputs;
    inputs.insert(inputs.find(grad) + grad.size(), ", indices: Tindices");
    t.add(row(std::string("ResourceSparseApply") + s.name, inputs, true, s.attrs)).shape(update_shape);
  }
}

}  // namespace rw
