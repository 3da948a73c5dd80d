"""Convolutions, pools and resizing, with their gradient ops."""
import itertools

import numpy as np

from case import *

S1, S2 = [1, 1, 1, 1], [1, 2, 2, 1]


def d(shape): return rnd(shape, "float64")


def out_size(n, k, stride, dilation, padding, pads):
    reach = (k - 1) * dilation + 1
    if padding == "SAME": return -(-n // stride)
    return (n + sum(pads) - reach) // stride + 1


def conv(op, shape, filters, dtype="float32", strides=None, padding="VALID", dilations=None, pads=None, domain="normal", **options):
    """The convolution and its two gradient ops, channels last."""
    spatial = len(shape) - 2
    strides, dilations = strides or [1] * spatial, dilations or [1] * spatial
    attrs = dict(strides=[1, *strides, 1], padding=padding)
    if any(d != 1 for d in dilations): attrs["dilations"] = [1, *dilations, 1]
    each = [(0, 0)] * spatial
    if pads:
        each = pads
        attrs["explicit_paddings"] = [0, 0, *itertools.chain(*pads), 0, 0]
    channels = shape[-1] * filters[-1] if op == "DepthwiseConv2dNative" else filters[-1]
    out = (shape[0], *[out_size(shape[1 + i], filters[i], strides[i], dilations[i], padding, each[i]) for i in range(spatial)], channels)
    options = dict(dict(tol=SUMS), **options)
    v2 = "V2" if op == "Conv3D" else ""
    name = op + "Backprop"
    case(op, [rnd(shape, dtype, domain), rnd(filters, dtype, domain)], attrs, **options)
    if dtype not in dtypes(name + "Filter" + v2): return
    case(name + "Input" + v2, [lit(list(shape)), rnd(filters, dtype, domain), rnd(out, dtype, domain)], attrs, **options)
    case(name + "Filter" + v2, [rnd(shape, dtype, domain), lit(list(filters)), rnd(out, dtype, domain)], attrs, **options)


SHAPES = [
    ((2, 4, 5, 3), (2, 3, 3, 2), {}),
    ((1, 5, 5, 1), (3, 3, 1, 4), {}),
    ((1, 4, 4, 3), (1, 1, 3, 5), {}),
    ((2, 5, 6, 2), (3, 2, 2, 3), dict(padding="SAME")),
    ((2, 5, 6, 2), (3, 2, 2, 3), dict(padding="SAME", strides=[2, 2])),
    ((2, 6, 7, 2), (3, 3, 2, 3), dict(strides=[2, 2])),
    ((1, 7, 7, 2), (2, 2, 2, 3), dict(dilations=[2, 2])),
    ((1, 7, 8, 2), (3, 2, 2, 3), dict(dilations=[2, 3], padding="SAME")),
    ((2, 4, 4, 2), (3, 3, 2, 3), dict(padding="EXPLICIT", pads=[(1, 0), (2, 1)])),
    ((1, 5, 4, 2), (5, 4, 2, 3), {}),
    ((1, 3, 3, 2), (5, 5, 2, 3), dict(padding="SAME")),
    ((1, 4, 4, 2), (1, 1, 2, 3), dict(strides=[2, 2])),
    ((1, 5, 5, 2), (2, 2, 2, 3), dict(strides=[3, 3], padding="SAME")),
]
for shape, filters, options in SHAPES: conv("Conv2D", shape, filters, **options)
conv("Conv2D", (2, 5, 5, 4), (3, 3, 2, 6), padding="SAME")
# Many channels: another algorithm.
conv("Conv2D", (4, 18, 18, 16), (3, 3, 16, 24))
conv("Conv2D", (2, 30, 27, 32), (3, 3, 32, 40), padding="SAME")
conv("Conv2D", (2, 5, 5, 4), (3, 3, 1, 4), padding="SAME", strides=[2, 2])
conv("Conv2D", (1, 6, 6, 6), (2, 2, 2, 9))
conv("Conv2D", (1, 6, 7, 2), (3, 3, 2, 3), strides=[2, 1], grad=())
for t in ["float64", "float16", "bfloat16", "int32"]:
    for shape, filters, options in SHAPES[:1] + SHAPES[4:6] + SHAPES[8:9]: conv("Conv2D", shape, filters, t, domain="inside" if t != "int32" else "normal", **options)
case("Conv2D", [d((2, 5, 5, 4)), d((3, 3, 2, 6))], dict(strides=S1, padding="SAME"), tol=SUMS, grad=())
case("Conv2D", [d((1, 7, 7, 2)), d((2, 2, 2, 3))], dict(strides=S1, padding="VALID", dilations=S2), tol=SUMS, grad=())
case("Conv2D", [i((2, 5, 5, 4)), i((3, 3, 2, 6))], dict(strides=S1, padding="SAME"), tol=SUMS)
BIG = [((64, 28, 28, 1), (3, 3, 1, 32), {}), ((16, 26, 26, 32), (3, 3, 32, 64), {}), ((1, 64, 60, 16), (3, 3, 16, 32), dict(padding="SAME")),
       ((3, 65, 33, 8), (5, 3, 8, 40), dict(strides=[2, 2], padding="SAME")), ((2, 40, 40, 8), (3, 3, 8, 24), dict(dilations=[2, 2])),
       ((1, 70, 30, 24), (7, 7, 24, 32), dict(padding="EXPLICIT", pads=[(3, 0), (1, 4)])), ((9, 17, 17, 12), (1, 1, 12, 31), {}),
       ((11, 14, 14, 32), (3, 3, 8, 64), dict(padding="SAME"))]
LARGE = Tol(ulp=64, abs_ulp=64, scaled=True)
for shape, filters, options in BIG:
    conv("Conv2D", shape, filters, golden=False, smooth=False, tol=LARGE, domain="inside", **options)
    if "dilations" in options or shape[-1] != filters[-2]: continue
    conv("Conv2D", (1, *shape[1:]), filters, "float64", golden=False, smooth=False, tol=LARGE, domain="inside", **options)
for shape, filters in [((0, 4, 4, 2), (2, 2, 2, 3))]: conv("Conv2D", shape, filters, "float64", smooth=False)
case("Conv2D", [d((2, 2, 4, 2)), d((3, 3, 2, 4))], dict(strides=S1, padding="VALID"), grad=())
case("Conv2DBackpropInput", [lit([4, 5]), f((2, 3, 3, 2)), f((2, 3, 3, 2))], dict(strides=S1, padding="VALID"), tol=SUMS)

# Errors in float64: TensorFlow's float32 convolutions of oneDNN stop the process for some of these.
X, W = d((2, 4, 5, 3)), d((2, 3, 3, 2))
V = dict(strides=S1, padding="VALID")
for inputs, attrs in [([X, d((2, 3, 4, 2))], V), ([d((4, 5, 3)), W], V), ([X, d((2, 3, 3))], V), ([X, W], dict(V, strides=[1, 1, 1])),
                      ([X, W], dict(V, strides=[2, 1, 1, 1])), ([X, W], dict(V, strides=[1, 0, 1, 1])), ([X, W], dict(V, strides=[1, 1, 1, 2])),
                      ([X, W], dict(V, dilations=[1, 0, 1, 1])), ([X, W], dict(V, dilations=[2, 1, 1, 1])), ([X, d((7, 3, 3, 2))], V),
                      ([X, W], dict(V, padding="EXPLICIT")), ([X, W], dict(V, padding="EXPLICIT", explicit_paddings=[0, 0, -1, 0, 0, 0, 0, 0])),
                      ([X, W], dict(V, padding="EXPLICIT", explicit_paddings=[1, 0, 1, 0, 0, 0, 0, 0])), ([X, W], dict(V, explicit_paddings=[0, 0, 1, 0, 0, 0, 0, 0])),
                      ([d((2, 4, 5, 4)), d((2, 3, 2, 3))], V), ([X, d((2, 3, 0, 2))], V)]:
    case("Conv2D", inputs, attrs, error=True)
for sizes, g in [([2, 4, 5, 3], (2, 3, 4, 2)), ([2, 4, 5], (2, 3, 3, 2)), ([3, 4, 5, 3], (2, 3, 3, 2)), ([2, -4, 5, 3], (2, 3, 3, 2)), ([2, 4, 5, 4], (2, 3, 3, 2))]:
    case("Conv2DBackpropInput", [lit(sizes), W, d(g)], V, error=True)
for sizes, g in [([2, 3, 3, 2], (2, 3, 4, 2)), ([2, 3, 3], (2, 3, 3, 2)), ([2, 3, 3, 4], (2, 3, 3, 2)), ([2, 3, 2, 2], (2, 3, 3, 2))]:
    case("Conv2DBackpropFilter", [X, lit(sizes), d(g)], V, error=True)

for t in dtypes("Conv3D"):
    conv("Conv3D", (1, 3, 4, 3, 2), (2, 2, 2, 2, 3), t, domain="inside")
    conv("Conv3D", (2, 4, 3, 5, 2), (2, 3, 2, 2, 3), t, domain="inside", strides=[2, 2, 2], padding="SAME")
conv("Conv3D", (1, 5, 5, 5, 2), (2, 2, 2, 2, 2), dilations=[2, 2, 2])
conv("Conv3D", (2, 9, 10, 11, 8), (3, 3, 3, 8, 16), golden=False, smooth=False, tol=LARGE, domain="inside", padding="SAME")
case("Conv3D", [d((1, 3, 4, 3, 2)), d((2, 2, 2, 3, 3))], dict(strides=[1] * 5, padding="VALID"), error=True)

for t in dtypes("DepthwiseConv2dNative"):
    conv("DepthwiseConv2dNative", (2, 4, 5, 3), (2, 3, 3, 1), t, domain="inside")
    conv("DepthwiseConv2dNative", (2, 5, 5, 2), (3, 3, 2, 3), t, domain="inside", strides=[2, 2], padding="SAME")
conv("DepthwiseConv2dNative", (1, 5, 5, 2), (3, 3, 2, 2), padding="EXPLICIT", pads=[(1, 0), (2, 1)])
conv("DepthwiseConv2dNative", (1, 3, 3, 2), (5, 5, 2, 1), padding="SAME")
conv("DepthwiseConv2dNative", (5, 20, 21, 40), (3, 3, 40, 1), golden=False, smooth=False, tol=LARGE, domain="inside", padding="SAME")
case("DepthwiseConv2dNative", [X, d((2, 3, 2, 1))], V, error=True)
case("DepthwiseConv2dNative", [X, d((2, 3, 3))], V, error=True)

# Pools. Values are distinct: gradients go to the largest element of each window.
POOLS = [((2, 4, 5, 3), [2, 2], [2, 2], "VALID"), ((2, 4, 5, 3), [2, 2], [2, 2], "SAME"), ((1, 5, 5, 2), [3, 3], [1, 1], "VALID"),
         ((1, 5, 6, 2), [3, 2], [2, 3], "SAME"), ((1, 4, 4, 2), [1, 1], [1, 1], "VALID"), ((1, 6, 6, 1), [2, 2], [3, 3], "VALID"),
         ((1, 3, 4, 2), [3, 4], [1, 1], "VALID")]
POOLS3 = [((1, 4, 3, 4, 2), [2, 2, 2], [2, 2, 2], "VALID"), ((2, 3, 4, 3, 2), [2, 3, 2], [2, 1, 2], "SAME")]


def pool(kind, shape, ksize, strides, padding, dtype="float32", grads=True, **options):
    three = "3D" if len(ksize) == 3 else ""
    attrs = dict(ksize=[1, *ksize, 1], strides=[1, *strides, 1], padding=padding)
    out = (shape[0], *[out_size(shape[1 + j], ksize[j], strides[j], 1, padding, (0, 0)) for j in range(len(ksize))], shape[-1])
    if kind == "Max":
        case("MaxPool" + three, [distinct(shape, dtype)], attrs, **options)
        if not grads: return
        n = int(np.prod(shape))
        x = lit((np.random.default_rng(n).permutation(n) % 251 / 16 if dtype in ("float16", "bfloat16") else np.random.default_rng(n).permutation(n)).reshape(shape), dtype)
        y = call("MaxPool" + three, [x], attrs)
        case("MaxPool" + three + "Grad", [x, y, rnd(out, dtype)], attrs, label=f"{dtype} {shape} {attrs}", tol=SUMS, grad=(), **options)
        case("MaxPool" + three + "GradGrad", [x, y, rnd(shape, dtype)], attrs, label=f"{dtype} {shape} {attrs}", grad=(), **options)
    else:
        case("AvgPool" + three, [rnd(shape, dtype)], attrs, tol=SUMS, **options)
        case("AvgPool" + three + "Grad", [lit(list(shape)), rnd(out, dtype)], attrs, tol=SUMS, **options)


for shape, ksize, strides, padding in POOLS + POOLS3:
    pool("Max", shape, ksize, strides, padding)
    pool("Avg", shape, ksize, strides, padding)
for t in FLOATS[1:]:
    for shape, ksize, strides, padding in POOLS[:4]:
        pool("Max", shape, ksize, strides, padding, t)
        pool("Avg", shape, ksize, strides, padding, t)
for t in ["float16", "bfloat16"]: pool("Avg", *POOLS3[1], t)
for t in ["int32", "int64", "uint8", "int16", "int8", "uint16"]: pool("Max", *POOLS[0], t, grads=False)
pool("Max", (16, 24, 24, 64), [2, 2], [2, 2], "VALID", golden=False, smooth=False)
pool("Max", (3, 25, 24, 19), [3, 3], [2, 2], "SAME", golden=False, smooth=False)
pool("Avg", (3, 25, 24, 19), [3, 3], [2, 2], "SAME", golden=False, smooth=False)
case("MaxPool", [distinct((1, 4, 4, 2), "float64")], dict(ksize=[1, 2, 2, 1], strides=S2, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0]), grad=())
case("MaxPool", [lit([[[[1.0], [1.0]], [[1.0], [1.0]]]], "float32")], dict(ksize=[1, 2, 2, 1], strides=S2, padding="VALID"), label="ties", smooth=False)
case("MaxPool", [lit([[[[1.0], [np.nan]], [[3.0], [-np.inf]]]], "float64")], dict(ksize=[1, 2, 2, 1], strides=S2, padding="VALID"), label="special", grad=())
for op in ["MaxPool", "AvgPool"]:
    for inputs, attrs in [([d((4, 4, 2))], dict(ksize=[1, 2, 2, 1], strides=S2, padding="VALID")), ([d((1, 4, 4, 2))], dict(ksize=[1, 2, 2], strides=S2, padding="VALID")),
                          ([d((1, 4, 4, 2))], dict(ksize=[1, 2, 2, 1], strides=[1, 0, 1, 1], padding="VALID")), ([d((1, 4, 4, 2))], dict(ksize=[1, 0, 2, 1], strides=S2, padding="VALID"))]:
        case(op, inputs, attrs, error=True)
for t in ["float32", "float64", "int32"]:
    for padding in ["VALID", "SAME"]:
        case("MaxPoolWithArgmax", [distinct((2, 5, 4, 2), t)], dict(ksize=[1, 2, 2, 1], strides=S2, padding=padding), grad=())
        case("MaxPoolWithArgmax", [distinct((2, 5, 4, 2), t)], dict(ksize=[1, 2, 2, 1], strides=S2, padding=padding, include_batch_in_index=True, Targmax="int32"), grad=())

# Resizing.
RESIZE = Tol(ulp=64, abs_ulp=16, scaled=True)
for flags in [{}, dict(align_corners=True), dict(half_pixel_centers=True)]:
    for shape, size in [((2, 3, 4, 2), [6, 8]), ((1, 5, 6, 2), [3, 2]), ((1, 3, 3, 1), [1, 1]), ((1, 1, 1, 3), [2, 3]), ((1, 4, 4, 2), [7, 5])]:
        case("ResizeBilinear", [f(shape), lit(size)], flags, tol=RESIZE, smooth=False)  # the output is float32 always
        case("ResizeNearestNeighbor", [f(shape), lit(size)], flags, tol=RESIZE)
        case("ResizeBilinearGrad", [f((shape[0], *size, shape[3])), f(shape)], flags, tol=RESIZE, grad=())
        case("ResizeNearestNeighborGrad", [f((shape[0], *size, shape[3])), lit(list(shape[1:3]))], flags, tol=RESIZE)
    for t in dtypes("ResizeBilinear"): case("ResizeBilinear", [rnd((1, 3, 4, 2), t), lit([5, 7])], flags, tol=RESIZE, grad=())
    for t in dtypes("ResizeNearestNeighbor"): case("ResizeNearestNeighbor", [rnd((1, 3, 4, 2), t), lit([5, 7])], flags, grad=())
    for t in ["float32", "float64", "float16", "bfloat16"]: case("ResizeBilinearGrad", [f((1, 5, 7, 2)), rnd((1, 3, 4, 2), t)], flags, tol=RESIZE, grad=())
    for t in ["float64", "int32", "uint8"]: case("ResizeNearestNeighborGrad", [rnd((1, 5, 7, 2), t, "inside"), lit([3, 4])], flags, tol=RESIZE, grad=())
for op in ["ResizeBilinear", "ResizeNearestNeighbor"]:
    case(op, [f((3, 4, 2)), lit([5, 7])], error=True)
    case(op, [f((1, 3, 4, 2)), lit([5])], error=True)
    case(op, [f((1, 3, 4, 2)), lit([0, 2])], error=True)
    case(op, [f((1, 3, 4, 2)), lit([5, 7])], dict(align_corners=True, half_pixel_centers=True), error=True)
