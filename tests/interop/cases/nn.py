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
    for bad in (np.nan, np.inf, -np.inf):
        case(op, [lit([[1.0, bad, 2.0], [3.0, 4.0, 5.0]], "float32")], label=f"{bad}", grad=())
    case(op, [lit([[-np.inf, -np.inf]], "float32")], label="only -inf", grad=())
    case(op, [lit([[1e30, -1e30, 0.0]], "float32")], label="large", grad=())
    case(op, [f(())], error=True)

op = "SoftmaxCrossEntropyWithLogits"
for t in dtypes(op):
    case(op, [rnd((2, 3), t), rnd((2, 3), t, "unit")], tol=SOFT)
    case(op, [rnd((9, 130), t), rnd((9, 130), t, "unit")], tol=SUMS, golden=False)
    case(op, [rnd((3, 1030), t), rnd((3, 1030), t, "unit")], tol=SUMS, golden=False, grad=())
for a, b_ in [((1, 3), (4, 3)), ((4, 3), (1, 3)), ((4, 1), (4, 3)), ((4, 3), (4, 1)), ((1, 1), (2, 3)), ((3, 1), (3, 1))]:
    case(op, [f(a), f(b_, domain="unit")], tol=SOFT, grad=() if a != b_ else None)
case(op, [f((0, 3)), f((0, 3))])
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
