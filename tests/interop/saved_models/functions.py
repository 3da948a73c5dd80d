"""Functions of modules: control flow, TensorArrays, arguments, gradients of one's own."""
import numpy as np
import tensorflow as tf

from saved_models.registry import floats, ints, model


class Flow(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(floats(4, 4) * 0.5, name="w")
        self.calls = tf.Variable(0, trainable=False, dtype=tf.int64)

    @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([], tf.int32)])
    def loop(self, x, n):
        i = 0
        while i < n:
            if tf.reduce_sum(x) > 0.0:
                x = tf.tanh(x @ self.w)
            else:
                x = x + tf.reduce_sum(self.w)
            i += 1
        self.calls.assign_add(1)
        return x, i

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([3])])
    def case(self, i, x):
        w = self.w[0, :3]
        return tf.switch_case(i, [lambda: x * w, lambda: tf.sin(x) + w, lambda: x[::-1]])

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def mapped(self, x):
        return tf.map_fn(lambda r: tf.linalg.matvec(self.w, r) * r, x)

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def scanned(self, x):
        return tf.scan(lambda a, r: tf.tanh(tf.linalg.matvec(self.w, a) + r), x)

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def early(self, x):
        total = tf.zeros([4])
        w = tf.identity(self.w)  # TensorFlow has no gradients of variables in branches in loops, once loaded
        for row in x:
            if tf.reduce_sum(row) > 3.0: break
            if tf.reduce_sum(row) < -3.0: continue
            total += tf.linalg.matvec(w, row)
        return total

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def nested(self, x):
        w = tf.identity(self.w)
        for _ in tf.range(3):
            j = 0
            while tf.reduce_max(tf.abs(x)) > 0.5 and j < 4:
                x = 0.7 * x @ w
                j += 1
            x = tf.cond(tf.equal(j % 2, 0), lambda: x + 1.0, lambda: tf.cond(j > 2, lambda: x, lambda: -x))
        return x


@model(short=True)
def control_flow(folder):
    tf.saved_model.save(Flow(), folder)
    x = floats(3, 4)
    calls = [dict(function="loop", args=[x, np.int32(n)], gradients=1) for n in (0, 1, 4)]
    calls += [dict(function="case", args=[np.int32(i), x[0, :3]], gradients=1) for i in (0, 1, 2, 7, -1)]
    return calls


@model(short=True)
def loops_with_arrays(folder):
    tf.saved_model.save(Flow(), folder)
    calls = []
    for name in ("mapped", "scanned", "early", "nested"):
        for rows in (1, 5): calls.append(dict(function=name, args=[floats(rows, 4, seed=rows)], gradients=1))
    return calls


class Arrays(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(floats(3))

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def grow(self, n):
        a = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[3])
        for i in tf.range(n): a = a.write(i, self.w * tf.cast(i, tf.float32))
        return a.stack(), a.size()

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def unstack(self, x):
        a = tf.TensorArray(tf.float32, size=tf.shape(x)[0]).unstack(x)
        return a.gather([0, 0]) * self.w, a.concat(), a.read(0)

    @tf.function(input_signature=[tf.TensorSpec([4, 3])])
    def split(self, x):
        a = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x * self.w, [1, 3])
        return a.read(1), a.concat()


@model()
def tensor_arrays(folder):
    tf.saved_model.save(Arrays(), folder)
    return [dict(function="grow", args=[np.int32(4)], gradients=1), dict(function="grow", args=[np.int32(0)]),
            dict(function="unstack", args=[floats(3, 3)], gradients=1),
            dict(function="split", args=[floats(4, 3)], gradients=1)]


class Polymorphic(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(floats(3), name="w")
        self.inner = tf.Module()
        self.inner.b = [tf.Variable(1.0), tf.Variable(2.0)]
        self.inner.named = {"left": tf.Variable(floats(2)), "right": tf.Variable(floats(2), trainable=False)}

    @tf.function
    def __call__(self, x, training=False, scale=1.0, mode="sum", rest=None):
        y = x * self.w * scale
        if training: y = y + self.inner.b[0]
        if rest is not None: y = y + rest[0] * rest[1]
        return tf.reduce_sum(y) if mode == "sum" else {"z": y, "a": y * self.inner.b[1]}

    @tf.function
    def keyword(self, *, x, y=2.0):
        return x * y * self.w

    @tf.function
    def many(self, *xs, **named):
        return sum(xs) * self.w + sum(named.values())


@model(short=True)
def arguments(folder):
    m = Polymorphic()
    x, s = tf.constant(floats(3)), tf.constant(2.0)
    m(x), m(x, training=True), m(x, True, 0.5), m(x, mode="all", scale=s), m(x, rest=[x, x]), m(x, rest=(x, s))
    m(tf.constant(floats(2, 3)), mode="all")
    m.keyword(x=x), m.keyword(x=x, y=3.0), m.keyword(x=x, y=s)
    m.many(x, x), m.many(x, b=s, a=x)
    tf.saved_model.save(m, folder, signatures={
        "plain": m.__call__.get_concrete_function(tf.TensorSpec([3], name="v")),
        "all": m.__call__.get_concrete_function(tf.TensorSpec([None, 3], name="v"), mode="all", training=True)})
    x, s = floats(3), np.float32(2.0)
    return [dict(function="__call__", args=[x], gradients=1), dict(function="__call__", args=[x, True], gradients=1),
            dict(function="__call__", args=[x], kwargs={"training": True}),
            dict(function="__call__", args=[x, True, 0.5]), dict(function="__call__", args=[x], kwargs={
                "mode": "all", "scale": s}, gradients=2),
            dict(function="__call__", args=[x], kwargs={"mode": "all", "scale": 3.0}),
            dict(function="__call__", args=[x], kwargs={"rest": [x, x]}),
            dict(function="__call__", args=[x], kwargs={"rest": (x, s)}),
            dict(function="__call__", args=[floats(2, 3)], kwargs={"mode": "all"}),
            dict(function="keyword", kwargs={"x": x}), dict(function="keyword", kwargs={"x": x, "y": 3.0}),
            dict(function="keyword", kwargs={"x": x, "y": 5.0}), dict(function="many", args=[x, x]),
            dict(function="many", args=[x], kwargs={"a": x, "b": s}),
            dict(signature="plain", inputs={"v": x}, gradients=1), dict(signature="all", inputs={"v": floats(4, 3)})]


class Clipped(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(floats(3))

    @tf.function(input_signature=[tf.TensorSpec([3])])
    def __call__(self, x):
        @tf.custom_gradient
        def clip(y):
            return tf.identity(y), lambda g: tf.clip_by_value(g, -0.1, 0.1)

        @tf.custom_gradient
        def scaled(y):
            z = tf.exp(y)
            return z, lambda g: 3.0 * g * z  # z: captured from the function

        return clip(self.w * x) * 5.0 + scaled(self.w) + tf.stop_gradient(self.w * 2.0)


@model()
def custom_gradients(folder):
    tf.saved_model.save(Clipped(), folder)
    return [dict(function="__call__", args=[floats(3, seed=3)], gradients=1)]


class TableOfOps(tf.Module):
    """What people write in functions."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(floats(4, 4))
        self.table = tf.Variable(floats(10, 4))

    @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None], tf.int32)])
    def __call__(self, x, ids):
        y = tf.nn.embedding_lookup(self.table, ids)
        a = tf.einsum("ij,jk->ik", x, self.w)
        b = tf.concat([a, y], axis=-1)
        c = tf.where(b > 0, b, 0.1 * b)
        top, index = tf.math.top_k(c, 3)
        mean, variance = tf.nn.moments(c, [1], keepdims=True)
        d = tf.nn.l2_normalize((c - mean) * tf.math.rsqrt(variance + 1e-3), axis=-1)
        e = tf.gather(d, index, axis=1, batch_dims=1)
        f = tf.pad(tf.transpose(e), [[0, 0], [1, 1]])
        return {"top": top, "index": index, "f": f, "sum": tf.math.cumsum(d, axis=1),
                "max": tf.reduce_logsumexp(d, axis=-1), "order": tf.argsort(c), "hot": tf.one_hot(ids, 5),
                "parts": tf.stack(tf.split(c, 2, axis=1)), "tile": tf.tile(x[:1], [2, 1]), "same": tf.unique(ids)[0]}


@model()
def ops_of_functions(folder):
    tf.saved_model.save(TableOfOps(), folder)
    return [dict(function="__call__", args=[floats(3, 4), ints(3, high=10)], gradients=1)]
