"""Programs: functions that call and differentiate functions, structures, a language model."""
import keras
import numpy as np
import tensorflow as tf

from saved_models.registry import floats, ints, model


@model(short=True)
def calls(folder):
    """Functions that call functions, differentiate them, and map them over a batch."""
    class Calls(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(3))
            self.f = tf.function(lambda x: tf.sin(x) * self.w)

        @tf.function
        def inner(self, x, power=2): return self.f(x) ** power

        @tf.function(jit_compile=True)
        def compiled(self, x): return tf.nn.softmax(x * self.w)

        @tf.function(input_signature=[tf.TensorSpec([3])])
        def __call__(self, x):
            again = tf.recompute_grad(lambda v: tf.tanh(v * self.w))
            return self.inner(x) + self.inner(x, 3) + self.compiled(x) + again(x)

        @tf.function(input_signature=[tf.TensorSpec([3])])
        def hessian(self, x):
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = tf.reduce_sum(self.inner(x, 3))
                g = tape.gradient(y, x)
            return outer.jacobian(g, x)

        @tf.function(input_signature=[tf.TensorSpec([4, 3])])
        def mapped(self, x): return tf.vectorized_map(lambda row: tf.tensordot(row, self.w, 1) * self.f(row), x)

        @tf.function(input_signature=[tf.TensorSpec([3])])
        def forward(self, x):
            with tf.autodiff.ForwardAccumulator(x, tf.ones([3])) as a: y = self.inner(x)
            return y, a.jvp(y)

    tf.saved_model.save(Calls(), folder)
    x = floats(3)
    return [dict(function=f, args=[x], gradients=1) for f in ("__call__", "hessian", "forward")] + [
        dict(function="mapped", args=[floats(4, 3)], gradients=1)]


@model(short=True)
def training_with_control_flow(folder):
    """The derivatives of branches in files hand on what they need as optionals, those of loops as lists."""
    class Step(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(3))
            self.count = tf.Variable(0)

        @tf.function(input_signature=[tf.TensorSpec([3]), tf.TensorSpec([], tf.bool)])
        def step(self, x, first):
            with tf.GradientTape() as tape:
                y = x * self.w
                if first: y = tf.exp(y) * tf.sin(y)
                else:
                    for _ in tf.range(3):
                        if tf.reduce_sum(y) > 0.0: y = tf.tanh(y) * self.w
                        else: y = y * y - x
                loss = tf.reduce_sum(y)
            g = tape.gradient(loss, self.w)
            self.w.assign_sub(0.1 * g)
            if self.count % 2 == 0: self.w.assign(self.w * 0.9)
            self.count.assign_add(1)
            return loss, g

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([3])])
        def case(self, i, x):
            with tf.GradientTape() as tape:
                y = tf.switch_case(i, [lambda: tf.tanh(self.w * x), lambda: tf.exp(x) * self.w[0], lambda: x])
                loss = tf.reduce_sum(y * y)
            return loss, tape.gradient(loss, self.w)

    tf.saved_model.save(Step(), folder)
    x = floats(3)
    return [dict(function="step", args=[x, np.bool_(p)]) for p in (True, False, True, False)] + [
        dict(function="case", args=[np.int32(i), x], gradients=1) for i in (0, 1, 2)]


@model(short=True)
def functions_called_by_name(folder):
    """The loop of ctc_loss calls its body by the body's own name, with the body's names of outputs."""
    class Ctc(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(4, 5))

        @tf.function(input_signature=[tf.TensorSpec([2, 6, 4]), tf.TensorSpec([2, 3], tf.int32)])
        def __call__(self, x, labels):
            lengths = tf.constant([3, 2]), tf.constant([6, 5])
            return keras.ops.ctc_loss(labels, x @ self.w, *lengths)

    tf.saved_model.save(Ctc(), folder)
    return [dict(function="__call__", args=[floats(2, 6, 4), 1 + ints(2, 3, high=4)])]


@model()
def structures(folder):
    class Structures(tf.Module):
        def __init__(self):
            super().__init__()
            self.list = [tf.Variable(floats(2)), {"k": tf.Variable(floats(2)), "pair": (tf.Variable(1.0), tf.Variable(2.0))}]
            self.same = self.list[0]
            self.frozen = tf.Variable(floats(2), trainable=False)
            self.count, self.flag, self.text = tf.Variable(3), tf.Variable(True), tf.Variable("text")
            self.free = tf.Variable(floats(2, 3), shape=tf.TensorShape([None, None]))

        @tf.function
        def nested(self, d, n=None, k=3, *, flag=True):
            y = d["x"] * self.list[0] + d["l"][0] * self.list[1]["k"]
            if n is not None: y = y + n
            if flag: y = y * float(k)
            return {"y": y, "pair": (y, [y + 1]), "none": None}

        @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.bool)])
        def passes(self, x, flag): return x, x, flag, self.frozen, self.count + 1, tf.constant([1, 2])

        @tf.function(input_signature=[tf.TensorSpec([None, None])])
        def resize(self, v):
            self.free.assign(v)
            return tf.shape(self.free)

        @tf.function(input_signature=[])
        def nothing(self): self.count.assign_add(1)

        @tf.function
        def defaults(self, x, y=3.0, z=tf.constant(4.0), name=None, *, axis=-1, keep=False):
            return tf.reduce_sum(x * y * z, axis=axis, keepdims=keep)

    m = Structures()
    x, two = tf.constant(floats(2)), tf.constant(floats(2, 3))
    m.nested({"x": x, "l": [x, x]}), m.nested({"x": x, "l": [x]}, k=4, flag=False)
    m.defaults(two), m.defaults(two, 5.0), m.defaults(two, axis=0, keep=True), m.defaults(two, name="n")
    tf.saved_model.save(m, folder, signatures={"passes": m.passes})
    two = floats(2, 3)
    return [dict(function="passes", args=[floats(3, 2), np.bool_(True)]),
            dict(function="resize", args=[floats(4, 1)]), dict(function="nothing"), dict(function="nothing"),
            dict(signature="passes", inputs={"x": floats(3, 2), "flag": np.bool_(False)}),
            dict(function="defaults", args=[two]), dict(function="defaults", args=[two, 5.0]),
            dict(function="defaults", args=[two], kwargs={"axis": 0, "keep": True}),
            dict(function="defaults", args=[two], kwargs={"name": "n"})]


@model(tolerance=1e-3)
def transformer(folder, width=16, heads=2):
    """A language model of one's own: logits, greedy decoding in a loop, training."""
    class Language(tf.Module):
        def __init__(self):
            super().__init__()
            make = lambda *s, seed: tf.Variable(0.2 * floats(*s, seed=seed))
            self.words = make(30, width, seed=1)
            self.blocks = [{"qkv": make(width, 3 * width, seed=5 * k + 2), "out": make(width, width, seed=5 * k + 3),
                            "mlp": (make(width, 4 * width, seed=5 * k + 4), make(4 * width, width, seed=5 * k + 5))} for k in range(2)]

        def norm(self, x):
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            return tf.nn.batch_normalization(x, mean, variance, None, None, 1e-5)

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32, name="ids")])
        def __call__(self, ids):
            x, n = tf.gather(self.words, ids), tf.shape(ids)[1]
            mask = tf.linalg.band_part(tf.ones([n, n]), -1, 0)
            for b in self.blocks:
                q, k, v = tf.split(tf.reshape(self.norm(x) @ b["qkv"], [tf.shape(x)[0], n, heads, -1]), 3, -1)
                a = tf.einsum("bqhd,bkhd->bhqk", q, k) / tf.sqrt(tf.cast(tf.shape(q)[-1], tf.float32))
                a = tf.nn.softmax(a + (1.0 - mask) * -1e9)
                x = x + tf.reshape(tf.einsum("bhqk,bkhd->bqhd", a, v), tf.shape(x)) @ b["out"]
                x = x + tf.nn.gelu(self.norm(x) @ b["mlp"][0], approximate=True) @ b["mlp"][1]
            return {"logits": tf.matmul(x, self.words, transpose_b=True), "mean": tf.reduce_mean(x, 1)}

        @tf.function(input_signature=[tf.TensorSpec([1, None], tf.int32), tf.TensorSpec([], tf.int32)])
        def generate(self, ids, n):
            for _ in tf.range(n):
                tf.autograph.experimental.set_loop_options(shape_invariants=[(ids, tf.TensorShape([1, None]))])
                ids = tf.concat([ids, tf.argmax(self(ids)["logits"][:, -1:], -1, output_type=tf.int32)], 1)
            return ids

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
        def train(self, ids):
            with tf.GradientTape() as tape:
                logits = self(ids)["logits"][:, :-1]
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(ids[:, 1:], logits))
            for v, g in zip(self.trainable_variables, tape.gradient(loss, self.trainable_variables)):
                v.assign_sub(0.1 * tf.convert_to_tensor(g))
            return loss

    m = Language()
    tf.saved_model.save(m, folder, signatures={"logits": m.__call__, "generate": m.generate, "train": m.train})
    x = ints(2, 7, high=30)
    return [dict(signature="logits", inputs={"ids": x}, gradients=1), dict(function="train", args=[x]),
            dict(function="generate", args=[ints(1, 3, high=30), np.int32(4)]),
            dict(function="train", args=[ints(3, 5, high=30)]), dict(signature="logits", inputs={"ids": x})]
