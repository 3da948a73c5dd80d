"""Variables: reads, updates in place, rows by index. The variable's value afterwards is compared too."""
import numpy as np

from case import *

ALL = NUMBERS + ["bool"]

for t in [x for x in NUMBERS if x not in COMPLEX]:
    for op in ["AssignAddVariableOp", "AssignSubVariableOp"]:
        case(op, [var(rnd((2, 3), t)), rnd((2, 3), t)])
        case(op, [var(rnd((1037,), t)), rnd((1037,), t)], golden=False)
for op in ["AssignAddVariableOp", "AssignSubVariableOp"]:
    for shape in RANKS + EMPTY: case(op, [var(f(shape)), f(shape)])
    case(op, [var(f((70000,))), f((70000,))], golden=False)
    case(op, [var(f((2, 3))), f((3,))], error=True)
    case(op, [var(f((2, 3))), f(())], error=True)
    case(op, [var(f((2, 3))), i((2, 3))], error=True)
    case(op, [var(special()), special()], label="special", grad=())
case("AssignAddVariableOp", [var(lit([127, -128], "int8")), lit([1, -1], "int8")], label="wraps")
case("AssignVariableOp", [var(f((2, 3))), f((2, 3))])
case("AssignVariableOp", [var(f((2, 3))), i((2, 3))], error=True)
for t in ["float32", "int64", "bool"]: case("ReadVariableOp", [var(rnd((2, 3), t))], attrs=dict(dtype=t))
case("ReadVariableOp", [var(f((2, 3)))], attrs=dict(dtype="int32"), error=True)
for out in ["int32", "int64"]: case("VariableShape", [var(f((2, 3)))], attrs=dict(out_type=out))
case("VariableShape", [var(f(()))])
case("VarIsInitializedOp", [var(f((2, 3)))])

# Rows.
for t in ALL:
    case("ResourceGather", [var(rnd((4, 3), t)), lit([2, 0, 2])], attrs=dict(dtype=t), grad=() if t in COMPLEX else None)
for shape, indices in [((4,), [1, 1, 3]), ((4, 2), 3), ((4, 2), [[0, 1], [3, 3]]), ((4, 2, 3), [[1], [0]]), ((4, 2), []), ((3, 0), [1])]:
    for n in ["int32", "int64"]: case("ResourceGather", [var(f(shape)), lit(indices, n)], attrs=dict(dtype="float32"))
case("ResourceGather", [var(f((2, 4, 3))), lit([[1, 3], [0, 0]])], attrs=dict(dtype="float32", batch_dims=1), grad=())
case("ResourceGather", [var(f((300, 70))), i((500,), 0, 299)], attrs=dict(dtype="float32"), golden=False, tol=SUMS)
for bad in [[4], [-1], [0, 7]]: case("ResourceGather", [var(f((4, 3))), lit(bad)], attrs=dict(dtype="float32"), error=True)
case("ResourceGather", [var(f(())), lit([0])], attrs=dict(dtype="float32"), error=True)
for indices in [[[1], [0]], [[1, 2], [0, 0]], [[[2]], [[0]]], [1], [1, 2]]:
    case("ResourceGatherNd", [var(f((3, 4, 2))), lit(indices)], attrs=dict(dtype="float32"))
case("ResourceGatherNd", [var(f((3, 4))), lit([[3]])], attrs=dict(dtype="float32"), error=True)
case("ResourceGatherNd", [var(f((3, 4))), lit([[1, 4]])], attrs=dict(dtype="float32"), error=True)
case("ResourceGatherNd", [var(f((3, 4))), lit([[1, 1, 1]])], attrs=dict(dtype="float32"), error=True)

SCATTER = ["Add", "Sub", "Mul", "Div", "Min", "Max", "Update"]
for kind in SCATTER:
    op = "ResourceScatter" + kind
    for t in [x for x in NUMBERS if x not in COMPLEX]:
        case(op, [var(rnd((4, 3), t, "nonzero")), lit([2, 0, 2]), rnd((3, 3), t, "nonzero")])
        case(op, [var(rnd((4, 3), t, "nonzero")), lit([2, 0]), rnd((), t, "nonzero")], label=f"{t} scalar")
    for shape, indices in [((4,), [1, 1, 3]), ((4, 2), 3), ((4, 2), [[0, 1], [3, 3]]), ((4, 2, 3), [[1], [0]]), ((4, 2), []), ((3, 0), [1])]:
        rows = tuple(np.shape(indices)) + shape[1:]
        for n in ["int32", "int64"]: case(op, [var(f(shape, domain="nonzero")), lit(indices, n), f(rows, domain="nonzero")])
    case(op, [var(f((300, 70), domain=(0.9, 1.1))), i((2000,), 0, 299), f((2000, 70), domain=(0.9, 1.1))], golden=False, tol=SUMS)
    case(op, [var(f((3, 7000), domain=(0.9, 1.1))), i((20,), 0, 2), f((20, 7000), domain=(0.9, 1.1))], golden=False, tol=SUMS)
    for bad in [[4], [-1]]: case(op, [var(f((4, 3))), lit(bad), f((1, 3))], error=True)
    case(op, [var(f((4, 3))), lit([0]), f((3,))], error=True)
    case(op, [var(f((4, 3))), lit([0]), i((1, 3))], error=True)
case("ResourceScatterUpdate", [var(b((4, 3))), lit([2, 0, 2]), b((3, 3))])
for kind in ["Min", "Max"]:
    case("ResourceScatter" + kind, [var(lit([1.0, np.nan, 2.0], "float32")), lit([0, 1, 2]), lit([np.nan, 1.0, np.inf], "float32")], label="NaN")

for kind in ["Update", "Add", "Sub", "Min", "Max"]:
    op = "ResourceScatterNd" + kind
    for t in [x for x in NUMBERS if x not in COMPLEX]:
        case(op, [var(rnd((4, 3), t)), lit([[2], [0], [2]]), rnd((3, 3), t)])
    for shape, indices in [((5,), [[1], [1], [4]]), ((4, 2), [[3, 1], [0, 0]]), ((2, 3, 2), [[1, 2]]), ((2, 3, 2), [[[1], [0]]]), ((3, 2), [[1]])]:
        at = np.array(indices)
        rows = at.shape[:-1] + shape[at.shape[-1]:]
        for n in ["int32", "int64"]: case(op, [var(f(shape)), lit(indices, n), f(rows)])
    case(op, [var(f((4, 3))), lit([[4]]), f((1, 3))], error=True)
    case(op, [var(f((4, 3))), lit([[1, -1]]), f((1,))], error=True)
    case(op, [var(f((4, 3))), lit([[1]]), f((1, 2))], error=True)
