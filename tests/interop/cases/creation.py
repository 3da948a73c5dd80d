"""Tensors from nothing: constants, sequences, one-hot codes."""
import numpy as np

from case import *

for t in NUMBERS + ["bool"]:
    case("Fill", [lit([2, 3]), rnd((), t)])
    case("ZerosLike", [rnd((2, 3), t)])
    case("OnesLike", [rnd((2, 3), t)])
case("Fill", [lit([2]), s("abc")])
case("ZerosLike", [s(["a", "b"])])
for shape in RANKS + EMPTY:
    case("Fill", [lit(list(shape)), f()])
    case("ZerosLike", [f(shape)])
    case("OnesLike", [f(shape)])
case("Fill", [lit([2, 3], "int64"), f()])
case("Fill", [lit([300, 400]), f()], golden=False)
case("Fill", [lit([-1]), f()], error=True)
case("Fill", [lit([[2]]), f()], error=True)
case("Fill", [lit([2]), f((2,))], error=True)

for t in ["float32", "float64", "int32", "int64", "bool", "int8", "uint16"]:
    value = np.array([[1, 0, 1]]).astype(t)
    case("Const", attrs=dict(value=value, dtype=t))

for t in dtypes("Range", "Tidx"):
    case("Range", [lit(0, t), lit(10, t), lit(3, t)])
    case("Range", [lit(2, t), lit(2, t), lit(1, t)])
    if t not in UNSIGNED: case("Range", [lit(5, t), lit(-6, t), lit(-2, t)])
    case("Range", [lit(0, t), lit(5, t), lit(0, t)], error=True)
    case("Range", [lit(5, t), lit(0, t), lit(1, t)], error=True)
    if t in FLOATS:
        for a, z, d in [(0, 1, 0.1), (0, 5, 0.3), (-1, 1, 0.25), (3, -3, -0.7), (1e-3, 2e-3, 1e-4), (0.5, 100, 0.3)]:
            case("Range", [lit(a, t), lit(z, t), lit(d, t)], label=f"{t} {a} {z} {d}", tol=Tol(ulp=0, abs_ulp=0))
case("Range", [lit(0), lit(100000), lit(7)], golden=False)
case("Range", [lit(np.iinfo(np.int64).min, "int64"), lit(np.iinfo(np.int64).max, "int64"), lit(1 << 61, "int64")], label="all of int64")
case("Range", [lit([0, 1]), lit(5), lit(1)], error=True)

for t in ["float32", "float64"]:
    for a, z, n in [(0, 1, 5), (0.1, 7.3, 19), (-2, -2, 3), (5, 1, 4), (3, 9, 1), (0, 1, 2), (0, 1e6, 1001)]:
        case("LinSpace", [lit(a, t), lit(z, t), lit(n)], label=f"{t} {a} {z} {n}", tol=Tol(ulp=1, abs_ulp=0), grad=())
case("LinSpace", [lit(0.0, "float32"), lit(1.0, "float32"), lit(4, "int64")], grad=())
case("LinSpace", [lit(0.0, "float32"), lit(1.0, "float32"), lit(0)], error=True)
case("LinSpace", [lit([0.0], "float32"), lit(1.0, "float32"), lit(3)], error=True)

for t in NUMBERS + ["bool"]: case("OneHot", [lit([0, 2, 1, -1, 3]), lit(3), lit(1, t), lit(0, t)], grad=())
case("OneHot", [lit([0, 2]), lit(3), s("on"), s("off")], grad=())
for index in dtypes("OneHot", "TI"): case("OneHot", [lit([[0, 2], [1, 5]], index), lit(3), f(), f()], grad=())
for shape, axis in [((), -1), ((), 0), ((4,), 0), ((4,), 1), ((2, 3), 0), ((2, 3), 1), ((2, 3), 2), ((2, 3), -1), ((2, 1, 3), 1), ((0,), 0), ((2, 0), 1)]:
    case("OneHot", [i(shape, -1, 5), lit(4), f(), f()], attrs=dict(axis=axis), grad=())
case("OneHot", [i((4,), 0, 5), lit(0), f(), f()], grad=())
case("OneHot", [i((4,), 0, 5), lit(-1), f(), f()], error=True)
case("OneHot", [i((4,), 0, 5), lit([3]), f(), f()], error=True)
case("OneHot", [i((4,), 0, 5), lit(3), f((1,)), f()], error=True)
case("OneHot", [i((4,), 0, 5), lit(3), f(), f()], attrs=dict(axis=2), error=True)
case("OneHot", [i((4,), 0, 5), lit(3), f(), f()], attrs=dict(axis=-2), error=True)

for t in ["float32", "int64", "bool"]:
    for init in (False, True): case("Empty", [lit([2, 3])], attrs=dict(dtype=t, init=init), check="values" if init else "shape")
case("Empty", [lit([-2])], attrs=dict(dtype="float32"), error=True)
