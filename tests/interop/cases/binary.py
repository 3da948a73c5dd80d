"""Two or three inputs under broadcasting: arithmetic, comparisons, logic, bits, selection, special functions."""
import numpy as np

from case import *
from elementwise import BROADCAST, NO_BROADCAST, elementwise_binary

elementwise_binary(["AddV2", "Add", "Sub", "Mul", "SquaredDifference"], tol=Tol(abs_ulp=4))
elementwise_binary(["MulNoNan"])
elementwise_binary(["RealDiv", "Div", "DivNoNan", "Xdivy"], domains=("normal", "nonzero"), tol=Tol(abs_ulp=4))
# TensorFlow flushes 1 / -max to -0 before it takes the floor.
# TensorFlow rounds a 16-bit quotient before it takes the floor.
FULL = [t for t in NUMBERS if t not in ("float16", "bfloat16")]
elementwise_binary(["TruncateDiv"], domains=("normal", "nonzero"), among=FULL)
elementwise_binary(["FloorDiv"], among=FULL, domains=("off_integer", "nonzero"), smooth=False, largest=False)
elementwise_binary(["FloorMod", "TruncateMod", "Mod"], domains=("normal", "nonzero"), smooth=False, tol=Tol(abs_ulp=4))
elementwise_binary(["Maximum", "Minimum"], domains=("normal", "normal"), ints=("wide", "wide"))
elementwise_binary(["Atan2"], domains=("nonzero", "nonzero"))
elementwise_binary(["Pow"], domains=("positive", "normal"), ints=("inside", "positive"), tol=Tol(ulp=32, abs_ulp=2))
elementwise_binary(["Xlogy"], domains=("normal", "positive"))
elementwise_binary(["Xlog1py"], domains=("normal", (-0.5, 3.0)))
elementwise_binary(["NextAfter"], smooth=False, tol=Tol(ulp=0.25, abs_ulp=1e-4, grad=64))
case("Add", [s(["a", "bc"]), s(["x"])])
case("Add", [s([["a"], [""]]), s(["x", "\u00e9"])])

# Integer division by zero raises; the least value divided by -1 wraps.
for op in ["FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod", "Div"]:
    for t in ["int32", "int64", "int8", "uint8"]:
        if t not in dtypes(op): continue
        case(op, [lit([1, 2], t), lit([1, 0], t)], label=f"{t} by zero", error=True)
        if t in SIGNED: case(op, [lit([7, -7, 7, -7, 0, 6], t), lit([3, 3, -3, -3, 5, -2], t)], label=f"{t} signs", golden=True)
for t in ["float16", "bfloat16"]:
    case("FloorDiv", [lit([7.5, -7.5, 7.5, -7.5, 0.0, 6.0], t), lit([2.0, 2.0, -2.0, -2.0, 5.0, -3.0], t)], label=f"{t} signs", smooth=False)
for op in ["FloorDiv", "FloorMod", "TruncateMod", "Mod"]:
    case(op, [lit([7.5, -7.5, 7.5, -7.5, 0.0, 6.0], "float32"), lit([2.0, 2.0, -2.0, -2.0, 5.0, -3.0], "float32")], label="signs",
         smooth=False, golden=True)
for t in INTS:
    low, high = np.iinfo(t).min, np.iinfo(t).max
    for op in ["AddV2", "Sub", "Mul", "Maximum", "Minimum"]:
        case(op, [lit([low, high, high, low, 0], t), lit([high, high, 1, low, high], t)], label=f"{t} wraps")
case("Pow", [lit([2, 3], "int32"), lit([3, -1], "int32")], label="negative integer exponent", error=True)
case("Pow", [lit([0.0, 0.0, -8.0, -8.0, 1.0, 2.0], "float32"), lit([0.0, 2.0, 3.0, 2.0, 5.0, -2.0], "float32")], label="edges",
     smooth=False, golden=True)
for t in FLOATS[:2]: case("Pow", [rnd((40,), t, "nonzero"), lit(np.arange(40) % 7 - 3.0, t)], label=f"{t} integer exponents", grad=())
for op in ["DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py"]:
    case(op, [lit([0.0, 1.0, 0.0, 2.0], "float32"), lit([0.0, 0.0, 3.0, 4.0], "float32")], label="zeros", smooth=False, golden=True)
for op in ["Maximum", "Minimum"]:
    case(op, [lit([1.0, 2.0, 3.0], "float32"), lit([1.0, 5.0, 3.0], "float32")], label="gradient at a tie", smooth=False, golden=True)
case("Atan2", [lit([0.0, -0.0, 0.0, -0.0, 1.0], "float32"), lit([1.0, 1.0, -1.0, -1.0, 0.0], "float32")], label="quadrants", grad=())

# Incomplete gamma and beta functions and their kin.
SPECIAL = Tol(ulp=512, abs_ulp=64, grad=16)
elementwise_binary(["Igamma", "Igammac"], domains=("positive", "positive"), tol=SPECIAL, special=())
elementwise_binary(["IgammaGradA", "RandomGammaGrad"], domains=("positive", "positive"), tol=Tol(ulp=4096, abs_ulp=512), special=(),
                   among=FLOATS)
elementwise_binary(["Zeta"], domains=("above_one", "positive"), smooth=False, tol=SPECIAL, special=())
for t in FLOATS[:2]: case("Zeta", [rnd((2, 3), t, "above_one"), rnd((3,), t, "positive")], label=f"{t} second argument", grad=(1,), tol=SPECIAL)
for t in FLOATS[:2]:
    for shape, n in [((2, 3), (2, 1)), ((5,), (5,)), ((0,), (0,))]:
        case("Polygamma", [lit(np.resize([0.0, 1.0, 2.0, 3.0], n), t), rnd(shape, t, "positive")],
             tol=SPECIAL, grad=(1,))
    for shapes in [((2, 3),) * 3, ((), (3,), (3,)), ((3,), (), ()), ((4,), (4,), ()), ((),) * 3, ((0,),) * 3]:
        case("Betainc", [rnd(shapes[0], t, "positive"), rnd(shapes[1], t, "positive"), rnd(shapes[2], t, "unit")], tol=SPECIAL, grad=(2,))
    case("Betainc", [rnd((2,), t, "positive"), rnd((3,), t, "positive"), rnd((3,), t, "unit")], error=True)

# Comparisons and logic.
ORDER = ["Less", "LessEqual", "Greater", "GreaterEqual"]
elementwise_binary(ORDER, ints=((0, 3), (0, 3)), smooth=False)
elementwise_binary(["Equal", "NotEqual"], ints=((0, 3), (0, 3)), smooth=False)
for op in ["Equal", "NotEqual"]:
    case(op, [b((2, 3)), b((2, 3))])
    case(op, [s(["a", "b", "c"]), s(["a", "x", "c"])])
    case(op, [s([["a"], ["b"]]), s(["a", "b"])])
    for t in COMPLEX: case(op, [lit([1 + 2j, 1 + 3j], t), lit([1 + 2j, 1 + 2j], t)])
    case(op, [f((2, 3)), f((4,))], attrs=dict(incompatible_shape_error=False))
    case(op, [lit([1, 2, 3]), lit([3, 2, 1])])
for op in ORDER: case(op, [lit([1.0, 2.0, 3.0], "float32"), lit([1.0, 5.0, 2.0], "float32")], label="below, equal, above", golden=True)
case("ApproximateEqual", [lit([1.0, 1.0, 1.0], "float32"), lit([1.000001, 1.1, 0.5], "float32")])
case("ApproximateEqual", [lit([1.0, 1.0, 1.0], "float32"), lit([1.000001, 1.1, 0.5], "float32")], attrs=dict(tolerance=0.2))
case("ApproximateEqual", [f((2, 3)), f((3,))], error=True)
for t in dtypes("ApproximateEqual"): case("ApproximateEqual", [rnd((2, 3), t), rnd((2, 3), t)], attrs=dict(tolerance=1.5))
elementwise_binary(["LogicalAnd", "LogicalOr"], special=(), smooth=False)

# Bits and shifts; a shift by the width or more is defined by TensorFlow's clamp.
elementwise_binary(["BitwiseAnd", "BitwiseOr", "BitwiseXor"], domains=("wide", "wide"), smooth=False)
elementwise_binary(["LeftShift", "RightShift"], domains=("wide", (0, 7)), smooth=False)
for t in INTS:
    for op in ["LeftShift", "RightShift"]:
        case(op, [lit([1, 5, np.iinfo(t).min, np.iinfo(t).max], t), lit([63, 8, 40, 70], t)], label=f"{t} past the width")

# Selection.
for t in NUMBERS + ["bool"]:
    case("SelectV2", [b((2, 3)), rnd((2, 3), t), rnd((2, 3), t)])
    case("Select", [b((2, 3)), rnd((2, 3), t), rnd((2, 3), t)])
for op in ["SelectV2", "Select"]: case(op, [b((3,)), s(["a", "b", "c"]), s(["x", "y", "z"])])
for c in [((), (2, 3), (2, 3)), ((2, 3), (), ()), ((2, 1), (1, 3), (3,)), ((3,), (2, 3), (2, 1)), ((), (), ()), ((0, 3), (1, 3), ()),
          ((2, 1, 1), (3, 1), (2,)), ((5, 67), (67,), (5, 1))]:
    case("SelectV2", [b(c[0]), f(c[1]), f(c[2])], golden=True if c == ((2, 1), (1, 3), (3,)) else None)
case("SelectV2", [b((2,)), f((3,)), f((3,))], error=True)
for c in [((), (2, 3)), ((2,), (2, 3)), ((2,), (2, 3, 4)), ((3,), (3,)), ((), ()), ((0,), (0, 2))]:
    case("Select", [b(c[0]), f(c[1]), f(c[1])])
case("Select", [b((3,)), f((2, 3)), f((2, 3))], error=True)
case("SelectV2", [lit([True, False], "bool"), lit([np.nan, np.inf], "float32"), lit([1.0, np.nan], "float32")], label="NaN on the other side")

# Clipping, sums of many, cross products.
for t in dtypes("ClipByValue"):
    if t in COMPLEX: continue
    lo, hi = (2, 6) if t in UNSIGNED else (-1, 1)
    case("ClipByValue", [rnd((2, 3), t), lit(lo, t), lit(hi, t)])
case("ClipByValue", [f((2, 3)), lit([-1.0, -0.5, 0.0], "float32"), lit(1.0, "float32")], label="bounds broadcast", error=True)
case("ClipByValue", [f((2, 3)), f((2, 3), domain=(-1, -0.5)), f((2, 3), domain=(0.5, 1))], label="bounds per element")
case("ClipByValue", [special(), lit(-1.0, "float32"), lit(1.0, "float32")], label="special", grad=())
for t in dtypes("AddN"):
    for n in (1, 2, 3, 9): case("AddN", [[rnd((2, 3), t) for _ in range(n)]], label=f"{t} of {n}")
case("AddN", [[f((1037,)) for _ in range(5)]], golden=False)
case("AddN", [[f(()), f(())]])
case("AddN", [[f((0, 2)), f((0, 2))]])
case("AddN", [[f((2, 3)), f((3,))]], error=True)
case("AccumulateNV2", [[f((2, 3)), f((2, 3)), f((2, 3))]], attrs=dict(shape=[2, 3]))

# Denormals count as zeros.
for t, tiny in [("float32", 1e-40), ("float64", 1e-310), ("bfloat16", 1e-40)]:
    values, zeros = lit([tiny, -tiny, 1e-30, 0.0, -1e-30] * 9, t), lit([0.0] * 45, t)
    for op in ["Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"]:
        case(op, [values, zeros], label=f"{t} denormals and zeros", grad=(), golden=False)
    for op in ["RealDiv", "DivNoNan"]:
        case(op, [lit([1.0] * 45, t), values], label=f"{t} one by denormals", grad=(), golden=False)
