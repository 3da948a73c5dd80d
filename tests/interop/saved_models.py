"""The models of check_saved_model.py. Each makes a SavedModel in a folder and returns the calls to compare:
dict(signature=NAME, inputs={...}) or dict(function=PATH, args=[...], kwargs={...}); gradients=1 or 2 compares
those of the first or second order with respect to the trainable variables."""
import dataclasses
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
