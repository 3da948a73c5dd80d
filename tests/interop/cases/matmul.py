"""Matrix products: MatMul, the batched ones, Einsum."""
import numpy as np

from case import *

TURNS = [(False, False), (True, False), (False, True), (True, True)]


def factors(m, k, n, ta, tb, t="float32", batch_a=(), batch_b=()):
    return [rnd(tuple(batch_a) + ((k, m) if ta else (m, k)), t), rnd(tuple(batch_b) + ((n, k) if tb else (k, n)), t)]


for t in dtypes("MatMul"):
    for ta, tb in TURNS:
        case("MatMul", factors(3, 4, 5, ta, tb, t), attrs=dict(transpose_a=ta, transpose_b=tb), tol=SUMS)
        case("MatMul", factors(37, 67, 41, ta, tb, t), attrs=dict(transpose_a=ta, transpose_b=tb), tol=SUMS, golden=False)
        case("MatMul", factors(65, 300, 130, ta, tb, t), attrs=dict(transpose_a=ta, transpose_b=tb), tol=SUMS, golden=False)
for ta, tb in TURNS:
    for m, k, n in [(1, 1, 1), (1, 5, 1), (4, 1, 3), (1, 3, 4), (16, 16, 16), (33, 17, 49), (100, 784, 10), (8, 3000, 9), (128, 4096, 8)]:
        case("MatMul", factors(m, k, n, ta, tb), attrs=dict(transpose_a=ta, transpose_b=tb), tol=SUMS)
    for m, k, n in [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)]:
        case("MatMul", factors(m, k, n, ta, tb), attrs=dict(transpose_a=ta, transpose_b=tb))
    case("MatMul", factors(2, 3, 4, ta, tb), attrs=dict(transpose_a=ta, transpose_b=tb, grad_a=True))
    case("MatMul", factors(2, 3, 4, ta, tb), attrs=dict(transpose_a=ta, transpose_b=tb, grad_b=True))
for t in FLOATS:
    x = np.ones((3, 3)); x[0, 1] = np.nan; x[1, 2] = np.inf; x[2, 0] = 0
    case("MatMul", [lit(x, t), lit(np.eye(3), t)], label=f"{t} special", grad=())
    case("MatMul", [lit(np.full((40, 40), np.inf), t), lit(np.zeros((40, 40)), t)], label=f"{t} inf times zero", grad=(), golden=False)
for t in INTS:
    if t in dtypes("MatMul"):
        case("MatMul", [lit(np.full((2, 2), np.iinfo(t).max), t), lit(np.full((2, 2), np.iinfo(t).max), t)], label=f"{t} wraps")
case("MatMul", [f((2, 3)), f((2, 3))], error=True)
case("MatMul", [f((2, 3)), f((4, 5))], error=True)
case("MatMul", [f((2, 3)), f((3,))], error=True)
case("MatMul", [f((2, 2, 3)), f((3, 2))], error=True)
case("MatMul", [f((2, 3)), f((3, 2), "float64")], error=True)

for op in ["BatchMatMul", "BatchMatMulV2"]:
    for t in dtypes(op):
        for ta, tb in TURNS:
            case(op, factors(3, 4, 5, ta, tb, t, (2,), (2,)), attrs=dict(adj_x=ta, adj_y=tb), tol=SUMS)
            case(op, factors(17, 33, 20, ta, tb, t, (2, 3), (2, 3)), attrs=dict(adj_x=ta, adj_y=tb), tol=SUMS, golden=False)
    for batch in [(), (1,), (2, 3), (1, 2, 2), (0,), (2, 0)]: case(op, factors(3, 4, 5, False, False, "float32", batch, batch), tol=SUMS)
    for m, k, n in [(0, 3, 4), (3, 0, 4), (3, 4, 0)]: case(op, factors(m, k, n, False, False, "float32", (2,), (2,)))
    case(op, [f((2, 3)), f((3,))], error=True)
    case(op, [f((2, 2, 3)), f((2, 4, 5))], error=True)
    case(op, [f((2, 2, 3)), f((3, 3, 5))], error=True)
case("BatchMatMul", [f((2, 2, 3)), f((1, 3, 5))], error=True)
for a, b_ in [((2,), ()), ((), (2,)), ((2,), (1,)), ((1,), (3,)), ((2, 1), (1, 3)), ((2, 3), (3,)), ((3,), (2, 1)), ((2, 1, 2), (3, 1)), ((4, 1, 3), (1, 2, 3)), ((0,), (1,))]:
    for ta, tb in TURNS:
        case("BatchMatMulV2", factors(3, 4, 2, ta, tb, "float32", a, b_), attrs=dict(adj_x=ta, adj_y=tb), tol=SUMS)
        case("BatchMatMulV2", factors(40, 36, 44, ta, tb, "float32", a, b_), attrs=dict(adj_x=ta, adj_y=tb), tol=SUMS, golden=False)
for t in dtypes("BatchMatMulV3", "Ta"):
    if t in dtypes("BatchMatMulV3", "Tout"):
        case("BatchMatMulV3", factors(3, 4, 5, False, True, t, (2,), ()), attrs=dict(adj_y=True, Tout=t), tol=SUMS)
for a in ["int8", "uint8"]:
    for b_ in ["int8", "uint8"]:
        case("BatchMatMulV3", [rnd((2, 3, 4), a, "wide"), rnd((2, 4, 5), b_, "wide")], attrs=dict(Tout="int32"))

EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,kj->ik", (2, 3), (4, 3)), ("ji,jk->ik", (3, 2), (3, 4)), ("ij,jk->ki", (2, 3), (3, 4)),
    ("ji,kj->ki", (3, 2), (4, 3)), ("i,i->", (5,), (5,)), ("i,j->ij", (3,), (4,)), ("i,j->ji", (3,), (4,)), ("ij,ij->", (2, 3), (2, 3)),
    ("ij,ij->ij", (2, 3), (2, 3)), ("ij,ij->i", (2, 3), (2, 3)), ("ij,ij->j", (2, 3), (2, 3)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bij,bjk->ikb", (2, 3, 4), (2, 4, 5)), ("bij,jk->bik", (2, 3, 4), (4, 5)), ("ij,bjk->bik", (3, 4), (2, 4, 5)),
    ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)), ("bhqk,bkhd->bqhd", (2, 2, 3, 5), (2, 5, 2, 4)), ("abc,cde->abde", (2, 3, 4), (4, 2, 3)),
    ("abcd,dcba->", (2, 3, 4, 5), (5, 4, 3, 2)), ("abcd,dbef->acef", (2, 3, 4, 5), (5, 3, 2, 2)), ("ab,cd->dbca", (2, 3), (4, 5)),
    ("aab,b->a", (2, 2, 3), (3,)), ("ab,b->aa", (2, 3), (3,)), ("aab,bbc->ac", (2, 2, 3), (3, 3, 4)), ("abc,bd->d", (2, 3, 4), (3, 5)),
    ("ab,c->c", (2, 3), (4,)), (",->", (), ()), ("a,->a", (3,), ()), (",ab->ba", (), (2, 3)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)), ("...ij,jk->...ik", (2, 2, 3, 4), (4, 5)), ("...ij,...jk->...ik", (5, 1, 3, 4), (2, 4, 5)),
    ("...,...->...", (2, 1), (1, 3)), ("...,...->...", (3,), (2, 3)), ("a...,...b->ab...", (2, 3), (3, 4)), ("...a,...a->...", (2, 3), (3,)),
    ("a...b,b->...a", (2, 3, 4, 5), (5,)), ("i...j,j...k->i...k", (2, 3, 4), (4, 1, 5)), ("a,b->ab", (0,), (3,)), ("ab,b->a", (2, 0), (0,)),
    ("bij,bjk->bik", (0, 3, 4), (0, 4, 5))]
ONE = [("ij->ji", (2, 3)), ("ii->i", (3, 3)), ("ii->", (3, 3)), ("i->ii", (3,)), ("ij->", (2, 3)), ("ij->i", (2, 3)), ("ij->j", (2, 3)), ("abc->cab", (2, 3, 4)),
       ("aabb->ab", (2, 2, 3, 3)), ("abab->ba", (2, 3, 2, 3)), ("ab->aab", (2, 3)), ("aab->ba", (2, 2, 3)), ("iji->j", (2, 3, 2)), ("...ij->...ji", (2, 3, 4)),
       ("a...->...a", (2, 3, 4)), ("...a->...", (2, 3)), ("...->...", (2, 3)), ("->", ()), ("...ii->...i", (2, 3, 3)), ("iii->i", (3, 3, 3)), ("ab->ab", (0, 3)), ("ab->b", (0, 3)),
       ("abcde->ecdba", (2, 3, 2, 3, 2))]
for eq, a, b_ in EQUATIONS: case("Einsum", [[f(a), f(b_)]], attrs=dict(equation=eq), tol=SUMS)
for eq, a in ONE: case("Einsum", [[f(a)]], attrs=dict(equation=eq), tol=SUMS)
for t in dtypes("Einsum"):
    case("Einsum", [[rnd((2, 3, 4), t), rnd((2, 5, 4), t)]], attrs=dict(equation="bij,bkj->bki"), tol=SUMS)
    case("Einsum", [[rnd((3, 3, 4), t)]], attrs=dict(equation="iij->ji"), tol=SUMS)
case("Einsum", [[f((4, 33, 20)), f((4, 33, 37))]], attrs=dict(equation="bij,bik->kjb"), tol=SUMS, golden=False)
case("Einsum", [[f((130, 70)), f((90, 130))]], attrs=dict(equation="ij,ki->jk"), tol=SUMS, golden=False)
for eq, shapes in [("ij,jk", [(2, 3), (3, 4)]), ("ij->ji", [(2, 3, 4)]), ("ii->i", [(3, 2)]), ("ab,bc->ac", [(2, 1), (3, 4)]), ("...a->a", [(2, 3)]),
                   ("a,a,a->a", [(2,)] * 3), ("a->a", [(2,), (2,)]), ("a,b->ab", [(2,)]), ("a->a->a", [(2,)]), ("...,...->...", [(2,), (3,)])]:
    case("Einsum", [[f(shape) for shape in shapes]], attrs=dict(equation=eq), error=True)
