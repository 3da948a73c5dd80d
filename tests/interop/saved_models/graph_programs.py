"""Modules whose functions hold structures, loops, gradients and state of many kinds."""
import collections

import numpy as np
import tensorflow as tf

from saved_models.registry import floats, ints, model

Pair = collections.namedtuple("Pair", "first second")


@model(short=True)
def deep_structures(folder):
    """Dictionaries of lists of tuples, to and fro."""
    class Structures(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(3))

        @tf.function
        def walk(self, d, scale=2.0):
            a, (b, c) = d["list"][0], d["list"][1]
            e = d["by"]["name"]["x"]
            y = (a + b * c) * self.w + e * scale
            return {"y": y, "back": {"list": [y, (a, {"b": b})], "none": None}, "pair": Pair(c, [e])}

        @tf.function(input_signature=[{"x": [tf.TensorSpec([None]), {"y": tf.TensorSpec([None]), "z": (tf.TensorSpec([]),)}]}])
        def signed(self, d): return {"sum": d["x"][0] * d["x"][1]["y"] + d["x"][1]["z"][0] * tf.reduce_sum(self.w)}

    m = Structures()
    x = tf.constant(floats(3))
    given = lambda t: {"list": [t(floats(3)), (t(floats(3, seed=1)), t(floats(3, seed=2)))], "by": {"name": {"x": t(floats(3, seed=3))}}}
    m.walk(given(tf.constant)), m.walk(given(tf.constant), scale=x)
    tf.saved_model.save(m, folder, signatures={"serving_default": m.signed})
    same = lambda v: v
    signed = {"x": [floats(2), {"y": floats(2, seed=4), "z": (np.float32(0.5),)}]}
    return [dict(function="walk", args=[given(same)], gradients=1),
            dict(function="walk", args=[given(same)], kwargs={"scale": floats(3)}), dict(function="signed", args=[signed], gradients=1)]


@model(short=True)
def defaults_of_signatures(folder):
    class Defaults(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(2))

        @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x"), tf.TensorSpec([], name="scale"), tf.TensorSpec([2], tf.int32, name="n")])
        def f(self, x, scale=tf.constant(2.5), n=tf.constant([3, 4])): return {"y": x * self.w * scale + tf.cast(n, tf.float32)}

        @tf.function(input_signature=[tf.TensorSpec([None], name="v")])
        def g(self, v): return v * 2.0, tf.reduce_sum(v)

    m = Defaults()
    tf.saved_model.save(m, folder, signatures={"serving_default": m.f, "other": m.g, "again": m.f})
    x = floats(3, 2)
    return [dict(signature="serving_default", inputs={"x": x, "scale": np.float32(3.0), "n": np.array([1, 2], np.int32)}, gradients=1),
            dict(signature="other", inputs={"v": floats(4)}),
            dict(signature="again", inputs={"x": x, "scale": np.float32(2.5), "n": np.array([3, 4], np.int32)})]


@model()
def texts_pass_through(folder):
    class Texts(tf.Module):
        def __init__(self):
            super().__init__()
            self.name_ = tf.Variable("name")
            self.labels = tf.constant(["low", "middle", "high"])

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="ids"), tf.TensorSpec([None], name="score")])
        def serve(self, ids, score):
            kind = tf.cast(score > 0.0, tf.int32) + tf.cast(score > 1.0, tf.int32)
            return {"ids": ids, "label": tf.gather(self.labels, kind), "known": tf.equal(ids, "b"), "count": tf.size(ids),
                    "both": tf.stack([ids, tf.reverse(ids, [0])], axis=1), "model": self.name_.read_value(), "score": score * 2.0}

    m = Texts()
    tf.saved_model.save(m, folder, signatures=m.serve)
    return [dict(function="serve", args=[np.array(["a", "b", "täxt"]), np.array([0.5, -1.0, 2.0], np.float32)])]


@model()
def beam_search(folder, beams=3, words=7):
    class Search(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(words, words))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32)])
        def search(self, start, length):
            n = tf.shape(start)[0]
            scores = tf.tile([[0.0] + [-1e9] * (beams - 1)], [n, 1])
            ids = tf.TensorArray(tf.int32, size=length, element_shape=[None, beams])
            parents = tf.TensorArray(tf.int32, size=length, element_shape=[None, beams])
            last = tf.tile(start[:, None], [1, beams])

            def body(i, last, scores, ids, parents):
                now = 1.0 + 0.1 * tf.cast(i, tf.float32)  # no two paths are worth the same
                total = scores[:, :, None] + now * tf.nn.log_softmax(tf.gather(self.w, last))
                scores, flat = tf.math.top_k(tf.reshape(total, [n, -1]), beams)
                last, parent = flat % words, flat // words
                return i + 1, last, scores, ids.write(i, last), parents.write(i, parent)

            _, _, scores, ids, parents = tf.while_loop(lambda i, *_: i < length, body, [0, last, scores, ids, parents])
            return ids.stack(), parents.stack(), scores

        @tf.function(input_signature=[tf.TensorSpec([4], tf.int32)])
        def likelihood(self, path):
            total = tf.constant(0.0)
            logs = tf.nn.log_softmax(self.w)  # in the loop TensorFlow has no gradient of it, once loaded
            for i in tf.range(3): total += tf.gather(tf.gather(logs, path[i]), path[i + 1])
            return total

    tf.saved_model.save(Search(), folder)
    return [dict(function="search", args=[np.array([1, 4], np.int32), np.int32(5)]),
            dict(function="likelihood", args=[np.array([1, 2, 5, 0], np.int32)], gradients=1)]


@model()
def maps_in_maps(folder):
    class Maps(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(3, 3) * 0.4)

        @tf.function(input_signature=[tf.TensorSpec([None, 4, 3])])
        def scanned(self, x):
            w = tf.identity(self.w)  # TensorFlow has no gradients of variables in loops in loops, once loaded
            rows = lambda s: tf.scan(lambda a, r: tf.tanh(tf.linalg.matvec(w, a) + r), s, tf.zeros([3]))
            return tf.map_fn(rows, x)

        @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([None], tf.int32)])
        def several(self, x, n):
            out = tf.float32, tf.int32, tf.bool
            return tf.map_fn(lambda p: (p[0] * tf.cast(p[1], tf.float32), p[1] * 2, tf.reduce_sum(p[0]) > 0.0), (x, n), fn_output_signature=out)

        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def folded(self, x):
            up = tf.foldl(lambda a, r: a * 0.5 + tf.linalg.matvec(self.w, r), x)
            down = tf.foldr(lambda a, r: tf.sin(a) + r, x, initializer=tf.ones([3]))
            return up, down, tf.scan(lambda a, r: (a[0] + r, a[1] * 0.9), x, (tf.zeros([3]), tf.ones([])), reverse=True)

    tf.saved_model.save(Maps(), folder)
    return [dict(function="scanned", args=[floats(2, 4, 3)], gradients=1),
            dict(function="several", args=[floats(3, 3), ints(3, high=5)]), dict(function="folded", args=[floats(4, 3)], gradients=1)]


@model(short=True)
def branches_in_branches(folder):
    class Branches(tf.Module):
        def __init__(self):
            super().__init__()
            self.w, self.seen = tf.Variable(floats(3)), tf.Variable([0, 0, 0])

        @tf.function(input_signature=[tf.TensorSpec([3]), tf.TensorSpec([])])
        def choose(self, x, t):
            def count(i):
                self.seen.scatter_nd_add([[i]], [1])
                return tf.identity(self.w)

            low = lambda: count(0) * x
            middle = lambda: tf.cond(tf.reduce_sum(x) > 0.0, lambda: count(1) + tf.exp(x),
                                     lambda: tf.cond(t > 0.2, lambda: x * t, lambda: -x))
            return tf.case([(t < -1.0, low), (t < 1.0, middle)], default=lambda: count(2) * tf.square(x) * t)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def until(self, x):
            last = -1
            for i in tf.range(10):
                if tf.reduce_sum(x) > 5.0:
                    last = i
                    break
                if i % 3 == 1: continue
                x = x * 1.5 + tf.reduce_sum(self.w) * 0.01
            if last < 0: return -x, last
            return x, last

    tf.saved_model.save(Branches(), folder)
    calls = [dict(function="choose", args=[s * floats(3), np.float32(t)], gradients=1) for s in (1, -1) for t in (-2.0, 0.0, 0.5, 3.0)]
    return calls + [dict(function="until", args=[x]) for x in (floats(3), -floats(3), np.ones(2, np.float32))]


@model()
def gradients_of_ones_own(folder):
    class Own(tf.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b = tf.Variable(floats(3)), tf.Variable(floats(3, seed=1))

        @tf.function(input_signature=[tf.TensorSpec([3])])
        def rounded(self, x):
            @tf.custom_gradient
            def through(y): return tf.round(y), lambda g: g

            @tf.custom_gradient
            def pairwise(a, b):
                s = tf.sigmoid(a)
                return (s * b, a + b), lambda g, h: (g * b * s * (1.0 - s) + h, g * s - h)

            p, q = pairwise(self.w * x, self.b)
            return through(p * 3.0) + q * 0.1

        @tf.function(input_signature=[tf.TensorSpec([3])])
        def in_loops(self, x):
            @tf.custom_gradient
            def half(y): return y * y, lambda g: g * y

            w = tf.identity(self.w)
            for _ in tf.range(2): x = half(x) * w
            return tf.cond(tf.reduce_sum(x) > 100.0, lambda: x, lambda: half(x * self.b))

        @tf.function(input_signature=[tf.TensorSpec([3])])
        def remembered(self, x):
            f = tf.recompute_grad(lambda v: tf.sin(v * self.w) + self.b)
            return tf.grad_pass_through(tf.floor)(x * self.b) + f(x)

    tf.saved_model.save(Own(), folder)
    x = floats(3, seed=5)  # of custom gradients in loops TensorFlow has none, once loaded
    return [dict(function=f, args=[x], gradients=1) for f in ("rounded", "remembered")] + [dict(function="in_loops", args=[x])]


@model()
def training_by_hand(folder):
    """Adam in ops, gradients clipped by their norm, a rate that falls."""
    class Trainer(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = [tf.Variable(floats(4, 5) * 0.3), tf.Variable(floats(5, 1) * 0.3)]
            self.m, self.v = ([tf.Variable(tf.zeros_like(w), trainable=False) for w in self.w] for _ in range(2))
            self.step = tf.Variable(0, dtype=tf.int64, trainable=False)

        def loss(self, x, y): return tf.reduce_mean(tf.square(tf.nn.elu(x @ self.w[0]) @ self.w[1] - y))

        @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None, 1])])
        def train(self, x, y):
            with tf.GradientTape() as tape: loss = self.loss(x, y)
            gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, self.w), 1.0)
            self.step.assign_add(1)
            t = tf.cast(self.step, tf.float32)
            rate = tf.where(t < 3.0, 0.1, 0.01) / (1.0 - tf.pow(0.9, t)) * tf.sqrt(1.0 - tf.pow(0.99, t))
            for w, m, v, g in zip(self.w, self.m, self.v, gradients):
                m.assign(0.9 * m + 0.1 * g)
                v.assign(0.99 * v + 0.01 * g * g)
                w.assign_sub(rate * m / (tf.sqrt(v) + 1e-6))
            return {"loss": loss, "norm": norm, "step": self.step}

        @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None, 1]), tf.TensorSpec([], tf.int32)])
        def epochs(self, x, y, n):
            loss = tf.constant(0.0)
            for _ in tf.range(n): loss = self.train(x, y)["loss"]
            return loss

    tf.saved_model.save(Trainer(), folder)
    x, y = floats(6, 4), floats(6, 1)
    return [dict(function="train", args=[x, y])] * 3 + [dict(function="epochs", args=[x, y, np.int32(4)])]


@model()
def drawn_numbers(folder):
    """Generators go on where they were; draws from a seed are the same everywhere."""
    class Random(tf.Module):
        def __init__(self):
            super().__init__()
            self.generator = tf.random.Generator.from_seed(7, alg="philox")
            self.generator.normal([3])

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def draw(self, n):
            return self.generator.normal([n]), self.generator.uniform([2, n]), self.generator.uniform([n], 0, 10, dtype=tf.int32)

        @tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
        def stateless(self, seed):
            more = tf.random.split(seed, 2)[1]
            return (tf.random.stateless_normal([4], seed), tf.random.stateless_uniform([3], more), tf.random.stateless_truncated_normal([3], seed),
                    tf.random.fold_in(seed, 3))

    tf.saved_model.save(Random(), folder)
    draw = dict(function="draw", args=[np.int32(4)])
    return [draw, draw, dict(function="stateless", args=[np.array([3, 4], np.int32)])]


@model()
def algebra(folder):
    class Algebra(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(3, 3))

        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def __call__(self, x):
            a = self.w @ tf.transpose(self.w) + 3.0 * tf.eye(3)
            root = tf.linalg.cholesky(a)
            return {"solve": tf.linalg.solve(a, tf.transpose(x)), "root": root, "det": tf.linalg.logdet(a), "inverse": tf.linalg.inv(a),
                    "triangle": tf.linalg.triangular_solve(root, tf.transpose(x)), "band": tf.linalg.band_part(a, 1, 0),
                    "einsum": tf.einsum("bi,ij,bj->b", x, a, x), "trace": tf.linalg.trace(a), "norm": tf.norm(x, axis=1),
                    "eigen": tf.linalg.eigvalsh(a), "power": a ** 2.0, "cross": tf.linalg.cross(x, x[::-1])}

        @tf.function(input_signature=[tf.TensorSpec([None, 8])])
        def spectrum(self, x):
            f = tf.signal.rfft(x)
            return tf.abs(f), tf.signal.irfft(f * tf.complex(2.0, 0.0)), tf.math.real(tf.signal.fft(tf.cast(x, tf.complex64)))

    tf.saved_model.save(Algebra(), folder)
    return [dict(function="__call__", args=[floats(4, 3)], gradients=1),
            dict(function="spectrum", args=[floats(2, 8)], may_miss=["RFFT", "IRFFT", "FFT", "Complex", "ComplexAbs", "Real"])]


@model()
def scattered(folder):
    class Scattered(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.Variable(floats(8, 3))
            self.counts = tf.Variable(np.zeros(8, np.int32))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, 3])])
        def update(self, ids, rows):
            self.table.scatter_add(tf.IndexedSlices(rows, ids))
            self.counts.scatter_nd_add(ids[:, None], tf.ones_like(ids))
            return tf.gather(self.table, tf.unique(ids)[0])

        @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([None], tf.int32)])
        def sums(self, x, ids):
            e = tf.nn.embedding_lookup(self.table, ids) * x
            return {"segments": tf.math.unsorted_segment_sum(e, ids, 8), "mean": tf.math.unsorted_segment_mean(e, ids, 8),
                    "nd": tf.scatter_nd(ids[:, None], e, [8, 3]), "set": tf.tensor_scatter_nd_update(tf.zeros([8, 3]), ids[:, None], e),
                    "max": tf.math.segment_max(e, tf.sort(ids)), "where": tf.where(e > 0.0)}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
        def bins(self, ids): return tf.math.bincount(ids, minlength=8)

        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def experts(self, x):
            choice = tf.argmax(tf.matmul(x, self.table[:3]), axis=1, output_type=tf.int32)
            parts = tf.dynamic_partition(x, choice, 3)
            places = tf.dynamic_partition(tf.range(tf.shape(x)[0]), choice, 3)
            return tf.dynamic_stitch(places, [p * self.table[i] for i, p in enumerate(parts)])

    tf.saved_model.save(Scattered(), folder)
    ids = np.array([1, 5, 1, 7], np.int32)
    return [dict(function="update", args=[ids, floats(4, 3)]), dict(function="sums", args=[floats(4, 3), ids], gradients=1),
            dict(function="experts", args=[floats(5, 3)], gradients=1), dict(function="bins", args=[ids], may_miss=["DenseBincount"])]


@model()
def images(folder):
    class Images(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, None, None, 3])])
        def resize(self, x):
            size = tf.shape(x)[1:3] // 2
            return {m: tf.image.resize(x, size, m) for m in ("bilinear", "nearest")} | {
                "flip": tf.image.flip_left_right(x), "pad": tf.image.pad_to_bounding_box(x, 1, 2, 12, 14), "crop": tf.image.central_crop(x[0], 0.5),
                "gray": tf.image.rgb_to_grayscale(x), "rotated": tf.image.rot90(x)}

        @tf.function(input_signature=[tf.TensorSpec([None, None, None, 3])])
        def other(self, x): return tf.image.resize(x, [5, 7], "bicubic"), tf.image.resize(x, [4, 3], "area"), tf.image.adjust_contrast(x, 2.0)

        @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None]), tf.TensorSpec([None, 8, 8, 1])])
        def boxes(self, boxes, scores, image):
            kept = tf.image.non_max_suppression(boxes, scores, 3, 0.3)
            return kept, tf.image.crop_and_resize(image, tf.gather(boxes, kept), tf.zeros_like(kept), [4, 4])

    tf.saved_model.save(Images(), folder)
    corners = np.array([[0, 0, 0.5, 0.5], [0.05, 0.05, 0.5, 0.5], [0.4, 0.4, 0.9, 0.9]], np.float32)
    return [dict(function="resize", args=[floats(2, 8, 10, 3)]),
            dict(function="other", args=[floats(2, 8, 10, 3)], may_miss=["AdjustContrastv2", "ResizeArea", "ResizeBicubic"]),
            dict(function="boxes", args=[corners, np.array([0.9, 0.8, 0.7], np.float32), floats(1, 8, 8, 1)],
                 may_miss=["CropAndResize", "NonMaxSuppressionV3"])]


@model(short=True)
def sizes_at_run_time(folder):
    class Sizes(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(4, 6))

        @tf.function(input_signature=[tf.TensorSpec([None, None, 4]), tf.TensorSpec(None)])
        def __call__(self, x, any_shape):
            b, n = tf.shape(x)[0], tf.shape(x)[1]
            heads = tf.reshape(x @ self.w, [b, n, 2, -1])
            grid = tf.cast(tf.range(n)[:, None] - tf.range(n)[None, :], tf.float32)
            causal = tf.where(grid[None, None] < 0.0, -1e9, 0.0)
            a = tf.nn.softmax(tf.einsum("bqhd,bkhd->bhqk", heads, heads) + causal)
            y = tf.reshape(tf.transpose(tf.einsum("bhqk,bkhd->bqhd", a, heads), [0, 1, 3, 2]), tf.stack([b * n, -1]))
            return {"y": y, "rank": tf.rank(any_shape), "any": tf.reshape(any_shape, [-1]) * 2.0, "size": tf.size(any_shape),
                    "fill": tf.fill([b, 2], 7.0), "wide": tf.broadcast_to(x[:, :1], tf.shape(x)), "pad": tf.pad(x, [[0, 0], [n, 0], [0, 0]])[:, n - 1:]}

    tf.saved_model.save(Sizes(), folder)
    return [dict(function="__call__", args=[floats(2, 3, 4), floats(2, 2)], gradients=1), dict(function="__call__", args=[floats(1, 5, 4), np.float32(3.0)])]


@model()
def few_bits(folder):
    """Quantised numbers: simulated, and in integers."""
    class Quantised(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(4, 3))
            self.packed = tf.Variable(ints(4, 3, high=127).astype(np.int8), trainable=False)

        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def simulated(self, x):
            w = tf.quantization.fake_quant_with_min_max_vars(self.w, -2.0, 2.0, num_bits=4)
            y = tf.quantization.fake_quant_with_min_max_args(x, -3.0, 3.0)
            return tf.matmul(y, w)

        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def integers(self, x):
            scale = tf.reduce_max(tf.abs(x), axis=1, keepdims=True) / 127.0
            q = tf.cast(tf.round(x / scale), tf.int8)
            y = tf.matmul(tf.cast(q, tf.int32), tf.cast(self.packed, tf.int32))
            return tf.cast(y, tf.float32) * scale, q, tf.bitwise.bitwise_and(q, tf.constant(15, tf.int8)), tf.saturate_cast(x * 100.0, tf.uint8)

    tf.saved_model.save(Quantised(), folder)
    return [dict(function="integers", args=[floats(2, 4)]), dict(function="simulated", args=[floats(2, 4)], gradients=1,
                                                                may_miss=["FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars"])]
