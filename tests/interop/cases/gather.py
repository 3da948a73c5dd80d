"""Reading and writing by index, segments, distinct values, largest ones, searches, partitions."""
import numpy as np

from case import *

REAL = FLOATS + INTS
ALL = NUMBERS + ["bool"]
ROUNDED = Tol(ulp=8, abs_ulp=16, scaled=True)  # half and bfloat16: TensorFlow rounds after every addition


def loose(t):
    return ROUNDED if t in ("float16", "bfloat16") else SUMS


# ---- reading ------------------------------------------------------------------------------------------------------
for t in ALL:
    grad = () if t in COMPLEX else None  # sums of complex numbers have no kernels here
    case("Gather", [rnd((4, 3), t), lit([2, 0, 2])], grad=grad)
    case("GatherV2", [rnd((4, 3), t), lit([2, 0, 2]), lit(0)], grad=grad)
    case("GatherV2", [rnd((2, 4, 3), t), lit([[1, 3], [0, 0]]), lit(1)], attrs=dict(batch_dims=1), grad=grad)
    case("GatherNd", [rnd((3, 4), t), lit([[2, 1], [0, 0]])], grad=grad)
case("GatherV2", [s([["a", "bc"], ["", "d"]]), lit([1, 0]), lit(1)])
case("GatherNd", [s([["a", "bc"], ["", "d"]]), lit([[1], [0]])])
for shape, indices, axis, batch in [
        ((5,), 3, 0, 0), ((5,), [1, 1, 4], 0, 0), ((5,), [[1], [4]], 0, 0), ((5, 2), [0, 4], 0, 0), ((2, 5), [0, 4, 4], 1, 0),
        ((2, 5), [0, 4], -1, 0), ((2, 3, 4), [[0, 2], [1, 1]], 1, 0), ((2, 3, 4), 1, 2, 0), ((2, 3, 4), [], 1, 0), ((2, 3, 2, 2), [2, 0], 1, 0),
        ((1, 2, 2, 1, 3), [1, 0, 1], 2, 0), ((2, 3), [[0, 2], [1, 1]], 1, 1), ((2, 3, 4), [[0, 2], [1, 1]], 1, 1), ((2, 3, 4), [[0, 2], [1, 1]], 2, 1),
        ((2, 3, 4), [[0, 2], [1, 1]], -1, -1), ((2, 2, 3, 2), [[[0], [2]], [[1], [1]]], 2, 2), ((2, 2, 3, 2), [[[0], [1]], [[1], [1]]], 3, 2),
        ((2, 3), [1, 2], 1, 1), ((3, 0), [1, 2], 0, 0), ((0, 3), [1, 2], 1, 0), ((0, 3), [], 0, 0)]:
    for n in ["int32", "int64"]:
        case("GatherV2", [f(shape), lit(indices, n), lit(axis)], attrs=dict(batch_dims=batch), golden=True if (axis, n) == (2, "int32") else None)
case("GatherV2", [f((4, 3)), lit([1, 0], "int16"), lit(0, "int64")])
case("GatherV2", [f((300, 70)), i((500,), 0, 299), lit(0)], golden=False, tol=SUMS)
case("GatherV2", [f((3, 300, 7)), i((900,), 0, 299), lit(1)], golden=False, tol=SUMS)
case("GatherV2", [f((70000,)), i((90000,), 0, 69999), lit(0)], golden=False, tol=SUMS)
for indices in [[5], [-1], [0, 7], [[0], [9]]]:
    case("GatherV2", [f((5, 3)), lit(indices), lit(0)], error=True)
    case("Gather", [f((5, 3)), lit(indices)], error=True)
for shape, indices, axis, batch in [((5, 3), [0], 2, 0), ((5, 3), [0], -3, 0), ((2, 3), [[0]], 1, 1), ((2, 3), [0, 1], 0, 1), ((), [0], 0, 0), ((2, 3), [0], 1, 2), ((2,), [[0]], 0, 1)]:
    case("GatherV2", [f(shape), lit(indices), lit(axis)], attrs=dict(batch_dims=batch), error=True)
case("GatherV2", [f((2, 3)), lit([0]), lit([1])], error=True)

for shape, indices in [((5,), [[1], [4]]), ((5, 2), [[1], [4]]), ((5, 2), [1]), ((5, 2), [1, 1]), ((5, 2), [[1, 1], [4, 0]]), ((2, 3, 2), [[[1, 2]], [[0, 0]]]),
                       ((2, 3, 2), [[1, 2, 1]]), ((2, 3, 2), [[[1]], [[0]]]), ((1, 2, 2, 1, 3), [[0, 1, 1], [0, 0, 1]])]:
    for n in ["int32", "int64"]: case("GatherNd", [f(shape), lit(indices, n)])
case("GatherNd", [f((5, 2)), lit([[1], [4]], "int16")], grad=())
case("GatherNd", [f((2, 3)), lit(np.zeros((4, 0)))], label="no index")
case("GatherNd", [f((2, 3)), lit(np.zeros((0, 2)))], label="no rows")
case("GatherNd", [f((2, 3)), lit([[0, 3], [1, 1]])], attrs=dict(bad_indices_policy="IGNORE"), grad=())
for shape, indices in [((5,), [[5]]), ((5,), [[-1]]), ((2, 3), [[1, 3]]), ((2, 3), [[0, 1, 0]]), ((), [[0]]), ((2, 3), 1), ((0, 3), [[0]])]:
    case("GatherNd", [f(shape), lit(indices)], error=True)

# ---- writing ------------------------------------------------------------------------------------------------------
TARGETS = [((5,), [[1], [1], [4]]), ((4, 2), [[3], [0], [3]]), ((4, 2), [[3, 1], [0, 0]]), ((2, 3, 2), [[1, 2], [0, 0]]), ((2, 3, 2), [[[1], [0]]]),
           ((3, 2), [[1]]), ((2, 2, 3, 1, 2), [[1, 0], [0, 1]]), ((4, 2), np.zeros((0, 1), np.int32))]


def rows_of(shape, indices):
    at = np.array(indices)
    return at.shape[:-1] + shape[at.shape[-1]:]


for t in [x for x in ALL if x not in COMPLEX]:
    case("ScatterNd", [lit([[2], [0], [2]]), rnd((3, 2), t), lit([4, 2])], tol=loose(t))
    case("TensorScatterUpdate", [rnd((4, 2), t), lit([[2], [0], [3]]), rnd((3, 2), t)])
case("ScatterNd", [lit([[2], [0], [2]]), s(["a", "b", "c"]), lit([4])])
case("TensorScatterUpdate", [s(["x", "y"]), lit([[1]]), s(["long enough to live on the heap"])])
for shape, indices in TARGETS:
    for n in ["int32", "int64"]: case("ScatterNd", [lit(indices, n), f(rows_of(shape, indices)), lit(shape, n)])
case("ScatterNd", [lit([[1], [1]], "int16"), f((2,)), lit([3], "int16")], grad=())
case("ScatterNd", [lit([[1], [7]]), f((2,)), lit([3])], attrs=dict(bad_indices_policy="IGNORE"), grad=())
case("ScatterNd", [i((3000, 1), 0, 99), f((3000, 50)), lit([100, 50])], golden=False, tol=SUMS)
case("ScatterNd", [i((90000, 1), 0, 999), f((90000,)), lit([1000])], golden=False, tol=SUMS)
for indices, updates, shape in [([[3]], (1,), [3]), ([[-1]], (1,), [3]), ([[0, 3]], (1,), [2, 3]), ([[0]], (2,), [3]), ([[0]], (1, 2), [3]), ([[0]], (1,), [-3]),
                                ([[0]], (1,), [0]), ([[0, 0, 0]], (1,), [2, 3]), ([[0]], (1,), [[3]])]:
    case("ScatterNd", [lit(indices), f(updates), lit(shape)], error=True)
for kind in ["Update", "Add", "Sub", "Max", "Min"]:
    op = "TensorScatter" + kind
    if kind != "Update":
        for t in REAL: case(op, [distinct((4, 2), t), lit([[2], [0], [2]]), rnd((3, 2), t)], smooth=kind in ("Add", "Sub"), tol=loose(t))
    for shape, indices in TARGETS:
        clash = kind == "Update" and len(np.unique(np.array(indices), axis=0)) != len(indices)
        for n in ["int32", "int64"]:
            case(op, [distinct(shape), lit(indices, n), f(rows_of(shape, indices))], smooth=not clash)
    case(op, [f((100, 50)), i((3000, 1), 0, 99), f((3000, 50))], golden=False, tol=SUMS, smooth=False)
    case(op, [f((3,)), lit([[1], [7]]), f((2,))], attrs=dict(bad_indices_policy="IGNORE"), grad=())
    for shape, indices, updates in [((3,), [[3]], (1,)), ((3,), [[-1]], (1,)), ((2, 3), [[0, 3]], (1,)), ((3,), [[0]], (2,)), ((), [[0]], (1,)), ((3,), [[0, 0]], (1,))]:
        case(op, [f(shape), lit(indices), f(updates)], error=True)
for kind in ["Max", "Min"]:
    case("TensorScatter" + kind, [lit([1.0, 2.0, 3.0], "float32"), lit([[0], [1], [1]]), lit([1.0, 5.0, 5.0], "float32")], label="ties", smooth=False, golden=True)
    case("TensorScatter" + kind, [lit([1.0, np.nan, 3.0], "float32"), lit([[0], [1]]), lit([np.nan, 5.0], "float32")], label="NaN", grad=())

# ---- segments -----------------------------------------------------------------------------------------------------
SORTED = [((5,), [0, 0, 1, 3, 3]), ((4, 2), [0, 1, 1, 1]), ((4, 2, 3), [0, 0, 0, 0]), ((3, 2), [2, 2, 2]), ((2, 1, 3, 2), [0, 1]), ((1, 2, 2, 1, 3), [1]), ((0, 3), []), ((3, 0), [0, 1, 1])]
for kind in ["Sum", "Mean", "Prod", "Max", "Min"]:
    op = "Segment" + kind
    smooth = True
    make = distinct if kind in ("Max", "Min") else lambda shape, t="float32": rnd(shape, t, "nonzero")
    for t in REAL: case(op, [make((5, 2), t), lit([0, 0, 2, 2, 2])], tol=loose(t))
    for shape, ids in SORTED:
        for n in ["int32", "int64"]: case(op, [make(shape), lit(ids, n)], tol=SUMS)
    case(op, [f((3000, 40), domain=(0.99, 1.01)), lit(np.sort(np.arange(3000) % 100))], golden=False, tol=SUMS, smooth=False, grad=() if kind in ("Max", "Min") else None)
    for ids in [[1, 0, 2], [-1, 0, 1], [0, 1], [[0], [1], [1]]]: case(op, [f((3, 2)), lit(ids)], error=True)
    case(op, [f(()), lit([0])], error=True)
    if kind == "Mean": continue
    op = "UnsortedSegment" + kind
    # Empty segments of Max and Min hold the lowest and highest number: nothing may be scaled by them.
    for t in REAL: case(op, [make((5, 2), t), lit([2, 0, 2, -1, 0]), lit(4)], tol=Tol() if kind in ("Max", "Min") else loose(t), smooth=kind not in ("Max", "Min"))
    for shape, ids, n in [((5,), [2, 0, 2, 0, 0], 3), ((4, 2), [1, 1, 0, 3], 5), ((2, 3), [[0, 1, 0], [2, 2, 0]], 3), ((2, 3, 2), [[0, 1, 0], [2, 2, 0]], 3), ((2, 1, 3, 2), [1, 0], 2),
                          ((3,), 0, 2), ((), 1, 2), ((0, 3), [], 2), ((3, 0), [0, 1, 1], 2), ((3, 2), [0, 0, 0], 1), ((3,), [-1, -1, -1], 1), ((0,), [], 0)]:
        for index in ["int32", "int64"]: case(op, [make(shape), lit(ids, index), lit(n)], tol=SUMS)
    case(op, [make((3, 2)), lit([0, 1, 0]), lit(2, "int64")], tol=SUMS)
    case(op, [f((3000, 40), domain=(0.99, 1.01)), i((3000,), -5, 99), lit(100)], golden=False, tol=SUMS, smooth=False, grad=() if kind in ("Max", "Min") else None)
    case(op, [f((70000,), domain=(0.9999, 1.0001)), i((70000,), -5, 99), lit(100)], golden=False, tol=SUMS, smooth=False, grad=() if kind in ("Max", "Min") else None)
    for ids, n in [([0, 1, 2], 2), ([0, 1, 1], -1), ([0, 1], 2), ([[0], [1], [1]], 2), ([0, 1, 1], [2])]: case(op, [f((3, 2)), lit(ids), lit(n)], error=True)
case("UnsortedSegmentSum", [f((3, 2)), lit([0, 1, 0], "int16"), lit(2)], grad=())
for op, extra in [("SegmentProd", []), ("UnsortedSegmentProd", [lit(3)])]:
    case(op, [lit([0.0, 2.0, 3.0, 0.0, 0.0, 4.0, 5.0], "float32"), lit([0, 0, 0, 1, 1, 1, 2])] + extra, label="zeros", smooth=False, golden=True)
for kind in ["Max", "Min"]:
    case("Segment" + kind, [lit([1.0, 3.0, 3.0, 1.0], "float32"), lit([0, 0, 0, 0])], label="ties", smooth=False, golden=True)
    case("UnsortedSegment" + kind, [lit([1.0, 3.0, 3.0, 1.0], "float32"), lit([0, 0, 0, 0]), lit(1)], label="ties", smooth=False, golden=True)
for kind in ["Sum", "Prod"]: case("UnsortedSegment" + kind, [lit([1.0, np.nan, np.inf, -np.inf], "float32"), lit([0, 1, 0, 2]), lit(3)], label="special", grad=())

# ---- choosing -----------------------------------------------------------------------------------------------------
for t in [x for x in REAL] + ["bool"]:
    case("Where", [rnd((3, 4), t, "inside" if t in INTS else "normal")])
for shape in [(5,), (2, 3), (2, 3, 2), (2, 1, 3, 2), (1, 2, 2, 1, 3), (0,), (2, 0)]: case("Where", [b(shape)])
case("Where", [lit([[0.0, -0.0], [np.nan, 1.0]], "float32")], label="zeros and NaN")
case("Where", [b((301, 7))], golden=False)
case("Where", [b(())], error=True)

for t in REAL + ["bool"]:
    case("Unique", [rnd((12,), t, "inside" if t not in FLOATS else "normal")])
    case("Unique", [i((40,), 0, 9, t) if t in INTS else lit(np.arange(40) * 7 % 5, t)], label=f"{t} repeated")
case("Unique", [s(["b", "a", "", "b", "a", "cc"])])
for index in ["int32", "int64"]:
    case("Unique", [lit([3, 1, 3, 2, 1])], attrs=dict(out_idx=index))
    case("UniqueWithCounts", [lit([3, 1, 3, 2, 1])], attrs=dict(out_idx=index))
    case("UniqueWithCountsV2", [lit([3, 1, 3, 2, 1]), lit([], "int64")], attrs=dict(out_idx=index))
case("Unique", [lit([0.0, -0.0, np.nan, np.nan, 1.0], "float32")], label="zeros and NaN")
case("Unique", [lit([])])
case("Unique", [i((5000,), 0, 700)], golden=False)
for x, axis in [([[1, 2], [1, 2], [3, 4]], [0]), ([[1, 2, 1], [1, 2, 1]], [1]), ([[1, 2, 1], [1, 2, 1]], [-1]), ([1, 2, 1], []), ([1, 2, 1], [0]), (np.arange(12).reshape(2, 2, 3) % 3, [1])]:
    for n in ["int32", "int64"]:
        case("UniqueV2", [lit(x), lit(axis, n)])
        case("UniqueWithCountsV2", [lit(x), lit(axis, n)])
case("UniqueV2", [f((0, 2)), lit([1])])
case("UniqueV2", [f((3, 0)), lit([0])])
case("Unique", [lit([[1]])], error=True)
case("UniqueV2", [lit([[1]]), lit([])], error=True)
case("UniqueV2", [lit([[1]]), lit([2])], error=True)
case("UniqueV2", [lit([[1]]), lit(0)], error=True)
case("UniqueV2", [lit([[1]]), lit([0, 1])], error=True)

for t in REAL: case("TopKV2", [distinct((3, 7), t), lit(3)])
for shape, k in [((5,), 2), ((5,), 5), ((5,), 1), ((5,), 0), ((2, 3), 2), ((2, 3, 4), 3), ((2, 1, 3, 2), 1), ((1, 2, 2, 1, 3), 2), ((0, 3), 2), ((2, 0), 0)]:
    case("TopKV2", [distinct(shape), lit(k)])  # TensorFlow's TopK finds no kernel
for n in ["int16", "int32", "int64"]: case("TopKV2", [distinct((2, 5)), lit(2, n)], attrs=dict(index_type=n))
for t in ["float32", "int64", "uint8", "float64"]:
    for k in [1, 7, 100, 300, 301]: case("TopKV2", [rnd((5, 301), t, (0, 20)), lit(k)], golden=False, smooth=False, label=f"{t} {k} with ties")
    for k in [50, 9000, 20000]: case("TopKV2", [distinct((4, 20000), t if t != "uint8" else "int32"), lit(k)], golden=False, label=f"{t} long {k}")
    case("TopKV2", [rnd((2, 5000), t, (0, 20)), lit(5000)], golden=False, smooth=False, label=f"{t} sorted with ties")
case("TopKV2", [lit([0.0, -0.0, np.inf, -np.inf, 0.0], "float32"), lit(5)], label="zeros and infinities", grad=())
for k in [4, -1, [1]]: case("TopKV2", [f((2, 3)), lit(k)], error=True)
case("TopKV2", [f(()), lit(0)], error=True)

for t in ["int32", "int64"]:
    for k in [0, 1, 2, 3, 9, -1]:
        case("InTopKV2", [lit([[0.1, 0.3, 0.6], [0.5, 0.5, 0.0], [0.2, 0.1, 0.7]], "float32"), lit([1, 0, 1], t), lit(k, t)])
        case("InTopK", [lit([[0.1, 0.3, 0.6], [0.5, 0.5, 0.0], [0.2, 0.1, 0.7]], "float32"), lit([1, 0, 1], t)], attrs=dict(k=k))
case("InTopKV2", [lit([[0.1, np.nan], [np.inf, 1.0], [1.0, 2.0], [1.0, 2.0]], "float32"), lit([0, 1, 5, -1]), lit(2)], label="not finite, no class")
case("InTopKV2", [f((3, 2)), lit([0, 1]), lit(1)], error=True)
case("InTopKV2", [f((3,)), lit([0, 1, 1]), lit(1)], error=True)

for op in ["LowerBound", "UpperBound"]:
    for t in REAL: case(op, [lit([[0, 3, 3, 9], [1, 2, 5, 6]], t), lit([[3, 0, 10], [0, 5, 4]], t)], grad=())
    for out in ["int32", "int64"]: case(op, [lit([[0, 3, 3, 9]]), lit([[3, 0, 10]])], attrs=dict(out_type=out))
    case(op, [lit(np.sort(np.arange(900) % 400).reshape(1, -1), "float32"), f((1, 3000), domain=(-10, 410))], golden=False, grad=())
    case(op, [f((2, 0)), f((2, 3))], grad=())
    case(op, [f((2, 3)), f((2, 0))], grad=())
    case(op, [f((2, 3)), f((3, 1))], error=True)
    case(op, [f((3,)), f((1,))], error=True)

for t in ALL: case("DynamicPartition", [rnd((5, 2), t), lit([1, 0, 2, 1, 1])], attrs=dict(num_partitions=4))
case("DynamicPartition", [s(["a", "b", "c"]), lit([1, 0, 1])], attrs=dict(num_partitions=2))
for shape, parts in [((4,), [0, 1, 1, 0]), ((2, 3), [[0, 1, 1], [1, 0, 0]]), ((2, 3, 2), [[0, 1, 1], [1, 0, 0]]), ((2, 2), 1), ((0, 3), []), ((3, 0), [0, 1, 0])]:
    case("DynamicPartition", [f(shape), lit(parts)], attrs=dict(num_partitions=2))
case("DynamicPartition", [f((2,)), lit([0, 2])], attrs=dict(num_partitions=2), error=True)
case("DynamicPartition", [f((2,)), lit([0, -1])], attrs=dict(num_partitions=2), error=True)
case("DynamicPartition", [f((2, 3)), lit([0, 1, 1])], attrs=dict(num_partitions=2), error=True)
for op in ["DynamicStitch", "ParallelDynamicStitch"]:
    for t in ALL: case(op, [[lit([0, 2]), lit([3, 1, 4])], [rnd((2, 2), t), rnd((3, 2), t)]])
    case(op, [[lit([0, 2]), lit([3, 1, 2])], [f((2, 2)), f((3, 2))]], smooth=False, golden=True)  # what is overwritten gets a gradient too
    case(op, [[lit([1, 0])], [s(["a", "b"])]])
    case(op, [[lit(1), lit([[0, 3], [2, 4]])], [f((2,)), f((2, 2, 2))]])
    case(op, [[lit([])], [f((0, 2))]])
    case(op, [[lit([0, 3])], [f((2,))]], grad=())
    case(op, [[lit([-1])], [f((1,))]], error=True)
    case(op, [[lit([0]), lit([1])], [f((1, 2)), f((1, 3))]], error=True)
    case(op, [[lit([0, 1])], [f((3,))]], error=True)
for t in REAL: case("ListDiff", [lit([1, 2, 1, 3, 4], t), lit([1, 4], t)], grad=())
case("ListDiff", [s(["a", "b", "c"]), s(["b"])])
case("ListDiff", [lit([1, 2, 3]), lit([])], attrs=dict(out_idx="int64"))
case("ListDiff", [lit([]), lit([1])])
case("ListDiff", [lit([[1]]), lit([1])], error=True)

# ---- rows of different lengths, counts
SPLITS = ["ROW_SPLITS"]
for t in NUMBERS + ["bool"]:
    case("RaggedTensorToTensor", [lit(-1, "int64"), rnd((6,), t), lit(1, t), [lit([0, 3, 3, 6], "int64")]],
         attrs=dict(row_partition_types=SPLITS), grad=() if t in COMPLEX else None)
case("RaggedTensorToTensor", [lit(-1, "int64"), s(["a", "b", "c"]), s("-"), [lit([0, 1, 3], "int64")]], attrs=dict(row_partition_types=SPLITS))
for shape in ([-1, -1], [4, 2], [2, -1], [-1, 5], [0, 0], [3, 3]):
    for t in ("int32", "int64"):
        case("RaggedTensorToTensor", [lit(shape, t), f((6,)), f(()), [lit([0, 3, 3, 6], t)]], attrs=dict(row_partition_types=SPLITS))
    case("RaggedTensorToTensor", [lit(shape, "int64"), f((6,)), f(()), [lit(4, "int64"), lit([0, 0, 2, 2, 2, 3], "int64")]],
         attrs=dict(row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"]))
case("RaggedTensorToTensor", [lit(-1), f((5, 2)), f(()), [lit([0, 2, 5], "int64")]], attrs=dict(row_partition_types=SPLITS))
case("RaggedTensorToTensor", [lit(-1), f((5, 2)), f((2,)), [lit([0, 2, 5], "int64")]], attrs=dict(row_partition_types=SPLITS))
case("RaggedTensorToTensor", [lit([-1, 4, 2]), f((5, 2)), f((2,)), [lit([0, 2, 5], "int64")]], attrs=dict(row_partition_types=SPLITS))
case("RaggedTensorToTensor", [lit(-1), f((5, 2, 3)), f((2, 1)), [lit([0, 2, 5], "int64")]], attrs=dict(row_partition_types=SPLITS), grad=())
for shape in (-1, [-1, -1, -1], [2, 1, 2], [3, 4, 5]):
    case("RaggedTensorToTensor", [lit(shape), f((6,)), f(()), [lit([0, 2, 3]), lit([0, 1, 4, 6])]], attrs=dict(row_partition_types=SPLITS * 2))
    case("RaggedTensorToTensor", [lit(shape), f((6,)), f(()), [lit(2), lit([0, 0, 1]), lit([0, 1, 4, 6])]],
         attrs=dict(row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"]))
case("RaggedTensorToTensor", [lit(-1), f((0,)), f(()), [lit([0, 0, 0])]], attrs=dict(row_partition_types=SPLITS))
for splits in ([0, 3, 2, 6], [1, 6]):
    case("RaggedTensorToTensor", [lit(-1), f((6,)), f(()), [lit(splits)]], attrs=dict(row_partition_types=SPLITS), error=True)
case("RaggedTensorToTensor", [lit([2]), f((6,)), f(()), [lit([0, 6])]], attrs=dict(row_partition_types=SPLITS), error=True)
case("RaggedTensorToTensor", [lit(-1), f((6,)), f((2,)), [lit([0, 6])]], attrs=dict(row_partition_types=SPLITS), error=True)
case("RaggedTensorToTensor", [lit(-1), f((6,)), f(()), [lit([0, 6])]], attrs=dict(row_partition_types=["NO_SUCH"]), error=True)

for t in dtypes("RaggedRange"):
    case("RaggedRange", [lit([0, 5, 8], t), lit([3, 0, 8], t), lit([1, -2, 1], t)])
    case("RaggedRange", [lit(1, t), lit([4, 6], t), lit(2, t)], attrs=dict(Tsplits="int32"))
case("RaggedRange", [lit(0), lit(4), lit(1)])
case("RaggedRange", [lit([0, 1]), lit([4]), lit(1)], error=True)
case("RaggedRange", [lit(0), lit(4), lit(0)], error=True)

for t in ("int32", "int64"):
    case("RaggedGather", [[lit([0, 2, 2, 5], "int64")], f((5,)), lit([2, 0, 2], t)], attrs=dict(OUTPUT_RAGGED_RANK=1))
    case("RaggedGather", [[lit([0, 2, 3], "int64"), lit([0, 2, 2, 5], "int64")], f((5, 2)), lit([1, 0], t)], attrs=dict(OUTPUT_RAGGED_RANK=2))
    case("RaggedGather", [[lit([0, 2, 2, 5], t)], s(list("abcde")), lit([[2, 0], [1, 1]], t)], attrs=dict(OUTPUT_RAGGED_RANK=2))
case("RaggedGather", [[lit([0, 2, 2, 5], "int64")], f((5,)), lit([3])], attrs=dict(OUTPUT_RAGGED_RANK=1), error=True)
case("RaggedGather", [[lit([0, 2, 2, 5], "int64")], f((5,)), lit([-1])], attrs=dict(OUTPUT_RAGGED_RANK=1), error=True)
case("RaggedGather", [[lit([0, 2, 2, 6], "int64")], f((5,)), lit([0])], attrs=dict(OUTPUT_RAGGED_RANK=1), error=True)

for t in dtypes("DenseBincount"):
    for n in ("int32", "int64"):
        case("DenseBincount", [lit([3, 1, 1, 7], n), lit(5, n), rnd((4,), t)], grad=())
        case("DenseBincount", [lit([[3, 1], [1, 1]], n), lit(4, n), rnd((2, 2), t)], grad=())
        case("DenseBincount", [lit([[3, 1], [1, 1]], n), lit(4, n), rnd((0,), t)], grad=())
        case("DenseBincount", [lit([[3, 1], [1, 9]], n), lit(4, n), rnd((0,), t)], attrs=dict(binary_output=True), grad=())
        case("RaggedBincount", [lit([0, 2, 2, 4], "int64"), lit([3, 1, 1, 7], n), lit(5, n), rnd((4,), t)], grad=())
        case("RaggedBincount", [lit([0, 2, 2, 4], "int64"), lit([3, 1, 1, 1], n), lit(5, n), rnd((0,), t)], attrs=dict(binary_output=True), grad=())
    case("Bincount", [lit([3, 1, 1, 7]), lit(5), rnd((4,), t)], grad=())
    case("Bincount", [lit([3, 1, 1, 4]), lit(5), rnd((0,), t)], grad=())
    case("Bucketize", [lit([-5, 0, 3, 10, 100], t)], attrs=dict(boundaries=[0.0, 10.0, 100.0]))
case("Bincount", [lit([[3, 1], [1, 7]]), lit(5), f((2, 2))], grad=())
case("Bincount", [lit([], "int32"), lit(3), f((0,))], grad=())
case("DenseBincount", [lit([1, 2]), lit(0), f((0,))], grad=())
case("Bincount", [lit([-1]), lit(5), f((0,))], error=True)
case("Bincount", [lit([1]), lit(-5), f((0,))], error=True)
case("Bincount", [lit([1, 2]), lit(5), f((3,))], error=True)
case("DenseBincount", [lit([-1]), lit(5), f((0,))], error=True)
case("DenseBincount", [lit([1]), lit(-5), f((0,))], error=True)
case("DenseBincount", [lit([[[1]]]), lit(5), f((0,))], error=True)
for splits in ([1, 2], [0, 3]):
    case("RaggedBincount", [lit(splits, "int64"), lit([1, 2]), lit(5), f((0,))], error=True)
case("Bucketize", [lit([1.5, float("nan"), float("inf"), -float("inf")], "float32")], attrs=dict(boundaries=[0.0, 1.5]))
case("Bucketize", [f((2, 3))], attrs=dict(boundaries=[]))
case("Bucketize", [f((2,))], attrs=dict(boundaries=[1.0, 0.0]), error=True)

for t in NUMBERS + ["bool"]:
    case("SparseToDense", [lit([[0, 1], [2, 0]]), lit([3, 2]), rnd((2,), t), rnd((), t)], grad=() if t in COMPLEX else None)
for n in ("int32", "int64"):
    case("SparseToDense", [lit([1, 3], n), lit([5], n), f((2,)), f(())])
    case("SparseToDense", [lit(2, n), lit([5], n), f(()), f(())])
    case("SparseToDense", [lit([[1], [3]], n), lit([5], n), f(()), f(())], grad=())  # TensorFlow's has another shape than the value
case("SparseToDense", [lit([[1], [0]]), lit([5]), f((2,)), f(())], attrs=dict(validate_indices=False))
case("SparseToDense", [lit([[1], [0]]), lit([5]), f((2,)), f(())], error=True)
case("SparseToDense", [lit([[1], [1]]), lit([5]), f((2,)), f(())], error=True)
case("SparseToDense", [lit([[5]]), lit([5]), f((1,)), f(())], error=True)
case("SparseToDense", [lit([[0, 1]]), lit([5]), f((1,)), f(())], error=True)
