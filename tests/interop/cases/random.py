"""Random draws: TensorFlow's bits for the uniform ones, a few ulp for the normal ones."""
import numpy as np

from case import *

EXACT = Tol(ulp=0, abs_ulp=0)
NORMAL = Tol(ulp=4, abs_ulp=0)
SHAPES = [(), (1,), (5,), (2, 3), (3, 5, 7), (0,), (2, 0, 3), (1025,), (4097,)]


def keyed(shape, key=0x123456789ABCDEF, counter=(7, 0xFEDCBA9876543210)):
    return [lit(list(shape)), lit([key], "uint64"), lit(list(counter), "uint64"), lit(1)]


DRAWS = [("StatelessRandomUniform", FLOATS, EXACT), ("StatelessRandomNormal", FLOATS, NORMAL),
         ("StatelessTruncatedNormal", FLOATS, NORMAL), ("StatelessRandomUniformFullInt", ["int32", "int64", "uint32", "uint64"], EXACT)]
for op, types, tol in DRAWS:
    for t in types:
        for shape in SHAPES:
            case(op + "V2", keyed(shape), attrs=dict(dtype=t), tol=tol, golden=None if np.prod(shape, dtype=int) < 100 else False)
            case(op, [lit(list(shape)), lit([1, 2])], attrs=dict(dtype=t), tol=tol, golden=None if np.prod(shape, dtype=int) < 100 else False)
        case(op + "V2", keyed((9,), counter=(2**64 - 1, 2**64 - 1)), attrs=dict(dtype=t), tol=tol, label=f"{t} the counter wraps")
        case(op + "V2", keyed((200000,)), attrs=dict(dtype=t), tol=tol, golden=False)
        for seed in [(0, 0), (-1, 3), (2**40 + 5, -2**50)]:
            case(op, [lit([6]), lit(list(seed), "int64")], attrs=dict(dtype=t), tol=tol, label=f"{t} {seed}")
    t = types[0]
    case(op + "V2", keyed((3,))[:3] + [lit(3)], attrs=dict(dtype=t), tol=tol, label="alg 3")
    case(op + "V2", keyed((3,))[:3] + [lit(2)], attrs=dict(dtype=t), error=True, label="alg 2")
    case(op + "V2", [lit([3]), lit([1, 2], "uint64"), lit([1, 2], "uint64"), lit(1)], attrs=dict(dtype=t), error=True, label="two keys")
    case(op + "V2", keyed((-3,)), attrs=dict(dtype=t), error=True, label="negative size")
    case(op, [lit([3]), lit([1, 2, 3])], attrs=dict(dtype=t), error=True, label="three seeds")
    case(op, [lit([3], "int64"), lit([1, 2], "int64")], attrs=dict(dtype=t), tol=tol, label="int64 shape")

LIMITS = dict(int32=[(0, 10), (-5, 5), (-2**31, 2**31 - 1), (3, 4)], int64=[(0, 10), (-2**63, 2**63 - 1), (10**12, 10**13)],
              uint32=[(0, 10), (5, 2**32 - 1)], uint64=[(0, 10), (1, 2**64 - 1)])
for t, limits in LIMITS.items():
    for lo, hi in limits:
        case("StatelessRandomUniformIntV2", keyed((33,)) + [lit(lo, t), lit(hi, t)], label=f"{t} {lo} {hi}")
        if t in ("int32", "int64"):
            case("StatelessRandomUniformInt", [lit([33]), lit([4, 5]), lit(lo, t), lit(hi, t)], label=f"{t} {lo} {hi}")
    case("StatelessRandomUniformIntV2", keyed((3,)) + [lit(3, t), lit(3, t)], error=True, label=f"{t} no range")
case("StatelessRandomUniformIntV2", keyed((100000,)) + [lit(0), lit(1000)], golden=False)
case("StatelessRandomUniformIntV2", keyed((0,)) + [lit(0), lit(9)])

for seed in [(1, 2), (0, 0), (-7, 2**33)]:
    case("StatelessRandomGetKeyCounter", [lit(list(seed), "int64")], label=str(seed))
    case("StatelessRandomGetKeyCounterAlg", [lit(list(seed), "int64")], label=str(seed))
case("StatelessRandomGetKeyCounter", [lit([3, 4])], label="int32")
case("StatelessRandomGetKeyCounter", [lit([3])], error=True)
case("StatelessRandomGetAlg")

for t in dtypes("StatelessMultinomial"):
    for out in ["int32", "int64"]:
        case("StatelessMultinomial", [rnd((3, 5), t), lit(7), lit([1, 2])], attrs=dict(output_dtype=out), grad=())
case("StatelessMultinomial", [lit([[0.0, -np.inf, 1.0, np.nan, np.inf]], "float32"), lit(20), lit([1, 2])], grad=(), label="special")
case("StatelessMultinomial", [f((1, 1000)), lit(50), lit([1, 2])], grad=(), golden=False)
case("StatelessMultinomial", [f((0, 3)), lit(5), lit([1, 2])], grad=())
case("StatelessMultinomial", [f((2, 3)), lit(0), lit([1, 2])], grad=())
case("StatelessMultinomial", [f((2, 0)), lit(5), lit([1, 2])], error=True)
case("StatelessMultinomial", [f((2, 3)), lit(-5), lit([1, 2])], error=True)
case("StatelessMultinomial", [f((3,)), lit(5), lit([1, 2])], error=True)

# Stateful ops: each case has seeds of its own, so both sides start afresh.
seeds = iter(range(1000, 2000))
for op, tol in [("RandomUniform", EXACT), ("RandomStandardNormal", NORMAL), ("TruncatedNormal", NORMAL)]:
    for t in FLOATS:
        for shape in [(5,), (2, 3), ()]:
            case(op, [lit(list(shape))], attrs=dict(dtype=t, seed=87654321, seed2=next(seeds)), tol=tol)
        case(op, [lit([4, 2])], attrs=dict(dtype=t), check="shape", label=f"{t} without seeds")
    case(op, [lit([-1])], attrs=dict(dtype="float32"), error=True)
for t in ["int32", "int64"]:
    case("RandomUniformInt", [lit([9]), lit(-4, t), lit(17, t)], attrs=dict(seed=3, seed2=next(seeds)))
    case("RandomUniformInt", [lit([9]), lit(4, t), lit(4, t)], error=True)
for x in [f((5,)), f((7, 3)), i((4, 2, 2)), s(["a", "b", "c", "d"]), b((9,)), f((0, 3)), f(()), f((1, 4)), f((100,))]:
    case("RandomShuffle", [x], attrs=dict(seed=5, seed2=next(seeds)), grad=())
for t in ["float32", "float64", "float16", "int32"]:
    case("Multinomial", [rnd((3, 4), t), lit(6)], attrs=dict(seed=8, seed2=next(seeds)), grad=())

for state in [(1, 2, 3), (-1, -1, 9), (0, 0, -5)]:
    case("RngReadAndSkip", [var(lit(list(state), "int64")), lit(1), lit(7, "uint64")], label=str(state))
    case("RngSkip", [var(lit(list(state), "int64")), lit(1, "int64"), lit(5, "int64")], label=str(state))
case("RngReadAndSkip", [var(lit([1, 2, 3], "int64")), lit(5), lit(7, "uint64")], error=True)
