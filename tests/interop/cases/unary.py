"""One input, one output, element by element: math, activations and their gradient ops, tests, casts, bits, complex parts."""
import numpy as np

from case import *
from elementwise import elementwise_unary, elementwise_binary

# Smooth functions, each on the part of the line where it lives.
elementwise_unary(["Neg", "Square", "Identity", "StopGradient", "Snapshot", "DeepCopy", "OnesLike", "ZerosLike"], wide="wide")
elementwise_unary(["Abs", "Sign"], domain="nonzero", wide="wide")
elementwise_unary(["Reciprocal", "Inv"], domain="nonzero", wide="wide")
elementwise_unary(["Exp", "Expm1", "Sin", "Cos", "Sigmoid", "Sinh", "Cosh", "Asinh", "Atan"], wide=(-20, 20))
elementwise_unary(["Tanh"], wide=(-20, 20), tol=Tol(abs_ulp=4))  # TensorFlow: 1 from 8 on, and so no gradient
elementwise_unary(["Tan"], domain="inside", wide=(-1.5, 1.5))
elementwise_unary(["Sqrt", "Rsqrt", "Log"], domain="positive", wide="wide_positive")
elementwise_unary(["Log1p"], domain=(-0.9, 4), wide="wide_positive")
elementwise_unary(["Asin", "Acos", "Atanh"], domain="inside")
elementwise_unary(["Acosh"], domain="above_one", wide=(1.0, 100.0))
elementwise_unary(["Erf"], wide=(-5, 5), special=["float32", "float16", "bfloat16"])  # TensorFlow: erf(float64 inf) is NaN
elementwise_unary(["Erfc"], wide=(-5, 5))
elementwise_unary(["Erfinv"], domain="inside", tol=Tol(ulp=64, abs_ulp=8))
elementwise_unary(["Ndtri"], domain="unit", tol=Tol(ulp=64, abs_ulp=8))
elementwise_unary(["Lgamma"], domain="positive", wide=(0.01, 100), tol=Tol(ulp=32, abs_ulp=8))
elementwise_unary(["Lgamma"], domain="off_integer", special=(), tol=Tol(ulp=64, abs_ulp=32))
elementwise_unary(["Digamma"], domain="positive", wide=(0.05, 100), tol=Tol(ulp=32, abs_ulp=16))
for t in FLOATS[:2]: case("Digamma", [rnd((40,), t, "off_integer")], tol=Tol(ulp=256, abs_ulp=64))
elementwise_unary(["BesselI0e", "BesselI1e", "BesselI0", "BesselI1"], wide=(-20, 20), tol=Tol(ulp=32, abs_ulp=8))
elementwise_unary(["BesselK0", "BesselK1", "BesselK0e", "BesselK1e"], domain="positive", wide=(0.1, 30),
                  tol=Tol(ulp=64, abs_ulp=16))
# TensorFlow's large arguments of float32 lose digits, and its float32 Y1(0) is NaN.
elementwise_unary(["BesselY0", "BesselY1"], domain="positive", wide=(0.1, 30), special=[], tol=Tol(ulp=64, abs_ulp=16))
for op in ["BesselY0", "BesselY1"]: case(op, [special("float64")], label="float64 special", grad=(), tol=Tol(ulp=64, abs_ulp=32))
elementwise_unary(["BesselJ0", "BesselJ1"], wide=(-20, 20), special=["float64"], tol=Tol(ulp=64, abs_ulp=16))
elementwise_unary(["Dawsn"], wide=(-20, 20), tol=Tol(ulp=64, abs_ulp=16))
elementwise_unary(["FresnelCos", "FresnelSin"], wide=(-20, 20), special=["float16"], tol=Tol(ulp=64, abs_ulp=16))  # TensorFlow loses digits at 1e4
elementwise_unary(["Expint", "Spence"], domain="positive", wide=(0.1, 20), largest=False, tol=Tol(ulp=64, abs_ulp=16))

# Activations. Kinks lie at 0 (and 6), so gradients are drawn away from them.
elementwise_unary(["Relu", "Elu", "Selu"], domain="nonzero", wide="wide")
elementwise_unary(["Relu6"], domain=(0.5, 5.5), wide=(-3, 9), ints=(-3, 9))
case("Relu6", [lit([[-3.0, -0.5, 0.5], [5.5, 6.5, 20.0]], "float32")], label="both sides of both kinks", golden=True)
elementwise_unary(["LeakyRelu"], domain="nonzero", wide="wide", variants=[dict(alpha=0.01), dict(alpha=0.0), dict(alpha=1.5), dict(alpha=-0.5)])
elementwise_unary(["Softplus", "Softsign"], wide=(-30, 30))
elementwise_binary(["ReluGrad", "Relu6Grad", "EluGrad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad"],
                   domains=("normal", "nonzero"), broadcast=False)
elementwise_binary(["SeluGrad"], domains=("normal", "nonzero"), broadcast=False, tol=Tol(abs_ulp=4))
case("LeakyReluGrad", [f((2, 3)), f((2, 3), domain="nonzero")], attrs=dict(alpha=0.4))
elementwise_binary(["SigmoidGrad", "TanhGrad"], domains=("unit", "normal"), broadcast=False)
elementwise_binary(["SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"], domains=("positive", "normal"), broadcast=False)

# Denormals count as zeros.
for t, tiny in [("float32", 1e-40), ("float64", 1e-310), ("bfloat16", 1e-40)]:
    values = lit([tiny, -tiny, 1e-30, 0.0, -1e-30] * 9, t)
    for op in ["Sign", "Reciprocal", "Rsqrt"]: case(op, [values], label=f"{t} denormals", grad=(), golden=False)
    case("Cast", [values], attrs=dict(DstT="bool"), label=f"{t} denormals to bool", grad=(), golden=False)
case("Cast", [lit([6e-8, -6e-8, 1.0, 0.0] * 9, "float16")], attrs=dict(DstT="bool"), label="float16 denormals to bool", grad=(), golden=False)

# Steps: the gradient is none or zero.
elementwise_unary(["Floor", "Ceil", "Rint"], domain="off_integer", wide=(-1000, 1000), smooth=False)
elementwise_unary(["Round"], domain="off_integer", wide=(-1000, 1000), smooth=False, among=FLOATS)  # TensorFlow: integers become 0
for t in FLOATS:
    case("Round", [lit([0.5, 1.5, 2.5, -0.5, -1.5, 3.5], t)], label=f"{t} ties go to even")
    case("Rint", [lit([0.5, 1.5, 2.5, -0.5, -1.5, 3.5], t)], label=f"{t} ties go to even")
elementwise_unary(["IsFinite", "IsInf", "IsNan"], smooth=False)
case("LogicalNot", [b((2, 3))])
for shape in RANKS + EMPTY: case("LogicalNot", [b(shape)])
elementwise_unary(["Invert", "PopulationCount"], domain="wide", smooth=False)
for t in INTS:
    low, high = np.iinfo(t).min, np.iinfo(t).max
    for op in ["Invert", "PopulationCount", "Abs", "Neg", "Sign", "Square", "Relu", "Relu6"]:
        if t in dtypes(op): case(op, [lit([low, high, 0, 1, high - 1], t)], label=f"{t} limits")

# Kink and subgradient conventions: what TensorFlow says exactly at the point.
for op in ["Abs", "Sign", "Relu", "Relu6", "Elu", "Selu", "LeakyRelu", "Softsign", "Square"]:
    case(op, [lit([0.0, -0.0, 6.0, -1.0], "float32")], label="gradient at the kink", smooth=False, golden=True)
for op, at in [("Sqrt", [0.0, 1.0]), ("Rsqrt", [0.0, 1.0]), ("Log", [0.0, 1.0]), ("Reciprocal", [0.0, 1.0]), ("Acos", [1.0, -1.0]),
               ("Asin", [1.0, -1.0]), ("Atanh", [1.0, 0.0]), ("Acosh", [1.0, 2.0]), ("Log1p", [-1.0, 0.0]), ("Erfinv", [1.0, -1.0])]:
    case(op, [lit(at, "float32")], label="gradient at the edge", smooth=False)

# Values that pass through.
for op in ["Identity", "Snapshot", "DeepCopy", "StopGradient", "PreventGradient", "ZerosLike", "OnesLike"]:
    allowed = dtypes(op, among=["bool"])
    for t in allowed: case(op, [b((2, 3))], grad=())
for op in ["Identity", "StopGradient", "ZerosLike", "DeepCopy"]: case(op, [s([["a", "bc"], ["", "\u00e9"]])])
for t in dtypes("PlaceholderWithDefault", attr="dtype", among=NUMBERS + ["bool"]):
    case("PlaceholderWithDefault", [rnd((2, 3), t)], attrs=dict(shape=(None, 3)))
case("PreventGradient", [f((2, 3))], grad=(), attrs=dict(message="no way back"))
for t in NUMBERS: case("PreventGradient", [rnd((2, 3), t)], grad=())
case("IdentityN", [[f((2, 3)), i((2,)), b(()), s(["x"])]])
case("IdentityN", [[f((2,))]])
for op in ["CheckNumerics", "CheckNumericsV2"]:
    for t in FLOATS: case(op, [rnd((2, 3), t)], attrs=dict(message="bad values"))
    for bad in (np.nan, np.inf, -np.inf):
        case(op, [lit([1.0, bad], "float32")], attrs=dict(message="bad values"), error=True)

# Casts: all pairs, with the edges that C++ leaves undefined.
KINDS = NUMBERS + ["bool"]
for a in KINDS:
    for z in KINDS:
        case("Cast", [rnd((2, 3), a, "positive" if z in UNSIGNED else "nonzero")], attrs=dict(DstT=z),
             label=f"{a} to {z}", golden=True if "float32" in (a, z) else False)
        if a in INTS: case("Cast", [lit([np.iinfo(a).min, np.iinfo(a).max, 0, 1], a)], attrs=dict(DstT=z), label=f"{a} limits to {z}")
for a in FLOATS:
    for z in FLOATS + ["bool"]: case("Cast", [special(a)], attrs=dict(DstT=z), label=f"{a} special to {z}", grad=())
    for z in INTS:
        low = 0.0 if z in UNSIGNED else -100.75
        case("Cast", [lit([low, 0.0, 0.5, 0.99, 1.5, 2.5, 99.99], a)], attrs=dict(DstT=z), label=f"{a} fractions to {z}")
for a in ["float32", "float64"]:
    for z in ["float16", "bfloat16", "float32"]:
        case("Cast", [rnd((531,), a, "wide")], attrs=dict(DstT=z), label=f"{a} wide to {z}", golden=False)
        case("Cast", [rnd((7,), a, "wide")], attrs=dict(DstT=z, Truncate=True), label=f"{a} to {z} truncating", golden=False)
case("Cast", [f((0, 2))], attrs=dict(DstT="int32"))
case("Cast", [s(["1"])], attrs=dict(DstT="int32"), error=True)

# Bitcasts: same size, to smaller (adds an axis), to larger (takes one).
for a, z, shape in [("float32", "int32", (2, 3)), ("int32", "float32", (2, 3)), ("float64", "int64", (2,)), ("float16", "uint16", (3,)),
                    ("bfloat16", "int16", (3,)), ("float32", "uint8", (2, 3)), ("int64", "int32", (2,)), ("uint8", "float32", (3, 4)),
                    ("int16", "int64", (2, 4)), ("uint32", "int32", ()), ("complex64", "float32", (2,)), ("uint8", "int8", (0, 3))]:
    case("Bitcast", [rnd(shape, a, "positive")], attrs=dict(type=z), label=f"{a}{list(shape)} to {z}")
case("Bitcast", [i((3,), dtype="uint8")], attrs=dict(type="float32"), error=True)

# Complex parts.
for t, r in [("complex64", "float32"), ("complex128", "float64")]:
    for op in ["Real", "Imag", "Angle", "ComplexAbs"]:
        for shape in [(2, 3), (), (0, 3)]: case(op, [rnd(shape, t, "nonzero")], attrs=dict(Tout=r))
        case(op, [rnd((131,), t, "nonzero")], attrs=dict(Tout=r), golden=False)
    for shape in [(2, 3), ()]: case("Conj", [rnd(shape, t)])
    case("Complex", [rnd((2, 3), r), rnd((2, 3), r)], attrs=dict(Tout=t))
    case("Complex", [rnd((2, 1), r), rnd((3,), r)], attrs=dict(Tout=t))
