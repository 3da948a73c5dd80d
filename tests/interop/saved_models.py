"""The models of check_saved_model.py. Each makes a SavedModel in a folder and returns the calls to compare:
dict(signature=NAME, inputs={...}) or dict(function=PATH, args=[...], kwargs={...}); gradients=1 or 2 compares
those of the first or second order with respect to the trainable variables."""
import dataclasses
import os
import typing

import keras
import numpy as np
import tensorflow as tf
from keras import layers as L

MODELS = []


@dataclasses.dataclass
class Model:
    name: str
    make: typing.Callable
    short: bool
    tolerance: float


def model(short=False, tolerance=1e-4, name=None):
    def add(f):
        MODELS.append(Model(name or f.__name__, f, short, tolerance))
        return f
    return add


def floats(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def ints(*shape, high, seed=0):
    return np.random.default_rng(seed).integers(0, high, shape).astype(np.int32)


# ---- Keras models, by model.export

def application(name, short=False, size=96, tolerance=1e-3):
    def make(folder):
        m = getattr(keras.applications, name)(weights=None, classifier_activation=None, classes=20,
                                              input_shape=(size, size, 3))
        m.export(folder, verbose=False)
        x = floats(2, size, size, 3)
        key = m.inputs[0].name
        return [dict(signature="serving_default", inputs={key: x}), dict(function="serve", args=[x], gradients=1)]
    MODELS.append(Model(name, make, short, tolerance))


# Up to 60 MB of weights.
application("MobileNetV2", short=True)
application("EfficientNetB0", short=True)
for other in ("MobileNet MobileNetV3Small MobileNetV3Large DenseNet121 DenseNet169 NASNetMobile EfficientNetB1 "
              "EfficientNetB2 EfficientNetB3 EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 "
              "EfficientNetV2B3").split():
    application(other, size=224 if other == "NASNetMobile" else 96)
application("ResNet50")
application("Xception")


@model(short=True)
def encoder(folder, vocabulary=1000, length=16, width=32, heads=4, blocks=2):
    ids, mask = keras.Input((None,), dtype="int32", name="ids"), keras.Input((None,), dtype="int32", name="mask")
    positions = keras.ops.cumsum(keras.ops.ones_like(ids), axis=1) - 1
    x = L.Embedding(vocabulary, width)(ids) + L.Embedding(64, width)(positions)
    x = L.Dropout(0.1)(L.LayerNormalization(epsilon=1e-12)(x))
    seen = keras.ops.cast(mask, "bool")[:, None, :]
    for _ in range(blocks):
        a = L.MultiHeadAttention(heads, width // heads, dropout=0.1)(x, x, attention_mask=seen)
        x = L.LayerNormalization(epsilon=1e-12)(x + a)
        f = L.Dense(width)(L.Dense(4 * width, activation="gelu")(x))
        x = L.LayerNormalization(epsilon=1e-12)(x + f)
    pooled = L.Dense(width, activation="tanh")(x[:, 0])
    m = keras.Model({"ids": ids, "mask": mask}, {"logits": L.Dense(3)(pooled), "states": x})
    m.export(folder, verbose=False)
    lengths = np.array([[1] * length, [1] * (length // 2) + [0] * (length - length // 2)], np.int32)
    return [dict(signature="serving_default", inputs={"ids": ints(2, length, high=vocabulary), "mask": lengths},
                 gradients=1),
            dict(signature="serve", inputs={"ids": ints(1, 5, high=vocabulary), "mask": np.ones((1, 5), np.int32)})]


@model(short=True)
def lstm(folder):
    m = keras.Sequential([keras.Input((None,), dtype="int32", name="words"), L.Embedding(50, 8, mask_zero=True),
                          L.Bidirectional(L.LSTM(6, return_sequences=True)), L.LSTM(5), L.Dense(2)])
    m.export(folder, verbose=False)
    words = ints(3, 9, high=50)
    words[1, 5:] = 0
    return [dict(signature="serving_default", inputs={"words": words}, gradients=1),
            dict(function="serve", args=[ints(1, 4, high=50)])]


@model(short=True)
def gru(folder):
    m = keras.Sequential([keras.Input((7, 5), name="x"), L.GRU(6, return_sequences=True, dropout=0.2),
                          L.SimpleRNN(4, go_backwards=True), L.Dense(2)])
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(3, 7, 5)}, gradients=1)]


@model()
def convolutions(folder):
    x = keras.Input((12, 12, 3), name="x")
    y = L.Conv2D(8, 3, strides=2, padding="same", activation="relu")(x)
    y = L.SeparableConv2D(8, 3, padding="same")(y)
    y = L.DepthwiseConv2D(3, dilation_rate=2, padding="same", depth_multiplier=2)(y)
    y = L.Conv2DTranspose(4, 3, strides=2, padding="same")(y)
    y = L.UpSampling2D(interpolation="bilinear")(L.AveragePooling2D(2)(L.ZeroPadding2D(2)(y)))
    y = L.GroupNormalization(2)(L.Cropping2D(1)(L.MaxPooling2D(3, strides=1)(y)))
    z = L.Conv1D(3, 3, padding="causal", activation="swish")(L.Reshape((-1, 4))(y))
    m = keras.Model(x, [L.GlobalMaxPooling2D()(y), L.Dense(2)(L.Flatten()(z))])
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 12, 12, 3)}, gradients=1)]


@model()
def activations(folder):
    names = ["relu", "relu6", "elu", "selu", "silu", "gelu", "softplus", "softsign", "tanh", "sigmoid", "hard_sigmoid",
             "hard_silu", "mish", "leaky_relu", "exponential", "log_softmax", "softmax", "celu", "glu"]
    x = keras.Input((6,), name="x")
    m = keras.Model(x, {n: L.Activation(n)(L.Dense(4)(x)) for n in names})
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(3, 6)}, gradients=1)]


@model()
def saved_by_tensorflow(folder):
    m = keras.Sequential([keras.Input((4,)), L.Dense(5, activation="swish"), L.BatchNormalization(), L.Dense(2)])
    tf.saved_model.save(m, folder)
    name, = tf.saved_model.load(folder).signatures["serving_default"].structured_input_signature[1]
    return [dict(signature="serving_default", inputs={name: floats(3, 4)}, gradients=1)]


# ---- functions of modules

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


# ---- training steps, with optimizers that go on where they were

class Trained(tf.Module):
    def __init__(self, optimizer):
        super().__init__()
        self.model = keras.Sequential([keras.Input((8,)), L.Dense(16, use_bias=False), L.BatchNormalization(),
                                       L.ReLU(),
                                       L.Dropout(0.3, seed=1), L.Dense(3)])
        self.optimizer = optimizer
        self.optimizer.build(self.model.trainable_variables)
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.state = self.model.variables + self.optimizer.variables

    @tf.function(input_signature=[tf.TensorSpec([None, 8]), tf.TensorSpec([None], tf.int32)])
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(y, self.model(x, training=True))
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"loss": loss}

    @tf.function(input_signature=[tf.TensorSpec([None, 8])])
    def __call__(self, x):
        return self.model(x, training=False)


def training(name, optimizer, short=False):
    def make(folder):
        m = Trained(optimizer())
        m.train_step(floats(4, 8), ints(4, high=3))
        tf.saved_model.save(m, folder, signatures={"train": m.train_step, "serving_default": m.__call__})
        steps = [dict(function="train_step", args=[floats(6, 8, seed=k), ints(6, high=3, seed=k)]) for k in range(4)]
        return steps + [dict(signature="train", inputs={"x": floats(5, 8), "y": ints(5, high=3)}),
                        dict(function="__call__", args=[floats(2, 8)], gradients=2)]
    MODELS.append(Model(name, make, short, 1e-3))


O = keras.optimizers
training("train_adam", lambda: O.Adam(1e-2), short=True)
training("train_sgd", lambda: O.SGD(0.1, momentum=0.9, nesterov=True, clipnorm=1.0), short=True)
training("train_adamw", lambda: O.AdamW(O.schedules.CosineDecay(1e-2, 10), weight_decay=0.01))
training("train_rmsprop", lambda: O.RMSprop(1e-2, momentum=0.5, centered=True))
training("train_adagrad", lambda: O.Adagrad(0.1))
training("train_adadelta", lambda: O.Adadelta(1.0))
training("train_adamax", lambda: O.Adamax(1e-2))
training("train_nadam", lambda: O.Nadam(1e-2))
training("train_ftrl", lambda: O.Ftrl(0.1, l1_regularization_strength=0.01))
training("train_lion", lambda: O.Lion(1e-2))
training("train_lamb", lambda: O.Lamb(1e-2))
training("train_adafactor", lambda: O.Adafactor(1e-2))


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


# ---- more of what Keras exports

def exported(folder, layers, *shape, dtype="float32", x=None):
    m = keras.Sequential([keras.Input(shape, name="x", dtype=dtype), *layers])
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(3, *shape) if x is None else x}, gradients=1)]


@model(tolerance=5e-2)
def mixed_precision(folder, policy="mixed_bfloat16"):
    before = keras.mixed_precision.dtype_policy()
    keras.mixed_precision.set_dtype_policy(policy)
    try:
        return exported(folder, [L.Conv2D(4, 3, activation="relu"), L.BatchNormalization(), L.GlobalAveragePooling2D(),
                                 L.LayerNormalization(), L.Dense(3, dtype="float32")], 8, 8, 3)
    finally:
        keras.mixed_precision.set_dtype_policy(before)


@model()
def recurrent_cells(folder):
    x = keras.Input((None, 3), name="x")
    cells = [L.LSTMCell(4, recurrent_dropout=0.1), L.GRUCell(3), L.SimpleRNNCell(2)]
    y = L.RNN(cells, return_sequences=True)(L.Masking(0.0)(x))
    y = L.Bidirectional(L.GRU(3, return_sequences=True), merge_mode="mul")(L.TimeDistributed(L.Dense(2))(y))
    keras.Model(x, y).export(folder, verbose=False)
    value = floats(2, 6, 3)
    value[1, 4:] = 0
    return [dict(signature="serving_default", inputs={"x": value}, gradients=1)]


@model()
def stateful_recurrent(folder):
    x = keras.Input(batch_shape=(2, 5, 3), name="x")
    y, h, c = L.LSTM(4, stateful=True, return_sequences=True, return_state=True)(x)
    z, g = L.GRU(3, stateful=True, return_state=True, reset_after=False)(y)
    keras.Model(x, [z, h, c, g]).export(folder, verbose=False)
    call = dict(signature="serving_default", inputs={"x": floats(2, 5, 3)})
    return [call, call, dict(call, gradients=1)]


@model()
def conv_lstm(folder):
    return exported(folder, [L.ConvLSTM2D(4, 3, padding="same", return_sequences=True), L.ConvLSTM2D(2, 3, dropout=0.1),
                             L.GlobalMaxPooling2D()], 4, 6, 6, 2)


@model()
def convolutions_3d(folder):
    return exported(folder, [L.Conv3D(4, 3, padding="same", activation="relu"), L.BatchNormalization(), L.MaxPooling3D(2),
                             L.Conv3DTranspose(3, 2, strides=2), L.AveragePooling3D(2), L.ZeroPadding3D(1), L.UpSampling3D(2),
                             L.GlobalAveragePooling3D()], 4, 4, 4, 2)


@model()
def convolutions_1d(folder):
    return exported(folder, [L.Conv1D(6, 3, dilation_rate=2, padding="causal", activation="relu"),
                             L.SeparableConv1D(6, 3, padding="same"), L.DepthwiseConv1D(3, padding="same"),
                             L.Conv1DTranspose(4, 3, strides=2, padding="same"), L.MaxPooling1D(2),
                             L.Conv1D(4, 3, groups=2), L.GlobalAveragePooling1D()], 16, 3)


@model()
def attention(folder):
    q, v = keras.Input((5, 8), name="q"), keras.Input((7, 8), name="v")
    out = {"attention": L.Attention(use_scale=True)([q, v]), "additive": L.AdditiveAttention()([q, v]),
           "grouped": L.GroupQueryAttention(4, 4, 2)(q, v), "causal": L.MultiHeadAttention(2, 4)(q, q, use_causal_mask=True)}
    keras.Model([q, v], out).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"q": floats(2, 5, 8), "v": floats(2, 7, 8, seed=1)}, gradients=1)]


@model()
def normalizations(folder):
    x = keras.Input((6, 8), name="x")
    out = {"unit": L.UnitNormalization()(x), "rms": L.RMSNormalization()(x), "spectral": L.SpectralNormalization(L.Dense(3))(x),
           "group": L.GroupNormalization(4)(x), "layer": L.LayerNormalization(axis=[1, 2])(x),
           "batch": L.BatchNormalization(axis=1)(x), "data": L.Normalization(mean=1.0, variance=2.0)(x)}
    keras.Model(x, out).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 6, 8)}, gradients=1)]


@model()
def quantized(folder):
    m = keras.Sequential([keras.Input((8,), name="x"), L.Dense(16, activation="relu"), L.Dense(3)])
    m.quantize("int8")
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 8)})]


@model(short=True)
def keras_control_flow(folder):
    """Loops, branches and maps of keras.ops; vectorized_map leaves PlaceholderWithDefault behind."""
    k = keras.ops

    class Control(L.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1],), initializer="ones", name="w")

        def call(self, x):
            y = k.cond(k.sum(x) > 0, lambda: x * self.w, lambda: x - self.w)
            _, y = k.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, k.tanh(y * self.w)), (0, y))
            y = k.fori_loop(0, 2, lambda i, v: v * 1.1, y)
            y = k.map(lambda row: row * self.w, y)
            y = k.switch(1, [lambda q: q, lambda q: q * 2], y)
            return k.vectorized_map(lambda row: row + 1, y)

    x = keras.Input((4,), name="x")
    keras.Model(x, Control()(x)).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 4)}, gradients=1)]


@model()
def sampling(folder):
    class Sampling(L.Layer):
        def __init__(self, **options):
            super().__init__(**options)
            self.seed = keras.random.SeedGenerator(7)

        def call(self, inputs):
            mean, log_variance = inputs
            return mean + keras.ops.exp(0.5 * log_variance) * keras.random.normal(keras.ops.shape(mean), seed=self.seed)

    x = keras.Input((8, 8, 1), name="x")
    y = L.Flatten()(L.Conv2D(4, 3, strides=2, padding="same", activation="relu")(x))
    mean, log_variance = L.Dense(2)(y), L.Dense(2)(y)
    z = L.Reshape((4, 4, 4))(L.Dense(64)(Sampling()([mean, log_variance])))
    y = L.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid")(z)
    keras.Model(x, [y, mean]).export(folder, verbose=False)
    call = dict(signature="serving_default", inputs={"x": floats(2, 8, 8, 1)}, gradients=1)
    return [call, call]


@model()
def sequence_to_sequence(folder):
    source, target = (keras.Input((None,), dtype="int32", name=n) for n in ("source", "target"))
    _, h, c = L.LSTM(6, return_state=True)(L.Embedding(20, 5, mask_zero=True)(source))
    y = L.LSTM(6, return_sequences=True)(L.Embedding(20, 5, mask_zero=True)(target), initial_state=[h, c])
    keras.Model([source, target], L.TimeDistributed(L.Dense(20))(y)).export(folder, verbose=False)
    words = 1 + ints(2, 6, high=19)
    words[0, 4:] = 0
    return [dict(signature="serving_default", inputs={"source": words, "target": 1 + ints(2, 4, high=19, seed=2)}, gradients=1)]


@model()
def several_endpoints(folder):
    m = keras.Sequential([keras.Input((5,)), L.Dense(4, activation="gelu"), L.BatchNormalization(), L.Dropout(0.5, seed=3), L.Dense(2)])
    archive = keras.export.ExportArchive()
    archive.track(m)
    spec = [tf.TensorSpec((None, 5), name="x")]
    archive.add_endpoint("serve", lambda x: m(x, training=False), input_signature=spec)
    archive.add_endpoint("train", lambda x: m(x, training=True), input_signature=spec)
    archive.add_variable_collection("weights", m.trainable_variables)
    archive.write_out(folder, verbose=False)
    x = floats(3, 5)
    return [dict(signature=s, inputs={"x": x}, gradients=1) for s in ("serve", "train", "train", "serve")]


@model()
def model_in_model(folder):
    inner = keras.Sequential([keras.Input((6,), name="x"), L.Dense(4, activation="relu")])
    inner.export(folder + "/inner", verbose=False)
    outer = keras.Sequential([keras.Input((6,), name="x"), L.TFSMLayer(folder + "/inner", call_endpoint="serve"), L.Dense(2)])
    outer.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 6)}, gradients=1)]


@model()
def sharded(folder):
    m = keras.Sequential([keras.Input((8,), name="x"), L.Dense(64), L.Dense(64), L.Dense(2)])
    policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=5000)
    tf.saved_model.save(m, folder, options=tf.saved_model.SaveOptions(
        experimental_sharding_callback=policy, experimental_variable_policy="save_variable_devices"))
    assert len(os.listdir(folder + "/variables")) > 3
    name, = tf.saved_model.load(folder).signatures["serving_default"].structured_input_signature[1]
    return [dict(signature="serving_default", inputs={name: floats(2, 8)}, gradients=1)]


# ---- more functions

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


@model(tolerance=1e-3)
def keras_train_step(folder):
    """What fit() runs, with metrics and the optimizer."""
    m = keras.Sequential([keras.Input((6,)), L.Dense(4, activation="relu"), L.BatchNormalization(), L.Dense(1)])
    m.compile(O.Adam(0.01), "mse", metrics=["mae"])
    m.fit(floats(8, 6), floats(8, 1), epochs=1, verbose=0)

    class Wrapped(tf.Module):
        def __init__(self):
            super().__init__()
            self.model = m
            self.state = m.variables + m.optimizer.variables + [v for x in m.metrics for v in x.variables]

        @tf.function(input_signature=[tf.TensorSpec([None, 6]), tf.TensorSpec([None, 1])])
        def step(self, x, y): return self.model.train_step((x, y))

    tf.saved_model.save(Wrapped(), folder)
    return [dict(function="step", args=[floats(8, 6, seed=i), floats(8, 1, seed=i)]) for i in range(3)]


class Line(tf.Module):
    def __init__(self, optimizer):
        super().__init__()
        self.model = keras.Sequential([keras.Input((5,)), L.Dense(8, activation="tanh"), L.Dense(1)])
        self.optimizer = optimizer
        optimizer.build(self.model.trainable_variables)
        self.state = self.model.variables + optimizer.variables

    @tf.function(input_signature=[tf.TensorSpec([None, 5]), tf.TensorSpec([None, 1])])
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.model(x, training=True) - y) ** 2)
            scaled = self.optimizer.scale_loss(loss)
        self.optimizer.apply(tape.gradient(scaled, self.model.trainable_variables), self.model.trainable_variables)
        return loss


def line(name, optimizer):
    def make(folder):
        tf.saved_model.save(Line(optimizer()), folder)
        return [dict(function="step", args=[floats(4, 5, seed=i), floats(4, 1, seed=i)]) for i in range(6)]
    MODELS.append(Model(name, make, False, 1e-3))


line("train_muon", lambda: O.Muon(0.05))
line("train_loss_scale", lambda: O.LossScaleOptimizer(O.Adam(0.01), dynamic_growth_steps=2))
line("train_accumulated", lambda: O.Adam(0.01, gradient_accumulation_steps=3, amsgrad=True))
line("train_averaged", lambda: O.SGD(0.1, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=3, weight_decay=0.01))
line("train_schedule_free", lambda: O.ScheduleFreeAdamW(0.05))
line("train_warmup", lambda: O.Adamax(O.schedules.CosineDecay(0.0, 5, warmup_target=0.05, warmup_steps=3)))
line("train_piecewise", lambda: O.SGD(O.schedules.PiecewiseConstantDecay([2, 4], [0.1, 0.01, 0.001]), clipvalue=0.1))


# ---- text: strings, lookup tables, rows of different lengths

LINES = np.array(["the cat sat on the mat", "A dog, barked!", "", "the dog sat; cats AND dogs   too", "unseen w\u00f6rds here",
                  "a a a a a a a a a a"], object)


def text_classifier(short=False, **options):
    def make(folder):
        vectorize = L.TextVectorization(**options)
        vectorize.adapt(LINES[:4])
        embed = [L.Embedding(vectorize.vocabulary_size(), 4), L.GlobalAveragePooling1D()]
        is_int = options["output_mode"] == "int"
        m = keras.Sequential([keras.Input((), dtype="string"), vectorize] + (embed if is_int else []) + [L.Dense(3)])
        m.export(folder, verbose=False)
        return [dict(signature="serving_default", inputs={m.inputs[0].name: LINES}), dict(function="serve", args=[LINES], gradients=1),
                dict(function="serve", args=[LINES[2:3]])]
    name = "text_" + "_".join(str(v) for v in options.values()).replace(" ", "")
    MODELS.append(Model(name, make, short, 1e-4))


text_classifier(short=True, output_mode="int", output_sequence_length=6)
text_classifier(short=True, output_mode="multi_hot")
text_classifier(output_mode="int")
text_classifier(output_mode="count", max_tokens=8)
text_classifier(output_mode="tf_idf")
text_classifier(output_mode="int", ngrams=2, output_sequence_length=9)
text_classifier(output_mode="int", split="character", output_sequence_length=12)
text_classifier(output_mode="multi_hot", standardize="lower")
text_classifier(output_mode="int", standardize="strip_punctuation", output_sequence_length=5)


@model(short=True)
def string_lookup(folder):
    a, b = keras.Input((1,), dtype="string", name="a"), keras.Input((1,), dtype="int64", name="b")
    x = L.StringLookup(vocabulary=["red", "green", "blue"], num_oov_indices=2)(a)
    y = L.IntegerLookup(vocabulary=[10, 20, 30], output_mode="one_hot")(b)
    z = L.Hashing(num_bins=7, output_mode="one_hot")(a)
    x = L.Flatten()(L.Embedding(6, 3)(x))
    m = keras.Model({"a": a, "b": b}, L.Dense(2)(L.Concatenate()([x, y, L.Flatten()(z)])))
    m.export(folder, verbose=False)
    words = np.array([["red"], ["blue"], ["pink"], ["cyan"]], object)
    return [dict(signature="serving_default", inputs={"a": words, "b": np.array([[10], [30], [7], [20]])})]


@model()
def inverse_lookup(folder):
    ids = keras.Input((None,), dtype="int64")
    m = keras.Model(ids, L.StringLookup(vocabulary=["red", "green", "blue"], invert=True)(ids))
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={m.inputs[0].name: np.array([[1, 2, 3, 0, 9]])})]


@model()
def discretized(folder):
    x = keras.Input((3,))
    y = L.Discretization(bin_boundaries=[-1.0, 0.0, 0.5])(x)
    z = L.CategoryEncoding(num_tokens=4, output_mode="count")(y)
    m = keras.Model(x, L.Dense(2)(z))
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={m.inputs[0].name: floats(5, 3)})]


class Tables(tf.Module):
    """Tables of every kind, from files and tensors, with what changes them."""

    def __init__(self, folder):
        super().__init__()
        path = folder + "-vocabulary.txt"
        with open(path, "w") as file: file.write("x\ny\nz\n")
        columns = folder + "-columns.tsv"
        with open(columns, "w") as file: file.write("x\t1.5\ny\t-2.5\r\n")
        index = tf.lookup.TextFileIndex
        self.vocabulary = tf.lookup.StaticVocabularyTable(
            tf.lookup.TextFileInitializer(path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER), 2)
        self.reverse = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(path, tf.int64, index.LINE_NUMBER, tf.string, index.WHOLE_LINE, value_index_offset=5), "none")
        self.columns = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(columns, tf.string, 0, tf.float32, 1), 0.0)
        self.pairs = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([3, 1, 2], ["c", "a", "b"], tf.int64), "?")
        self.counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
        self.counts.insert(tf.constant(["kept", "also"]), tf.constant([7, 8], tf.int64))
        self.rows = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, -1.0])
        self.rows.insert(tf.constant([4], tf.int64), tf.constant([[1.0, 2.0]]))
        self.dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, -10, -11, initial_num_buckets=8)
        self.dense.insert(tf.constant([5, 6], tf.int64), tf.constant([50, 60], tf.int64))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def words(self, words):
        return (self.vocabulary.lookup(words), self.columns.lookup(words), self.counts.lookup(words), self.vocabulary.size(),
                self.counts.lookup(words, tf.range(tf.size(words, tf.int64))))

    @tf.function(input_signature=[tf.TensorSpec(None, tf.int64)])
    def numbers(self, numbers):
        return self.reverse.lookup(numbers), self.pairs.lookup(numbers), self.rows.lookup(numbers), self.pairs.size()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def in_dense(self, numbers):
        return self.dense.lookup(numbers), self.dense.size()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)])
    def count(self, words, by):
        self.counts.insert(words, self.counts.lookup(words) + by)
        self.dense.insert(by, by * 2)
        keys, values = self.counts.export()
        order = tf.argsort(tf.strings.to_hash_bucket_fast(keys, 1 << 40))
        return self.counts.size(), tf.gather(keys, order), tf.gather(values, order)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)])
    def forget(self, words, numbers):
        self.counts.remove(words)
        self.dense.erase(numbers)
        return self.counts.size(), self.dense.size()


@model(short=True)
def tables(folder):
    tf.saved_model.save(Tables(folder), folder)
    words = np.array(["x", "y", "new", "kept", "z", ""], object)
    numbers = np.array([5, 6, 7, 1, 3, 4, 0, 9])
    return [dict(function="words", args=[words]), dict(function="numbers", args=[numbers]),
            dict(function="numbers", args=[np.array([[1, 4], [6, 2]])]), dict(function="in_dense", args=[numbers]),
            dict(function="count", args=[words, np.arange(6) + 1]), dict(function="words", args=[words]),
            dict(function="in_dense", args=[numbers]), dict(function="forget", args=[words[:3], np.array([5, 100, 2])]),
            dict(function="count", args=[words[2:], np.arange(4) + 20]), dict(function="in_dense", args=[numbers])]
