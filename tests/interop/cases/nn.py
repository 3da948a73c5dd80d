"""Softmax, cross entropy, biases and normalisation."""
import numpy as np

from case import *

SOFT = Tol(ulp=16, abs_ulp=4, scaled=True)

for op in ["Softmax", "LogSoftmax"]:
    for t in dtypes(op):
        for shape in [(2, 3), (5,), (2, 1, 3, 2)]: case(op, [rnd(shape, t)], tol=SOFT)
        for shape in [(3, 16), (7, 17), (3, 301), (2, 1030), (37, 33)]: case(op, [rnd(shape, t)], golden=False, tol=SOFT)
        case(op, [rnd((2, 5), t, (-60, 60))], tol=SOFT, grad=())
    for shape in [(1, 2, 2, 1, 3), (0, 3), (2, 0), (0,), (4, 1), (1,)]: case(op, [f(shape)], tol=SOFT)
    # In float64: TensorFlow's float32 softmax of oneDNN gives 0 beside a NaN.
    for bad in (np.nan, np.inf, -np.inf):
        case(op, [lit([[1.0, bad, 2.0], [3.0, 4.0, 5.0]], "float64")], label=f"{bad}", grad=())
    case(op, [lit([[-np.inf, -np.inf]], "float64")], label="only -inf", grad=())
    case(op, [lit([[1e30, -1e30, 0.0]], "float32")], label="large", grad=())
    case(op, [f(())], error=True)

# Gradients of the logits alone: TensorFlow leaves the labels' part of the second output (softmax - labels) out. Not
# smooth: the gradient is that of labels that sum to 1.
op = "SoftmaxCrossEntropyWithLogits"
for t in dtypes(op):
    case(op, [rnd((2, 3), t), rnd((2, 3), t, "unit")], tol=SOFT, grad=(0,), smooth=False)
    case(op, [rnd((9, 130), t), rnd((9, 130), t, "unit")], tol=SUMS, golden=False, grad=(0,), smooth=False)
    case(op, [rnd((3, 1030), t), rnd((3, 1030), t, "unit")], tol=SUMS, golden=False, grad=())
for a, b_ in [((1, 3), (4, 3)), ((4, 3), (1, 3)), ((4, 1), (4, 3)), ((4, 3), (4, 1)), ((1, 1), (2, 3)), ((3, 1), (3, 1))]:
    case(op, [f(a), f(b_, domain="unit")], tol=SOFT, grad=() if a != b_ else (0,), smooth=False)
case(op, [f((0, 3)), f((0, 3))], grad=(0,))
case(op, [f((2, 0)), f((2, 0))])
case(op, [f((2, 3)), f((2, 4))], error=True)
case(op, [f((3,)), f((3,))], error=True)
case(op, [f((2, 3, 4)), f((2, 3, 4))], error=True)
case(op, [lit([[1.0, -np.inf, 2.0]], "float32"), lit([[1.0, 0.0, 0.0]], "float32")], label="-inf", grad=())
case(op, [lit([[1.0, np.nan, 2.0]], "float32"), lit([[1.0, 0.0, 0.0]], "float32")], label="nan", grad=())

op = "SparseSoftmaxCrossEntropyWithLogits"
for t in dtypes(op):
    for index in ["int32", "int64"]:
        case(op, [rnd((4, 3), t), lit([0, 2, 1, 1], index)], tol=SOFT)
    case(op, [rnd((9, 130), t), i((9,), 0, 129)], tol=SOFT, golden=False)
    case(op, [rnd((2, 1030), t), i((2,), 0, 1029)], tol=SOFT, golden=False)
case(op, [f((0, 3)), lit([], "int32")])
case(op, [f((2, 3)), lit([0, 3])], error=True)
case(op, [f((2, 3)), lit([0, -1])], error=True)
case(op, [f((2, 3)), lit([0])], error=True)
case(op, [f((2, 0)), lit([0, 0])], error=True)
case(op, [f((3,)), lit([0])], error=True)
case(op, [lit([[1.0, -np.inf, 2.0], [np.inf, 1.0, 0.0]], "float32"), lit([0, 1])], label="infinities", grad=())

for t in dtypes("BiasAdd"):
    case("BiasAdd", [rnd((2, 3), t), rnd((3,), t)])
    case("BiasAdd", [rnd((2, 2, 2, 3), t), rnd((3,), t)], golden=False)
    case("BiasAddV1", [rnd((2, 3), t), rnd((3,), t)])
    case("BiasAddGrad", [rnd((4, 3), t)], tol=SUMS)
    case("BiasAddGrad", [rnd((3, 5, 7, 33), t, "inside")], tol=SUMS, golden=False)
for shape in [(2, 3, 3), (2, 2, 2, 3), (1, 2, 2, 1, 3), (0, 3), (2, 0, 3)]:
    case("BiasAdd", [f(shape), f((3,))])
    case("BiasAddGrad", [f(shape)], tol=SUMS)
for shape in [(2, 3), (2, 3, 4), (2, 3, 2, 2), (2, 3, 1, 2, 2)]:
    case("BiasAdd", [f(shape), f((3,))], attrs=dict(data_format="NCHW"))
    case("BiasAddGrad", [f(shape)], attrs=dict(data_format="NCHW"), tol=SUMS)
case("BiasAddGrad", [f((2000, 5))], tol=SUMS, golden=False)
case("BiasAdd", [f((2, 3)), f((2,))], error=True)
case("BiasAdd", [f((3,)), f((3,))], error=True)
case("BiasAdd", [f((2, 3)), f((1, 3))], error=True)
case("BiasAddGrad", [f((3,))], error=True)
for t in dtypes("L2Loss"):
    case("L2Loss", [rnd((40000,), t, "inside")], golden=False, tol=SUMS)

# Normalisation. The reserved outputs 1 and 2 are the batch's mean and variance.
NORM = Tol(ulp=128, abs_ulp=64, scaled=True)
EMPTY1 = lit([], "float32")
for t in ["float32", "float16", "bfloat16"]:
    # V2 for 16 bits: TensorFlow gives V3's unused outputs other shapes with oneDNN (float32) than without.
    op, check = ("FusedBatchNormV3", ["values"] * 5 + ["shape"]) if t == "float32" else ("FusedBatchNormV2", "values")
    x = rnd((3, 4, 3, 2), t)
    vectors = [f((2,)), f((2,))]
    case(op, [x, *vectors, EMPTY1, EMPTY1], dict(epsilon=0.01), label=f"{t} training", tol=NORM, grad=(0, 1, 2), check=check)
    statistics = [f((2,)), f((2,), domain="positive")]
    # Without oneDNN the reserved outputs of inference are not set.
    inference = check if t == "float32" else ["values"] * 3 + ["shape"] * 2
    case(op, [x, *vectors, *statistics], dict(epsilon=0.01, is_training=False), label=f"{t} inference", tol=NORM, grad=(0, 1, 2), check=inference)
    case(op, [x, *vectors, *statistics], dict(epsilon=0.01, exponential_avg_factor=0.3), label=f"{t} average", tol=NORM, grad=(), check=check)
for training in (True, False):
    case("FusedBatchNormGradV3", [f((3, 4, 3, 2)), f((3, 4, 3, 2)), f((2,)), f((2,)), f((2,), domain="positive"), EMPTY1], dict(epsilon=0.01, is_training=training),
         label=f"training={training}", tol=NORM, grad=())
case("FusedBatchNormV3", [f((20, 9, 9, 33)), f((33,)), f((33,)), EMPTY1, EMPTY1], tol=NORM, golden=False, grad=(0, 1, 2), smooth=False, check=["values"] * 5 + ["shape"])
for op, wrong in [("FusedBatchNormV3", [f((3, 4, 2)), f((2,)), f((2,)), EMPTY1, EMPTY1]), ("FusedBatchNormV3", [f((3, 4, 3, 2)), f((3,)), f((2,)), EMPTY1, EMPTY1])]:
    case(op, wrong, error=True)
for t in ["float32", "float16", "bfloat16"]:
    for attrs in [{}, dict(depth_radius=1, bias=2.0, alpha=0.5, beta=0.75)]:
        case("LRN", [rnd((2, 2, 3, 5), t)], attrs, tol=NORM)
        case("LRNGrad", [rnd((2, 2, 3, 5), t), rnd((2, 2, 3, 5), t), call("LRN", [rnd((2, 2, 3, 5), t)], attrs)], attrs, label=f"{t} {attrs}", tol=NORM, grad=())
