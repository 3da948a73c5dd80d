"""Shape ops: reshapes, transposes, broadcasts, slices, joins, pads, reversals, blocks, shape queries."""
import numpy as np

from case import *

ALL = FLOATS + INTS + ["bool"]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool", "string"]


def x(shape, t="float32"):
    if t == "string":
        n = int(np.prod(shape, dtype=np.int64))
        return s(np.array([f"s{k}" * (k % 3) for k in range(n)] + [""], dtype=object)[:-1].reshape(shape).tolist()) if n else lit(np.zeros(shape), "string")
    return b(shape) if t == "bool" else rnd(shape, t)


def sweep(op, rest=(), shape=(2, 3), attrs=None, types=DTYPES, first=()):
    for t in types: case(op, [*first, x(shape, t), *rest], attrs=attrs)


# Views.
sweep("Reshape", [lit([3, 2])], types=ALL + ["string"])
for shape, to in [((2, 3), [6]), ((2, 3), [-1]), ((2, 3), [1, -1, 2]), ((2, 3, 4), [4, 6]), ((), [1, 1]), ((1,), []), ((0, 3), [3, 0]), ((0, 3), [-1, 3]), ((0, 3), [0, 5]),
                  ((1, 2, 2, 1, 3), [3, 4]), ((4,), [2, -1])]:
    for t in ["int32", "int64"]: case("Reshape", [f(shape), lit(to, t)])
for to in [[4], [-1, -1], [-2, -3], [5, -1], [0, -1], [2, 3, 0], [[2, 3]]]: case("Reshape", [f((2, 3)), lit(to)], error=True)
case("Reshape", [f((2, 3)), lit(6)])
for to in [[0, -1], [-1, 0], [5, 0, -1]]: case("Reshape", [f((0, 3)), lit(to)])
sweep("ExpandDims", [lit(1)])
for shape, axis in [((), 0), ((), -1), ((5,), 0), ((5,), 1), ((5,), -2), ((2, 3, 4), 3), ((2, 3, 4), -4), ((0, 3), 1)]: case("ExpandDims", [f(shape), lit(axis, "int64")])
case("ExpandDims", [f((2, 3)), lit([1])])
for axis in [3, -4]: case("ExpandDims", [f((2, 3)), lit(axis)], error=True)
sweep("Squeeze", shape=(1, 2, 1))
for shape, axes in [((1, 2, 1), [0]), ((1, 2, 1), [-1]), ((1, 2, 1), [0, 2]), ((1, 1), []), ((2, 3), []), ((), []), ((1, 0, 1), [])]: case("Squeeze", [f(shape)], attrs=dict(squeeze_dims=axes))
for axes in [[1], [3], [-4]]: case("Squeeze", [f((1, 2, 1))], attrs=dict(squeeze_dims=axes), error=True)
sweep("EnsureShape", attrs=dict(shape=[2, None]))
case("EnsureShape", [f((2, 3))], attrs=dict(shape=None), label="any rank")
for shape in [[2, 4], [2, 3, 1], []]: case("EnsureShape", [f((2, 3))], attrs=dict(shape=shape), error=True)

# Transposes.
sweep("Transpose", [lit([1, 0])], types=ALL + ["string"])
for shape, perm in [((), []), ((5,), [0]), ((2, 3), [0, 1]), ((2, 3, 4), [2, 1, 0]), ((2, 3, 4), [0, 2, 1]), ((2, 3, 4), [1, 0, 2]), ((2, 3, 4), [1, 2, 0]), ((2, 3, 4, 5), [0, 2, 1, 3]),
                    ((2, 3, 4, 5), [0, 3, 1, 2]), ((2, 3, 4, 5), [0, 2, 3, 1]), ((2, 3, 4, 5), [3, 2, 1, 0]), ((2, 1, 3, 2), [1, 3, 0, 2]), ((1, 2, 2, 1, 3), [4, 2, 0, 3, 1]), ((0, 3), [1, 0]), ((2, 0, 3), [2, 0, 1]),
                    ((2, 3, 2, 2, 2, 3), [5, 0, 4, 1, 3, 2])]:
    case("Transpose", [f(shape), lit(perm)])
case("Transpose", [f((2, 3)), lit([1, 0], "int64")])
for shape, perm in [((67, 35), [1, 0]), ((3, 70, 33), [0, 2, 1]), ((3, 40, 5, 64), [0, 2, 1, 3]), ((5, 33, 17, 3), [0, 3, 1, 2]), ((130, 129), [1, 0]), ((9, 8, 7, 6, 5), [4, 0, 3, 1, 2]), ((300, 257), [1, 0]),
                    ((64, 3), [1, 0]), ((3, 64), [1, 0]), ((40, 50, 2), [1, 0, 2]), ((40, 50, 3), [1, 0, 2])]:
    for t in ["float32", "float64", "float16", "int8", "bool", "int64"]: case("Transpose", [x(shape, t), lit(perm)], golden=False)
case("Transpose", [x((37, 20), "string"), lit([1, 0])], golden=False)
for perm in [[0], [0, 0], [0, 2], [0, 1, 2], [[1, 0]], [-3, 0]]: case("Transpose", [f((2, 3)), lit(perm)], error=True)
for perm in [[0, 1, 2], [2, 0, 1], [], [0], [3, 0, 1, 2]]:
    for t in ["int32", "int64"]: case("InvertPermutation", [lit(perm, t)])
for perm in [[0, 0], [1, 2], [-1, 0], [[0, 1]]]: case("InvertPermutation", [lit(perm)], error=True)

# Broadcasts.
sweep("BroadcastTo", [lit([2, 2, 3])])
for shape, to in [((), [3]), ((), []), ((1,), [4]), ((3,), [2, 3]), ((2, 1), [2, 5]), ((1, 3), [4, 3]), ((2, 1, 3), [2, 4, 3]), ((1, 1), [0, 3]), ((2, 1, 3, 1), [2, 5, 3, 2]), ((1,), [1, 1, 2, 1, 3]), ((0,), [2, 0]), ((2, 3), [2, 3])]:
    case("BroadcastTo", [f(shape), lit(to, "int64")])
for shape, to in [((67, 1), [67, 133]), ((1, 67), [133, 67]), ((1, 5, 1), [33, 5, 65])]:
    for t in ["float32", "int8", "float64"]: case("BroadcastTo", [x(shape, t), lit(to)], golden=False, tol=SUMS)
for shape, to in [((2,), [3]), ((2, 3), [3]), ((2, 3), [3, 3]), ((3,), [-1, 3]), ((2,), [[2]])]: case("BroadcastTo", [f(shape), lit(to)], error=True)
for p, q in [([2, 3], [3]), ([], [4]), ([1, 5], [4, 1]), ([2, 3], [2, 3]), ([0], [1]), ([2, 1, 4], [3, 1]), ([], []), ([1], [1]), ([5, 1, 1], [1])]:
    for t in ["int32", "int64"]:
        case("BroadcastArgs", [lit(p, t), lit(q, t)])
        case("BroadcastGradientArgs", [lit(p, t), lit(q, t)])
for op in ["BroadcastArgs", "BroadcastGradientArgs"]:
    case(op, [lit([2, 3]), lit([4, 3])], error=True)
    case(op, [lit([[2, 3]]), lit([3])], error=True)

# Questions.
for op in ["Shape", "Size", "Rank"]:
    for shape in RANKS + EMPTY: case(op, [f(shape)])
    for t in DTYPES: case(op, [x((2, 3), t)])
for op in ["Shape", "Size"]:
    for out in ["int32", "int64"]: case(op, [f((2, 3))], attrs=dict(out_type=out))
case("ShapeN", [[f((2, 3)), f(()), f((0, 4, 1))]])
case("ShapeN", [[f((2, 3))]], attrs=dict(out_type="int64"))

# Joins.
for t in DTYPES:
    case("ConcatV2", [[x((2, 3), t), x((1, 3), t)], lit(0)])
    case("ConcatV2", [[x((2, 3), t), x((2, 1), t), x((2, 2), t)], lit(-1)])
    case("Pack", [[x((2, 3), t), x((2, 3), t)]])
    case("Unpack", [x((2, 3), t)], attrs=dict(num=2))
    case("Split", [lit(1), x((2, 4), t)], attrs=dict(num_split=2))
    case("SplitV", [x((2, 4), t), lit([1, 3], "int64"), lit(1)], attrs=dict(num_split=2))
for shapes, axis in [([(2,), (3,)], 0), ([(2, 3), (2, 0)], 1), ([(0, 3), (0, 3)], 0), ([(2, 3, 4), (2, 1, 4), (2, 2, 4)], 1), ([(2, 3, 4), (2, 3, 4)], -3), ([(1, 2, 2, 1, 3), (1, 2, 2, 4, 3)], 3)]:
    case("ConcatV2", [[f(d) for d in shapes], lit(axis)])
    case("Concat", [lit(axis), [f(d) for d in shapes]])
case("ConcatV2", [[f((2, 3)), f((2, 3))], lit(1, "int64")])
for shapes, axis in [([(2, 3), (2, 4)], 0), ([(2, 3), (2,)], 0), ([(2, 3), (2, 3)], 2), ([(2, 3), (2, 3)], -3), ([(), ()], 0), ([(2, 3), (2, 3)], [0, 1])]: case("ConcatV2", [[f(d) for d in shapes], lit(axis)], error=True)
case("ConcatV2", [[f((300, 101)), f((300, 57)), f((300, 1))], lit(1)], golden=False)
for axis in [0, 1, -1]:
    case("ConcatOffset", [lit(axis), [lit([2, 3]) if axis == 0 else lit([2, 3]), lit([1, 3] if axis == 0 else [2, 4]), lit([5, 3] if axis == 0 else [2, 0])]], label=f"axis {axis}")
case("ConcatOffset", [lit(0), [lit([2, 3], "int64"), lit([4, 3], "int64")]])
for axis, p, q in [(0, [2, 3], [2, 4]), (2, [2, 3], [2, 3]), (0, [2], [2, 3])]: case("ConcatOffset", [lit(axis), [lit(p), lit(q)]], error=True)
for shape, axis in [((), 0), ((), -1), ((5,), 1), ((5,), -1), ((5,), -2), ((2, 3, 4), 2), ((2, 3, 4), -4), ((0, 3), 1), ((2, 3, 4), 3)]:
    case("Pack", [[f(shape), f(shape), f(shape)]], attrs=dict(axis=axis))
    case("Pack", [[f(shape)]], attrs=dict(axis=axis))
case("Pack", [[f((2,)), f((3,))]], error=True)
case("Pack", [[f((2,)), f((2,))]], attrs=dict(axis=2), error=True)
case("Pack", [[f((2,)), f((2,))]], attrs=dict(axis=-3), error=True)
for shape, axis in [((5,), 0), ((2, 3), 1), ((2, 3), -1), ((2, 3, 4), 1), ((2, 3, 4), -3), ((2, 0), 0), ((0, 3), 0), ((1, 2, 2, 1, 3), 2), ((3, 600), 0), ((600, 3), 1)]:
    case("Unpack", [f(shape)], attrs=dict(num=shape[axis], axis=axis))
for shape, axis, num in [((2, 3), 0, 3), ((2, 3), 2, 2), ((2, 3), -3, 2), ((), 0, 1)]: case("Unpack", [f(shape)], attrs=dict(num=num, axis=axis), error=True)
for shape, axis, num in [((4,), 0, 2), ((4, 3), 0, 4), ((4, 3), -1, 3), ((2, 6, 4), 1, 3), ((2, 6), 1, 1), ((0, 4), 1, 2), ((0, 4), 0, 2), ((6, 400), 0, 3)]: case("Split", [lit(axis), f(shape)], attrs=dict(num_split=num))
for shape, axis, num in [((4,), 0, 3), ((4, 3), 2, 1), ((4, 3), -3, 1), ((), 0, 1)]: case("Split", [lit(axis), f(shape)], attrs=dict(num_split=num), error=True)
for shape, axis, sizes in [((5,), 0, [2, 3]), ((5,), 0, [2, -1]), ((5,), 0, [5, 0]), ((5,), 0, [5, -1]), ((2, 6, 4), 1, [1, 2, 3]), ((2, 6), -1, [6]), ((0, 4), 1, [1, 3]), ((900,), 0, [300, 600]), ((4, 3), 0, [4])]:
    for t in ["int32", "int64"]: case("SplitV", [f(shape), lit(sizes, t), lit(axis)], attrs=dict(num_split=len(sizes)))
for shape, axis, sizes, num in [((5,), 0, [2, 2], 2), ((5,), 0, [-1, -1], 2), ((5,), 0, [6, -1], 2), ((5,), 0, [2, 3], 3), ((5,), 1, [2, 3], 2), ((), 0, [1], 1), ((5,), 0, [7, -2], 2)]:
    case("SplitV", [f(shape), lit(sizes, "int64"), lit(axis)], attrs=dict(num_split=num), error=True)

# Slices.
sweep("Slice", [lit([0, 1]), lit([2, 2])])
for shape, begin, size in [((), [], []), ((5,), [1], [3]), ((5,), [1], [-1]), ((5,), [5], [0]), ((5,), [5], [-1]), ((2, 3, 4), [1, 0, 2], [1, 2, -1]), ((2, 3, 4), [0, 0, 0], [-1, -1, -1]), ((0, 3), [0, 1], [0, 2]),
                          ((1, 2, 2, 1, 3), [0, 1, 0, 0, 1], [1, 1, 2, 1, 2]), ((4, 600), [1, 0], [2, 600]), ((4, 600), [2, 10], [1, 300])]:
    for t in ["int32", "int64"]: case("Slice", [f(shape), lit(begin, t), lit(size, t)])
for begin, size in [([0], [1]), ([3, 0], [1, 1]), ([-1, 0], [1, 1]), ([0, 0], [3, 1]), ([0, 0], [-2, 1]), ([1, 1], [2, 1]), ([[0, 0]], [1, 1])]: case("Slice", [f((2, 3)), lit(begin), lit(size)], error=True)

sweep("StridedSlice", [lit([0, 2]), lit([2, 0]), lit([1, -1])], types=ALL + ["string"])


def strided(shape, first, last, step, t="int32", error=False, golden=None, **masks):
    spec = [lit(first, t), lit(last, t), lit(step, t)]
    label = f"{shape} {first}:{last}:{step} {t} {masks}"
    attrs = {k + "_mask": v for k, v in masks.items()}
    case("StridedSlice", [f(shape), *spec], attrs=attrs, label=label, error=error, golden=golden)
    if not error:
        result = tf_slice_shape(shape, first, last, step, attrs)
        if t != "int16":
            case("StridedSliceGrad", [lit(list(shape), t), *spec, f(result)], attrs=attrs, label=label)
            case("TensorStridedSliceUpdate", [f(shape), *spec, f(result)], attrs=attrs, label=label)
            case("ResourceStridedSliceAssign", [var(f(shape)), *spec, f(result)], attrs=attrs, label=label)


def tf_slice_shape(shape, begin, end, strides, attrs):
    import tensorflow as tf
    return tuple(tf.raw_ops.StridedSlice(input=tf.zeros(shape), begin=tf.constant(begin, tf.int32), end=tf.constant(end, tf.int32), strides=tf.constant(strides, tf.int32), **attrs).shape)


strided((5,), [1], [4], [1])
strided((5,), [1], [4], [2], "int64")
strided((5,), [1], [4], [2], "int16")
strided((5,), [-1], [-6], [-1])
strided((5,), [4], [0], [-3])
strided((5,), [3], [2], [1])
strided((5,), [-100], [100], [1])
strided((5,), [100], [-100], [-2])
strided((5,), [0], [0], [1], begin=1, end=1)
strided((5,), [0], [0], [-1], begin=1, end=1)
strided((5,), [2], [3], [1], shrink_axis=1)
strided((5,), [-2], [0], [1], shrink_axis=1)
strided((5,), [2], [3], [1], shrink_axis=1, begin=1, end=1)
strided((5,), [2], [3], [4], shrink_axis=1)
strided((5,), [0, 1], [0, 3], [1, 1], new_axis=1)
strided((5,), [0], [0], [1], new_axis=1)
strided((5,), [0], [0], [1], ellipsis=1)
strided((), [], [], [])
strided((), [0], [0], [1], new_axis=1)
strided((), [0], [0], [1], ellipsis=1)
strided((2, 3), [], [], [])
strided((2, 3), [1], [2], [1])
strided((2, 3), [1, 0], [2, 3], [1, 2])
strided((2, 3), [1, 1], [0, 0], [1, 1], shrink_axis=3)
strided((2, 3), [0, 1], [0, 2], [1, 1], ellipsis=1)
strided((2, 3), [0, 1], [0, 2], [1, 1], ellipsis=1, shrink_axis=2)
strided((2, 3, 4), [0, 0, 1], [0, 0, 3], [1, 1, 1], ellipsis=1, new_axis=2)
strided((2, 3, 4), [1, 0, 0], [2, 0, 0], [1, 1, 1], ellipsis=2, new_axis=4)
strided((2, 3, 4), [1, 0, 3], [0, 0, 0], [1, 1, 1], ellipsis=2, shrink_axis=5)
strided((2, 3, 4), [0, 2, 3], [2, 0, 0], [1, -1, -2])
strided((2, 3, 4), [0, 0, 0], [0, 0, 0], [1, -2, 1], begin=7, end=7)
strided((2, 3, 4), [1, 1, 1], [2, 3, 3], [1, 1, 1])
strided((2, 3, 4), [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1], new_axis=15)
strided((2, 3, 4), [0, 1, 0], [0, 2, 0], [1, 1, 1], new_axis=5, shrink_axis=1)
strided((2, 1, 3, 2), [0, 0, 1, 0], [2, 1, 3, 1], [1, 1, 1, 1])
strided((1, 2, 2, 1, 3), [0, 0, 0, 0, 2], [1, 2, 2, 1, 0], [1, 1, 1, 1, -1])
strided((0, 3), [0, 1], [0, 3], [1, 1])
strided((4, 600), [1, 0], [3, 600], [1, 1])
strided((4, 600), [2, 0], [3, 0], [1, 1], end=2, shrink_axis=1)
strided((4, 600), [2, 20], [3, 550], [1, 1], shrink_axis=1)
strided((40, 60), [35, 2], [3, 55], [-3, 2], golden=False)
for begin, end, strides, masks in [([5], [6], [1], dict(shrink_axis_mask=1)), ([-3], [0], [1], dict(shrink_axis_mask=1)), ([0], [1], [0], {}), ([0], [1], [-1], dict(shrink_axis_mask=1)), ([0, 0, 0], [1, 1, 1], [1, 1, 1], {}),
                                   ([0, 0], [1, 1], [1, 1], dict(ellipsis_mask=3)), ([0, 0], [1], [1, 1], {}), ([[0]], [[1]], [[1]], {})]:
    spec = [lit(begin), lit(end), lit(strides)]
    case("StridedSlice", [f((2, 3)), *spec], attrs=masks, error=True, label=f"error {begin} {end} {strides} {masks}")
    case("StridedSliceGrad", [lit([2, 3]), *spec, f((1, 3))], attrs=masks, error=True, label=f"error {begin} {end} {strides} {masks}")
    case("TensorStridedSliceUpdate", [f((2, 3)), *spec, f((1, 3))], attrs=masks, error=True, label=f"error {begin} {end} {strides} {masks}")
for op, first in [("StridedSliceGrad", lit([4])), ("TensorStridedSliceUpdate", f((4,))), ("ResourceStridedSliceAssign", var(f((4,))))]:
    case(op, [first, lit([0]), lit([2]), lit([1]), f((3,))], error=True)
    if op != "StridedSliceGrad":
        for shape in [(), (1,), (2, 1)]: case(op, [first, lit([0]), lit([2]), lit([1]), f(shape)], label=f"value {shape}", error=shape == (2, 1), grad=())
for t in DTYPES:
    if t != "string": case("StridedSliceGrad", [lit([2, 3]), lit([0, 2]), lit([2, 0]), lit([1, -1]), x((2, 2), t)])
    case("TensorStridedSliceUpdate", [x((2, 3), t), lit([0, 2]), lit([2, 0]), lit([1, -1]), x((2, 2), t)])

# Pads and tiles.
sweep("Tile", [lit([2, 3])])
for shape, m in [((), []), ((5,), [3]), ((5,), [0]), ((2, 3), [1, 1]), ((2, 3), [1, 2]), ((2, 3), [2, 1]), ((2, 3, 4), [2, 1, 3]), ((0, 3), [2, 2]), ((2, 1, 3, 2), [1, 4, 2, 1]), ((1, 2, 2, 1, 3), [2, 1, 2, 3, 1])]:
    for t in ["int32", "int64"]: case("Tile", [f(shape), lit(m, t)])
for shape, m in [((67, 33), [3, 5]), ((3, 65, 2), [2, 2, 33])]:
    for t in ["float32", "int8"]: case("Tile", [x(shape, t), lit(m)], golden=False, tol=SUMS)
for m in [[1], [1, -1], [[1, 1]], [1, 1, 1]]: case("Tile", [f((2, 3)), lit(m)], error=True)
sweep("Pad", [lit([[1, 0], [2, 1]])])
# TensorFlow gives no gradient to the constant, so that numeric ones differ.
for t in DTYPES: case("PadV2", [x((2, 3), t), lit([[1, 0], [2, 1]]), x((), t)], smooth=False)
PADS = [((5,), [[0, 0]]), ((5,), [[3, 0]]), ((5,), [[0, 2]]), ((2, 3), [[0, 0], [1, 1]]), ((2, 3), [[1, 2], [0, 0]]), ((2, 3, 4), [[1, 0], [0, 2], [3, 1]]), ((2, 1, 3, 2), [[0, 0], [1, 1], [1, 1], [0, 0]]),
        ((1, 2, 2, 1, 3), [[1, 0], [0, 1], [1, 0], [0, 1], [2, 2]])]
for shape, p in PADS + [((0, 3), [[1, 1], [0, 0]]), ((0, 3), [[0, 0], [1, 1]]), ((), np.zeros((0, 2)))]:
    for t in ["int32", "int64"]:
        case("Pad", [f(shape), lit(p, t)])
        case("PadV2", [f(shape), lit(p, t), lit(-2.5, "float32")], smooth=False)
case("Pad", [f((70, 65)), lit([[3, 4], [5, 6]])], golden=False)
for p in [[[1, 1]], [[1, -1], [0, 0]], [[1, 1, 1], [1, 1, 1]], [1, 1]]:
    case("Pad", [f((2, 3)), lit(p)], error=True)
    case("PadV2", [f((2, 3)), lit(p), f(())], error=True)
case("PadV2", [f((2, 3)), lit([[1, 1], [1, 1]]), f((2,))], error=True)
for mode in ["REFLECT", "SYMMETRIC"]:
    for t in DTYPES:
        case("MirrorPad", [x((2, 3), t), lit([[1, 0], [2, 1]])], attrs=dict(mode=mode))
        if t not in ("bool", "string"): case("MirrorPadGrad", [x((4, 6), t), lit([[1, 1], [2, 1]])], attrs=dict(mode=mode), tol=SUMS)
    for shape, p in [((5,), [[3, 4]]), ((5,), [[0, 0]]), ((5,), [[4, 4]]), ((3, 3), [[0, 2], [2, 0]]), ((4, 3, 4), [[1, 0], [0, 2], [3, 1]]), ((2, 3, 3, 2), [[0, 0], [2, 1], [1, 2], [0, 0]]), ((2, 2, 2, 3, 3), [[1, 0], [0, 1], [1, 1], [0, 1], [2, 2]])]:
        case("MirrorPad", [f(shape), lit(p)], attrs=dict(mode=mode))
        case("MirrorPadGrad", [f([n + a + c for n, (a, c) in zip(shape, p)]), lit(p, "int64")], attrs=dict(mode=mode), tol=SUMS)
    case("MirrorPad", [f((70, 65)), lit([[3, 4], [5, 6]])], attrs=dict(mode=mode), golden=False)
    case("MirrorPad", [f((2, 3)), lit([[0, 0], [4, 0]])], attrs=dict(mode=mode), error=True)
    case("MirrorPad", [f((2, 3)), lit([[0, 0], [-1, 0]])], attrs=dict(mode=mode), error=True)
    case("MirrorPad", [f((2, 3)), lit([[1, 1]])], attrs=dict(mode=mode), error=True)
case("MirrorPad", [f((5,)), lit([[5, 5]])], attrs=dict(mode="SYMMETRIC"))
case("MirrorPad", [f((5,)), lit([[5, 0]])], attrs=dict(mode="REFLECT"), error=True)

# Reversals and rolls.
sweep("ReverseV2", [lit([1])], types=ALL + ["string"])
sweep("Reverse", [lit([False, True], "bool")], types=ALL + ["string"])
for shape, axes in [((), []), ((5,), [0]), ((2, 3), []), ((2, 3), [0]), ((2, 3), [0, 1]), ((2, 3, 4), [-1, 0]), ((2, 3, 4), [1]), ((0, 3), [0]), ((2, 1, 3, 2), [0, 2]), ((1, 2, 2, 1, 3), [1, 4]), ((33, 65), [1]), ((33, 65, 3), [1])]:
    for t in ["int32", "int64"]: case("ReverseV2", [f(shape), lit(axes, t)])
    if 0 not in shape: case("Reverse", [f(shape), lit([k in [a % len(shape) for a in axes] for k in range(len(shape))], "bool")])
for axes in [[2], [-3], [0, 0], [0, -2], [[0]]]: case("ReverseV2", [f((2, 3)), lit(axes)], error=True)
case("Reverse", [f((2, 3)), lit([True], "bool")], error=True)
sweep("ReverseSequence", [lit([2, 0, 3], "int64")], shape=(3, 4), attrs=dict(seq_dim=1, batch_dim=0))
for shape, n, seq, batch in [((4, 3), [2, 4, 0], 0, 1), ((3, 4, 2), [1, 2, 4], 1, 0), ((4, 2, 3), [3, 4, 1], 0, 2), ((2, 3, 2, 2), [2, 1], 1, 3), ((0, 3), [], 1, 0), ((3, 0), [0, 0, 0], 1, 0)]:
    for t in ["int32", "int64"]: case("ReverseSequence", [f(shape), lit(n, t)], attrs=dict(seq_dim=seq, batch_dim=batch))
for shape, n, seq, batch in [((3, 4), [1, 2], 1, 0), ((3, 4), [1, 2, 5], 1, 0), ((3, 4), [1, 2, -1], 1, 0), ((3, 4), [1, 2, 3], 0, 0), ((3, 4), [1, 2, 3], 2, 0), ((3, 4), [1, 2, 3], 1, 2)]:
    case("ReverseSequence", [f(shape), lit(n)], attrs=dict(seq_dim=seq, batch_dim=batch), error=True)
sweep("Roll", [lit([1]), lit([1])])
for shape, shift, axis in [((5,), 2, 0), ((5,), -2, 0), ((5,), 7, 0), ((5,), 0, 0), ((2, 3), [1, 2], [0, 1]), ((2, 3), [1, 1], [1, 1]), ((2, 3), [-4, 8], [-1, 0]), ((2, 3, 4), [1], [1]), ((2, 3, 4), [5, 1, -1], [2, 1, 0]), ((0, 3), [1], [0]), ((0, 3), [1], [1]),
                           ((2, 1, 3, 2), [2, 1], [2, 3]), ((1, 2, 2, 1, 3), [1, 1], [1, 4]), ((30, 65), [11, 17], [0, 1])]:
    case("Roll", [f(shape), lit(shift), lit(axis)])
    case("Roll", [f(shape), lit(shift, "int64"), lit(axis, "int64")])
for shape, shift, axis in [((), 1, 0), ((5,), 1, 1), ((5,), [1, 2], [0]), ((5,), 1, -2), ((5,), [[1]], [[0]])]: case("Roll", [f(shape), lit(shift), lit(axis)], error=True)

# Blocks.
for op, shape in [("SpaceToDepth", (2, 4, 6, 3)), ("DepthToSpace", (2, 2, 3, 8))]:
    for t in DTYPES: case(op, [x(shape, t)], attrs=dict(block_size=2))
case("SpaceToDepth", [f((1, 6, 3, 2))], attrs=dict(block_size=3))
case("SpaceToDepth", [f((0, 6, 3, 2))], attrs=dict(block_size=3))
case("DepthToSpace", [f((1, 2, 1, 18))], attrs=dict(block_size=3))
case("DepthToSpace", [f((3, 17, 9, 16))], attrs=dict(block_size=2), golden=False)
case("SpaceToDepth", [f((3, 34, 18, 5))], attrs=dict(block_size=2), golden=False)
for op, shape, n in [("SpaceToDepth", (1, 3, 4, 1), 2), ("SpaceToDepth", (4, 4, 1), 2), ("DepthToSpace", (1, 3, 4, 3), 2), ("DepthToSpace", (1, 3, 4, 4), 1), ("SpaceToDepth", (1, 4, 4, 1), 0)]: case(op, [f(shape)], attrs=dict(block_size=n), error=True)
for t in DTYPES:
    case("SpaceToBatchND", [x((1, 4, 4, 2), t), lit([2, 2]), lit([[0, 0], [0, 0]])])
    case("BatchToSpaceND", [x((4, 2, 2, 2), t), lit([2, 2]), lit([[0, 0], [0, 0]])])
for shape, block, pads in [((1, 3, 5, 2), [2, 3], [[1, 0], [0, 1]]), ((2, 5), [2], [[0, 1]]), ((2, 5), [2], [[3, 2]]), ((2, 4, 3), [2], [[0, 0]]), ((2, 4, 3), [1, 1], [[0, 0], [1, 2]]), ((2, 6, 4, 2, 3), [3, 2, 2], [[0, 0], [2, 2], [1, 1]]),
                           ((2, 4), [4], [[4, 4]]), ((1, 3, 5, 2), [1, 5], [[1, 0], [0, 0]]), ((0, 4), [2], [[0, 0]]), ((2, 0), [2], [[2, 2]])]:
    case("SpaceToBatchND", [f(shape), lit(block), lit(pads)])
    case("SpaceToBatchND", [f(shape), lit(block, "int64"), lit(pads, "int64")])
for shape, block, crops in [((6, 2, 2, 2), [2, 3], [[1, 0], [0, 2]]), ((4, 3), [2], [[0, 1]]), ((4, 3), [2], [[3, 2]]), ((2, 4, 3), [2], [[0, 0]]), ((2, 4, 3), [1, 1], [[0, 0], [1, 2]]), ((12, 2, 3, 2, 3), [3, 2, 2], [[0, 1], [1, 2], [1, 1]]),
                            ((4, 1), [4], [[2, 2]]), ((0, 4), [2], [[0, 0]])]:
    case("BatchToSpaceND", [f(shape), lit(block), lit(crops)])
    case("BatchToSpaceND", [f(shape), lit(block, "int64"), lit(crops, "int64")])
for op in ["SpaceToBatchND", "BatchToSpaceND"]:
    for shape, block, edges in [((4, 3), [2], [[0]]), ((4, 3), [0], [[0, 0]]), ((4, 3), [2], [[-1, 0]]), ((4,), [2], [[0, 0]]), ((4, 3), [[2]], [[0, 0]]), ((4, 3), [2], [[0, 0], [0, 0]])]:
        case(op, [f(shape), lit(block), lit(edges)], error=True)
case("SpaceToBatchND", [f((1, 3)), lit([2]), lit([[0, 0]])], error=True)
case("BatchToSpaceND", [f((3, 3)), lit([2]), lit([[0, 0]])], error=True)
case("BatchToSpaceND", [f((4, 1)), lit([2]), lit([[2, 2]])], error=True)
