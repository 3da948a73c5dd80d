"""Whole models in files, both ways: .keras and .h5 files of Keras run and go on training in Rewind, and those that Rewind
then writes do the same in Keras.

    check_keras_models.py BUILD_FOLDER [NAME...] [--full]    (with a Python that has TensorFlow)

Each model is trained a little in Keras and saved. Keras' own loaded copy says what the file means: its outputs, and losses,
weights and variables of the optimizer over more steps. Rewind loads the same file and must agree; the file that it saves
then has Keras' configs and its own values bit for bit, and Keras goes on training it with the same results.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import h5py  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
from absl import logging  # noqa: E402
from keras import layers as L  # noqa: E402
from keras import losses, metrics, ops  # noqa: E402
from keras import optimizers as O  # noqa: E402

warnings.simplefilter("ignore")
logging.set_verbosity(logging.ERROR)
STEPS = 3
MODELS = {}
Case = collections.namedtuple("Case", "make x y options")
rng = np.random.default_rng(7)


def real(*shape): return rng.normal(size=shape).astype(np.float32)
def classes(n, *shape): return rng.integers(0, n, shape).astype(np.int32)


def model(x, y, full=False, formats=(".keras", ".h5"), train=True, tolerance=2e-5, exact_config=True, name=None):
    """Adds f as a model: it returns a compiled model for inputs x and targets y."""
    def add(f):
        MODELS[name or f.__name__] = Case(f, x, y, {"full": full, "formats": formats, "train": train, "tolerance": tolerance,
                                                    "exact_config": exact_config})
        return f
    return add


def compiled(m, optimizer="sgd", loss=None, **options):
    m.compile(optimizer, loss or losses.MeanSquaredError(), **options)
    return m


def chain(shape, *layers): return keras.Sequential([keras.Input(shape), *layers])


# ---- a program's own classes, which keras_models.cc has too
@keras.saving.register_keras_serializable("interop")
class Scale(L.Layer):
    def __init__(self, start=1.0, **kwargs):
        super().__init__(**kwargs)
        self.start = start

    def build(self, shape):
        self.factor = self.add_weight(name="factor", shape=shape[-1:], initializer=keras.initializers.Constant(self.start))
        self.offset = self.add_weight(name="offset", shape=shape[-1:], initializer="zeros", trainable=False)

    def call(self, x): return x * self.factor + self.offset
    def get_config(self): return {**super().get_config(), "start": self.start}


@keras.saving.register_keras_serializable("interop")
class Net(keras.Model):
    def __init__(self, factor=1.0, **kwargs):
        super().__init__(**kwargs)
        self.hidden, self.blocks, self.out = L.Dense(3, activation="tanh"), [L.Dense(3), L.Dense(3)], L.Dense(2)
        self.factor = factor

    def call(self, x):
        y = self.hidden(x) * self.factor
        for d in self.blocks: y = d(y) + y
        return self.out(y)

    def get_config(self): return {**super().get_config(), "factor": self.factor}


@keras.saving.register_keras_serializable("interop")
def twice(x): return x * 2.0


@keras.saving.register_keras_serializable("interop")
def cubed(y_true, y_pred): return ops.mean(ops.abs(y_true - y_pred) ** 3, axis=-1)


# ---- models
@model([real(8, 4)], [classes(3, 8)])
def classifier():
    m = chain((4,), L.Dense(5, activation="relu"), L.BatchNormalization(), L.Dropout(0.0), L.Dense(3, activation="softmax"))
    return compiled(m, O.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])


@model([real(8, 4)], [real(8, 2)])
def without_input():
    m = keras.Sequential([L.Dense(5, activation="tanh"), L.Dense(2)])
    m.build((None, 4))
    return compiled(m, "rmsprop")


@model([real(6, 4), real(6, 4)], [real(6, 2), real(6, 1)])
def shared_layers():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    same = L.Dense(3)
    m = keras.Model([a, b], [L.Dense(2, name="u")(same(a) + same(b) * 2.0), L.Dense(1, name="v")(same(b))])
    return compiled(m, O.SGD(0.01, momentum=0.5), ["mse", "mae"], loss_weights=[0.5, 2.0], metrics=[["mae"], ["mse", "mae"]])


@model([real(6, 3)], [real(6, 3)])
def nested():
    inner = keras.Sequential([L.Dense(3), L.Dense(3)], name="inner")
    i = keras.Input((3,))
    middle = keras.Model(i, L.Dense(3, activation="tanh")(inner(i)), name="middle")
    x = keras.Input((3,))
    return compiled(keras.Model(x, middle(L.Dense(3)(middle(x)))), O.Nadam(0.01))


@model([real(6, 8, 8, 3)], [real(6, 2)])
def frozen_base():
    """Transfer learning: a frozen base, called with training=False."""
    base = keras.Sequential([keras.Input((8, 8, 3)), L.Conv2D(4, 3), L.BatchNormalization(), L.ReLU()], name="base")
    base.trainable = False
    x = keras.Input((8, 8, 3))
    m = keras.Model(x, L.Dense(2)(L.GlobalAveragePooling2D()(base(x, training=False))))
    return compiled(m, O.Adam(0.01))


@model([real(6, 4)], [real(6, 2)])
def training_in_the_graph():
    x = keras.Input((4,))
    y = L.BatchNormalization()(L.Dense(3)(x), training=False)
    return compiled(keras.Model(x, L.Dense(2)(L.BatchNormalization()(y, training=True))))


@model([real(6, 4)], [real(6, 4), real(6, 4)])
def inputs_as_outputs():
    x = keras.Input((4,))
    return compiled(keras.Model(x, [x, L.Dense(4)(x)]), "sgd", ["mse", "mae"])


@model([real(6, 4), real(6, 3)], [real(6, 1), real(6, 2)])
def dictionaries():
    a, b = keras.Input((3,), name="b_first"), keras.Input((4,), name="a_second")
    y = L.Concatenate()([L.Dense(2)(a), b])
    m = keras.Model({"b_first": a, "a_second": b}, {"v": L.Dense(2, name="v")(y), "u": L.Dense(1, name="u")(y)})
    return compiled(m, "adam", {"u": "mse", "v": "mae"}, loss_weights={"u": 2.0, "v": 0.5}, metrics={"v": ["mse"]})


@model([real(6, 3), real(6, 4)], [real(6, 2), real(6, 1)])
def losses_by_name():
    a, b = keras.Input((3,), name="a"), keras.Input((4,), name="b")
    y = L.Concatenate()([L.Dense(2)(a), b])
    m = keras.Model([a, b], [L.Dense(2, name="v")(y), L.Dense(1, name="u")(y)])
    return compiled(m, "adam", {"u": "mse", "v": losses.Huber(0.5)}, loss_weights={"u": 2.0, "v": 1.0},
                    metrics={"v": ["mse"], "u": [metrics.MeanAbsoluteError(name="far")]}, weighted_metrics={"u": ["mae"]})


@model([real(6, 4)], [real(6, 2)])
def list_of_one():
    x = keras.Input((4,))
    return compiled(keras.Model([x], [L.Dense(2)(x)]), "sgd", ["mse"], metrics=[["mae"]])


@model([classes(9, 4, 6)], [real(4, 2)])
def masked_text():
    x = keras.Input((6,), dtype="int32")
    y = L.Embedding(9, 4, mask_zero=True)(x)
    y = L.Bidirectional(L.LSTM(3, return_sequences=True))(y)
    return compiled(keras.Model(x, L.Dense(2)(L.GRU(3)(y))), O.RMSprop(0.01))


@model([real(4, 5, 3)], [real(4, 2)])
def masking_layer():
    return compiled(chain((None, 3), L.Masking(), L.SimpleRNN(3, return_sequences=True), L.GlobalAveragePooling1D(), L.Dense(2)),
                    O.Adagrad(0.1))


@model([classes(2, 4, 5).astype(bool), real(4, 5, 3)], [real(4, 2)])
def mask_as_an_argument():
    m, x = keras.Input((5,), dtype="bool"), keras.Input((5, 3))
    return compiled(keras.Model([m, x], L.Dense(2)(L.LSTM(3)(x, mask=m))))


@model([real(4, 5, 3), real(4, 6, 3)], [real(4, 6, 2)])
def encoder_and_decoder():
    a, b = keras.Input((None, 3)), keras.Input((None, 3))
    _, h, c = L.LSTM(4, return_state=True)(a)
    y = L.LSTM(4, return_sequences=True)(b, initial_state=[h, c])
    return compiled(keras.Model([a, b], L.TimeDistributed(L.Dense(2))(y)), O.Adam(0.01))


@model([real(4, 5, 6)], [real(4, 5, 6)], exact_config=False)  # query=, value= and key= come back as a list
def transformer():
    x = keras.Input((5, 6))
    y = L.LayerNormalization()(x + L.MultiHeadAttention(2, 3, name="attend")(x, x, use_causal_mask=True))
    z = L.MultiHeadAttention(2, 4, value_dim=5)(query=y, value=x, key=y)
    return compiled(keras.Model(x, y + L.Dense(6)(L.Dense(8, activation="gelu")(z))), O.SGD(0.01, momentum=0.9))


@model([real(4, 5, 6)], [real(4, 5, 6), real(4, 2, 5, 5)])
def attention_scores():
    x = keras.Input((5, 6))
    y, scores = L.MultiHeadAttention(2, 3)(x, x, return_attention_scores=True)
    return compiled(keras.Model(x, [y, scores]), "sgd", ["mse", "mse"])


@model([real(4, 3, 6), real(4, 5, 6), classes(2, 4, 3, 5).astype(bool)], [real(4, 3, 6)])
def attention_mask():
    q, v, m = keras.Input((3, 6)), keras.Input((5, 6)), keras.Input((3, 5), dtype="bool")
    return compiled(keras.Model([q, v, m], L.MultiHeadAttention(2, 3)(q, v, attention_mask=m)))


@model([real(4, 6, 6, 2)], [real(4, 3)])
def operators():
    x = keras.Input((6, 6, 2))
    y = (1.0 - x) * 0.5 + x / 3.0 - (-x) + x ** 2 + 2.0 / (ops.abs(x) + 1.0)
    y = ops.concatenate([y, ops.sin(x), ops.relu(y)], axis=-1)
    y = ops.mean(y, axis=[1, 2])
    y = ops.reshape(ops.expand_dims(y, 1), (-1, 6)) + ops.sum(x, axis=(1, 2, 3), keepdims=False)[:, None]
    return compiled(keras.Model(x, L.Dense(3)(ops.clip(y, -5.0, 5.0))))


@model([real(4, 6, 3)], [real(4, 3)])
def slices():
    x = keras.Input((6, 3))
    return compiled(keras.Model(x, L.Dense(3)(x[:, 0] + x[:, -1, :] * x[:, 2, :3] + ops.mean(x[:, 1:5:2], axis=1))))


@model([real(4, 6, 3)], [real(4, 3)])
def tensors_of_the_graph():
    x = keras.Input((6, 3))
    y = ops.matmul(x, np.ones((3, 3), np.float32) * 0.5) + ops.ones((3,)) + np.arange(3, dtype=np.float32)
    a, b = ops.split(y, 2, axis=1)
    z = ops.stack([a, ops.tanh(b)], axis=1)
    z = ops.max(z, axis=1) + ops.squeeze(ops.min(ops.transpose(y, (0, 1, 2)), axis=1, keepdims=True), axis=1)[:, None]
    return compiled(keras.Model(x, L.Dense(3)(ops.mean(z, axis=1))))


@model([real(4, 6, 3)], [real(4, 3)])
def more_operations():
    x = keras.Input((6, 3))
    y = ops.einsum("abc,dc->abd", x, np.eye(3, dtype=np.float32))
    y = ops.where(ops.greater(x, 0.0), y, ops.exp(ops.minimum(x, 0.5)))
    y = ops.cast(y, "float32") + ops.softmax(x, axis=1) + ops.gelu(x) + ops.silu(x)
    y = ops.maximum(y, ops.zeros_like(y)) + ops.square(x) * ops.sqrt(ops.abs(x) + 1.0) + ops.log(ops.abs(x) + 1.0)
    y = ops.add(y, ops.repeat(x[:, :1], 6, axis=1))
    return compiled(keras.Model(x, L.Dense(3)(ops.mean(ops.flip(y, axis=1), axis=1))))


@model([real(4, 4), real(4, 4)], [real(4, 2)])
def merges():
    a, b = keras.Input((4,)), keras.Input((4,))
    y = [L.Add()([a, b]), L.Subtract()([a, b]), L.Multiply()([a, b]), L.Average()([a, b]), L.Maximum()([a, b]),
         L.Minimum()([a, b]), L.Dot(1, normalize=True)([a, b])]
    return compiled(keras.Model([a, b], L.Dense(2)(L.Concatenate()(y))), O.Ftrl(0.1))


@model([real(4, 9, 9, 3)], [real(4, 2)])
def convolutions():
    m = chain((9, 9, 3), L.Rescaling(0.5, 0.1), L.ZeroPadding2D(1), L.Conv2D(4, 3, strides=2, activation="relu"),
              L.DepthwiseConv2D(2, depth_multiplier=2), L.SeparableConv2D(4, 2), L.Conv2DTranspose(3, 2), L.PReLU(shared_axes=[1, 2]),
              L.MaxPooling2D(2), L.LeakyReLU(0.1), L.UpSampling2D(2), L.Cropping2D(1), L.GroupNormalization(1),
              L.AveragePooling2D(2), L.Flatten(), L.Dense(2))
    return compiled(m, O.Adam(0.01, amsgrad=True))


@model([real(4, 12, 2)], [real(4, 2)])
def sequences():
    m = chain((12, 2), L.Conv1D(3, 3, padding="causal"), L.SeparableConv1D(3, 2), L.Conv1DTranspose(2, 2), L.ELU(),
              L.MaxPooling1D(2), L.Permute((2, 1)), L.Reshape((3, 4)), L.GlobalMaxPooling1D(), L.RepeatVector(3),
              L.Softmax(), L.Flatten(), L.Dense(2))
    return compiled(m, O.Adamax(0.01))


@model([real(4, 4, 4, 4, 1)], [real(4, 1)])
def volumes():
    m = chain((4, 4, 4, 1), L.Conv3D(2, 2), L.Conv3DTranspose(1, 2), L.ZeroPadding3D(1), L.MaxPooling3D(2),
              L.GlobalAveragePooling3D())
    return compiled(m, O.Adadelta(1.0))


@model([real(4, 5, 3)], [real(4, 2)])
def recurrent():
    m = chain((5, 3), L.Bidirectional(L.GRU(3, return_sequences=True), merge_mode="sum"),
              L.TimeDistributed(L.BatchNormalization()), L.GRU(3, reset_after=False, return_sequences=True, go_backwards=True),
              L.Bidirectional(L.SimpleRNN(2), backward_layer=L.LSTM(2, go_backwards=True)), L.Dense(2))
    return compiled(m, O.Lion(0.01))


@model([real(8, 4)], [real(8, 2)])
def seeded_dropout():
    m = chain((4,), L.Dense(6, kernel_initializer=keras.initializers.HeNormal(seed=1)), L.Dropout(0.5, seed=3),
              L.GaussianNoise(0.5, seed=4), L.GaussianDropout(0.2, seed=5), L.Dense(2))
    return compiled(m, O.SGD(0.01))


@model([real(4, 8, 8, 3)], [real(4, 2)])
def augmented():
    m = chain((8, 8, 3), L.RandomFlip("horizontal", seed=1), L.RandomRotation(0.1, seed=2), L.RandomCrop(6, 6, seed=3),
              L.SpatialDropout2D(0.5, seed=4), L.Conv2D(2, 3), L.GlobalAveragePooling2D())
    return compiled(m, O.SGD(0.01))


@model([real(8, 3)], [real(8, 2)], exact_config=False)  # adapt() builds for the data's shape, a model for its own
def normalized():
    n = L.Normalization()
    n.adapt(real(20, 3) * 3 + 1)
    return compiled(chain((3,), n, L.LayerNormalization(), L.Dense(2)))


@model([real(8, 4)], [real(8, 2)])
def regularized():
    d = L.Dense(5, kernel_regularizer=keras.regularizers.L1L2(0.01, 0.02), bias_constraint="non_neg",
                kernel_constraint=keras.constraints.MaxNorm(0.5), activity_regularizer="l2")
    return compiled(chain((4,), d, L.Dense(2, kernel_regularizer=keras.regularizers.OrthogonalRegularizer(0.1))),
                    O.SGD(0.1, weight_decay=0.01, clipnorm=1.0))


@model([real(8, 4)], [real(8, 2)], formats=(".keras",))
def own_layers():
    m = chain((4,), L.Dense(3, activation=twice), Scale(0.5, name="scaled"), L.Dense(2))
    return compiled(m, O.Adam(0.01))


@model([real(8, 4)], [real(8, 2)], formats=(".keras",))
def own_model():
    m = Net(0.5)
    m(np.ones((1, 4), np.float32))
    return compiled(m, O.Adam(0.01))


@model([real(8, 4)], [real(8, 2)])
def own_function():
    return compiled(chain((4,), L.Lambda(twice), L.Activation(twice), L.Dense(2)), O.SGD(0.01), cubed, metrics=["mae"])


@model([real(8, 4)], [real(8, 2)], formats=(".keras",), tolerance=2e-2)
def mixed_bfloat16():
    m = chain((4,), L.Dense(3, dtype="mixed_bfloat16"), L.Dense(2, dtype="float32"))
    return compiled(m, O.SGD(0.01))


@model([real(8, 4)], [real(8, 2)], tolerance=2e-3)
def mixed_float16():
    m = chain((4,), L.Dense(3, dtype="mixed_float16"), L.Dense(2, dtype="float32"))
    return compiled(m, O.LossScaleOptimizer(O.SGD(0.01, momentum=0.5)))


@model([real(8, 4).astype("f8")], [real(8, 2).astype("f8")])
def double_precision():
    m = keras.Sequential([keras.Input((4,), dtype="float64"), L.Dense(3, dtype="float64", activation="elu"), L.Dense(2, dtype="float64")])
    return compiled(m, O.SGD(0.01))


@model([real(6, 4)], [real(6, 2)])
def fixed_batch():
    return compiled(keras.Sequential([keras.Input(batch_shape=(6, 4)), L.Dense(2)]))


@model([real(6, 4)], [real(6, 2)], train=False)  # the states are not in the file
def stateful():
    x = keras.Input(batch_shape=(6, 4))
    return compiled(keras.Model(x, L.LSTM(2, stateful=True)(L.Reshape((2, 2))(x))))


@model([real(6, 4)], [])
def uncompiled():
    return chain((4,), L.Dense(2, name="a dense layer, ünicode"), L.Dense(1))


@model([real(6, 4, 3)], [real(6, 4, 2)])
def models_in_layers():
    inner = keras.Sequential([L.Dense(3, activation="relu"), L.Dense(2)])
    i = keras.Input((4, 2))
    other = keras.Model(i, L.Dense(2)(i))
    return compiled(chain((4, 3), L.TimeDistributed(inner), other, keras.Sequential([L.Dense(2)])))


@model([real(8, 4)], [classes(3, 8)])
def schedule():
    m = chain((4,), L.Dense(3))
    return compiled(m, O.Adam(O.schedules.CosineDecay(0.1, 10, 0.1, warmup_target=0.2, warmup_steps=4), use_ema=True,
                              ema_overwrite_frequency=2), losses.SparseCategoricalCrossentropy(from_logits=True),
                    metrics=[metrics.SparseCategoricalAccuracy(), metrics.SparseTopKCategoricalAccuracy(2, name="top")])


@model([real(8, 4)], [classes(2, 8, 1).astype("f4")])
def binary():
    return compiled(chain((4,), L.Dense(1, activation="sigmoid")), O.SGD(O.schedules.PiecewiseConstantDecay([2], [0.1, 0.01])),
                    losses.BinaryFocalCrossentropy(gamma=1.5), metrics=["accuracy", metrics.AUC(20), metrics.Precision(), metrics.Recall(0.3)])


@model([real(8, 4)], [real(8, 2)])
def accumulating():
    return compiled(chain((4,), L.Dense(2)), O.Adam(0.01, gradient_accumulation_steps=2))


OPTIMIZERS = {"SGD": {"momentum": 0.9, "nesterov": True}, "Adam": {}, "AdamW": {}, "Adamax": {}, "Nadam": {},
              "RMSprop": {"centered": True, "momentum": 0.5}, "Adagrad": {}, "Adadelta": {}, "Ftrl": {}, "Lion": {}}
for name, options in OPTIMIZERS.items():
    model([real(8, 4)], [real(8, 2)], full=True, name="optimizer_" + name)(
        lambda name=name, options=options: compiled(chain((4,), L.Dense(3, activation="tanh"), L.Dense(2)),
                                                    getattr(O, name)(0.01, **options)))
SCHEDULES = {"exponential": O.schedules.ExponentialDecay(0.1, 3, 0.5, True), "inverse_time": O.schedules.InverseTimeDecay(0.1, 3, 0.5),
             "polynomial": O.schedules.PolynomialDecay(0.1, 5, 0.01, 2.0, True),
             "restarts": O.schedules.CosineDecayRestarts(0.1, 3, 1.5, 0.5, 0.1)}
for name, rate in SCHEDULES.items():
    model([real(8, 4)], [real(8, 2)], full=True, name="schedule_" + name)(
        lambda rate=rate: compiled(chain((4,), L.Dense(2)), O.SGD(rate, momentum=0.5)))
APPLICATIONS = {"MobileNet": 64, "MobileNetV2": 64, "MobileNetV3Small": 64, "EfficientNetB0": 64, "EfficientNetV2B0": 64, "NASNetMobile": 64,
                "DenseNet121": 64, "ResNet50": 64, "ResNet50V2": 64, "Xception": 96, "InceptionV3": 96, "VGG16": 32}
for name, size in APPLICATIONS.items():
    model([real(2, size, size, 3)], [], full=name != "MobileNetV2", formats=(".keras", ".h5") if name == "ResNet50" else (".keras",),
          tolerance=1e-4, name="application_" + name)(
        lambda name=name, size=size: getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=10))


# ---- comparing
failed, checks = [], 0


def check(what, ok, why=""):
    global checks
    checks += 1
    if not ok: failed.append(f"{what}: {why}" if why else what)


def plain(c):
    """Without what belongs to one process, ids of shared objects, and arguments of calls that say nothing."""
    if isinstance(c, dict):
        c = {k: plain(v) for k, v in c.items() if k not in ("shared_object_id", "date_saved")}
        if "kwargs" in c: c["kwargs"] = {k: v for k, v in c["kwargs"].items() if v is not None}
        return c
    if isinstance(c, (list, tuple)): return [plain(v) for v in c]
    return c


def difference(ours, theirs, path=""):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for k in list(theirs) + [k for k in ours if k not in theirs]:
            if k not in ours: return f"{path}.{k} is missing: {theirs[k]}"
            if k not in theirs: return f"{path}.{k} is too much: {ours[k]}"
            if d := difference(ours[k], theirs[k], f"{path}.{k}"): return d
        return ""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return next((d for i, (a, b) in enumerate(zip(ours, theirs)) if (d := difference(a, b, f"{path}[{i}]"))), "")
    same = ours == theirs and isinstance(ours, bool) == isinstance(theirs, bool)
    return "" if same else f"{path}: {ours!r} for {theirs!r}"


def configs(path):
    """What a file says of the model, as JSON."""
    if str(path).endswith(".keras"):
        with zipfile.ZipFile(path) as z: return {"config": json.loads(z.read("config.json"))}
    with h5py.File(path) as f:
        found = {k: json.loads(f.attrs[k]) for k in ("model_config", "training_config") if k in f.attrs}
    # Keras does not open its own older files with the short names of losses.
    if "training_config" in found: found["training_config"]["loss"] = full_names(found["training_config"]["loss"])
    return found


def full_names(c):
    if isinstance(c, dict): return c if "class_name" in c else {k: full_names(v) for k, v in c.items()}
    if isinstance(c, list): return [full_names(v) for v in c]
    return {"mse": "mean_squared_error", "mae": "mean_absolute_error"}.get(c, c)


def objects(path):
    """The arrays of a file: names, shapes and types."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset): found[name] = (item.shape, str(item.dtype))

    def walk(f): f.visititems(visit)
    if str(path).endswith(".keras"):
        with zipfile.ZipFile(path) as z, z.open("model.weights.h5") as w, h5py.File(w) as f: walk(f)
        return found
    # Older files go by the order of the weights; names of variables depend on when a layer was built.
    with h5py.File(path) as f:
        lists = {"optimizer_weights": f["optimizer_weights"]} if "optimizer_weights" in f else {}
        for name in f["model_weights"].attrs["layer_names"]: lists[name] = f["model_weights"][name]
        return {name: [(g[w].shape, str(g[w].dtype)) for w in g.attrs["weight_names"]] for name, g in lists.items()}


def flat(values):
    if isinstance(values, dict): return [values[k] for k in sorted(values)]
    return list(values) if isinstance(values, (list, tuple)) else [values]


def structured(like, values):
    """Inputs or targets as the model has them; those of dictionaries go by their keys."""
    if isinstance(like, dict): return dict(zip(sorted(like), values))
    return list(values) if len(values) > 1 else values[0]


def inputs(m, case): return structured(getattr(m, "_inputs_struct", None), case.x)
def targets(m, case): return structured(getattr(m, "_outputs_struct", None), case.y)


def numbers(list_, letter):
    return {f"{letter}{i}": np.asarray(keras.ops.convert_to_numpy(v)).astype(np.float32 if "float16" in str(v.dtype) else None)
            for i, v in enumerate(list_)}


def run_keras(m, case, steps):
    """What keras_models.cc does."""
    m.run_eagerly = True
    out = numbers(flat(m(inputs(m, case), training=False)), "p")
    for i in range(steps):
        logs = m.train_on_batch(inputs(m, case), targets(m, case), return_dict=True)
        out[f"l{i}"] = np.array([float(logs[k]) for k in sorted(logs)])
    if steps: out |= numbers(flat(m(inputs(m, case), training=False)), "q")
    out |= numbers(m.weights, "w")
    if m.compiled and m.optimizer: out |= numbers(m.optimizer.variables, "o")
    return out


def compare(what, ours, theirs, tolerance):
    if ours.keys() != theirs.keys():
        return check(what, False, f"other arrays: {sorted(ours.keys() ^ theirs.keys())}")
    for k, want in theirs.items():
        got = ours[k]
        if got.shape != want.shape: return check(what, False, f"{k} is {got.shape}, not {want.shape}")
        if want.dtype.kind == "f": ok = np.allclose(got, want, tolerance, tolerance, equal_nan=True)
        else: ok = np.array_equal(got, want)
        if not ok: return check(what, False, f"{k} is off by {np.abs(got.astype('f8') - want.astype('f8')).max()}: {got.ravel()[:4]} for {want.ravel()[:4]}")
    check(what, True)


def load(path, **options):
    return keras.saving.load_model(path, custom_objects={"Scale": Scale, "Net": Net, "twice": twice, "cubed": cubed}, **options)


def opens(path):
    """Keras does not open all .h5 files that it writes: with operations, or losses by their short names."""
    try: return load(path) is not None
    except Exception: return False


def both_ways(name, case, folder, program):
    keras.backend.clear_session()
    keras.utils.set_random_seed(3)
    m = case.make()
    steps = STEPS if case.options["train"] and m.compiled else 0
    m.run_eagerly = True
    for _ in range(2 if steps else 0):  # the optimizer's slots are not those of a beginning
        m.train_on_batch(inputs(m, case), targets(m, case))
    data = folder / "data.npz"
    np.savez(data, **{f"x{i}": v for i, v in enumerate(case.x)}, **{f"y{i}": v for i, v in enumerate(case.y)})
    m.run_eagerly = False
    for extension in case.options["formats"]: m.save(folder / ("theirs" + extension))
    for extension in case.options["formats"]:
        what = name + extension
        theirs, out, again = folder / ("theirs" + extension), folder / "out.npz", folder / ("again" + extension)
        for p in (out, again): p.unlink(missing_ok=True)
        if extension == ".keras":  # an .h5 file says the same; Keras does not go on training from those
            keras.backend.clear_session()
            want = run_keras(load(theirs), case, steps)
        done = subprocess.run([program, "run", theirs, data, out, str(steps), again], capture_output=True, text=True)
        if done.returncode:
            check(what, False, done.stderr.strip()[-900:])
            continue
        if done.stderr: check(what, False, "stderr: " + done.stderr.strip()[-400:])
        got = dict(np.load(out))
        compare(what + ": read", got, want, case.options["tolerance"])
        if case.options["exact_config"]:
            d = difference(plain(configs(again)), plain(configs(theirs)))
            check(what + ": config", not d, d)
        check(what + ": objects", objects(again) == objects(theirs),
              f"{objects(again)} for {objects(theirs)}"[:600])
        keras.backend.clear_session()
        if extension == ".h5":
            if not opens(theirs): continue
            copy = load(again, compile=False)
            check(what + ": compiled", load(again).compiled == m.compiled)
        else:
            copy = load(again)
        mine = run_keras(copy, case, 0)
        for letter in "wo":  # bit for bit
            bad = [k for k in mine if k[0] == letter and not (k in got and np.array_equal(got[k], mine[k]))]
            check(f"{what}: written {letter}", not bad, str(bad))
        compare(what + ": written", {k: v for k, v in mine.items() if k[0] == "p"},
                {"p" + k[1:]: v for k, v in got.items() if k[0] == ("q" if steps else "p")}, case.options["tolerance"])
        if not steps or extension == ".h5": continue
        # Both go on from Rewind's file.
        mine = run_keras(copy, case, steps)
        subprocess.run([program, "run", again, data, out, str(steps)], check=True)
        compare(what + ": goes on", dict(np.load(out)), mine, case.options["tolerance"])


def saved_model_layers(folder, program):
    """TFSMLayer on what Keras exports and on a module's SavedModel."""
    import tensorflow as tf
    data = real(8, 4)

    class Module(tf.Module):
        def __init__(self): self.w, self.shift = tf.Variable(real(4, 3)), tf.Variable(real(3), trainable=False)

        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
        def infer(self, x): return tf.tanh(x @ self.w) + self.shift

        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
        def train(self, x): return tf.tanh(x @ self.w) * 2.0

    module = Module()
    tf.saved_model.save(module, str(folder / "module"), signatures={"serving_default": module.infer, "second": module.train})
    exported = keras.Sequential([keras.Input((4,), name="x"), L.Dense(3, activation="tanh"), L.BatchNormalization()])
    exported.export(folder / "exported", verbose=False)
    np.savez(folder / "data.npz", x0=data, y0=data[:, :1])
    for at, call, training in [("module", "infer", "train"), ("module", "infer", ""), ("exported", "serve", ""),
                               ("module", "serving_default", "second"), ("exported", "serving_default", "")]:
        what = f"TFSMLayer {at} {call} {training}"
        keras.backend.clear_session()
        layer = L.TFSMLayer(folder / at, call_endpoint=call, call_training_endpoint=training or None)
        want = numbers(flat(layer(data, training=False)), "p") | numbers(flat(layer(data, training=True)), "t")
        want["counts"] = np.array([len(layer.trainable_weights), len(layer.non_trainable_weights)])
        x = keras.Input((4,))
        y = layer(x)
        m = keras.Model(x, L.Dense(1, kernel_initializer="ones")(y if not isinstance(y, dict) else y[sorted(y)[0]]))
        m.compile(O.SGD(0.1), "mse", run_eagerly=True)
        for _ in range(3): m.train_on_batch(data, data[:, :1])
        want |= numbers([m(data, training=False)], "q")
        done = subprocess.run([program, "tfsm", folder / at, call, training, folder / "data.npz", folder / "out.npz"],
                              capture_output=True, text=True)
        check(what, done.returncode == 0, done.stderr.strip()[-600:])
        if done.returncode == 0: compare(what, dict(np.load(folder / "out.npz")), want, 1e-5)
    for path in ["module", "exported"]:
        done = subprocess.run([program, "error", folder / path], capture_output=True, text=True)
        check(f"load_model of {path}", done.returncode == 1 and "keras::TFSMLayer(" in done.stderr, done.stderr)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build")
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--full", action="store_true")
    a = arguments.parse_args()
    program = pathlib.Path(a.build).resolve() / "tests" / "keras_models"
    folder = pathlib.Path(tempfile.mkdtemp())
    for name, case in MODELS.items():
        if a.names and name not in a.names or case.options["full"] and not (a.full or a.names): continue
        try: both_ways(name, case, folder, program)
        except Exception as e: check(name, False, f"{type(e).__name__}: {str(e)[:600]}")
    if not a.names or "TFSMLayer" in a.names: saved_model_layers(folder, program)
    shutil.rmtree(folder)
    print("\n".join(failed))
    print(f"keras models: {checks - len(failed)} checks agree, {len(failed)} differ")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
