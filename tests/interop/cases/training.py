"""Steps of the optimizers on variables; the values of all of them afterwards are compared."""
import numpy as np

from case import *

# TensorFlow rounds every operation on half and bfloat16; we round once a step.
LOW = Tol(ulp=24, abs_ulp=12)
STEP = Tol(ulp=32, abs_ulp=8)


def tol(t):
    return LOW if t in ("float16", "bfloat16") else STEP


# op: (slots as (domain), scalars by name, attributes to vary, has a sparse form). Order of inputs as in the OpDef.
OPS = {
    "GradientDescent": ([], dict(alpha=0.1), [{}], False),
    "Momentum": (["normal"], dict(lr=0.1, momentum=0.9), [{}, dict(use_nesterov=True)], True),
    "KerasMomentum": (["normal"], dict(lr=0.1, momentum=0.9), [{}, dict(use_nesterov=True)], True),
    "Adam": (["normal", "positive"], dict(beta1_power=0.729, beta2_power=0.997, lr=0.05, beta1=0.9, beta2=0.999, epsilon=1e-3), [{}, dict(use_nesterov=True)], False),
    "AdamWithAmsgrad": (["normal", "positive", "positive"], dict(beta1_power=0.729, beta2_power=0.997, lr=0.05, beta1=0.9, beta2=0.999, epsilon=1e-3), [{}], False),
    "AdaMax": (["normal", "positive"], dict(beta1_power=0.729, lr=0.05, beta1=0.9, beta2=0.999, epsilon=1e-3), [{}], False),
    "RMSProp": (["positive", "normal"], dict(lr=0.05, rho=0.9, momentum=0.5, epsilon=1e-3), [{}], True),
    "CenteredRMSProp": (["inside", "above_one", "normal"], dict(lr=0.05, rho=0.9, momentum=0.5, epsilon=1e-3), [{}], True),
    "Adagrad": (["positive"], dict(lr=0.05), [{}, dict(update_slots=False)], True),
    "AdagradV2": (["positive"], dict(lr=0.05, epsilon=1e-3), [{}, dict(update_slots=False)], True),
    "Adadelta": (["positive", "positive"], dict(lr=0.5, rho=0.9, epsilon=1e-3), [{}], True),
    "Ftrl": (["positive", "normal"], dict(lr=0.5, l1=0.25, l2=0.125, lr_power=-0.5), [{}, dict(multiply_linear_by_lr=True)], True),
    "FtrlV2": (["positive", "normal"], dict(lr=0.5, l1=0.25, l2=0.125, l2_shrinkage=0.0625, lr_power=-0.5), [{}, dict(multiply_linear_by_lr=True)], True),
    "ProximalAdagrad": (["positive"], dict(lr=0.05, l1=0.25, l2=0.125), [{}], True),
    "ProximalGradientDescent": ([], dict(alpha=0.1, l1=0.25, l2=0.125), [{}], True),
    "AddSign": (["normal"], dict(lr=0.05, alpha=1.0, sign_decay=0.5, beta=0.9), [{}], False),
    "PowerSign": (["normal"], dict(lr=0.05, logbase=1.5, sign_decay=0.5, beta=0.9), [{}], False),
}


# TensorFlow has no kernels for these.
MISSING = {"ResourceApplyAdaMax": ["bfloat16"], "ResourceSparseApplyRMSProp": ["bfloat16"], "ResourceSparseApplyCenteredRMSProp": ["bfloat16"]}
for _form in ["ResourceApply", "ResourceSparseApply"]:
    for _name in ["ProximalAdagrad", "ProximalGradientDescent"]: MISSING[_form + _name] = ["float16", "bfloat16"]


def floats(op):
    return [t for t in FLOATS if t not in MISSING.get(op, [])]


def inputs(op, slots, scalars, shape, t, grad, indices=None):
    result, slots = [], iter(["normal"] + slots)
    for a in opdef(op).input_arg:
        if a.type == 20: result.append(var(rnd(shape, t, next(slots))))
        elif a.name in ("grad", "delta"): result.append(grad)
        elif a.name == "indices": result.append(indices)
        else: result.append(lit(scalars[a.name], t))
    return result


# Rows named twice stand in the small cases only: TensorFlow's threads race for them.
for name, (slots, scalars, variants, sparse) in OPS.items():
    op = "ResourceApply" + name
    for attrs in variants:
        tag = "".join(f" {k}" for k in attrs)
        for t in floats(op): case(op, inputs(op, slots, scalars, (2, 3), t, rnd((2, 3), t)), attrs=attrs, label=t + tag, tol=tol(t))
        for t in ["float32", "float64"]:
            case(op, inputs(op, slots, scalars, (1037,), t, rnd((1037,), t)), attrs=attrs, label=f"{t} long{tag}", golden=False, tol=tol(t))
        case(op, inputs(op, slots, scalars, (300, 301), "float32", f((300, 301))), attrs=attrs, label=f"threads{tag}", golden=False, tol=STEP)
        for shape in [(), (5,), (2, 3, 2), (0, 3)]:
            case(op, inputs(op, slots, scalars, shape, "float32", f(shape)), attrs=attrs, label=f"{list(shape)}{tag}", tol=STEP)
    case(op, inputs(op, slots, scalars, (2, 3), "float32", f((3,))), label="wrong shape", error=True)
    case(op, inputs(op, slots, scalars, (2, 3), "float32", rnd((2, 3), "float64")), label="wrong dtype", error=True)
    if slots:
        bad = inputs(op, slots, scalars, (2, 3), "float32", f((2, 3)))
        bad[1] = var(f((2, 2), domain="positive"))
        case(op, bad, label="slot of another shape", error=True)
    scalar = inputs(op, slots, scalars, (2, 3), "float32", f((2, 3)))
    at = next(k for k, a in enumerate(opdef(op).input_arg) if a.name in scalars)
    scalar[at] = lit([0.1], "float32")
    case(op, scalar, label="hyperparameter of rank 1", error=True)
    if not sparse: continue
    op = "ResourceSparseApply" + name
    for attrs in variants:
        tag = "".join(f" {k}" for k in attrs)
        for t in floats(op):
            for n in ["int32", "int64"]:
                case(op, inputs(op, slots, scalars, (4, 3), t, rnd((3, 3), t), lit([2, 0, 2], n)), attrs=attrs, label=f"{t} {n}{tag}", tol=tol(t))
        case(op, inputs(op, slots, scalars, (5,), "float32", f((3,)), lit([1, 1, 4])), attrs=attrs, label="rank 1" + tag, tol=STEP)
        case(op, inputs(op, slots, scalars, (5, 2, 2), "float32", f((2, 2, 2)), lit([1, 4])), attrs=attrs, label="rank 3" + tag, tol=STEP)
        case(op, inputs(op, slots, scalars, (5, 2), "float32", f((0, 2)), lit([])), attrs=attrs, label="no rows" + tag, tol=STEP)
        case(op, inputs(op, slots, scalars, (500, 64), "float32", f((400, 64)), lit(np.random.default_rng(0).permutation(500)[:400])), attrs=attrs, label="threads" + tag, golden=False, tol=STEP)
    for k in [4, -1]:
        case(op, inputs(op, slots, scalars, (4, 3), "float32", f((1, 3)), lit([k])), label=f"index {k}", error=True)
    case(op, inputs(op, slots, scalars, (4, 3), "float32", f((1, 2)), lit([0])), label="wrong row", error=True)
    case(op, inputs(op, slots, scalars, (4, 3), "float32", f((2, 3)), lit([0])), label="wrong number of rows", error=True)
    case(op, inputs(op, slots, scalars, (4, 3), "float32", f((1, 1, 3)), lit([[0]])), label="indices of rank 2", error=True)

for name in ["Ftrl", "FtrlV2"]:
    slots, scalars, variants, _ = OPS[name]
    for form, shape, extra in [("ResourceApply", (2, 3), ()), ("ResourceSparseApply", (4, 3), (lit([2, 0]),))]:
        for attrs in variants:
            for power in [-0.7, -0.3, 0.0]:
                s = dict(scalars, lr_power=power)
                op = form + name
                grad = f((2, 3))
                case(op, inputs(op, slots, s, shape, "float32", grad, *extra), attrs=attrs, label=f"power {power} {list(attrs)}", tol=STEP)
for name, l1 in [("ProximalAdagrad", 0.0), ("ProximalGradientDescent", 0.0)]:
    slots, scalars, _, _ = OPS[name]
    case("ResourceApply" + name, inputs("ResourceApply" + name, slots, dict(scalars, l1=l1), (2, 3), "float32", f((2, 3))), label="no l1", tol=STEP)
    op = "ResourceSparseApply" + name
    case(op, inputs(op, slots, dict(scalars, l1=l1), (4, 3), "float32", f((2, 3)), lit([2, 0])), label="no l1", tol=STEP)
