"""Factorisations, solvers, diagonals and bands."""
import numpy as np

from case import *

REAL = ["float32", "float64"]
SOLVE = Tol(ulp=64, abs_ulp=256, scaled=True, grad=16)
EMPTY_SQUARE = [(0, 0), (2, 0, 0), (0, 3, 3)]


class Made(Spec):
    """A matrix made from a random one: well conditioned, so that results can be compared."""

    def __init__(self, shape, dtype, kind):
        super().__init__(shape, dtype, "normal")
        self.kind = kind

    def make(self, rng):
        x = rng.standard_normal(self.shape)
        n = self.shape[-1]
        if n and self.shape[-2]:
            eye = np.eye(self.shape[-2], n)
            if self.kind == "spd": x = x @ np.swapaxes(x, -1, -2) / n + eye
            elif self.kind == "symmetric": x = (x + np.swapaxes(x, -1, -2)) / 2 + np.diag(2.0 * np.arange(n))
            elif self.kind == "lower": x = np.tril(x) * 0.5 + 2 * eye
            elif self.kind == "upper": x = np.triu(x) * 0.5 + 2 * eye
            elif self.kind == "regular": x = x + 2 * np.sqrt(n) * eye
            elif self.kind == "spread":  # singular values far from each other
                u, _, v = np.linalg.svd(x, full_matrices=False)
                p = min(self.shape[-2:])
                x = u @ (np.linspace(1, 3, p)[::-1, None] * v)
        return x.astype(numpy_type(self.dtype))


def square(n, t="float32", kind="regular", batch=()): return Made(tuple(batch) + (n, n), t, kind)
def tall(m, n, t="float32", batch=()): return Made(tuple(batch) + (m, n), t, "spread")


# Cholesky.
for t in dtypes("Cholesky", among=FLOATS):
    for n, batch in [(1, ()), (2, ()), (5, ()), (4, (3,)), (3, (2, 2))]: case("Cholesky", [square(n, t, "spd", batch)], tol=SOLVE)
    for n in (16, 17, 33, 100, 200): case("Cholesky", [square(n, t, "spd")], tol=SOLVE, golden=False)
    case("CholeskyGrad", [square(4, t, "lower"), rnd((4, 4), t)], tol=SOLVE)
    case("CholeskyGrad", [square(40, t, "lower", (2,)), rnd((2, 40, 40), t)], tol=SOLVE, golden=False)
for shape in EMPTY_SQUARE: case("Cholesky", [f(shape)])
case("Cholesky", [f((2, 3))], error=True)
case("Cholesky", [f((3,))], error=True)
case("CholeskyGrad", [f((3, 3)), f((2, 2))], error=True)

# Solvers.
for t in dtypes("MatrixSolve", among=FLOATS):
    for adjoint in (False, True):
        for n, cols, batch in [(1, 1, ()), (3, 2, ()), (5, 1, ()), (4, 3, (3,)), (2, 2, (2, 2)), (3, 0, ())]:
            case("MatrixSolve", [square(n, t, batch=batch), rnd(tuple(batch) + (n, cols), t)], attrs=dict(adjoint=adjoint), tol=SOLVE)
            for lower in (False, True):
                case("MatrixTriangularSolve", [square(n, t, "lower" if lower else "upper", batch), rnd(tuple(batch) + (n, cols), t)],
                     attrs=dict(adjoint=adjoint, lower=lower), tol=SOLVE)
        for n, cols in [(8, 3), (9, 9), (17, 40), (33, 1), (150, 20)]:
            case("MatrixSolve", [square(n, t), rnd((n, cols), t)], attrs=dict(adjoint=adjoint), tol=SOLVE, golden=False)
            case("MatrixTriangularSolve", [square(n, t, "lower"), rnd((n, cols), t)], attrs=dict(adjoint=adjoint, lower=True), tol=SOLVE, golden=False)
        case("MatrixInverse", [square(3, t)], attrs=dict(adjoint=adjoint), tol=SOLVE)
        case("MatrixInverse", [square(4, t, batch=(2, 3))], attrs=dict(adjoint=adjoint), tol=SOLVE)
        case("MatrixInverse", [square(70, t)], attrs=dict(adjoint=adjoint), tol=SOLVE, golden=False)
case("MatrixInverse", [square(4, "float16")], tol=Tol(ulp=256, abs_ulp=256, scaled=True), golden=True)
for batch_a, batch_b in [((), (2,)), ((2,), ()), ((2, 1), (3,)), ((1,), (4,))]:
    case("MatrixTriangularSolve", [square(3, "float32", "lower", batch_a), f(batch_b + (3, 2))], tol=SOLVE)
case("MatrixTriangularSolve", [lit([[1.0, 9.0], [2.0, 4.0]], "float32"), f((2, 2))], label="other triangle is ignored", golden=True)
case("MatrixTriangularSolve", [lit([[0.0, 0.0], [2.0, 4.0]], "float32"), lit([[1.0], [1.0]], "float32")], label="zero pivot", grad=())
for op in ["MatrixSolve", "MatrixTriangularSolve"]:
    for a, b_ in [((2, 3), (2, 1)), ((3, 3), (2, 1)), ((3,), (3, 1)), ((3, 3), (3,)), ((2, 3, 3), (3, 3, 1))]: case(op, [f(a), f(b_)], error=True)
    for shape in EMPTY_SQUARE: case(op, [f(shape), f(shape)])
for op in ["MatrixInverse", "Lu"]:
    case(op, [lit([[1.0, 2.0], [2.0, 4.0]], "float32")], error=True)
    case(op, [lit(np.zeros((2, 2)), "float32")], error=True)
case("MatrixSolve", [lit([[1.0, 2.0], [2.0, 4.0]], "float32"), f((2, 1))], error=True)
for op in ["MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "Lu", "SelfAdjointEigV2", "MatrixSquareRoot"]:
    case(op, [f((2, 3))], error=True)
    case(op, [f((3,))], error=True)
    for shape in EMPTY_SQUARE: case(op, [f(shape)])
for t in dtypes("MatrixDeterminant", among=FLOATS):
    for n, batch in [(1, ()), (2, ()), (3, ()), (5, (2,)), (3, (2, 2))]:
        for op in ["MatrixDeterminant", "LogMatrixDeterminant"]: case(op, [square(n, t, batch=batch)], tol=SOLVE)
        case("Lu", [square(n, t, "plain", batch)], tol=SOLVE)
    for op in ["MatrixDeterminant", "LogMatrixDeterminant"]:
        case(op, [lit([[1.0, 2.0], [2.0, 4.0]], t)], label=f"{t} singular", grad=())
        case(op, [lit([[1.0, np.nan], [2.0, 4.0]], t)], label=f"{t} NaN", grad=())
        case(op, [lit([[0.0, 1.0], [1.0, 0.0]], t)], label=f"{t} exchange")
    case("LogMatrixDeterminant", [square(60, t, "plain")], tol=SOLVE, golden=False)
    for n in (8, 9, 17, 40, 130): case("Lu", [square(n, t, "plain")], tol=Tol(ulp=512, abs_ulp=4096, scaled=True), golden=False)
    case("Lu", [square(4, t)], attrs=dict(output_idx_type="int64"), tol=SOLVE)
    case("MatrixSquareRoot", [square(3, t, "spd")], tol=SOLVE)
    case("MatrixSquareRoot", [square(4, t, "spd", (2,))], tol=SOLVE)
    case("MatrixSquareRoot", [square(5, t)], tol=SOLVE)
    for fast in (False, True):
        for m, n, cols, batch in [(4, 4, 2, ()), (6, 3, 2, ()), (3, 6, 2, ()), (5, 2, 1, (3,)), (2, 5, 3, (2, 2)), (40, 20, 3, ())]:
            for l2 in (0.0, 0.5):
                case("MatrixSolveLs", [tall(m, n, t, batch), rnd(tuple(batch) + (m, cols), t), lit(l2, "float64")], attrs=dict(fast=fast), grad=(0, 1) if fast else (), tol=Tol(ulp=256, abs_ulp=512, scaled=True, grad=16))
case("MatrixSolveLs", [f((3, 2)), f((2, 2)), lit(0.0, "float64")], error=True)
case("MatrixSolveLs", [lit(np.zeros((2, 2)), "float32"), f((2, 2)), lit(0.0, "float64")], error=True)
case("MatrixSolveLs", [lit([[1.0, 2.0], [2.0, 4.0]], "float32"), f((2, 2)), lit(0.0, "float64")], attrs=dict(fast=False), label="rank deficient", tol=SOLVE, grad=())

# Orthogonal factorisations: signs of vectors are free, so gradients are compared through what does not depend on them.
for t in REAL:
    for full in (False, True):
        for m, n, batch in [(1, 1, ()), (3, 3, ()), (5, 3, ()), (3, 5, ()), (4, 2, (3,)), (2, 4, (2, 2))]:
            case("Qr", [tall(m, n, t, batch)], attrs=dict(full_matrices=full), tol=SOLVE, check="abs", grad=None if not (full and m > n) else ())
            case("Svd", [tall(m, n, t, batch)], attrs=dict(full_matrices=full), tol=SOLVE, check=["values", "abs" if not full or m <= n else "shape", "abs" if not full or n <= m else "shape"], grad=())
        for m, n in [(40, 40), (70, 33), (33, 70), (130, 100)]:
            case("Qr", [tall(m, n, t)], attrs=dict(full_matrices=full), tol=Tol(ulp=512, abs_ulp=512, scaled=True), check="abs" if not full or m <= n else ["shape", "abs"], golden=False, grad=())
    for m, n, batch in [(3, 3, ()), (5, 3, ()), (3, 5, ()), (4, 2, (3,))]:
        case("Svd", [tall(m, n, t, batch)], attrs=dict(compute_uv=False), tol=SOLVE, check=["values", "shape", "shape"])
    for m, n in [(40, 40), (70, 33), (33, 70)]: case("Svd", [f((m, n), t)], tol=Tol(ulp=512, abs_ulp=512, scaled=True), check=["values", "shape", "shape"], golden=False, grad=())
    for n, batch in [(1, ()), (2, ()), (4, ()), (3, (2,)), (3, (2, 2))]:
        case("SelfAdjointEigV2", [square(n, t, "symmetric", batch)], tol=SOLVE, check=["values", "abs"], grad=())
        case("SelfAdjointEigV2", [square(n, t, "symmetric", batch)], attrs=dict(compute_v=False), tol=SOLVE, check=["values", "shape"])
    case("SelfAdjointEigV2", [square(60, t, "symmetric")], tol=Tol(ulp=512, abs_ulp=1024, scaled=True), check=["values", "abs"], golden=False, grad=())
case("Qr", [tall(4, 3, "float16")], tol=Tol(ulp=512, abs_ulp=512, scaled=True), check="abs", grad=())
for op in ["Qr", "Svd"]:
    case(op, [f((3,))], error=True)
    for shape in [(0, 0), (0, 3), (3, 0), (2, 0, 3)]: case(op, [f(shape)], grad=())
case("SelfAdjointEigV2", [lit([[1.0, 7.0], [2.0, 4.0]], "float32")], label="lower triangle is read", check=["values", "abs"], grad=(), golden=True)
case("Svd", [lit([[1.0, np.nan], [2.0, 4.0]], "float32")], label="NaN", grad=())

# Diagonals and bands.
WIDE = NUMBERS + ["bool"]
for t in dtypes("Diag"):
    for shape in [(3,), (2, 3), (0,), (2, 2, 2)]: case("Diag", [rnd(shape, t)])
    for shape in [(3, 3), (2, 3, 2, 3), (0, 0)]: case("DiagPart", [rnd(shape, t)])
case("Diag", [f(())], error=True)
for shape in [(3,), (2, 3), (2, 3, 3, 2)]: case("DiagPart", [f(shape)], error=True)
for t in WIDE:
    case("MatrixBandPart", [rnd((3, 4), t), lit(1, "int64"), lit(0, "int64")])
    case("MatrixDiag", [rnd((2, 3), t)])
    case("MatrixDiagPart", [rnd((2, 3, 4), t)])
    case("MatrixSetDiag", [rnd((2, 3, 4), t), rnd((2, 3), t)])
    case("MatrixDiagV3", [rnd((2, 3), t), lit(1), lit(-1), lit(-1), rnd((), t)])
    case("MatrixDiagPartV3", [rnd((2, 3, 4), t), lit([-1, 1]), rnd((), t)])
    case("MatrixSetDiagV3", [rnd((2, 3, 4), t), rnd((2, 2, 3), t), lit([0, 1])])
for lower in (-1, 0, 1, 2, 3):
    for upper in (-1, 0, 1, 4): case("MatrixBandPart", [f((3, 4)), lit(lower), lit(upper)])
for shape in [(2, 3, 2), (1, 2, 3, 3), (0, 3, 3), (3, 0), (2, 5, 1, 2, 3)]: case("MatrixBandPart", [f(shape), lit(0), lit(-1)])
case("MatrixBandPart", [f((3, 4)), lit(4), lit(0)], error=True)
case("MatrixBandPart", [f((3, 4)), lit(0), lit(5)], error=True)
case("MatrixBandPart", [f((3,)), lit(0), lit(0)], error=True)
case("MatrixBandPart", [f((3, 3)), lit([0]), lit(0)], error=True)
for shape in [(3,), (1,), (2, 1, 3), (0,), (2, 0)]: case("MatrixDiag", [f(shape)])
for shape in [(3, 3), (2, 4), (4, 2), (2, 2, 3, 3), (0, 3), (2, 0, 0)]:
    case("MatrixDiagPart", [f(shape)])
    case("MatrixSetDiag", [f(shape), f(shape[:-2] + (min(shape[-2:]),))])
case("MatrixDiag", [f(())], error=True)
case("MatrixDiagPart", [f((3,))], error=True)
case("MatrixSetDiag", [f((3, 3)), f((2,))], error=True)
ALIGNS = ["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"]
for align in ALIGNS:
    for k in ([0, 0], [-1, 1], [-2, 0], [0, 2], [1, 2], [-2, -1], [-2, 3]):
        rows, cols = 3, 4
        width = min(rows + min(k[1], 0), cols - max(k[0], 0))
        shape = (2, k[1] - k[0] + 1, width) if k[0] != k[1] else (2, width)
        case("MatrixDiagPartV3", [f((2, rows, cols)), lit(k), f(())], attrs=dict(align=align))
        case("MatrixSetDiagV3", [f((2, rows, cols)), f(shape), lit(k)], attrs=dict(align=align))
        case("MatrixDiagV3", [f(shape), lit(k), lit(rows), lit(cols), f(())], attrs=dict(align=align))
for k in (0, 1, -2, [-1, 0], [-1, 1]):
    count = 1 if isinstance(k, int) else k[1] - k[0] + 1
    shape = (3,) if count == 1 else (count, 3)
    for rows, cols in [(-1, -1), (5, -1), (-1, 5)]:
        low, high = (k, k) if isinstance(k, int) else k
        if (rows == 5 and 3 - min(high, 0) > 5) or (cols == 5 and 3 + max(low, 0) > 5): continue
        case("MatrixDiagV3", [f(shape), lit(k), lit(rows), lit(cols), lit(7.0, "float32")], grad=(0,))
    case("MatrixDiagV2", [f(shape), lit(k), lit(-1), lit(-1), lit(7.0, "float32")], grad=(0,) if count == 1 else ())  # TensorFlow's gradient of a band is that of V3
for k in (0, 1, -1, [-1, 0], [-1, 1]):
    low, high = (k, k) if isinstance(k, int) else k
    width = min(3 + min(high, 0), 4 - max(low, 0))
    case("MatrixDiagPartV2", [f((3, 4)), lit(k), lit(2.0, "float32")], grad=(0,))
    case("MatrixSetDiagV2", [f((3, 4)), f((width,) if low == high else (high - low + 1, width)), lit(k)])
case("MatrixDiagPartV3", [f((3, 4)), lit(4), f(())], error=True)
case("MatrixDiagPartV3", [f((3, 4)), lit(-3), f(())], error=True)
case("MatrixDiagPartV3", [f((3, 4)), lit([1, 0]), f(())], error=True)
case("MatrixDiagPartV3", [f((3,)), lit(0), f(())], error=True)
case("MatrixDiagV3", [f((3,)), lit(0), lit(2), lit(5), f(())], error=True)
case("MatrixDiagV3", [f((3,)), lit(0), lit(5), lit(5), f(())], error=True)
case("MatrixDiagV3", [f((3, 3)), lit([0, 1]), lit(-1), lit(-1), f(())], error=True)
case("MatrixSetDiagV3", [f((3, 4)), f((2,)), lit(0)], error=True)
case("MatrixSetDiagV3", [f((3, 4)), f((3,)), lit(9)], error=True)

for t in dtypes("Cross"):
    case("Cross", [rnd((3,), t), rnd((3,), t)], tol=SUMS)
    case("Cross", [rnd((2, 4, 3), t), rnd((2, 4, 3), t)], tol=SUMS)
case("Cross", [f((0, 3)), f((0, 3))])
case("Cross", [f((2,)), f((2,))], error=True)
case("Cross", [f((4,)), f((4,))], error=True)
case("Cross", [f((2, 3)), f((3,))], error=True)
case("Cross", [f((3,)), f((2, 3))], error=True)
