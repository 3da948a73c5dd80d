"""Reductions and scans along axes: sums, extremes, logic, positions, norms, cumulative ops, counting."""
import numpy as np

from case import *

AXES = [((2, 3), [0]), ((2, 3), [1]), ((2, 3), [0, 1]), ((2, 3), []), ((2, 3), -1), ((5,), 0), ((2, 3, 2), [1]), ((2, 3, 2), [0, 2]),
        ((2, 3, 2), [-1, -3]), ((2, 1, 3, 2), [1, 3]), ((2, 1, 3, 2), [2]), ((1, 2, 2, 1, 3), [0, 2, 4]), ((1, 2, 2, 1, 3), [1, 3]), ((), [])]
NOTHING = [((0,), [0]), ((0, 3), [0]), ((0, 3), [1]), ((2, 0, 3), [1]), ((2, 0, 3), [0, 2]), ((2, 0), [])]
BIG = [((1037,), [0]), ((7, 301), [1]), ((301, 7), [0]), ((5, 17, 33), [1]), ((5, 17, 33), [0, 2]), ((3, 5, 7, 11), [1, 3]), ((64, 65), [0, 1])]
WRONG = [((2, 3), [2]), ((2, 3), [-3]), ((2, 3), [0, 0]), ((2, 3), [0, -2])]


def reduction(op, make, types, tol=None, smooth=True, integers=True, big=None, big_types=("float32", "float64", "float16", "bfloat16", "int32")):
    """make(shape, dtype) is the input; big(shape, dtype) the one for long live-only runs."""
    options = dict(tol=tol, smooth=smooth)
    for t in types:
        case(op, [make((2, 3), t), lit([1])], **options)
        case(op, [make((2, 3, 2), t), lit([0, 2])], attrs=dict(keep_dims=True), golden=False, **options)
    t = types[0]
    for shape, axes in AXES + NOTHING:
        for keep in (False, True):
            case(op, [make(shape, t), lit(axes)], attrs=dict(keep_dims=keep), golden=True if (shape, keep) == ((2, 3, 2), True) else None, **options)
    case(op, [make((2, 3), t), lit([1], "int64")], **options)
    for shape, axes in BIG:
        for t in types:
            if t in big_types: case(op, [(big or make)(shape, t), lit(axes)], golden=False, **options)
    for shape, axes in WRONG: case(op, [make(shape, types[0]), lit(axes)], error=True)


reduction("Sum", rnd, dtypes("Sum"), tol=SUMS)
reduction("Mean", rnd, dtypes("Mean"), tol=SUMS)
reduction("Prod", lambda shape, t: rnd(shape, t, "nonzero" if t in FLOATS + COMPLEX else "inside"), dtypes("Prod"), tol=SUMS,
          big=lambda shape, t: rnd(shape, t, (0.98, 1.02) if t in FLOATS else (1, 1)),
          big_types=("float32", "int32"))  # TensorFlow rounds 16-bit products after each factor
reduction("EuclideanNorm", lambda shape, t: rnd(shape, t, "nonzero"), dtypes("EuclideanNorm"), tol=SUMS)
reduction("Max", distinct, dtypes("Max"))
reduction("Min", distinct, dtypes("Min"))
reduction("Any", lambda shape, t: b(shape), ["bool"], smooth=False)
reduction("All", lambda shape, t: b(shape), ["bool"], smooth=False)
for op in ["Any", "All"]:
    for v in ([True, True], [False, False], [True, False]): case(op, [lit(v, "bool"), lit([0])])

for op in ["Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm"]:
    for t in FLOATS:
        for bad in (np.nan, np.inf, -np.inf):
            case(op, [lit([[1.0, bad, 2.0], [3.0, 4.0, 5.0]], t), lit([1])], label=f"{t} {bad}", grad=())
    case(op, [lit([[np.inf, -np.inf, 1.0], [np.nan, 1.0, np.inf]], "float32"), lit([0])], label="mixed", grad=())
case("Prod", [lit([[0.0, 2.0, 3.0], [0.0, 0.0, 3.0]], "float32"), lit([1])], label="gradient with zeros", golden=True, smooth=False)
case("Max", [lit([[1.0, 3.0, 3.0]], "float32"), lit([1])], label="gradient at a tie", smooth=False, golden=True)
case("Min", [lit([[1.0, 1.0, 3.0]], "float32"), lit([1])], label="gradient at a tie", smooth=False, golden=True)
for t in INTS:
    low, high = np.iinfo(t).min, np.iinfo(t).max
    for op in ["Sum", "Prod", "Max", "Min"]: case(op, [lit([[high, high, 2], [low, 1, low]], t), lit([1])], label=f"{t} limits")
case("Mean", [lit([7, 8, -8, -7]), lit([0])], label="of integers, rounded")
case("Mean", [lit([-7, -8]), lit([0])], label="of negative integers, rounded")
case("Sum", [rnd((20000,), "float32", (0.9, 1.1)), lit([0])], golden=False, tol=SUMS)
case("Sum", [rnd((2000,), "float16", (0.9, 1.1)), lit([0])], golden=False, tol=SUMS)
case("Mean", [rnd((2000,), "float16", (0.9, 1.1)), lit([0])], golden=False, tol=SUMS)

# Positions of extremes: the first wins.
for op in ["ArgMax", "ArgMin"]:
    for t in dtypes(op):
        case(op, [distinct((2, 3), t), lit(1)])
        case(op, [rnd((3, 37), t, (0, 9)), lit(1)], golden=False)
    case(op, [b((2, 3)), lit(1)])
    for shape, axis in [((2, 3), 0), ((2, 3), -1), ((5,), 0), ((2, 3, 4), 1), ((2, 3, 4), 0), ((2, 1, 3, 2), 2), ((1, 2, 2, 1, 3), 4), ((0, 3), 1), ((2, 3), -2)]:
        case(op, [distinct(shape), lit(axis)])
    for out in dtypes(op, "output_type"): case(op, [distinct((4, 5)), lit(0)], attrs=dict(output_type=out))
    for index in ["int32", "int64"]: case(op, [distinct((4, 5)), lit(1, index)])
    case(op, [lit([[3.0, 1.0, 3.0, 1.0]], "float32"), lit(1)], label="ties")
    case(op, [lit([[1.0, np.nan, 3.0], [np.nan, 1.0, 0.0], [2.0, 1.0, np.nan]], "float32"), lit(1)], label="NaN")
    case(op, [lit([[-np.inf, -np.inf], [np.inf, np.inf]], "float32"), lit(1)], label="infinities")
    case(op, [f((0, 3)), lit(0)], error=True)
    case(op, [f((2, 3)), lit(2)], error=True)
    case(op, [f((2, 3)), lit([0, 1])], error=True)

# Scans.
for op in ["Cumsum", "Cumprod", "CumulativeLogsumexp"]:
    domain = "nonzero" if op == "Cumprod" else "normal"
    for t in dtypes(op):
        case(op, [rnd((2, 3), t, domain if t not in INTS else "inside"), lit(1)], tol=SUMS)
        for exclusive, reverse in [(True, False), (False, True), (True, True)]:
            case(op, [rnd((2, 3), t, domain if t not in INTS else "inside"), lit(1)], attrs=dict(exclusive=exclusive, reverse=reverse), tol=SUMS)
    for shape, axis in [((5,), 0), ((2, 3), 0), ((2, 3), -1), ((2, 3, 4), 1), ((2, 3, 4), 0), ((2, 1, 3, 2), 2), ((1, 2, 2, 1, 3), -1), ((0, 3), 0), ((2, 0), 0)]:
        for exclusive, reverse in [(False, False), (True, True)]:
            case(op, [f(shape, domain=domain), lit(axis)], attrs=dict(exclusive=exclusive, reverse=reverse), tol=SUMS)
    case(op, [f((3, 301), domain=(0.98, 1.02)), lit(1)], golden=False, tol=SUMS)
    case(op, [f((301, 3), domain=(0.98, 1.02)), lit(0, "int64")], golden=False, tol=SUMS)
    case(op, [f((2, 3)), lit(2)], error=True)
    case(op, [f((2, 3)), lit(-3)], error=True)
    case(op, [f((2, 3)), lit([0])], error=True)
    case(op, [lit([1.0, np.nan, 2.0, np.inf], "float32"), lit(0)], label="special", grad=())
case("Cumprod", [lit([2.0, 0.0, 3.0, 4.0], "float32"), lit(0)], label="zero inside", smooth=False, golden=True)

# Norms and counts.
for t in dtypes("L2Loss"):
    for shape in [(2, 3), (), (0,), (5, 2, 3)]: case("L2Loss", [rnd(shape, t)], tol=SUMS)
    case("L2Loss", [rnd((1037,), t)], golden=False, tol=SUMS)
for t in ["int32", "int64", "float32", "float64"]:
    case("Bincount", [lit([1, 1, 2, 0, 5, 9]), lit(7), rnd((6,), t)], grad=())
    case("Bincount", [lit([1, 1, 2, 0, 5, 9]), lit(7), lit([], t)], grad=())
    for binary in (False, True):
        case("DenseBincount", [lit([1, 1, 2, 0, 5, 9]), lit(7), lit([], t)], attrs=dict(binary_output=binary), grad=())
        case("DenseBincount", [lit([[1, 1, 2], [0, 5, 9]], "int64"), lit(7, "int64"), lit([], t)], attrs=dict(binary_output=binary), grad=())
    case("DenseBincount", [lit([1, 1, 2]), lit(4), rnd((3,), t)], grad=())
    case("Bucketize", [lit([[-5, 1], [10, 200]], t)], attrs=dict(boundaries=[0.0, 10.0, 100.0]))
    case("HistogramFixedWidth", [rnd((9,), t, (0, 5)), lit([0, 5], t), lit(5)], grad=())
    case("HistogramFixedWidth", [rnd((2, 4), t, (-3, 9)), lit([0, 5], t), lit(3)], attrs=dict(dtype="int64"), grad=())
case("Bincount", [lit([1, -1]), lit(3), lit([], "int32")], error=True)
case("Bincount", [lit([1, 1]), lit(-3), lit([], "int32")], error=True)
case("DenseBincount", [lit([1, -1]), lit(3), lit([], "int32")], error=True)
case("Bucketize", [f((3,))], attrs=dict(boundaries=[3.0, 1.0]), error=True)
case("HistogramFixedWidth", [f((3,)), lit([5.0, 1.0], "float32"), lit(5)], error=True)
case("HistogramFixedWidth", [f((3,)), lit([0.0, 1.0], "float32"), lit(0)], error=True)
